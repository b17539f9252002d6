#!/usr/bin/env bash
# Runs the experiments behind docs/explanation/accuracy.md and puts their tables into that page.
#
#   docs/explanation/accuracy.sh BROADSTREAM [DATA]
#
# BROADSTREAM is the program, DATA the folder with the datasets. Finished runs are kept in results/, so
# that an interrupted run continues where it stopped.
set -euo pipefail
program=${1:?which program?}
cd "$(dirname "$0")/../.."
page=docs/explanation/accuracy.md
data=()
if [ -n "${2:-}" ]; then data=(--data "$2"); fi

# Puts a file between the lines <!-- begin NAME --> and <!-- end NAME --> of the page.
insert() {
    awk -v name="$1" -v file="$2" '
        $0 == "<!-- end " name " -->" { skip = 0 }
        !skip { print }
        $0 == "<!-- begin " name " -->" {
            skip = 1
            print ""
            while ((getline line < file) > 0) print line
            print ""
        }' "$page" > "$page.new"
    mv "$page.new" "$page"
}

for experiment in accuracy parts; do
    "$program" experiment "$experiment" ${data[@]+"${data[@]}"} > /dev/null
    for table in results/"$experiment"/*.md; do
        insert "$experiment/$(basename "$table" .md)" "$table"
    done
done
echo "$page"
