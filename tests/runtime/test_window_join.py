"""Window joins and co-groups: late records of either side, triggers, nothing left behind (W8, W7)."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from penstock.common import Time
from penstock.core.errors import UserFunctionError
from penstock.core.program.job import RuntimeSettings
from penstock.datastream import (
    CoGroupFunction,
    FlatJoinFunction,
    JoinFunction,
    OutputTag,
    RuntimeContext,
    StreamExecutionEnvironment,
    TaggedUnion,
)
from penstock.datastream.state import ValueStateDescriptor
from penstock.datastream.window import (
    CountTrigger,
    EventTimeSessionWindows,
    PurgingTrigger,
    TumblingEventTimeWindows,
    TumblingProcessingTimeWindows,
)
from penstock.testing import At, LocalJob, ManualClock, Mark, ScriptedSource, collect, local_job, scripted_stream

LATE = OutputTag("late")
TEN = TumblingEventTimeWindows.of(Time.milliseconds(10))
EACH = RuntimeSettings(watermark_records=1)


def first(value: Any) -> Any:
    return value[0]


def pair(left: Any, right: Any) -> Any:
    return left, right


def job(
    left: list[Any],
    right: list[Any],
    build: Callable[[Any, Any], Any],
    parallelism: int = 1,
    clock: ManualClock | None = None,
) -> LocalJob:
    """Each side reads one event a batch, so that the sides take turns."""
    env = StreamExecutionEnvironment()
    streams = [scripted_stream(env, ScriptedSource([events]), n) for n, events in (("l", left), ("r", right))]
    joined = build(*streams)
    collect(joined, "out")
    collect(joined.get_side_output(LATE), "late")
    return local_job(env, parallelism, settings=EACH, clock=clock or ManualClock())


def run(made: LocalJob, restart: bool = False) -> tuple[list[Any], list[Any]]:
    while not made.finished:
        made.run_batch(1)
        if restart:
            made.restart()
    return made.results.get("out", []), made.results.get("late", [])


def joining(assigner: Any = TEN, **options: Any) -> Callable[[Any, Any], Any]:
    def build(left: Any, right: Any) -> Any:
        windowed = left.join(right).where(first).equal_to(first).window(assigner)
        for name, argument in options.items():
            windowed = getattr(windowed, name)(argument)
        return windowed.apply(pair)

    return build


@pytest.mark.parametrize("restart", [False, True])
@pytest.mark.parametrize("parallelism", [1, 2])
def test_late_records_of_either_side_are_dropped_or_sent_aside(restart: bool, parallelism: int) -> None:
    """W7, W8, F1: once the window is past they meet nobody; the side output says which side they are of."""
    left = [At(1, "a1"), Mark(9), Mark(9), At(2, "a2"), At(11, "a11")]
    right = [At(3, "a3"), Mark(9), At(9, "a9"), At(12, "a12")]
    made = job(left, right, joining(side_output_late_data=LATE), parallelism)
    out, late = run(made, restart)
    assert sorted(out) == [("a1", "a3"), ("a11", "a12")]
    assert sorted(late) == [TaggedUnion.one("a2"), TaggedUnion.two("a9")]
    assert made.state_blobs() == {}


def test_a_late_record_within_the_allowed_lateness_gives_all_pairs_again() -> None:
    """W7, W8: as in Flink, a window that fires again joins all it holds again."""
    left = [At(1, "a1"), Mark(9), At(2, "a2"), Mark(12), At(3, "a3")]
    right = [At(3, "ar"), Mark(9), Mark(9), Mark(12), Mark(12)]
    made = job(left, right, joining(allowed_lateness=3, side_output_late_data=LATE))
    out, late = run(made)
    assert sorted(out) == [("a1", "ar"), ("a1", "ar"), ("a2", "ar")]
    assert late == [TaggedUnion.one("a3")]
    assert made.state_blobs() == {}


def test_a_trigger_counts_the_records_of_both_sides() -> None:
    """W6, W8"""
    left = [At(1, "a1"), At(2, "a2"), At(3, "a3")]
    right = [At(1, "r1"), At(2, "a4"), Mark(2)]
    made = job(left, right, joining(trigger=PurgingTrigger.of(CountTrigger.of(3))))
    out, _ = run(made)
    assert sorted(out) == [("a1", "a4"), ("a2", "a4")]


def test_sessions_of_both_sides_merge_and_leave_nothing() -> None:
    """W4, W8: a pause of exactly the gap is one session."""
    left = [At(0, "a0"), At(20, "a20"), At(100, "a100")]
    right = [At(10, "a10"), At(31, "a31"), Mark(31)]
    made = job(left, right, joining(EventTimeSessionWindows.with_gap(Time.milliseconds(10))))
    out, _ = run(made)
    assert sorted(out) == [("a0", "a10"), ("a20", "a10")]
    assert made.state_blobs() == {}


def test_processing_time_windows_join_too() -> None:
    """W8: every assigner."""
    clock = ManualClock(5)
    assigner = TumblingProcessingTimeWindows.of(Time.milliseconds(10))
    made = job([At(1, "a1"), At(2, "a2")], [At(99, "a3"), At(4, "a4")], joining(assigner), 1, clock)
    made.run_batch(1)
    clock.set_ms(10)
    made.run_batch(1)
    assert made.results["out"] == [("a1", "a3")]


class Rich(JoinFunction):
    def open(self, runtime_context: RuntimeContext) -> None:
        self.count = runtime_context.get_state(ValueStateDescriptor("count"))

    def join(self, first: Any, second: Any) -> Any:
        self.count.update((self.count.value() or 0) + 1)
        return self.count.value()


class Both(FlatJoinFunction):
    def join(self, first: Any, second: Any) -> Any:
        return None if first == "a1" else [first, second]


class Sizes(CoGroupFunction):
    def co_group(self, first: Any, second: Any) -> Iterator[Any]:
        yield len(first), len(second)


@pytest.mark.parametrize(
    ("kind", "function", "expected"),
    [
        ("join", Rich(), [1, 2]),
        ("join", Both(), ["a2", "a3"]),
        ("join", lambda a, b: None, [None, None]),
        ("co_group", Sizes(), [(2, 1)]),
        ("co_group", lambda a, b: [*a, *b], ["a1", "a2", "a3"]),
        ("co_group", lambda a, b: None, []),
    ],
)
def test_functions_of_every_kind(kind: str, function: Any, expected: list[Any]) -> None:
    """P6, W8"""

    def build(left: Any, right: Any) -> Any:
        return getattr(left, kind)(right).where(first).equal_to(first).window(TEN).apply(function)

    made = job([At(1, "a1"), At(2, "a2")], [At(3, "a3")], build)
    assert run(made)[0] == expected


def test_a_stream_joins_itself_and_keyed_streams_are_keyed_anew() -> None:
    """G3"""

    def build(left: Any, right: Any) -> Any:
        left = left.union(right)
        return left.join(left.key_by(lambda v: v)).where(first).equal_to(first).window(TEN).apply(pair)

    made = job([At(1, "a1"), At(2, "a2"), At(3, "b")], [], build, parallelism=2)
    assert sorted(run(made)[0]) == [("a1", "a1"), ("a1", "a2"), ("a2", "a1"), ("a2", "a2"), ("b", "b")]


def test_the_tagging_runs_in_the_tasks_of_the_streams() -> None:
    """G2: a join adds one vertex."""
    env = StreamExecutionEnvironment()
    one = env.from_collection(["a"]).map(str.upper).set_parallelism(2)
    two = env.from_collection(["b"]).map(str.upper).set_parallelism(3)
    collect(one.join(two).where(first).equal_to(first).window(TEN).apply(pair), "out")
    plan = local_job(env, 4).plan
    names = [[op.name for op in vertex.operators] for vertex in plan.vertices]
    assert ["Map", "Tag"] in [n[-2:] for n in names]
    assert sum(n == ["Tag"] for n in names) == 0


def test_a_failing_function_is_named() -> None:
    """P9"""

    def build(left: Any, right: Any) -> Any:
        joined = left.join(right).where(first).equal_to(first).window(TEN)
        return joined.apply(lambda a, b: a / b)

    with pytest.raises(
        UserFunctionError, match=r"operator 'Join'.*\n(.*\n)*.*TypeError: unsupported operand"
    ) as failure:
        run(job([At(1, "a")], [At(1, "a")], build))
    assert "joined_streams" not in str(failure.value)
