"""cache(): computed once, read by later jobs (O1)."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from penstock.common import Configuration, WatermarkStrategy
from penstock.core.errors import ProgramError, UserFunctionError
from penstock.datastream import ProcessFunction, StreamExecutionEnvironment
from penstock.datastream.connectors.datagen import DataGeneratorSource
from penstock.testing import At, ScriptedSource

LOCAL = Configuration({"penstock.host": "local"})


def noting(path: Path, fail: bool = False) -> Any:
    def note(value: Any) -> Any:
        with path.open("a") as file:
            file.write(f"{value}\n")
        if fail and not path.with_suffix(".ok").exists():
            raise ValueError("not yet")
        return value * 10

    return note


@pytest.mark.parametrize("parallelism", [1, 3])
def test_a_cached_stream_is_computed_once(tmp_path: Path, parallelism: int) -> None:
    """O1"""
    env = StreamExecutionEnvironment(LOCAL).set_parallelism(parallelism)
    stream = env.from_collection([1, 2, 3]).rebalance().map(noting(tmp_path / "calls")).cache()
    assert sorted(stream.execute_and_collect()) == [10, 20, 30]
    assert sorted(stream.map(lambda v: v + 1).execute_and_collect()) == [11, 21, 31]
    assert sorted((tmp_path / "calls").read_text().split()) == ["1", "2", "3"]
    stream.invalidate()
    assert sorted(stream.execute_and_collect()) == [10, 20, 30]
    assert len((tmp_path / "calls").read_text().split()) == 6


def test_timestamps_are_kept(tmp_path: Path) -> None:
    """O1, T8"""

    class Stamp(ProcessFunction):
        def process_element(self, value: Any, ctx: Any) -> Iterator[Any]:
            yield value, ctx.timestamp()

    env = StreamExecutionEnvironment(LOCAL)
    source = ScriptedSource([[At(5, "a"), At(None, "b")]])
    stream = env.from_source(source, WatermarkStrategy.no_watermarks(), "script").cache()
    first = list(stream.process(Stamp()).execute_and_collect())
    assert list(stream.process(Stamp()).execute_and_collect()) == first == [("a", 5), ("b", None)]


def test_a_job_that_failed_fills_nothing(tmp_path: Path) -> None:
    """O1"""
    env = StreamExecutionEnvironment(LOCAL)
    stream = env.from_collection([1, 2]).map(noting(tmp_path / "calls", fail=True)).cache()
    with pytest.raises(UserFunctionError, match="not yet"):
        list(stream.execute_and_collect())
    (tmp_path / "calls.ok").touch()
    assert list(stream.execute_and_collect()) == [10, 20]
    assert list(stream.execute_and_collect()) == [10, 20]
    assert (tmp_path / "calls").read_text().split() == ["1", "1", "2"]


def test_an_empty_stream_and_an_unbounded_one() -> None:
    """O1, P9"""
    env = StreamExecutionEnvironment(LOCAL)
    empty = env.from_collection([1]).filter(lambda v: v > 5).cache()
    assert list(empty.execute_and_collect()) == list(empty.execute_and_collect()) == []
    endless = env.from_source(DataGeneratorSource(lambda i: i), WatermarkStrategy.no_watermarks(), "endless")
    with pytest.raises(ProgramError, match=r"cache\(\) needs a bounded stream, but source 'Source: endless'"):
        endless.map(lambda v: v).cache()
