#!/bin/sh
# Makes .venv, which all Python programs of this project share, and installs packages into it:
#
#   prepare/python.sh            # all of prepare/requirements.txt, which the tests need (1 GB)
#   prepare/python.sh ruff       # these alone, in the versions of that file
#
# What is there already is left alone.
set -eu
cd "$(dirname "$0")/.."

python=${PYTHON:-python3}
requirements=prepare/requirements.txt

# CapyMOA runs Java, and LightGBM is linked with a library of GCC that its package lacks. Without
# it the one test that runs LightGBM is skipped.
needs_java=$([ $# -eq 0 ] && echo yes || echo no)
needs_openmp=no
for package in "$@"; do
    if [ "$package" = capymoa ]; then needs_java=yes; fi
    if [ "$package" = lightgbm ]; then needs_openmp=yes; fi
done

missing=
command -v "$python" >/dev/null || missing="$missing python3"
"$python" -c 'import ensurepip, venv' 2>/dev/null || missing="$missing python3-venv"
if [ "$needs_java" = yes ]; then
    command -v java >/dev/null || missing="$missing openjdk-17-jre-headless"
fi
if [ "$needs_openmp" = yes ]; then
    /sbin/ldconfig -p | grep -q 'libgomp\.so\.1' || missing="$missing libgomp1"
fi
# shellcheck disable=SC2086 # a list of packages
[ -z "$missing" ] || prepare/debian.sh $missing

"$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' || {
    echo "prepare: the packages of $requirements need Python 3.11 or later; broadstream itself needs 3.10" >&2
    exit 1
}

# A copy of the file in .venv says that all of it is there.
if cmp -s $requirements .venv/requirements.txt; then exit 0; fi

[ -x .venv/bin/python ] || "$python" -m venv .venv
install() {
    .venv/bin/python -m pip install --quiet --disable-pip-version-check --no-compile "$@"
}
if [ $# -eq 0 ]; then
    echo "prepare: installing the packages of $requirements into .venv (1 GB)" >&2
    install --requirement $requirements
    cp $requirements .venv/requirements.txt
else
    install --constraint $requirements "$@"
fi
