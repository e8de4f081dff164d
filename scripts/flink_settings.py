"""Write the names of Flink's settings, newest and older, to src/penstock/core/config/flink_settings.txt.

Run in PyFlink's own environment, with a Java, the output sent to that file: `python scripts/flink_settings.py`. The
options are read out of the installed jars by reflection: each line is a setting's name, followed by the deprecated
names that Flink still takes for it, the latest first. Options of table connectors and formats are left out: they belong
to a table's definition, not to a configuration.
"""

from __future__ import annotations

import os
import sys
import zipfile
from collections.abc import Iterable, Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Any

OPTION = "org.apache.flink.configuration.ConfigOption"
STATIC = 8
OF_TABLES = (
    "org.apache.flink.connector.",
    "org.apache.flink.formats.",
    "org.apache.flink.table.",
    "org.apache.flink.streaming.api.graph.",
)


def main() -> None:
    found: dict[str, list[str]] = {}
    for key, older in options():
        names = found.setdefault(key, [])
        names.extend(name for name in older if name not in names and name != key)
    print(f"# Settings of Flink {version('apache-flink')} and their older names. Written by scripts/flink_settings.py.")
    for key in sorted(found):
        print(" ".join([key, *found[key]]))


def options() -> Iterator[tuple[str, list[str]]]:
    """Every option of the jars: its key and its deprecated keys."""
    from pyflink.java_gateway import get_gateway  # type: ignore[import-not-found]

    jvm = get_gateway().jvm
    for name in option_classes(jars()):
        for option in static_options(jvm, name):
            key = option.key()
            if "." in key and key[0].isalpha():
                yield key, [k.getKey() for k in option.fallbackKeys() if k.isDeprecated()]


def jars() -> list[Path]:
    import pyflink  # type: ignore[import-not-found]

    home = Path(os.path.dirname(pyflink.__file__))
    return sorted([*home.glob("lib/*.jar"), *home.glob("opt/flink-python*.jar")])


def option_classes(paths: Iterable[Path]) -> Iterator[str]:
    for path in paths:
        for name in zipfile.ZipFile(path).namelist():
            dotted = name.removesuffix(".class").replace("/", ".")
            named = "Option" in dotted or "Config" in dotted
            ours = (
                dotted.startswith("org.apache.flink.") and not dotted.startswith(OF_TABLES) and ".shaded." not in dotted
            )
            if name.endswith(".class") and "$" not in name and named and ours:
                yield dotted


def static_options(jvm: Any, name: str) -> Iterator[Any]:
    from py4j.protocol import Py4JJavaError

    try:
        fields = list(jvm.java.lang.Class.forName(name).getDeclaredFields())
    except Py4JJavaError:  # needs classes that are not installed
        print(f"left out: {name}", file=sys.stderr)
        return
    for field in fields:
        if field.getType().getName() == OPTION and field.getModifiers() & STATIC:
            field.setAccessible(True)
            yield field.get(None)


if __name__ == "__main__":
    main()
