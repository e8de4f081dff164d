#!/bin/sh
# Usage: lock.sh FILE
# Writes the versions that a fresh environment gets for penstock[dev] and its build backend: names and versions only.
set -eu
here=$(dirname "$0")
venv=$(mktemp -d)
trap 'rm -rf "$venv"' EXIT
"$here/ensure_venv.sh" "$venv"
"$venv/bin/python" -m pip install --quiet --upgrade "setuptools>=77" --editable "$here/..[dev]"
{
    echo "# Versions for development and tests, written by \`make lock\`."
    "$venv/bin/python" -m pip list --format=freeze --exclude pip --exclude penstock
} >"$venv/lock"
cp "$venv/lock" "$1"
