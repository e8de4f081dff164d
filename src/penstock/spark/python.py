"""The Python that an embedded Spark starts its processes with: this one, by way of a script that mends its path.

Spark puts PySpark in front of the path as a zip, and from a zip every import compiles anew, half a second for each
process; a streaming job starts five, one after the other. The PySpark that the zip is part of is installed, and has
been compiled.
"""

from __future__ import annotations

import os
import shlex
import sys
from contextlib import suppress

from penstock.core.whole_files import write_whole
from penstock.spark.cache import cache_folder, digest
from penstock.spark.settings import pyspark_folder

__all__ = ["worker_python"]

_SCRIPT = """#!/bin/sh
zip={zip}
PYTHONPATH="${{PYTHONPATH#"$zip":}}" exec {python} "$@"
"""


def worker_python(master: str) -> str:
    """What Spark is to start; a Python that PYSPARK_PYTHON names is left alone, and so are other machines."""
    named = os.environ.get("PYSPARK_PYTHON", sys.executable)
    return _quick_python() if named == sys.executable and master.startswith("local") else named


def _quick_python() -> str:
    """The script; this Python itself where Spark is another one than that which is installed, or no script can be."""
    home = pyspark_folder()
    if os.environ.get("SPARK_HOME", home) != home:
        return sys.executable
    zipped = os.path.join(home, "python", "lib", "pyspark.zip")
    text = _SCRIPT.format(zip=shlex.quote(zipped), python=shlex.quote(sys.executable))
    script = cache_folder() / f"python-{digest(text)}"
    with suppress(OSError):
        if not script.exists():
            script.parent.mkdir(parents=True, exist_ok=True)
            write_whole(script, text, 0o755)
    return str(script) if os.access(script, os.X_OK) else sys.executable
