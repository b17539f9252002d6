#!/bin/sh
# Brings what the benchmark compares with: Debian's Eigen, qrupdate and OpenBLAS, and a Python of its
# own with numpy and scipy. What is there already is left alone.
set -eu
cd "$(dirname "$0")"

fail() {
    echo "bench: $*" >&2
    exit 1
}

installed() {
    dpkg-query --show --showformat='${db:Status-Status}\n' "$1" 2>/dev/null | grep -qx installed
}

packages='g++ libeigen3-dev libopenblas-dev libqrupdate-dev'
python3 -c 'import ensurepip, venv' 2>/dev/null || packages="$packages python3-venv"
missing=
for package in $packages; do
    installed "$package" || missing="$missing $package"
done
if [ -n "$missing" ]; then
    command -v apt-get >/dev/null ||
        fail "the benchmark needs the Debian packages$missing, and there is no apt-get here to install them"
    if [ "$(id -u)" -eq 0 ]; then
        as_root=
    else
        command -v sudo >/dev/null || fail "sudo is missing: install$missing as root, then try again"
        as_root=sudo
    fi
    echo "bench: installing$missing" >&2
    $as_root apt-get update --quiet
    # shellcheck disable=SC2086 # a list of packages
    $as_root env DEBIAN_FRONTEND=noninteractive apt-get install --quiet --yes --no-install-recommends $missing
fi

if ! .venv/bin/python -c 'import numpy, scipy' 2>/dev/null; then
    echo "bench: creating bench/.venv with numpy and scipy" >&2
    python3 -m venv .venv
    .venv/bin/python -m pip install --quiet --disable-pip-version-check numpy scipy
fi
