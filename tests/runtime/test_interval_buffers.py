"""Interval joins whose keys wait for many partners: buffers in order of time, their older part in segments (W8, S6)."""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from penstock.common import Time, WatermarkStrategy
from penstock.core.program.poison import FailedTimer
from penstock.datastream import OutputTag, ProcessJoinFunction, StreamExecutionEnvironment
from penstock.runtime.state import timed
from penstock.runtime.state.backend import KeyedBackend
from penstock.runtime.state.store import MemoryStore
from penstock.runtime.state.store_keys import BlobKind, StoreKeys, kind_of
from penstock.state.keyed import entries
from penstock.state.regroup import regrouped
from penstock.testing import JoinHarness, Snapshot, collect, local_job
from tests.effort import examples

POISON = OutputTag("bad")


@pytest.fixture(autouse=True, scope="module")
def short_segments() -> Iterator[None]:
    """Segments of a few entries."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(timed, "SEGMENT_BYTES", 600)
        patch.setattr(timed, "_CHECK", 3)
        yield


class Pair(ProcessJoinFunction):
    def process_element(self, left: Any, right: Any, ctx: ProcessJoinFunction.Context) -> Iterator[Any]:
        yield left, right


def harness(
    lower: int, upper: int, kind: str = "inner", snapshot: Snapshot | None = None, **options: Any
) -> JoinHarness:
    def attach(left: Any, right: Any) -> Any:
        joined = left.key_by(lambda v: v[0]).interval_join(right.key_by(lambda v: v[0]))
        joined = joined.between(Time.milliseconds(lower), Time.milliseconds(upper))
        return (joined if kind == "inner" else getattr(joined, f"{kind}_outer")()).process(Pair())

    return JoinHarness(attach, snapshot=snapshot, **options)


def watermark(joined: JoinHarness, timestamp: int) -> None:
    with joined.batch():
        joined.push_watermark(timestamp, input=1)
        joined.push_watermark(timestamp, input=2)


def segments(joined: JoinHarness) -> dict[bytes, bytes]:
    return {name: blob for name, blob in joined.state_blobs().items() if kind_of(name) is BlobKind.SEGMENT}


def expected(lower: int, upper: int, kind: str, lefts: list[Any], rights: list[Any]) -> Counter[Any]:
    met = [(x, y) for x in lefts for y in rights if x[0] == y[0] and lower <= y[1] - x[1] <= upper]
    left_met, right_met = {x for x, _ in met}, {y for _, y in met}
    found: Counter[Any] = Counter(met)
    if kind in ("left", "full"):
        found += Counter((x, None) for x in lefts if x not in left_met)
    if kind in ("right", "full"):
        found += Counter((None, y) for y in rights if y not in right_met)
    return found


STEPS = st.lists(
    st.one_of(
        st.tuples(st.sampled_from([1, 2]), st.lists(st.integers(0, 120), min_size=1, max_size=60)),
        st.tuples(st.just(0), st.integers(0, 15)),
        st.tuples(st.just(3), st.none()),
    ),
    max_size=12,
)


@settings(max_examples=examples(40), deadline=None)
@given(
    steps=STEPS, lower=st.integers(-40, 5), width=st.integers(0, 80), kind=st.sampled_from(["inner", "left", "full"])
)
def test_long_buffers_join_as_nested_loops_do(steps: list[Any], lower: int, width: int, kind: str) -> None:
    """W8, S6, F1: records in any order, many of a key, restarts in between; nothing is left in the end."""
    joined, clock, number, upper = harness(lower, lower + width, kind), 0, 0, lower + width
    watermark(joined, 0)
    taken: dict[int, list[Any]] = {1: [], 2: []}
    out: Counter[Any] = Counter()
    for what, given_ in steps:
        if what == 0:
            clock += given_
            watermark(joined, clock)
        elif what == 3:
            out.update(joined.output())
            joined = harness(lower, upper, kind, joined.snapshot())
        else:
            records = [(("k", clock + at, number + n), clock + at) for n, at in enumerate(given_)]
            number += len(records)
            taken[what] += [record for record, _ in records]
            joined.push_all(records, input=what)
    joined.end_input()
    out.update(joined.output())
    assert out == expected(lower, upper, kind, taken[1], taken[2])
    joined.assert_no_leaks()


def test_a_long_buffer_is_not_rewritten_by_every_batch() -> None:
    """S6: what waits lies in segments; a batch that adds a few records writes a few of them."""
    joined = harness(-1000, 1000)
    joined.push_all([(("k", t), t) for t in range(900)], input=1)
    before = segments(joined)
    assert len(before) > 20
    joined.push_all([(("k", t), t) for t in range(900, 905)], input=1)
    joined.push(("k", 450, "between"), 450, input=1)
    after = segments(joined)
    changed = [name for name in {**before, **after} if before.get(name) != after.get(name)]
    assert 1 <= len(changed) <= 3
    inline = sum(len(blob) for name, blob in joined.state_blobs().items() if kind_of(name) is BlobKind.PAGE)
    assert inline < sum(map(len, after.values())) / 3


def test_segments_go_when_their_time_has_come() -> None:
    """W8: whole ones unread, the first that still matches in part."""
    joined = harness(0, 100)
    joined.push_all([(("k", t), t) for t in range(300)], input=1)
    many = len(segments(joined))
    watermark(joined, 300)
    assert 0 < len(segments(joined)) < many / 2
    joined.push(("k", 300), 300, input=2)
    assert sorted(left[1] for left, _ in joined.output()) == list(range(200, 300))
    watermark(joined, 400)
    assert segments(joined) == {}
    joined.assert_no_leaks()


def test_records_that_come_in_the_wrong_order_fill_segments_too() -> None:
    """S6, W8: the latest first; segments are cut in two as they grow."""
    joined = harness(-500, 500)
    joined.push_all([(("k", t), t) for t in range(300, 0, -1)], input=1)
    assert len(segments(joined)) > 10
    joined.push(("k", 150), 150, input=2)
    assert [left[1] for left, _ in joined.output()] == list(range(1, 301))
    joined.end_input()
    joined.assert_no_leaks()


def test_long_buffers_of_several_keys_survive_a_restart() -> None:
    """F1: segments lie in the key group of their key."""
    first = harness(0, 1000, "full", parallelism=2)
    for key in "abcd":
        first.push_all([((key, t), t) for t in range(100)], input=1)
    assert len(segments(first)) > 20
    second = harness(0, 1000, "full", snapshot=first.snapshot(), parallelism=2)
    second.push_all([((key, 99), 99) for key in "ab"], input=2)
    second.end_input()
    expect = [((k, t), (k, 99)) for k in "ab" for t in range(100)] + [((k, t), None) for k in "cd" for t in range(100)]
    assert Counter(second.output()) == Counter(expect)
    second.assert_no_leaks()


def long_job(between: tuple[int, int]) -> StreamExecutionEnvironment:
    """Keys of which one side waits for the other, which comes last."""
    env = StreamExecutionEnvironment()
    stamp: Any = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(lambda v, _: v[1])
    lefts = [(t % 5, t) for t in range(400)]
    left = env.from_collection(lefts).uid("left").assign_timestamps_and_watermarks(stamp).uid("s1")
    rights = [(0, 0)] * 350 + [(key, 400) for key in range(5)] + [(key, 900) for key in range(5)]
    right = env.from_collection(rights).uid("right").assign_timestamps_and_watermarks(stamp).uid("s2")
    joined = left.key_by(lambda v: v[0]).interval_join(right.key_by(lambda v: v[0]))
    collect(joined.between(*map(Time.milliseconds, between)).process(Pair()).uid("join"), "out")
    return env


@pytest.mark.parametrize("parallelism", [1, 3])
@pytest.mark.parametrize("between", [(1, 1000), (600, 2000), (1, 450)])
def test_long_buffers_go_through_a_savepoint(tmp_path: Path, parallelism: int, between: tuple[int, int]) -> None:
    """F4, W8: at another parallelism, and with other bounds: what waits does not lie as they are."""
    first = local_job(long_job((1, 1000)), 2)
    first.run_batch(350)
    assert len([name for name in first.state_blobs() if kind_of(name) is BlobKind.SEGMENT]) > 20
    saved = first.savepoint(str(tmp_path / "saved")).path
    second = local_job(long_job(between), parallelism, savepoint=saved)
    second.run()
    lower, upper = between
    expect = [((t % 5, t), (t % 5, at)) for t in range(400) for at in (400, 900) if lower <= at - t <= upper]
    assert Counter(second.results["out"]) == Counter(expect)


# -- buffers by themselves ----------------------------------------------------------------------------


def backend() -> KeyedBackend:
    made = KeyedBackend(MemoryStore({}), StoreKeys(b"12345678"), 16, 1 << 10, 1 << 40)
    made.use("_waiting")
    return made


def filled(made: KeyedBackend, key: str, times: list[int]) -> timed.Buffer:
    made.select(key)
    buffer: timed.Buffer = [times[0], None, [(times[0], True, "r")]]
    made.page.slots[0][key] = {0: buffer}
    made.page.dirty = True
    for time in times[1:]:
        timed.add(made, buffer, (time, True, "r"))
    return buffer


OPERATIONS = st.lists(
    st.one_of(
        st.tuples(st.just("add"), st.integers(0, 60), st.just(0)),
        st.tuples(st.just("meet"), st.integers(0, 60), st.integers(0, 30)),
        st.tuples(st.just("forget"), st.integers(0, 60), st.just(0)),
        st.tuples(st.just("flush"), st.just(0), st.just(0)),
    ),
    max_size=150,
)


@settings(max_examples=examples(100), deadline=None)
@given(steps=OPERATIONS, mark=st.booleans())
def test_a_buffer_does_what_a_sorted_list_does(steps: list[Any], mark: bool) -> None:
    """W8, S6: whatever lies in segments."""
    made, model = backend(), [(30, True, "r")]
    buffer = filled(made, "k", [30])
    for what, at, width in steps:
        if what == "flush":
            made.flush()
            made.select("k")
            buffer = made.page.slots[0]["k"][0]
        elif what == "add":
            assert timed.add(made, buffer, (at, True, "r")) == (at < model[0][0])
            model = sorted([*model, (at, True, "r")])
        elif what == "meet":
            assert timed.meet(made, buffer, at, at + width, mark) == [e for e in model if at <= e[0] <= at + width]
            model = [(t, alone and not (mark and at <= t <= at + width), v) for t, alone, v in model]
        elif at <= model[-1][0]:
            gone = timed.forget(made, buffer, at, True)
            assert gone == [e for e in model if e[0] < at]
            model = [e for e in model if e[0] >= at]
        assert buffer[0] == model[0][0]
        model.sort(key=lambda e: e[0])
        made.page.dirty = True
    timed.forget(made, buffer, 100, False)
    assert buffer[1:] == [None, []]
    made.page.slots[0].clear()
    made.flush()
    assert isinstance(made.store, MemoryStore)
    assert made.store.blobs == {}


def test_offline_state_shows_what_lies_in_segments_and_moves_it_to_other_key_groups() -> None:
    """F5, F4"""
    old = backend()
    for key in "abc":
        filled(old, key, list(range(50)))
    old.flush()
    new = regrouped(old, "join", 4)
    for made in (old, new):
        found = {entry.key: entry.value[0] for entry in entries(made)}
        assert sorted(found) == ["a", "b", "c"]
        for earliest, runs, inline in found.values():
            assert earliest == 0
            assert len(runs) > 3
            assert [t for run in [*runs, inline] for t, _, _ in run] == list(range(50))


# -- poison ------------------------------------------------------------------------------------------


class Picky(ProcessJoinFunction):
    def process_element(self, left: Any, right: Any, ctx: Any) -> Iterator[Any]:
        yield left, right
        if "bad" in (left, right) or (left, right) == ("alone", None):
            raise ValueError("no")


def test_a_guarded_join_puts_records_and_timers_aside() -> None:
    """F9: a record that fails with one of its partners comes out with none; so does one that stays alone."""

    def attach(left: Any, right: Any) -> Any:
        joined = left.key_by(lambda v: 0).interval_join(right.key_by(lambda v: 0))
        joined = joined.between(Time.milliseconds(0), Time.milliseconds(5)).left_outer()
        return joined.process(Picky()).on_poison(POISON)

    joined = JoinHarness(attach, tags=[POISON])
    joined.push_all([("a", 1), ("b", 2), ("alone", 50)], input=1)
    joined.push_all([("bad", 3), ("fine", 4)], input=2)
    assert joined.output() == [("a", "fine"), ("b", "fine")]
    joined.push("bad")
    joined.end_input()
    assert joined.output() == [("a", "fine"), ("b", "fine")]
    texts = joined.side_output(POISON)
    assert [record for record, _ in texts] == ["bad", "bad", FailedTimer(0, 56)]
    assert "ValueError: no" in texts[0][1]
    assert "without a timestamp" in texts[1][1]
    joined.assert_no_leaks()


class One(ProcessJoinFunction):
    def process_element(self, left: Any, right: Any, ctx: Any) -> Any:
        return 7


def test_a_function_that_returns_no_iterable_is_told_so() -> None:
    """P9"""

    def attach(left: Any, right: Any) -> Any:
        joined = left.key_by(lambda v: 0).interval_join(right.key_by(lambda v: 0))
        return joined.between(Time.milliseconds(0), Time.milliseconds(5)).process(One())

    joined = JoinHarness(attach)
    joined.push("l", 1, input=1)
    with pytest.raises(Exception, match=r"process_element2 of operator 'Interval Join'.* returned 7 \(int\).*yield"):
        joined.push("r", 1, input=2)
