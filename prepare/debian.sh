#!/bin/sh
# Installs those of the named Debian packages that are missing:
#
#   prepare/debian.sh g++ libeigen3-dev
set -eu

fail() {
    echo "prepare: $*" >&2
    exit 1
}

installed() {
    dpkg-query --show --showformat='${db:Status-Status}\n' "$1" 2>/dev/null | grep -qx installed
}

missing=
for package in "$@"; do
    installed "$package" || missing="$missing $package"
done
[ -n "$missing" ] || exit 0
command -v apt-get >/dev/null ||
    fail "this needs the Debian packages$missing, and there is no apt-get here to install them"
if [ "$(id -u)" -eq 0 ]; then
    as_root=
else
    command -v sudo >/dev/null || fail "sudo is missing: install$missing as root, then try again"
    as_root=sudo
fi
echo "prepare: installing$missing" >&2
$as_root apt-get update --quiet
# shellcheck disable=SC2086 # a list of packages
$as_root env DEBIAN_FRONTEND=noninteractive apt-get install --quiet --yes --no-install-recommends $missing
