"""W5: what window functions are given, and what windows keep: accumulators, records, state."""

from collections.abc import Iterable, Iterator
from typing import Any

import pytest

from penstock.common import Time
from penstock.core.program.job import RuntimeSettings
from penstock.core.time.spans import MIN_WATERMARK
from penstock.datastream import (
    AggregateFunction,
    OutputTag,
    ProcessWindowFunction,
    ReduceFunction,
    RuntimeContext,
    StreamExecutionEnvironment,
)
from penstock.datastream.functions import ProcessAllWindowFunction
from penstock.datastream.state import ListStateDescriptor, ValueStateDescriptor
from penstock.datastream.window import (
    CountTrigger,
    EventTimeSessionWindows,
    GlobalWindows,
    SlidingEventTimeWindows,
    TumblingEventTimeWindows,
)
from penstock.testing import At, ManualClock, Mark, ScriptedSource, WindowHarness, collect, local_job, scripted_stream
from tests.runtime.windows.kit import fed, seen, taken, windows

TEN = TumblingEventTimeWindows.of(Time.milliseconds(10))
SESSION = EventTimeSessionWindows.with_gap(Time.milliseconds(10))
BESIDE = OutputTag("beside")


class Telling(ProcessWindowFunction):
    """Everything a context knows."""

    def open(self, runtime_context: RuntimeContext) -> None:
        self.task = runtime_context.get_task_name_with_subtasks()
        self.kept = runtime_context.get_state(ValueStateDescriptor("kept"))

    def process(self, key: Any, context: Any, elements: Iterable[Any]) -> Iterator[Any]:
        self.kept.update((self.kept.value() or 0) + 1)
        assert context.global_state().get_state(ValueStateDescriptor("kept")).value() == self.kept.value()
        context.output(BESIDE, (key, len(list(elements))))
        now = context.current_watermark()
        yield key, context.window(), context.current_processing_time(), None if now == MIN_WATERMARK else now
        yield BESIDE, (key, "yielded")


def test_the_context_knows_window_times_and_state() -> None:
    """W5, O4"""
    harness = WindowHarness(lambda k: k.window(TEN).process(Telling()), lambda v: v[0], tags=[BESIDE], now_ms=42)
    seen(harness, [(("a", 1), 3), (("b", 2), 9)])
    harness.push_watermark(12)
    found = [(key, window.start, window.end, now, mark) for key, window, now, mark in harness.output()]
    assert found == [("a", 0, 10, 42, 12), ("b", 0, 10, 42, 12)]
    assert harness.side_output(BESIDE) == [("a", 1), ("a", "yielded"), ("b", 1), ("b", "yielded")]


class Bags(ProcessWindowFunction):
    """Keeps every firing's values in a list of the window; shows (start, all it has kept)."""

    bag = ListStateDescriptor("bag")

    def process(self, key: Any, context: Any, elements: Iterable[Any]) -> Iterator[Any]:
        bag = context.window_state().get_list_state(self.bag)
        bag.add([value for _, value in elements])
        yield context.window().start, list(bag.get())

    def clear(self, context: Any) -> None:
        context.window_state().get_list_state(self.bag).clear()


def test_each_window_of_a_key_has_state_of_its_own() -> None:
    """W5: overlapping windows too; cleared with the window."""
    slides = SlidingEventTimeWindows.of(Time.milliseconds(10), Time.milliseconds(5))
    harness = windows(slides, CountTrigger.of(1), function=Bags())
    assert fed(harness, 1, at=7) == [(5, [[1]]), (0, [[1]])]
    assert fed(harness, 2, at=12) == [(10, [[2]]), (5, [[1], [1, 2]])]
    harness.push_watermark(14)
    assert seen(harness, [(("a", 3), 15)]) == [(15, [[3]]), (10, [[2], [2, 3]])]
    harness.end_input()
    harness.assert_no_leaks()


def test_windows_that_merge_have_no_state_of_their_own() -> None:
    """W5"""
    harness = windows(SESSION, CountTrigger.of(1), function=Bags())
    with pytest.raises(Exception, match=r"window_state\(\) is not there for windows that merge; use global_state\(\)"):
        fed(harness, 1)


class Largest(ReduceFunction):
    def reduce(self, value1: Any, value2: Any) -> Any:
        return max(value1, value2)


def reduced(assigner: Any, function: Any, **options: Any) -> WindowHarness:
    return WindowHarness(lambda k: k.window(assigner).reduce(function), lambda v: v[0], **options)


def test_a_reduce_function_of_its_own_class() -> None:
    """W5"""
    harness = reduced(TEN, Largest())
    seen(harness, [(("a", 1), 1), (("a", 5), 2), (("a", 3), 3)])
    harness.end_input()
    assert harness.output_with_timestamps() == [(("a", 5), 9)]
    harness.assert_no_leaks()


def test_incremental_functions_keep_one_accumulator() -> None:
    """W5: the state of a window of 2000 records is as large as that of one."""

    def size(records: int) -> int:
        harness = reduced(TEN, lambda a, b: (a[0], b[1]))
        fed(harness, *([7] * records))
        return sum(map(len, harness.state_blobs().values()))

    assert size(1) == size(2000)


class Nothing(AggregateFunction):
    """Its accumulator is None: "the last value was odd"."""

    def create_accumulator(self) -> Any:
        return None

    def add(self, value: Any, accumulator: Any) -> Any:
        return None if value[1] % 2 else (accumulator, value[1])

    def get_result(self, accumulator: Any) -> Any:
        return accumulator

    def merge(self, acc_a: Any, acc_b: Any) -> Any:
        return None if acc_a is None and acc_b is None else (acc_a, acc_b)


def aggregated(assigner: Any, function: Any, lateness: int = 0, **options: Any) -> WindowHarness:
    return WindowHarness(
        lambda k: k.window(assigner).allowed_lateness(lateness).aggregate(function), lambda v: v[0], **options
    )


def test_none_may_be_an_accumulator_and_a_result() -> None:
    """W5: a window whose accumulator is None has records all the same, and fires."""
    harness = aggregated(TEN, Nothing(), lateness=5)
    seen(harness, [(("a", 1), 1), (("b", 1), 1), (("b", 2), 1)])
    harness.push_watermark(9)
    assert taken(harness) == [None, (None, 2)]
    assert fed(harness, 4) == [(None, 4)]
    harness.end_input()
    harness.assert_no_leaks()
    merged = aggregated(SESSION, Nothing())
    seen(merged, [(("a", 1), 0), (("a", 3), 18), (("a", 5), 9)])
    merged.end_input()
    assert taken(merged) == [None]
    merged.assert_no_leaks()


def test_none_may_be_what_a_reduce_makes() -> None:
    """W5"""
    harness = WindowHarness(lambda k: k.window(TEN).reduce(lambda a, b: None if a else b), lambda v: 0)
    harness.push_all([(1, 1), (2, 1)])
    harness.push_watermark(9)
    assert harness.output() == [None]
    harness.push_all([(1, 11), (2, 11), (3, 11)])
    harness.push_watermark(19)
    assert harness.output() == [None, 3]
    harness.assert_no_leaks()


class Growing(AggregateFunction):
    """One list for all: given out as it is, changed in place, also by merging."""

    def create_accumulator(self) -> Any:
        return []

    def add(self, value: Any, accumulator: Any) -> Any:
        accumulator.append(value[1])
        return accumulator

    def get_result(self, accumulator: Any) -> Any:
        accumulator.append("shown")
        return accumulator

    def merge(self, acc_a: Any, acc_b: Any) -> Any:
        acc_a.extend(acc_b)
        acc_b.append("merged away")
        return acc_a


class Panes(Growing):
    mergeable = True


@pytest.mark.parametrize("function", [Growing, Panes])
def test_changing_an_accumulator_changes_no_other(function: Any) -> None:
    """S7: not by get_result, not in another window, not in what was emitted; whether panes are shared or not."""
    slides = SlidingEventTimeWindows.of(Time.milliseconds(10), Time.milliseconds(5))
    harness = aggregated(slides, function(), lateness=10)
    seen(harness, [(("a", 1), 7), (("b", 9), 7)])
    harness.push_watermark(9)
    assert taken(harness) == [[1, "shown"], [9, "shown"]]
    assert fed(harness, 2, 3, at=7) == [[1, 2, "shown"], [1, 2, 3, "shown"]]
    assert fed(harness, 4, at=7) == [[1, 2, 3, 4, "shown"]]
    harness.push_watermark(14)
    assert taken(harness) == [[1, 2, 3, 4, "shown"], [9, "shown"]]
    merged = aggregated(SESSION, Growing())
    seen(merged, [(("a", 1), 0), (("a", 2), 18), (("a", 3), 9)])
    merged.end_input()
    assert [sorted(map(str, out)) for out in taken(merged)] == [["1", "2", "3", "shown"]]
    merged.assert_no_leaks()


def test_changing_a_record_in_one_window_changes_it_in_no_other() -> None:
    """S7: reduce functions that change what they are given, and keep it."""

    def longer(a: list[Any], b: list[Any]) -> list[Any]:
        b.append(len(a))
        return b

    slides = SlidingEventTimeWindows.of(Time.milliseconds(10), Time.milliseconds(5))
    harness = reduced(slides, longer)
    seen(harness, [(["a"], 3), (["a"], 7), (["a"], 8), (["a"], 12)])
    harness.end_input()
    # [-5, 5): 3; [0, 10): 3 7 8; [5, 15): 7 8 12; [10, 20): 12
    assert harness.output() == [["a"], ["a", 2], ["a", 2], ["a"]]
    grown = reduced(slides, lambda a, b: a.append(b[0]) or a)
    seen(grown, [(["a"], 7), (["a"], 8), (["a"], 12)])
    grown.end_input()
    assert grown.output() == [["a"] * 2, ["a"] * 3, ["a"]]


class Spoiling(ProcessWindowFunction):
    """Changes the records it is given, and those it has given out."""

    def process(self, key: Any, context: Any, elements: Iterable[Any]) -> Iterator[Any]:
        whole = list(elements)
        yield whole
        for record in whole:
            record.append("spoilt")
        whole.clear()


@pytest.mark.parametrize("reuse", [False, True])
def test_changing_a_record_changes_neither_the_window_nor_the_output(reuse: bool) -> None:
    """S7"""
    harness = WindowHarness(
        lambda k: k.window(TEN).trigger(CountTrigger.of(1)).process(Spoiling()),
        lambda v: v[0],
        settings=RuntimeSettings(object_reuse=reuse),
    )
    record = ["a", 1]
    harness.push(record, 1)
    record.append("later")
    harness.push(["a", 2], 1)
    if not reuse:
        assert harness.output() == [[["a", 1]], [["a", 1], ["a", 2]]]


class Rich(ProcessWindowFunction):
    """Says when it is opened and closed."""

    said: list[str] = []  # noqa: RUF012 - shared on purpose: operators own copies of their functions

    def open(self, runtime_context: RuntimeContext) -> None:
        self.said.append("open")

    def close(self) -> None:
        self.said.append("close")

    def process(self, key: Any, context: Any, elements: Iterable[Any]) -> None:
        """Yields nothing."""


class RichAll(ProcessAllWindowFunction):
    open, close = Rich.open, Rich.close
    said = Rich.said

    def process(self, context: Any, elements: Iterable[Any]) -> None:
        """Yields nothing."""


@pytest.mark.parametrize("whole", [False, True])
def test_functions_are_opened_and_closed(whole: bool) -> None:
    """P6, W1: those of window_all too."""
    Rich.said.clear()
    env = StreamExecutionEnvironment()
    stream = scripted_stream(env, ScriptedSource([[At(1, ("a", 1)), Mark(20)]]))
    out: Any
    out = (
        stream.window_all(TEN).process(RichAll())
        if whole
        else stream.key_by(lambda v: v[0]).window(TEN).process(Rich())
    )
    collect(out, "out")
    job = local_job(env, clock=ManualClock())
    job.run()
    job.restart()
    assert Rich.said[:2] == ["open", "close"]


class Opened(AggregateFunction):
    """Knows its factor only once it is open."""

    def open(self, runtime_context: RuntimeContext) -> None:
        self.factor = 10

    def create_accumulator(self) -> Any:
        return 0

    def add(self, value: Any, accumulator: Any) -> Any:
        return accumulator + self.factor * value[1]

    def get_result(self, accumulator: Any) -> Any:
        return accumulator

    def merge(self, acc_a: Any, acc_b: Any) -> Any:
        return acc_a + acc_b


def test_aggregate_functions_are_opened() -> None:
    """P6"""
    harness = aggregated(TEN, Opened())
    fed(harness, 1, 2)
    harness.end_input()
    assert harness.output() == [30]


@pytest.mark.parametrize("assigner", [TEN, SESSION])
@pytest.mark.parametrize("parallelism", [1, 3])
def test_windows_go_on_after_a_restart(assigner: Any, parallelism: int) -> None:
    """F1, W4, W7: records, accumulators, trigger state and timers; merging goes on where it was."""
    records = [(("a", 1), 1), (("b", 2), 2), (("a", 3), 8)]
    more = [(("a", 4), 4), (("b", 5), 9), (("a", 6), 25)]
    whole = windows(assigner, parallelism=parallelism)
    seen(whole, [*records, *more])
    whole.end_input()
    first = windows(assigner, parallelism=parallelism)
    seen(first, records)
    first.push_watermark(3)
    second = windows(assigner, parallelism=parallelism, snapshot=first.snapshot())
    seen(second, more)
    third = windows(assigner, parallelism=parallelism, snapshot=second.snapshot())
    third.end_input()
    assert sorted(third.output()) == sorted(whole.output())
    third.assert_no_leaks()


def test_a_global_window_may_hold_what_it_likes() -> None:
    """W1: records without timestamps too."""
    harness = windows(GlobalWindows.create(), CountTrigger.of(2))
    assert fed(harness, None, [1], at=None) == [[None, [1]]]
