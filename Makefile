# Every task of this project; `make help` lists them.

CARGO ?= cargo
# A plain `cargo build` leaves out what only the paper's experiments need; tests and tables have it all.
EVERYTHING = --locked --all-features
# What the programs in peers/ run
PEERS = capymoa jpype1 lightgbm numpy pandas river scikit-learn scipy
BROADSTREAM = $(abspath $(or $(CARGO_TARGET_DIR),target))/release/broadstream
# The folder with the datasets; without it they are looked for as the program does
DATA ?=
# Such as --quick, or --orders 1100 --rounds 21; for bench-default --render-only, or --sections table,busy
BENCH_OPTIONS ?=
# How many seeds are simulated
SEEDS ?= 10000
# How long each reader is fuzzed
SECONDS ?= 60

.DEFAULT_GOAL := help
.PHONY: help build demo test test-rust test-python test-integration rust-tests test-wheel python-tests python-packages \
	wheel install-wheel notebooks soak simulate fuzz bench bench-default bench-python accuracy picture peers lint format doc \
	docs msrv deny clean

help: ## List the tasks
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  %-13s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

build: ## Build the command line with all features into target/release/broadstream
	$(CARGO) build --release $(EVERYTHING)

demo: ## Classify the built-in drifting stream
	$(CARGO) run --release --locked --quiet -- run

# Packages are downloaded while Rust compiles, and both halves run at once: most of their tests use one core.
test: ## Run every test, the examples in the documentation included (sets up all that it needs)
	$(MAKE) --no-print-directory -j2 rust-tests python-packages
	$(MAKE) --no-print-directory test-wheel
	$(MAKE) --no-print-directory -j2 --output-sync=target test-rust python-tests

test-rust: ## Run the tests of the Rust crates alone
	$(CARGO) test $(EVERYTHING)

test-python: test-wheel ## Build the Python package and run its tests alone
	$(MAKE) --no-print-directory python-tests

rust-tests: # Build the tests of the Rust crates
	$(CARGO) test $(EVERYTHING) --no-run

# The profile of the tests, which has assertions and shares what they compiled.
test-wheel: python-packages # Build the Python package and install it into .venv
	rm -rf target/test-wheel
	.venv/bin/maturin build --quiet --profile dev --locked --out target/test-wheel
	.venv/bin/python -m pip install --quiet --disable-pip-version-check --no-deps --force-reinstall \
		target/test-wheel/*.whl

python-tests: # Test the Python package that is in .venv
	.venv/bin/python -m mypy.stubtest --mypy-config-file pyproject.toml \
		--allowlist python/stubtest-allowlist.txt broadstream
	.venv/bin/python -m pytest --quiet
	cd peers && ../.venv/bin/python -m unittest --quiet

python-packages: # Make .venv with what the Python tests need
	prepare/python.sh

# The program of the tests, which is compiled already. Its port and folders are its own.
test-integration: ## Test the service's page in a browser (installs Chromium)
	prepare/debian.sh chromium chromium-driver
	prepare/python.sh pytest selenium
	$(CARGO) build $(EVERYTHING) -p broadstream-cli
	BROADSTREAM_PROGRAM=$(abspath $(or $(CARGO_TARGET_DIR),target))/debug/broadstream \
		.venv/bin/python -m pytest --quiet integration

wheel: ## Build the Python package for others into dist
	prepare/python.sh maturin
	.venv/bin/maturin build --release --locked --out dist

notebooks: test-wheel ## Run the notebooks again and store their outputs; as pages in target/notebooks
	.venv/bin/python examples/notebooks/execute.py --html target/notebooks

soak: ## Update factors for millions of samples and compare with an exact refit (minutes)
	$(CARGO) run --release --locked --example soak -p broadstream

# The profile of the tests, which has assertions and is about as fast.
simulate: ## Do to models whatever may happen to them, beside a slow reference: make simulate SEEDS=10000
	BROADSTREAM_SEEDS=$(SEEDS) $(CARGO) test $(EVERYTHING) -p broadstream-store --test integration simulation -- --nocapture

fuzz: ## Feed each reader and parser whatever libFuzzer finds: make fuzz SECONDS=600
	@failed=0; for target in fuzz/src/bin/*.rs; do \
		fuzz/run.sh $$(basename $$target .rs) $(SECONDS) || failed=1; \
	done; exit $$failed

bench: build ## Time the factor beside its peers into bench/results.md (installs what is missing)
	prepare/debian.sh g++ libeigen3-dev libopenblas-dev libqrupdate-dev
	prepare/python.sh numpy scipy
	cd bench && OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1 $(CARGO) run --release --locked -- \
		--python ../.venv/bin/python --program $(BROADSTREAM) $(BENCH_OPTIONS)

bench-default: build peers install-wheel ## Measure what users feel, into bench/default.md: make bench-default DATA=DIR (an hour)
	$(CARGO) build --release $(EVERYTHING) -p broadstream --example one_by_one
	cd bench && $(CARGO) build --release --locked -p sgbt
	.venv/bin/python peers/bench_default.py --program $(BROADSTREAM) \
		--one-by-one $(dir $(BROADSTREAM))examples/one_by_one \
		--sgbt $(abspath $(or $(CARGO_TARGET_DIR),bench/target))/release/sgbt \
		$(if $(DATA),--data "$(DATA)") $(BENCH_OPTIONS)

bench-python: python-packages install-wheel ## Compare the Python package with River's ensembles and with the Rust library
	.venv/bin/python -m broadstream.bench_peers

install-wheel: wheel # Install the package for others into .venv
	.venv/bin/python -m pip install --quiet --disable-pip-version-check --no-deps --force-reinstall dist/*.whl

accuracy: build ## Run the default on ten streams into the guide's page on accuracy: make accuracy DATA=DIR
	docs/explanation/accuracy.sh $(BROADSTREAM) "$(abspath $(DATA))"

picture: build peers ## Draw the README's picture again, into docs/images/drift.svg
	$(BROADSTREAM) experiment docs/images/drift.toml --output target/picture
	cp target/picture/drift/accuracy.svg docs/images/drift.svg

peers: ## Install other stream learners, to compare with, into .venv (600 MB)
	prepare/python.sh $(PEERS)
	cd peers && ../.venv/bin/python -m unittest --quiet

lint: ## Check the format, the lints and the documentation's links
	prepare/python.sh ruff
	$(CARGO) fmt --all --check
	$(CARGO) fmt --all --manifest-path bench/Cargo.toml --check
	$(CARGO) fmt --manifest-path fuzz/Cargo.toml --check
	$(CARGO) clippy --workspace --all-targets $(EVERYTHING) -- -D warnings
	$(CARGO) clippy --workspace --all-targets --locked -- -D warnings
	RUSTDOCFLAGS="-D warnings" $(CARGO) doc --workspace --no-deps $(EVERYTHING) --quiet
	.venv/bin/ruff format --check --quiet python examples peers integration
	.venv/bin/ruff check --quiet python examples peers integration

format: ## Format all code
	prepare/python.sh ruff
	.venv/bin/ruff format --quiet python examples peers integration
	$(CARGO) fmt --all
	$(CARGO) fmt --all --manifest-path bench/Cargo.toml
	$(CARGO) fmt --manifest-path fuzz/Cargo.toml

doc: ## Build the library's documentation into target/doc
	$(CARGO) doc --no-deps --locked -p broadstream

docs: ## Build the guide into target/guide (installs mdbook if it is missing)
	mdbook --version >/dev/null 2>&1 || $(CARGO) install --locked mdbook
	mdbook build docs

msrv: ## Check that the oldest Rust that Cargo.toml promises builds everything
	@version=$$(sed -n 's/^rust-version = "\(.*\)"/\1/p' Cargo.toml); \
	case "$$($(CARGO) --version)" in \
		"cargo $$version."*) toolchain= ;; \
		*) toolchain="+$$version" ;; \
	esac; \
	$(CARGO) $$toolchain check --workspace --all-targets $(EVERYTHING)

deny: ## Check licences and sources of dependencies (installs cargo-deny if it is missing)
	$(CARGO) deny --version >/dev/null 2>&1 || $(CARGO) install --locked cargo-deny
	$(CARGO) deny check bans licenses sources

clean: ## Remove all that was built
	$(CARGO) clean
	rm -rf .venv dist bench/target fuzz/target fuzz/corpus fuzz/logs
