#!/bin/sh
# Creates .venv with what the tests of the Python package need, and installs Java for CapyMOA. Anything already
# installed is left alone.
set -eu
cd "$(dirname "$0")/.."

fail() {
    echo "python: $*" >&2
    exit 1
}

python=${PYTHON:-python3}
packages=
command -v "$python" >/dev/null || packages="$packages python3"
command -v java >/dev/null || packages="$packages openjdk-17-jre-headless"
"$python" -c 'import ensurepip, venv' 2>/dev/null || packages="$packages python3-venv"
if [ -n "$packages" ]; then
    command -v apt-get >/dev/null ||
        fail "this needs the Debian packages$packages, and there is no apt-get here to install them"
    if [ "$(id -u)" -eq 0 ]; then
        as_root=
    else
        command -v sudo >/dev/null || fail "sudo is missing: install$packages as root, then try again"
        as_root=sudo
    fi
    echo "python: installing$packages" >&2
    $as_root apt-get update --quiet
    # shellcheck disable=SC2086 # a list of packages
    $as_root env DEBIAN_FRONTEND=noninteractive apt-get install --quiet --yes --no-install-recommends $packages
fi
"$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' ||
    fail "the tests need Python 3.11 or later, which CapyMOA is for; the package itself needs 3.10"

if ! cmp -s python/requirements.txt .venv/requirements.txt; then
    echo "python: making .venv with the packages of python/requirements.txt (1 GB)" >&2
    "$python" -m venv .venv
    .venv/bin/python -m pip install --quiet --disable-pip-version-check --no-compile \
        --requirement python/requirements.txt
    cp python/requirements.txt .venv/requirements.txt
fi
