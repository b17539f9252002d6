# Every task of this project; `make help` lists them.

CARGO ?= cargo

.DEFAULT_GOAL := help
.PHONY: help build demo test lint format doc deny clean

help: ## List the tasks
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  %-10s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

build: ## Build the command line into target/release/broadstream
	$(CARGO) build --release --locked

demo: ## Classify the built-in drifting stream
	$(CARGO) run --release --locked --quiet -- run --forgetting 0.999

test: ## Run every test, the examples in the documentation included
	$(CARGO) test --workspace --locked

lint: ## Check the format, the lints and the documentation's links
	$(CARGO) fmt --all --check
	$(CARGO) clippy --workspace --all-targets --locked -- -D warnings
	RUSTDOCFLAGS="-D warnings" $(CARGO) doc --workspace --no-deps --locked --quiet

format: ## Format all code
	$(CARGO) fmt --all

doc: ## Build the library's documentation into target/doc
	$(CARGO) doc --no-deps --locked -p broadstream

deny: ## Check licences and sources of dependencies (installs cargo-deny if it is missing)
	$(CARGO) deny --version >/dev/null 2>&1 || $(CARGO) install --locked cargo-deny
	$(CARGO) deny check bans licenses sources

clean: ## Remove all that was built
	$(CARGO) clean
