"""Finding a Java: what is wrong with one is said in a line (P9)."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from penstock.core.errors import JavaError
from penstock.spark.startup import java


def fake(folder: Path, script: str) -> str:
    binary = folder / "bin" / "java"
    binary.parent.mkdir(parents=True)
    binary.write_text(f"#!/bin/sh\n{script}\n")
    binary.chmod(0o755)
    return str(folder)


GOOD = "echo java.base@17.0.1; echo jdk.incubator.vector@17.0.1"


@pytest.mark.parametrize(
    ("script", "problem"),
    [
        (GOOD, None),
        ("echo java.base@21; echo jdk.incubator.vector@21", None),
        ("echo java.base@11.0.2; echo jdk.incubator.vector@11", "is version 11"),
        ("echo java.base@17.0.1", "lacks the module jdk.incubator.vector"),
        ("echo unrecognised option >&2; exit 1", "does not know its modules (older than 9?)"),
    ],
)
def test_a_java_is_judged_by_its_modules(tmp_path: Path, script: str, problem: str | None) -> None:
    """P9"""
    assert java.check_java(fake(tmp_path, script)) == problem


@pytest.mark.parametrize(
    ("version", "modules", "fits"),
    [("17.0.1", "java.base jdk.incubator.vector", True), ("11.0.2", "jdk.incubator.vector", False), ("17", "x", False)],
)
def test_a_java_that_says_that_it_fits_is_not_asked(tmp_path: Path, version: str, modules: str, fits: bool) -> None:
    """P9: one that does not say so is."""
    home = fake(tmp_path, "echo java.base@8")
    (tmp_path / "release").write_text(f'JAVA_VERSION="{version}"\nMODULES="{modules}"\n')
    assert java.check_java(home) == (None if fits else "is version 8")


def test_a_folder_without_java_is_told(tmp_path: Path) -> None:
    """P9"""
    assert java.check_java(str(tmp_path)) == "has no bin/java"


def test_a_java_home_that_does_not_fit_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """P9: it was set on purpose, so nothing else is tried."""
    monkeypatch.setenv("JAVA_HOME", fake(tmp_path, "echo java.base@8"))
    with pytest.raises(JavaError, match=r"JAVA_HOME=.*: is version 8\. Spark 4\.3 needs Java 17 or newer.*Install one"):
        java.find_java()
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "missing"))
    with pytest.raises(JavaError, match=r"JAVA_HOME=.*missing: has no bin/java"):
        java.find_java()


def test_a_java_on_the_path_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home = fake(tmp_path / "good", GOOD)
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", f"{home}/bin:/bin:/usr/bin")
    assert java.find_java() == home


def test_without_any_java_one_line_says_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """P9"""
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(java.glob, "glob", lambda pattern: [])
    with pytest.raises(
        JavaError, match=r"No suitable Java: none was found on PATH or in /usr/lib/jvm.*apt-get install"
    ):
        java.find_java()
    old = fake(tmp_path / "old", "echo java.base@8")
    monkeypatch.setattr(java.glob, "glob", lambda pattern: [old])
    with pytest.raises(JavaError, match=r"No suitable Java: .*old: is version 8\. Spark"):
        java.find_java()


def test_looking_for_java_needs_neither_pyspark_nor_a_jvm() -> None:
    script = (
        "import sys, penstock.spark.startup.java, penstock.datastream;"
        "print([m for m in sys.modules if m.partition('.')[0] in ('py4j', 'pyspark')])"
    )
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)}
    answer = subprocess.run([sys.executable, "-c", script], env=env, capture_output=True, text=True, check=True)
    assert answer.stdout.strip() == "[]"
