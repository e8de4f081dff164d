#!/bin/sh
# Prints the paths of mariadb-install-db and mariadbd, which the tests start a server of their own with, a line each.
# Looked for on PATH and where Debian puts them; else installed if we may (root, apt-get).
set -eu

PATH="$PATH:/usr/sbin:/usr/local/sbin"

# The first calls my_print_defaults, which Debian keeps in another package.
find_mariadb() { command -v my_print_defaults >/dev/null && command -v mariadb-install-db && command -v mariadbd; }

may_install() { [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; }

# The core packages have the programs only: no service that would be started.
install_mariadb() {
    export DEBIAN_FRONTEND=noninteractive
    echo "penstock: no MariaDB found; installing it with apt-get" >&2
    apt-get update -q >&2
    apt-get install -q -y --no-install-recommends mariadb-server-core mariadb-client-core >&2
}

find_mariadb && exit
if may_install && install_mariadb && find_mariadb; then exit; fi
echo "penstock: the tests need MariaDB's mariadb-install-db and mariadbd:" \
    "install them (Debian: apt-get install mariadb-server-core mariadb-client-core), or put them on PATH" >&2
exit 1
