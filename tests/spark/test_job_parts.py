"""The parts of a streaming job know nothing of Spark: what they need of it comes as an argument."""

import subprocess
import sys

import pytest

PARTS = ("committer", "control", "job_context", "metrics", "query_runner", "results", "supervisor")


@pytest.mark.process
def test_no_part_imports_pyspark() -> None:
    names = ", ".join(f"penstock.spark.streaming.{part}" for part in PARTS)
    look = f"import sys, {names}; print([m for m in sys.modules if m.partition('.')[0] in ('pyspark', 'py4j')])"
    answer = subprocess.run([sys.executable, "-c", look], capture_output=True, text=True, check=True)
    assert answer.stdout.strip() == "[]"
