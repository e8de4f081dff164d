#!/bin/sh
# Prints the folder of PostgreSQL's programs (initdb, postgres), which the tests start a server of their own with.
# Looked for on PATH, then where Debian puts them; else installed if we may (root, apt-get).
set -eu

suits() { [ -x "$1/initdb" ] && [ -x "$1/postgres" ]; }

# The newest first. A link on PATH may point to the folder that has the rest.
find_postgres() {
    for folder in "$(on_path)" $(ls -d /usr/lib/postgresql/*/bin 2>/dev/null | sort -rV) \
        /usr/local/pgsql/bin /opt/homebrew/opt/postgresql*/bin; do
        if [ -n "$folder" ] && suits "$folder"; then echo "$folder"; return; fi
    done
    return 1
}

on_path() {
    program=$(command -v postgres) || return 0
    dirname "$(readlink -f "$program")"
}

may_install() { [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; }

# Debian would make a cluster of its own and start it: the tests need the programs only.
install_postgres() {
    export DEBIAN_FRONTEND=noninteractive
    echo "penstock: no PostgreSQL found; installing it with apt-get" >&2
    apt-get update -q >&2
    mkdir -p /etc/postgresql-common
    [ -e /etc/postgresql-common/createcluster.conf ] ||
        echo "create_main_cluster = false" >/etc/postgresql-common/createcluster.conf
    apt-get install -q -y --no-install-recommends postgresql >&2
}

find_postgres && exit
if may_install && install_postgres && find_postgres; then exit; fi
echo "penstock: the tests need PostgreSQL's initdb and postgres:" \
    "install them (Debian: apt-get install postgresql), or put them on PATH" >&2
exit 1
