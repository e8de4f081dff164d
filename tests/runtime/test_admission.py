"""How much a batch may read: limits by source, in records and bytes, and batches near a target duration (F13)."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.common import Configuration, WatermarkStrategy
from penstock.common.errors import ConfigurationError
from penstock.core.contracts.source import Position, SourceClock
from penstock.datastream import StreamExecutionEnvironment
from penstock.datastream.connectors import HybridSource
from penstock.datastream.connectors.datagen import DataGeneratorSource, RateLimiterStrategy
from penstock.datastream.connectors.number_seq import NumberSequenceSource
from penstock.runtime.admission import Admission, SourceLimit, admission
from penstock.testing import collect, local_job

WIDE = SourceLimit(500_000, 1 << 40)


def run(held: Admission, fixed_ms: float, record_ms: float, batches: int = 25) -> list[tuple[int, int]]:
    """A source that always has more, in a job of known costs: records and time of each batch."""
    seen = []
    for number in range(batches):
        records = held.limits()["s"]
        took = int(fixed_ms + records * record_ms + (10_000 if number == 0 else 0))
        held.note(took, {("s", 0): (records, records * 10)})
        seen.append((records, took))
    return seen


@given(st.floats(0, 700), st.floats(0.01, 5))
def test_batches_come_near_the_target(fixed_ms: float, record_ms: float) -> None:
    """F13: whatever a batch and a record cost, if the target can be met at all."""
    for records, took in run(Admission({"s": WIDE}, 1000), fixed_ms, record_ms)[-5:]:
        assert took <= 1_500
        assert took >= 700 or records in (16, 500_000)


@given(st.floats(1_001, 20_000), st.floats(0.01, 5))
def test_a_target_that_cannot_be_met_does_not_stop_the_job(fixed_ms: float, record_ms: float) -> None:
    """F13: a quarter of the target is left for records."""
    records, _ = run(Admission({"s": WIDE}, 1000), fixed_ms, record_ms)[-1]
    assert records >= min(500_000, 0.2 * 1000 / record_ms)


def test_a_job_that_becomes_faster_reads_more_again() -> None:
    """F13"""
    held = Admission({"s": WIDE}, 1000)
    slow = run(held, 100, 2)[-1][0]
    assert 400 <= slow <= 500
    assert run(held, 100, 0.02)[-1][0] >= 40_000


def test_a_job_begins_with_batches_that_are_not_large() -> None:
    """F13: what its records cost is not known yet."""
    sizes = [records for records, _ in run(Admission({"s": WIDE}, 10_000), 300, 0.001)]
    assert sizes[:2] == [20_000, 20_000]
    assert sizes[2:5] == [160_000, 500_000, 500_000]


def test_without_a_target_limits_do_not_move() -> None:
    """F13"""
    assert {records for records, _ in run(Admission({"s": WIDE}, 0), 100, 5)} == {500_000}


def test_what_the_target_leaves_is_shared_by_those_who_want_it() -> None:
    """F13: two splits that have more; a third that has little is not counted."""
    held = Admission({"a": WIDE, "b": WIDE}, 1000)
    for _ in range(2):
        held.note(1000, {("a", 0): (20_000, 0), ("a", 1): (20_000, 0), ("b", 0): (10, 0)})
    assert 19_900 <= held.limits()["a"] <= 20_010


def test_batches_without_records_change_nothing() -> None:
    """F13: also beside a source that is allowed next to nothing."""
    held = Admission({"a": WIDE, "b": SourceLimit(7, 1 << 40)}, 1000)
    for _ in range(2):
        held.note(2_000, {("a", 0): (1_000, 0), ("b", 0): (7, 0)})
    before = held.limits()
    for _ in range(5):
        held.note(50, {})
    assert held.limits() == before
    assert before["b"] == 7
    assert before["a"] >= 450


def test_bytes_bound_a_batch_as_well() -> None:
    """F13: by the largest records of late."""
    held = Admission({"s": SourceLimit(500_000, 1_000_000)}, 0)
    held.note(100, {("s", 0): (100, 100_000)})
    assert held.limits() == {"s": 1_000}
    held.note(100, {("s", 0): (1000, 5_000)})
    assert held.limits() == {"s": 2_000}


def plan_of(*uids: str) -> Any:
    env = StreamExecutionEnvironment()
    for uid in uids:
        collect(env.from_sequence(1, 3).uid(uid), uid)
    return local_job(env).plan


def test_limits_are_set_for_all_sources_or_for_one() -> None:
    """F13, P3"""
    conf = Configuration({"penstock.batch.max-records": 100, "penstock.batch.max-records.b": "7"})
    assert admission(plan_of("a", "b"), conf).limits() == {"a": 100, "b": 7}


@pytest.mark.parametrize(
    ("conf", "message"),
    [
        ({"penstock.batch.max-records.c": 7}, r"max-records\.c names no source of the job: its sources .* uids a, b"),
        ({"penstock.batch.max-bytes": 0}, r"penstock\.batch\.max-bytes must be a whole number of at least 1, got '0'"),
        ({"penstock.batch.target-ms": -5}, r"target-ms must be a duration like .*, got '-5'"),
    ],
)
def test_wrong_limits_are_refused(conf: dict[str, Any], message: str) -> None:
    """P9, P12"""
    with pytest.raises(ConfigurationError, match=message):
        admission(plan_of("a", "b"), Configuration(conf))


# -- lag ------------------------------------------------------------------------------------------------


def test_sources_say_how_far_behind_they_are() -> None:
    """F13: what is there, or what a rate limit has let through since the run began."""
    whole = NumberSequenceSource(1, 100)
    assert whole.lag(0, 1, Position(30), Position(0), SourceClock(0, 0)) == (70, None)
    endless = DataGeneratorSource(lambda i: i)
    assert endless.lag(0, 1, Position(30), Position(0), SourceClock(0, 0)) == (None, None)
    paced = DataGeneratorSource(lambda i: i, None, RateLimiterStrategy.per_second(1000))
    assert paced.lag(0, 2, Position(30), Position(10), SourceClock(5_000, 4_000)) == (480, 960)


def test_a_hybrid_source_tells_once_it_has_come_to_its_last_source() -> None:
    """F13"""
    hybrid = HybridSource.builder(NumberSequenceSource(1, 5)).add_source(NumberSequenceSource(1, 20)).build()
    hybrid.split_count(1, False)
    begin, now = hybrid.initial(0, 1), SourceClock(0, 0)
    assert hybrid.lag(0, 1, begin, begin, now) == (None, None)
    assert hybrid.lag(0, 1, Position([1, 15, False]), begin, now) == (5, None)


def test_a_split_reports_what_it_read_and_what_is_left() -> None:
    """F13, G6"""
    env = StreamExecutionEnvironment()
    collect(env.from_source(NumberSequenceSource(1, 10), WatermarkStrategy.no_watermarks(), "n").uid("n"), "out")
    job = local_job(env)
    job.run_batch(4)
    (entry,) = [e for e in job.book.subtasks() if e["name"].startswith("Source: n")]
    assert entry["in"] == 4
    assert entry["bytes"] > 0
    assert entry["lag_records"] == 6
