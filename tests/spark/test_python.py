"""The Python that an embedded Spark starts: this one, with PySpark where it has been compiled."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from penstock.spark.startup.places import pyspark_folder
from penstock.spark.startup.workers import worker_python

ZIP = os.path.join(pyspark_folder(), "python", "lib", "pyspark.zip")


@pytest.fixture(autouse=True)
def alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.delenv("SPARK_HOME", raising=False)
    monkeypatch.delenv("PYSPARK_PYTHON", raising=False)


def path_of(python: str, path: str) -> list[str]:
    look = [python, "-c", "import os, sys; print(os.environ['PYTHONPATH'], sys.executable)"]
    answer = subprocess.run(look, env={**os.environ, "PYTHONPATH": path}, capture_output=True, text=True, check=True)
    return answer.stdout.split()


def test_the_zip_is_taken_from_the_front_of_the_path_and_nothing_else() -> None:
    script = worker_python("local[2]")
    assert script != sys.executable
    assert worker_python("local") == script
    assert path_of(script, f"{ZIP}:/a:/b") == ["/a:/b", sys.executable]
    assert path_of(script, f"/a:{ZIP}") == [f"/a:{ZIP}", sys.executable]


def test_a_python_that_was_chosen_and_other_machines_are_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """P2"""
    assert worker_python("spark://host:7077") == sys.executable
    monkeypatch.setenv("PYSPARK_PYTHON", "/opt/python")
    assert worker_python("local[2]") == "/opt/python"


def test_another_spark_has_another_pyspark(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SPARK_HOME", "/opt/spark")
    assert worker_python("local[2]") == sys.executable


def test_where_no_script_can_be_written_there_is_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    assert worker_python("local[2]") == sys.executable
