"""The class-data archive: it fits what stands on the disk, and one that does not is never heard of (P8)."""

import os
import shutil
import subprocess
from pathlib import Path

import pyspark
import pytest

from penstock.spark.startup import archive
from penstock.spark.startup.java import find_java

JARS = Path(pyspark.__file__).with_name("jars")


def _places(tmp_path: Path) -> tuple[str, Path]:
    java, jars = tmp_path / "java", tmp_path / "jars"
    java.mkdir()
    jars.mkdir()
    (java / "release").write_text("17")
    (jars / "one.jar").write_text("1")
    return str(java), jars


@pytest.mark.parametrize(
    "change",
    [
        lambda java, jars: (jars / "one.jar").write_text("12"),
        lambda java, jars: (jars / "one.jar").rename(jars / "two.jar"),
        lambda java, jars: os.utime(jars / "one.jar", (5, 5)),
        lambda java, jars: Path(java, "release").write_text("18"),
    ],
    ids=["a jar", "its name", "its date", "Java"],
)
def test_what_is_installed_anew_has_an_archive_of_its_own(tmp_path: Path, change) -> None:  # type: ignore[no-untyped-def]
    java, jars = _places(tmp_path)
    before = archive.archive_path(java, jars)
    assert archive.archive_path(java, jars) == before
    change(java, jars)
    after = archive.archive_path(java, jars)
    assert before != after
    assert before.name.rpartition("-")[0] == after.name.rpartition("-")[0], "the places are the same"


def test_a_new_archive_takes_the_place_of_the_older_ones(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each is 180 MB."""
    for name in ("jvm-here-old.jsa", "jvm-here-old.lock", "jvm-there-old.jsa"):
        (tmp_path / name).touch()

    def run(command: list[str], env: dict[str, str], **_: object) -> None:
        options = env["SPARK_SUBMIT_OPTS"].split()
        Path(options[0].removeprefix("-XX:ArchiveClassesAtExit=")).touch()

    monkeypatch.setattr(subprocess, "run", run)
    archive.make_archive(tmp_path / "jvm-here-new.jsa")
    assert sorted(path.name for path in tmp_path.glob("*.jsa")) == ["jvm-here-new.jsa", "jvm-there-old.jsa"]


def test_the_archives_used_last_stay(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each virtual environment has one of 175 MB; those that are gone must not pile up."""
    for age, name in enumerate(("jvm-a-1", "jvm-b-1", "jvm-c-1", "jvm-d-1")):
        for ending in (".jsa", ".lock"):
            (tmp_path / f"{name}{ending}").touch()
            os.utime(tmp_path / f"{name}{ending}", (1_000 - age, 1_000 - age))

    def run(command: list[str], env: dict[str, str], **_: object) -> None:
        Path(env["SPARK_SUBMIT_OPTS"].split()[0].removeprefix("-XX:ArchiveClassesAtExit=")).touch()

    monkeypatch.setattr(subprocess, "run", run)
    archive.make_archive(tmp_path / "jvm-e-1.jsa")
    assert sorted(path.stem for path in tmp_path.glob("*.jsa")) == ["jvm-a-1", "jvm-b-1", "jvm-e-1"]
    assert sorted(path.stem for path in tmp_path.glob("*.lock")) == ["jvm-a-1", "jvm-b-1", "jvm-e-1"]


def test_an_archive_that_is_used_counts_as_new(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    java, _ = _places(tmp_path)
    chosen = archive.archive_path(java, JARS)
    chosen.parent.mkdir(parents=True)
    chosen.touch()
    os.utime(chosen, (5, 5))
    assert str(chosen) in archive.archive_option(java)
    assert chosen.stat().st_mtime > 5


@pytest.mark.spark
def test_an_archive_that_does_not_fit_says_nothing_on_standard_output(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """P8: there the job prints. The jar's date is changed behind our back, after the archive was chosen."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    java = find_java()
    chosen = archive.archive_path(java, JARS)
    chosen.parent.mkdir(parents=True)
    jar = Path(shutil.copy(next(JARS.glob("ivy-*.jar")), tmp_path))

    def version(*options: str) -> str:
        command = [f"{java}/bin/java", *options, "-cp", str(jar), "org.apache.ivy.Main", "-version"]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout

    plain = version(f"-XX:ArchiveClassesAtExit={chosen}")
    assert "Ivy" in plain
    os.utime(jar, (5, 5))
    assert "failed to load" in version(f"-XX:SharedArchiveFile={chosen}", "-Xshare:auto"), "the JVM refuses it"
    assert version(*archive.archive_option(java).split()) == version()
