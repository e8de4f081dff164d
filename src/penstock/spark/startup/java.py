"""Finds a Java that Spark 4.3 can run on."""

from __future__ import annotations

import glob
import os
import re
import shutil
import subprocess
from pathlib import Path

from penstock.core.errors import JavaError

__all__ = ["check_java", "find_java", "version_of"]

_OLDEST, _VECTORS = 17, "jdk.incubator.vector"
_NEEDED = f"Spark 4.3 needs Java {_OLDEST} or newer with the module {_VECTORS}"
_HELP = "Install one (Debian: apt-get install openjdk-17-jre-headless) and set JAVA_HOME to it"


def find_java() -> str:
    """The JAVA_HOME to use; called before a JVM is started.

    If the environment sets JAVA_HOME, that Java must be suitable; else PATH and /usr/lib/jvm are searched. Raises
    JavaError, which says what is wrong with each Java that was found.
    """
    home = os.environ.get("JAVA_HOME")
    if home:
        problem = check_java(home)
        if problem:
            raise JavaError(f"JAVA_HOME={home}: {problem}. {_NEEDED}. {_HELP}")
        return home
    tried = []
    for candidate in _candidates():
        problem = check_java(candidate)
        if problem is None:
            return candidate
        tried.append(f"{candidate}: {problem}")
    found = "; ".join(tried) if tried else "none was found on PATH or in /usr/lib/jvm"
    raise JavaError(f"No suitable Java: {found}. {_NEEDED}. {_HELP}")


def _candidates() -> list[str]:
    on_path = shutil.which("java")
    homes = [os.path.dirname(os.path.dirname(os.path.realpath(on_path)))] if on_path else []
    return homes + [h for h in sorted(glob.glob("/usr/lib/jvm/*")) if os.path.isdir(h)]


def check_java(home: str) -> str | None:
    """What is wrong with the Java in a folder; None if Spark can run on it."""
    java = os.path.join(home, "bin", "java")
    if not os.access(java, os.X_OK):
        return "has no bin/java"
    if _release_fits(home):
        return None
    try:
        answer = subprocess.run([java, "--list-modules"], capture_output=True, text=True, timeout=600)
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"does not start ({error})"
    version = re.search(r"java\.base@(\d+)", answer.stdout)
    if version is None or int(version.group(1)) < _OLDEST:
        return f"is version {version.group(1)}" if version else "does not know its modules (older than 9?)"
    if _VECTORS not in answer.stdout:
        return f"lacks the module {_VECTORS}"
    return None


def _release_fits(home: str) -> bool:
    """Whether the file `release`, which most Javas bring with them, says so: starting that Java takes longer."""
    try:
        note = Path(home, "release").read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return False
    version = re.search(r'^JAVA_VERSION="(\d+)', note, re.MULTILINE)
    modules = re.search(r'^MODULES="([^"]*)"', note, re.MULTILINE)
    return (
        version is not None
        and int(version.group(1)) >= _OLDEST
        and modules is not None
        and _VECTORS in modules.group(1).split()
    )


def version_of(home: str) -> str:
    """The version of a suitable Java, e.g. `17.0.12`; `penstock doctor` shows it."""
    answer = subprocess.run([os.path.join(home, "bin", "java"), "--list-modules"], capture_output=True, text=True)
    found = re.search(r"java\.base@(\S+)", answer.stdout)
    return found.group(1) if found else "unknown"
