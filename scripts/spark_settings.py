"""Write the names of Spark's settings to src/penstock/core/config/spark_settings.txt.

Run in the project's environment, with a Java, the output sent to that file: `python -m scripts.spark_settings`. Most
names come from Spark's own registry, which fills when its configuration objects are loaded; the others, which Spark
reads without registering them, come from the constants of its classes.
"""

from __future__ import annotations

import re
import zipfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pyspark
from py4j.protocol import Py4JJavaError
from pyspark.sql import SparkSession

REGISTRY = "org.apache.spark.internal.config.ConfigEntry$"
NAME = re.compile(rb"spark\.[a-z][A-Za-z0-9]*(?:\.[A-Za-z0-9-]+)+|spark\.(?:master|jars|files|plugins|archives)")


def main() -> None:
    jars = sorted(Path(pyspark.__file__).parent.glob("jars/spark-*.jar"))
    spark = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false").getOrCreate()
    names = {*registered(spark._jvm, jars), *constants(jars)}
    print(f"# Settings of Spark {pyspark.__version__}. Written by scripts/spark_settings.py.")
    print("\n".join(sorted(names)))
    spark.stop()


def registered(jvm: Any, jars: Iterable[Path]) -> Iterator[str]:
    """What is in the registry once every object that may define settings has been loaded."""
    for name in _classes(jars):
        if re.search(r"[Cc]onf(ig)?\w*(\.package)?\$$", name):
            try:
                jvm.java.lang.Class.forName(name)
            except Py4JJavaError:  # needs classes of a cluster manager that is not installed
                continue
    registry = jvm.java.lang.Class.forName(REGISTRY)
    field = registry.getDeclaredField("knownConfigs")
    field.setAccessible(True)
    yield from field.get(registry.getField("MODULE$").get(None)).keySet()


def _classes(jars: Iterable[Path]) -> Iterator[str]:
    for jar in jars:
        for name in zipfile.ZipFile(jar).namelist():
            if name.startswith("org/apache/spark/") and name.endswith(".class"):
                yield name.removesuffix(".class").replace("/", ".")


def constants(jars: Iterable[Path]) -> Iterator[str]:
    """Texts of the form of a setting in the constant pools; a text there follows its length in two bytes."""
    for jar in jars:
        archive = zipfile.ZipFile(jar)
        for name in archive.namelist():
            if name.endswith(".class") and "/test" not in name:
                data = archive.read(name)
                for found in NAME.finditer(data):
                    if data[found.start() - 2 : found.start()] == len(found[0]).to_bytes(2, "big"):
                        yield found[0].decode()


if __name__ == "__main__":
    main()
