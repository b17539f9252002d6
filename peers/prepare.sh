#!/bin/sh
# Installs what peers/stream_learners.py needs: a virtual environment with River and CapyMOA, and Java for
# CapyMOA. Anything already installed is left alone.
set -eu
cd "$(dirname "$0")"

fail() {
    echo "peers: $*" >&2
    exit 1
}

packages=
command -v java >/dev/null || packages="$packages openjdk-17-jre-headless"
python3 -c 'import ensurepip, venv' 2>/dev/null || packages="$packages python3-venv"
if [ -n "$packages" ]; then
    command -v apt-get >/dev/null ||
        fail "this needs the Debian packages$packages, and there is no apt-get here to install them"
    if [ "$(id -u)" -eq 0 ]; then
        as_root=
    else
        command -v sudo >/dev/null || fail "sudo is missing: install$packages as root, then try again"
        as_root=sudo
    fi
    echo "peers: installing$packages" >&2
    $as_root apt-get update --quiet
    # shellcheck disable=SC2086 # a list of packages
    $as_root env DEBIAN_FRONTEND=noninteractive apt-get install --quiet --yes --no-install-recommends $packages
fi

if ! cmp --quiet requirements.txt .venv/requirements.txt; then
    echo "peers: creating peers/.venv with the packages of requirements.txt (600 MB)" >&2
    python3 -m venv .venv
    .venv/bin/python -m pip install --quiet --disable-pip-version-check --requirement requirements.txt
    cp requirements.txt .venv/requirements.txt
fi
.venv/bin/python -m unittest --quiet
