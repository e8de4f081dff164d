#!/bin/sh
# Usage: lock_docs.sh FILE
# Writes the versions that a fresh environment gets for building the guide: names and versions only.
set -eu
here=$(dirname "$0")
venv=$(mktemp -d)
trap 'rm -rf "$venv"' EXIT
"$here/ensure_venv.sh" "$venv"
# mkdocs: Markdown to a site; material: its look and its search
"$venv/bin/python" -m pip install --quiet mkdocs mkdocs-material
{
    echo "# Versions for building the guide, written by \`make lock-docs\`."
    "$venv/bin/python" -m pip list --format=freeze --exclude pip --exclude setuptools
} >"$venv/lock"
cp "$venv/lock" "$1"
