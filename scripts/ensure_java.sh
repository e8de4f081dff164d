#!/bin/sh
# Prints the JAVA_HOME to use: a Java 17 or newer that has the module jdk.incubator.vector, as Spark needs.
# Looked for in $JAVA_HOME, on PATH, then among the installed ones; else installed if we may (root, apt-get).
set -eu

suits() {
    [ -x "$1/bin/java" ] || return 1
    modules=$("$1/bin/java" --list-modules 2>/dev/null) || return 1
    version=$(echo "$modules" | sed -n 's/^java\.base@\([0-9]*\).*/\1/p')
    [ "${version:-0}" -ge 17 ] || return 1
    case $modules in *jdk.incubator.vector*) ;; *) return 1 ;; esac
}

# The java on PATH may be a link or a shim: ask it where it lives.
home_on_path() {
    java -XshowSettings:properties -version 2>&1 | sed -n 's/^ *java\.home = //p'
}

find_java() {
    # 17 and 21 first: the versions Spark is built and tested with.
    for home in "${JAVA_HOME:-}" "$(home_on_path)" \
        /usr/lib/jvm/*17* /usr/lib/jvm/*21* /usr/lib/jvm/* \
        /Library/Java/JavaVirtualMachines/*/Contents/Home; do
        if [ -n "$home" ] && suits "$home"; then echo "$home"; return; fi
    done
    return 1
}

may_install() { [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; }

# Newer Debian releases have 21 where older ones have 17.
install_java() {
    export DEBIAN_FRONTEND=noninteractive
    echo "penstock: no suitable Java found; installing one with apt-get" >&2
    apt-get update -q >&2
    for package in openjdk-17-jre-headless openjdk-21-jre-headless; do
        if apt-get install -q -y --no-install-recommends "$package" >&2; then return; fi
    done
    return 1
}

find_java && exit
if may_install && install_java && find_java; then exit; fi
echo "penstock: Spark needs Java 17 or newer with the module jdk.incubator.vector:" \
    "install one (Debian: apt-get install openjdk-17-jre-headless) and set JAVA_HOME" >&2
exit 1
