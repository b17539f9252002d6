#!/bin/sh
# Runs a target for some seconds and prints what came of it: fuzz/run.sh TARGET SECONDS
#
# Inputs that reach new code are kept in fuzz/corpus, those that crash in fuzz/crashes. The stable
# toolchain is enough: coverage is a pass of LLVM, and libFuzzer comes with libfuzzer-sys.
set -eu
cd "$(dirname "$0")"

target=${1:?which target? there are: $(cd src/bin && echo *.rs | sed 's/\.rs//g')}
seconds=${2:?for how many seconds?}
host=$(rustc -vV | sed -n 's/^host: //p')

# With --target the flags are not those of build scripts, which are not linked to libFuzzer.
RUSTFLAGS="--cfg fuzzing -Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 \
-Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-pc-table \
-Cllvm-args=-sanitizer-coverage-trace-compares -Ccodegen-units=1" \
    cargo build --quiet --release --locked --target "$host" --bin "$target"

mkdir -p "corpus/$target" "crashes/$target" logs
status=0
"${CARGO_TARGET_DIR:-target}/$host/release/$target" \
    "corpus/$target" "seeds/$target" -artifact_prefix="crashes/$target/" \
    -max_total_time="$seconds" -max_len=16384 -rss_limit_mb=2048 -timeout=20 \
    -print_final_stats=1 >"logs/$target" 2>&1 || status=$?

executions=$(sed -n 's/^stat::number_of_executed_units: *//p' "logs/$target")
coverage=$(sed -n 's/.* cov: \([0-9]*\).*/\1/p' "logs/$target" | tail -n 1)
# Inputs that were only slow are kept too, but are no crash.
crashes=$(find "crashes/$target" -type f ! -name 'slow-unit-*' | wc -l)
printf '%-8s %9s executions, %6s edges, %s crashes\n' \
    "$target" "${executions:-?}" "${coverage:-?}" "$crashes"
if [ "$status" -ne 0 ]; then
    tail -n 30 "logs/$target" >&2
    exit 1
fi
