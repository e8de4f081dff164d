#!/bin/sh
# Usage: ensure_venv.sh DIR
# Makes a virtual environment with pip in DIR, from $PYTHON or the first Python >= 3.11 that really runs.
# An environment that already works is left alone.
set -eu
venv=$1

fail() { echo "penstock: $*" >&2; exit 1; }

# A version manager's shim may exist and still fail, so a candidate counts only once it has run.
runs() { "$1" -c 'import sys; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1; }

find_python() {
    for candidate in ${PYTHON:-python3.13 python3.12 python3.11 python3}; do
        if runs "$candidate"; then echo "$candidate"; return; fi
    done
    fail "no working Python 3.11 or newer found; install one, or name it: make PYTHON=/path/to/python"
}

has_pip() { "$venv/bin/python" -m pip --version >/dev/null 2>&1; }

can_apt() { [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; }

# Debian ships ensurepip apart from Python. Where pip itself is there it can furnish the environment.
make_without_ensurepip() {
    "$1" -m venv --clear --without-pip "$venv" &&
        "$1" -m pip --python "$venv/bin/python" install --quiet pip >&2
}

install_ensurepip() {
    version=$("$1" -c 'import sys; print("python%d.%d" % sys.version_info[:2])')
    apt-get update -q >&2 && DEBIAN_FRONTEND=noninteractive apt-get install -q -y "$version-venv" >&2
}

if runs "$venv/bin/python" && has_pip; then exit 0; fi
python=$(find_python)
if "$python" -c 'import ensurepip' 2>/dev/null; then
    "$python" -m venv --clear "$venv"
elif make_without_ensurepip "$python" 2>/dev/null; then
    :
elif can_apt && install_ensurepip "$python"; then
    "$python" -m venv --clear "$venv"
fi
has_pip || fail "cannot make $venv: $python lacks ensurepip; install it (Debian: apt-get install python3-venv)"
