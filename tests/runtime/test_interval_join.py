"""Interval joins in a harness: bounds, late records, what is kept and for how long (W8, T10)."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from penstock.common import Time
from penstock.core.errors import TimestampError, UserFunctionError
from penstock.core.time.spans import MAX_TIMESTAMP, MIN_TIMESTAMP
from penstock.datastream import OutputTag, ProcessJoinFunction, RuntimeContext, StreamExecutionEnvironment
from penstock.datastream.state import ValueStateDescriptor
from penstock.runtime.codec import loads
from penstock.runtime.state.store_keys import BlobKind, kind_of
from penstock.testing import At, JoinHarness, Mark, ScriptedSource, Snapshot, collect, local_job, scripted_stream

LATE_LEFT, LATE_RIGHT = OutputTag("late left"), OutputTag("late right")
ASIDE = OutputTag("aside")
BLOCK_RECORDS = 8


class Pair(ProcessJoinFunction):
    def process_element(self, left: Any, right: Any, ctx: ProcessJoinFunction.Context) -> Iterator[Any]:
        yield left, right


def zero(value: Any) -> int:
    return 0


Options = Callable[[Any], Any]


def same(joined: Any) -> Any:
    return joined


def harness(
    lower: int,
    upper: int,
    options: Options = same,
    function: ProcessJoinFunction | None = None,
    key: Callable[[Any], Any] = zero,
    snapshot: Snapshot | None = None,
    **settings: Any,
) -> JoinHarness:
    def attach(left: Any, right: Any) -> Any:
        joined = left.key_by(key).interval_join(right.key_by(key))
        return options(joined.between(Time.milliseconds(lower), Time.milliseconds(upper))).process(function or Pair())

    return JoinHarness(attach, snapshot=snapshot, **settings)


def watermark(joined: JoinHarness, timestamp: int) -> None:
    """On both inputs, in one batch."""
    with joined.batch():
        joined.push_watermark(timestamp, input=1)
        joined.push_watermark(timestamp, input=2)


def kept(joined: JoinHarness) -> list[int]:
    """Timestamps of all records in state."""
    pages = [loads(blob) for name, blob in joined.state_blobs().items() if kind_of(name) is BlobKind.PAGE]
    maps = [stored for tables, _, _ in pages for table in tables.values() for stored in table.values()]
    blocks = [value[2] if isinstance(name, int) else value for stored in maps for name, value in stored.items()]
    return sorted(entry[0] for block in blocks for entry in block)


def full(joined: Any) -> Any:
    return joined.full_outer()


# -- bounds ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "matching"),
    [
        (same, [8, 9, 10, 12, 13]),
        (lambda j: j.lower_bound_exclusive(), [9, 10, 12, 13]),
        (lambda j: j.upper_bound_exclusive(), [8, 9, 10, 12]),
        (lambda j: j.lower_bound_exclusive().upper_bound_exclusive(), [9, 10, 12]),
    ],
)
@pytest.mark.parametrize("left_first", [True, False])
def test_bounds_are_included_unless_said_otherwise(options: Options, matching: list[int], left_first: bool) -> None:
    """W8: whichever side comes first."""
    joined = harness(-2, 3, options)
    rights = [7, 8, 9, 10, 12, 13, 14]
    if left_first:
        joined.push(10, 10, input=1)
    joined.push_all([(r, r) for r in rights], input=2)
    if not left_first:
        joined.push(10, 10, input=1)
    assert sorted(joined.output()) == [(10, r) for r in matching]
    joined.end_input()
    joined.assert_no_leaks()


def test_results_carry_the_larger_timestamp() -> None:
    """W8: also when the earlier record comes last."""
    joined = harness(-5, 5)
    joined.push("l", 10, input=1)
    joined.push("later", 12, input=2)
    joined.push("earlier", 6, input=2)
    assert joined.output_with_timestamps() == [(("l", "later"), 12), (("l", "earlier"), 10)]


def test_keys_do_not_meet() -> None:
    """G5"""
    joined = harness(-5, 5, key=lambda v: v[0], parallelism=3)
    joined.push("a1", 1, input=1)
    joined.push("b1", 1, input=2)
    assert joined.output() == []
    joined.push("a2", 2, input=2)
    assert joined.output() == [("a1", "a2")]


def test_wide_intervals_see_the_same_as_narrow_ones() -> None:
    """Narrow ranges are probed, wide ones searched."""
    for width in (5, 31, 32, 33, 5000):
        joined = harness(-width, width)
        joined.push_all([(r, r) for r in (-width - 1, -width, 0, width, width + 1)], input=2)
        joined.push(0, 0, input=1)
        assert joined.output() == [(0, -width), (0, 0), (0, width)]


# -- late records -----------------------------------------------------------------------------------


def tagged(joined: Any) -> Any:
    return joined.full_outer().side_output_left_late_data(LATE_LEFT).side_output_right_late_data(LATE_RIGHT)


def test_a_record_behind_the_watermark_is_late_one_at_it_is_not() -> None:
    """T10: timestamp < watermark, on either side; late records are neither joined nor emitted as unmatched."""
    joined = harness(0, 5, tagged, tags=[LATE_LEFT, LATE_RIGHT])
    joined.push("l", 100, input=1)
    watermark(joined, 101)
    joined.push("late left", 100, input=1)
    joined.push("late right", 100, input=2)
    joined.push("in time", 101, input=2)
    joined.push("left in time", 101, input=1)
    joined.end_input()
    assert sorted(joined.output()) == [("l", "in time"), ("left in time", "in time")]
    assert joined.side_output(LATE_LEFT) == ["late left"]
    assert joined.side_output(LATE_RIGHT) == ["late right"]
    joined.assert_no_leaks()


def test_the_clock_is_that_of_both_inputs() -> None:
    """T5, T10: a watermark of one side alone makes nothing late and forgets nothing."""
    joined = harness(0, 5)
    joined.push("l", 1, input=1)
    joined.push_watermark(500, input=1)
    joined.push("r", 2, input=2)
    assert joined.output() == [("l", "r")]


def test_late_records_are_counted_and_dropped_without_a_tag() -> None:
    """T10, W7"""
    env = StreamExecutionEnvironment()
    left = scripted_stream(env, ScriptedSource([[Mark(50), At(10, "late"), At(50, "l")]])).key_by(zero)
    right = scripted_stream(env, ScriptedSource([[Mark(50), At(49, "late too"), At(51, "r")]])).key_by(zero)
    pairs = left.interval_join(right).between(Time.milliseconds(-99), Time.milliseconds(99)).process(Pair())
    collect(pairs, "out")
    job = local_job(env, settings=None)
    job.run([1, 1, 1])
    assert job.results["out"] == [("l", "r")]
    (counts,) = [c for c in job.book.totals().values() if "numLateRecords" in c]
    assert (counts["numLateRecords"], counts["numLateRecordsDropped"]) == (2, 2)


# -- what is kept, and for how long -------------------------------------------------------------------


def test_a_record_at_the_watermark_still_meets_what_its_interval_begins_or_ends_with() -> None:
    """W8, T10: it is not late, so whoever it matches must still be there."""
    joined = harness(0, 5, full)
    joined.push("l", 10, input=1)
    watermark(joined, 15)
    assert joined.output() == []
    joined.push("r", 15, input=2)
    assert joined.output() == [("l", "r")]
    watermark(joined, 16)
    joined.assert_no_leaks()
    assert joined.output() == [("l", "r")]


@pytest.mark.parametrize(
    ("lower", "upper", "left_until", "right_until"),
    [(-2, 3, 103, 102), (0, 0, 100, 100), (4, 9, 109, 96), (-9, -4, 96, 109)],
)
@pytest.mark.parametrize("options", [same, full])
def test_a_record_is_kept_until_the_watermark_is_past_its_interval(
    lower: int, upper: int, left_until: int, right_until: int, options: Options
) -> None:
    """W8: not a millisecond longer; on either side."""
    for side, until in ((1, left_until), (2, right_until)):
        joined = harness(lower, upper, options)
        joined.push("x", 100, input=side)
        watermark(joined, until)
        assert joined.state_blobs()
        assert joined.output() == []
        watermark(joined, until + 1)
        joined.assert_no_leaks()
        assert len(joined.output()) == (options is full)


def test_a_record_whose_interval_is_past_is_not_kept_at_all() -> None:
    """W8: between −20 and −10; the watermark is past what it could match, though not past itself."""
    joined = harness(-20, -10, full)
    watermark(joined, 95)
    joined.push("l", 100, input=1)
    joined.assert_no_leaks()
    assert joined.output_with_timestamps() == [(("l", None), 100)]
    joined.push("waits", 105, input=1)
    joined.push("r", 95, input=2)
    assert joined.output()[1:] == [("waits", "r")]


def test_what_stays_alone_is_emitted_once_with_the_moment_it_was_certain() -> None:
    """W8: by timers of the record's own key; a match in time prevents it."""
    joined = harness(0, 5, full)
    joined.push_all([("alone", 10), ("matched", 20)], input=1)
    joined.push("r", 22, input=2)
    watermark(joined, 15)
    assert joined.output() == [("matched", "r")]
    watermark(joined, 16)
    assert joined.output_with_timestamps()[1:] == [(("alone", None), 16)]
    joined.end_input()
    assert len(joined.output()) == 2
    joined.assert_no_leaks()


@pytest.mark.parametrize("count", [1, BLOCK_RECORDS, BLOCK_RECORDS + 1, 3 * BLOCK_RECORDS + 5])
def test_any_number_of_records_of_one_timestamp(count: int) -> None:
    """W8: they lie in blocks; all are matched, marked as matched and forgotten."""
    joined = harness(0, 0, full)
    joined.push_all([(("l", i), 7) for i in range(count)], input=1)
    joined.push_all([(("other", i), 8) for i in range(count)], input=1)
    joined.push("r", 7, input=2)
    assert sorted(joined.output()) == [(("l", i), "r") for i in range(count)]
    joined.clear_output()
    watermark(joined, 9)
    assert sorted(joined.output()) == [(("other", i), None) for i in range(count)]
    joined.assert_no_leaks()


def test_state_stays_bounded_when_only_one_side_comes() -> None:
    """W8: the other side never has a record, only the watermarks move; state holds what can still match."""
    joined = harness(-3, 10)
    sizes = []
    for start in range(0, 3000, 100):
        with joined.batch():
            joined.push_all([(t, t) for t in range(start, start + 100)], input=1)
            joined.push_watermark(start + 99, input=1)
            joined.push_watermark(start + 99, input=2)
        assert kept(joined) == list(range(start + 89, start + 100))
        sizes.append(sum(map(len, joined.state_blobs().values())))
    assert max(sizes) < sizes[0] * 1.5
    watermark(joined, 3010)
    joined.assert_no_leaks()


@pytest.mark.parametrize("steps", [(10, 20, 30), (1,) * 60, (25,)])
def test_of_records_that_lie_together_those_go_whose_time_has_come(steps: tuple[int, ...]) -> None:
    """W8: several records share a slot of state and a timer; still each is kept exactly as long as it can match."""
    joined = harness(0, 20, full)
    records = [(t * 7) % 50 for t in range(50)]
    joined.push_all([(t, t) for t in records], input=1)
    clock = 0
    for step in steps:
        clock += step
        watermark(joined, clock)
        assert kept(joined) == [t for t in range(50) if t + 20 >= clock]
        assert sorted(left for left, _ in joined.output()) == [t for t in range(50) if t + 20 < clock]
    joined.end_input()
    assert sorted(joined.output()) == [(t, None) for t in range(50)]
    joined.assert_no_leaks()


def test_timestamps_at_the_ends_of_time() -> None:
    """T4: intervals that reach beyond what a timer can say end with the stream."""
    joined = harness(-5, 5, full)
    joined.push("first", MIN_TIMESTAMP + 1, input=1)
    joined.push("last", MAX_TIMESTAMP - 2, input=1)
    joined.push("last too", MAX_TIMESTAMP - 1, input=2)
    joined.push("alone", MAX_TIMESTAMP - 20, input=2)
    joined.end_input()
    assert sorted(map(repr, joined.output())) == sorted(
        map(repr, [("first", None), ("last", "last too"), (None, "alone")])
    )
    joined.assert_no_leaks()


@pytest.mark.parametrize("upper", range(5, 12))
def test_the_last_records_of_all_leave_with_the_end_of_the_stream(upper: int) -> None:
    """T4, W8: whatever slot they are in."""
    joined = harness(-1, upper, full)
    joined.push_all([(t, MAX_TIMESTAMP - t) for t in range(1, 15)], input=1)
    joined.end_input()
    assert sorted(joined.output()) == [(t, None) for t in range(1, 15)]
    joined.assert_no_leaks()


# -- functions ----------------------------------------------------------------------------------------


def test_a_restart_in_the_middle_changes_nothing() -> None:
    """F1, S4: records, marks of matched ones, timers and the clock are state."""
    first = harness(0, 5, tagged, tags=[LATE_LEFT, LATE_RIGHT])
    first.push_all([("alone", 10), ("matched", 11)], input=1)
    first.push("r", 16, input=2)
    watermark(first, 12)
    second = harness(0, 5, tagged, tags=[LATE_LEFT, LATE_RIGHT], snapshot=first.snapshot())
    second.push("late", 11, input=1)
    second.push("again", 16, input=2)
    second.end_input()
    assert second.side_output(LATE_LEFT) == ["late"]
    assert sorted(map(repr, second.output())) == sorted(map(repr, [("matched", "again"), ("alone", None)]))
    second.assert_no_leaks()


class Counting(ProcessJoinFunction):
    """Uses keyed state and a side output."""

    def open(self, runtime_context: RuntimeContext) -> None:
        self.count = runtime_context.get_state(ValueStateDescriptor("left"))

    def process_element(self, left: Any, right: Any, ctx: Any) -> None:
        self.count.update((self.count.value() or 0) + 1)
        ctx.output(ASIDE, (self.count.value(), ctx.get_timestamp()))


def test_a_function_may_keep_state_and_send_aside() -> None:
    """O4, S1: names of its states do not clash with the join's."""
    joined = harness(0, 5, function=Counting(), tags=[ASIDE])
    joined.push("l", 1, input=1)
    joined.push_all([("r", 1), ("r", 2)], input=2)
    assert joined.side_output(ASIDE) == [(1, 1), (2, 2)]
    assert joined.output() == []


def test_records_that_change_later_do_not_change_what_waits() -> None:
    """S7"""

    class Spoil(ProcessJoinFunction):
        def process_element(self, left: Any, right: Any, ctx: Any) -> Iterator[Any]:
            left.append(right)
            yield left

    joined = harness(0, 5, function=Spoil())
    joined.push(["l"], 1, input=1)
    joined.push_all([("r1", 1), ("r2", 2)], input=2)
    assert joined.output() == [["l", "r1"], ["l", "r2"]]


def test_a_record_without_a_timestamp_is_refused() -> None:
    joined = harness(0, 5)
    with pytest.raises(
        TimestampError,
        match=r"Operator 'Interval Join'.*without a timestamp.*call assign_timestamps_and_watermarks",
    ):
        joined.push("l", input=1)


class Broken(ProcessJoinFunction):
    def process_element(self, left: Any, right: Any, ctx: Any) -> Iterator[Any]:
        ctx.output(ASIDE, right)
        if right == "bad":
            raise ValueError("no")
        yield left, right


def test_a_failing_function_is_named() -> None:
    """P9"""
    joined = harness(0, 5, function=Broken())
    joined.push("l", 1, input=1)
    with pytest.raises(
        UserFunctionError, match=r"process_element2 of operator 'Interval Join'.*on record 'bad'"
    ) as failure:
        joined.push("bad", 2, input=2)
    assert "interval_match" not in str(failure.value)


def test_a_poison_pair_is_skipped_with_all_it_sent() -> None:
    """F9: nothing of the failing call comes out, not even with the next."""

    def attach(left: Any, right: Any) -> Any:
        joined = left.key_by(zero).interval_join(right.key_by(zero))
        return joined.between(Time.milliseconds(0), Time.milliseconds(5)).process(Broken()).on_poison("skip")

    joined = JoinHarness(attach, tags=[ASIDE])
    joined.push("l", 1, input=1)
    joined.push_all([("bad", 2), ("good", 3)], input=2)
    assert joined.output_with_timestamps() == [(("l", "good"), 3)]
    assert joined.side_output(ASIDE) == ["good"]
