"""The driver's JVM: its options before it starts."""

import os
from pathlib import Path
from typing import Any

import pytest

from penstock.core.config import Configuration
from penstock.core.errors import ConfigurationError
from penstock.spark.startup.jvm import prepare_jvm
from penstock.spark.startup.session import _no_lookup_of_sources

QUICK = "-XX:TieredStopAtLevel=1"


@pytest.mark.parametrize(
    ("given", "compiler", "quick"),
    [("", "quick", 1), ("", "full", 0), ("-XX:-TieredCompilation", "quick", 0), (QUICK, "quick", 1)],
)
def test_the_quick_compiler_unless_something_else_is_said(
    monkeypatch: pytest.MonkeyPatch, given: str, compiler: str, quick: int
) -> None:
    """P2, P12: what the user's environment says of compilers wins."""
    monkeypatch.setenv("SPARK_SUBMIT_OPTS", f"-XX:SharedArchiveFile=none {given}")
    prepare_jvm(Configuration({"penstock.jvm.compiler": compiler}))
    assert os.environ["SPARK_SUBMIT_OPTS"].count(QUICK) == quick


def test_an_unknown_compiler_is_refused() -> None:
    """P9"""
    with pytest.raises(ConfigurationError, match=r"jvm\.compiler must be one of quick, full, got 'c2'"):
        prepare_jvm(Configuration({"penstock.jvm.compiler": "c2"}))


def test_installed_data_sources_are_still_looked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Only where no module can be one is Spark told that there are none."""
    session: Any = None
    with pytest.raises(AttributeError, match="_jvm"):
        _no_lookup_of_sources(session)
    (tmp_path / "pyspark_own.py").touch()
    monkeypatch.syspath_prepend(tmp_path)
    _no_lookup_of_sources(session)
