"""Sources in sequence (X1, F11)."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.common import WatermarkStrategy
from penstock.connectors.files.source import FileSource, StreamFormat
from penstock.connectors.sequences import (
    CollectionSource,
    DataGeneratorSource,
    NumberSequenceSource,
    RateLimiterStrategy,
)
from penstock.core.contracts.source import Source, SourceClock
from penstock.core.errors import ProgramError
from penstock.datastream import StreamExecutionEnvironment
from penstock.datastream.connectors.hybrid_source import HybridSource
from penstock.testing import LocalJob, collect, local_job

NOW = SourceClock(0, 0)


def hybrid(first: Source, *rest: Source) -> HybridSource:
    builder = HybridSource.builder(first)
    for source in rest:
        builder.add_source(source)
    return builder.build()


def job_of(source: HybridSource, parallelism: int) -> LocalJob:
    env = StreamExecutionEnvironment()
    stream = env.from_source(source, WatermarkStrategy.no_watermarks(), "hybrid")
    collect(stream.set_parallelism(source.split_parallelism(parallelism)), "out")
    return local_job(env, parallelism)


def forget(job: LocalJob) -> None:
    """A new driver knows the positions alone."""
    job.restart()
    (vertex,) = job.plan.sources
    made: Any = vertex.source
    made._known.clear()
    made._round.clear()
    made._switched_ms.clear()


@given(
    sizes=st.lists(st.tuples(st.sampled_from("cn"), st.integers(1, 12)), min_size=1, max_size=4),
    parallelism=st.integers(1, 3),
    data=st.data(),
)
def test_one_after_the_other(sizes: list[tuple[str, int]], parallelism: int, data: st.DataObject) -> None:
    """F1, F11: whatever the batches, lost ones and restarts, the concatenation; no source begins too early."""
    parts = [[(i, v) for v in range(size)] for i, (_, size) in enumerate(sizes)]
    sources = [
        CollectionSource(part) if kind == "c" else DataGeneratorSource(lambda v, i=i: (i, v), size)  # type: ignore[misc]
        for i, ((kind, size), part) in enumerate(zip(sizes, parts, strict=True))
    ]
    job = job_of(hybrid(*sources), parallelism)
    for _ in range(data.draw(st.integers(0, 12))):
        before = len(job.results.get("out", []))
        job.run_batch(data.draw(st.integers(1, 4)), commit=data.draw(st.booleans()))
        new = {i for i, _ in job.results.get("out", [])[before:]}
        done = {i for i, part in enumerate(parts) if set(part) <= set(job.results.get("out", [])[:before])}
        assert all(set(range(i)) <= done for i in new)
        if data.draw(st.booleans()):
            forget(job)
    if not job.finished:
        job.run([3, 2])
    expected = [v for part in parts for v in part]
    assert sorted(job.results["out"]) == expected
    if parallelism == 1:
        assert job.results["out"] == expected


def test_read_at_once_each_split_goes_through_all() -> None:
    """P11"""
    made = hybrid(NumberSequenceSource(1, 10), CollectionSource(["x", "y"]))
    splits = made.split_count(3, one_batch=True)
    found = [[v for vs, _ in made.read(s, splits, made.initial(s, splits), None) for v in vs] for s in range(splits)]
    together = [str(v) for split in found for v in split]
    assert sorted(together) == sorted([*map(str, range(1, 11)), "x", "y"])
    assert found[0][-2:] == ["x", "y"]


def test_history_from_files_then_the_live_stream(tmp_path: Path) -> None:
    """P4: the last source may be without end; its rate counts from when it began."""
    (tmp_path / "a").write_text("old 1\nold 2\n")
    files = FileSource.for_record_stream_format(StreamFormat.text_line_format(), str(tmp_path)).build()
    live = DataGeneratorSource(lambda i: f"new {i}", None, RateLimiterStrategy.per_second(10))
    made = hybrid(files, live)
    assert not made.bounded
    assert made.split_count(1, one_batch=False) == 1
    position = made.initial(0, 1)
    base, found = position, []
    for now in (0, 100_000, 100_200, 100_300):
        end = made.advance(0, 1, position, base, 100, SourceClock(now, 0))
        found.append([v for vs, _ in made.read(0, 1, position, end) for v in vs])
        position = end
    assert found == [["old 1", "old 2"], [], ["new 0", "new 1"], ["new 2"]]


def test_mistakes_are_refused() -> None:
    """P9"""
    with pytest.raises(ProgramError, match="DataGeneratorSource has no end, so nothing can come after it"):
        hybrid(DataGeneratorSource(lambda i: i), NumberSequenceSource(1, 2))
    with pytest.raises(TypeError, match="HybridSource takes a Source, got list"):
        HybridSource.builder([1])  # type: ignore[arg-type]
