"""Joins that keep both sides: what comes out at each moment is the join of what has come (W8)."""

from collections import Counter
from typing import Any

import pytest

from penstock.common import RowKind, Time
from penstock.core.program.job import RuntimeSettings
from penstock.datastream import JoinFunction, RuntimeContext
from penstock.datastream.state import StateTtlConfig, ValueStateDescriptor
from penstock.testing import JoinHarness, Snapshot

INSERT, DELETE = RowKind.INSERT, RowKind.DELETE
LIFE = StateTtlConfig.new_builder(Time.milliseconds(100)).build()


def first(value: Any) -> Any:
    return value[0]


def pair(left: Any, right: Any) -> Any:
    return left, right


def joining(
    kind: str, ttl: StateTtlConfig | None = None, snapshot: Snapshot | None = None, function: Any = pair, **options: Any
) -> JoinHarness:
    def attach(left: Any, right: Any) -> Any:
        joined = left.key_by(first).regular_join(right.key_by(first))
        return getattr(joined if ttl is None else joined.with_time_to_live(ttl), kind)(function)

    return JoinHarness(attach, snapshot=snapshot, **options)


def content(changes: list[Any]) -> Counter[Any]:
    """What is in the result: every delete takes back an insert before it."""
    rows: Counter[Any] = Counter()
    for kind, row in changes:
        rows[row] += 1 if kind is INSERT else -1
        assert rows[row] >= 0, f"{row} is deleted before it is inserted"
    return +rows


def test_an_inner_join_pairs_all_with_all_and_takes_nothing_back() -> None:
    """W8: duplicates count as often as they are there."""
    joined = joining("inner", parallelism=2)
    joined.push("a1", input=1)
    assert joined.output() == []
    joined.push_all([("a2", None), ("a2", None), ("b", None)], input=2)
    joined.push("a3", input=1)
    assert Counter(joined.output()) == Counter({("a1", "a2"): 2, ("a3", "a2"): 2})


def test_a_left_join_corrects_itself_with_the_first_match_only() -> None:
    """W8"""
    joined = joining("left")
    joined.push_all([("a1", None), ("a2", None)], input=1)
    assert joined.output() == [(INSERT, ("a1", None)), (INSERT, ("a2", None))]
    joined.clear_output()
    joined.push("a3", input=2)
    assert joined.output() == [
        (DELETE, ("a1", None)),
        (INSERT, ("a1", "a3")),
        (DELETE, ("a2", None)),
        (INSERT, ("a2", "a3")),
    ]
    joined.clear_output()
    joined.push("a4", input=2)
    joined.push("a5", input=1)
    assert Counter(joined.output()) == Counter(
        [(INSERT, (left, "a4")) for left in ("a1", "a2", "a5")] + [(INSERT, ("a5", "a3"))]
    )


def test_results_carry_the_larger_timestamp() -> None:
    """W8: so they do not depend on who came first; what is taken back is not older than what it takes back."""
    joined = joining("left")
    joined.push("a1", 50, input=1)
    joined.push("a2", 20, input=2)
    joined.push("a3", 30, input=1)
    joined.push("a4", 70, input=2)
    assert [t for _, t in joined.output_with_timestamps()] == [50, 50, 50, 30, 70, 70]


def test_records_without_timestamps_and_with_them() -> None:
    """A side may have timestamps when the other has none."""
    joined = joining("inner")
    joined.push("a1", 50, input=1)
    joined.push("a2", input=2)
    joined.push("a3", 60, input=1)
    assert joined.output_with_timestamps() == [(("a1", "a2"), None), (("a3", "a2"), 60)]


@pytest.mark.parametrize("kind", ["inner", "left"])
def test_a_restart_in_the_middle_changes_nothing(kind: str) -> None:
    """F1: both sides are state, and which left records are out alone."""
    before = joining(kind)
    before.push_all([("a1", None), ("b1", None)], input=1)
    before.push("b2", input=2)
    after = joining(kind, snapshot=before.snapshot())
    after.push("a2", input=2)
    after.push("b3", input=2)
    if kind == "inner":
        assert before.output() + after.output() == [("b1", "b2"), ("a1", "a2"), ("b1", "b3")]
    else:
        expected = Counter([("b1", "b2"), ("a1", "a2"), ("b1", "b3")])
        assert content(before.output() + after.output()) == expected


def test_records_are_forgotten_after_their_time_to_live() -> None:
    """W8, S2: what was emitted stays; later records do not meet them; nothing is left in state."""
    joined = joining("left", LIFE)
    joined.push("a1", input=1)
    joined.push("a2", input=2)
    joined.set_processing_time(100)
    joined.push("a3", input=2)
    joined.push("a4", input=1)
    assert joined.output() == [
        (INSERT, ("a1", None)),
        (DELETE, ("a1", None)),
        (INSERT, ("a1", "a2")),
        (INSERT, ("a4", "a3")),
    ]
    joined.set_processing_time(1000)
    joined.set_processing_time(2000)
    joined.assert_no_leaks()


def test_a_left_record_that_outlives_its_matches_is_not_taken_back() -> None:
    """W8, S2: only what is out alone is deleted, also when the other side is empty again."""
    joined = joining("left", LIFE)
    joined.push("a1", input=2)
    joined.set_processing_time(60)
    joined.push("a2", input=1)
    joined.set_processing_time(110)
    joined.push("a3", input=2)
    assert joined.output() == [(INSERT, ("a2", "a1")), (INSERT, ("a2", "a3"))]


def test_in_batch_mode_only_the_final_result_comes_out() -> None:
    """P5: nothing is inserted to be deleted again."""
    joined = joining("left", settings=RuntimeSettings(batch_mode=True))
    joined.push_all([("a1", 3), ("b1", 4)], input=1)
    joined.push("a2", 5, input=2)
    assert joined.output() == [(INSERT, ("a1", "a2"))]
    joined.end_input()
    assert joined.output_with_timestamps()[1:] == [((INSERT, ("b1", None)), 4)]


class Numbered(JoinFunction):
    """Opened and closed, with state of its own."""

    def open(self, runtime_context: RuntimeContext) -> None:
        self.count = runtime_context.get_state(ValueStateDescriptor("count"))

    def join(self, first: Any, second: Any) -> Any:
        self.count.update((self.count.value() or 0) + 1)
        return self.count.value()


def test_a_join_function_may_be_rich() -> None:
    """P6"""
    joined = joining("inner", function=Numbered())
    joined.push("a1", input=1)
    joined.push_all([("a2", None), ("a3", None)], input=2)
    assert joined.output() == [1, 2]
