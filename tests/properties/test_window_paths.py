"""The short ways through the window operator give what the general one gives (W4, W5, W7)."""

from collections import Counter
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from penstock.common import Duration, Time, WatermarkStrategy
from penstock.core.program.job import RuntimeSettings
from penstock.datastream import (
    AggregateFunction,
    OutputTag,
    ProcessWindowFunction,
    StreamExecutionEnvironment,
    WindowFunction,
)
from penstock.datastream.state import ValueStateDescriptor
from penstock.datastream.window import DynamicEventTimeSessionWindows, EventTimeTrigger, SlidingEventTimeWindows
from penstock.runtime.operators.windows.aligned import AlignedWindowOperator
from penstock.runtime.operators.windows.operator import WindowOperator
from penstock.runtime.operators.windows.panes import PaneWindowOperator
from penstock.testing import collect, local_job
from tests.effort import examples

LATE = OutputTag("late")
TINY: Any = {"page_bytes": 1, "state_budget_bytes": 0, "chunk_records": 3, "sort_budget_bytes": 0}


class Values(AggregateFunction):
    """All values, in a list that is changed in place; merging is order-free, since the result is sorted."""

    mergeable = False

    def create_accumulator(self) -> list[int]:
        return []

    def add(self, value: Any, accumulator: list[int]) -> list[int]:
        accumulator.append(value[2])
        return accumulator

    def get_result(self, accumulator: list[int]) -> tuple[int, ...]:
        found = tuple(sorted(accumulator))
        accumulator.append(-1)  # must not be seen again (S7)
        return found

    def merge(self, acc_a: list[int], acc_b: list[int]) -> list[int]:
        acc_a.extend(acc_b)
        return acc_a


class Mergeable(Values):
    mergeable = True


class Slow(EventTimeTrigger):
    """The same trigger, but not known to be."""


PATHS = {"general": (Values, Slow), "aligned": (Values, EventTimeTrigger), "panes": (Mergeable, EventTimeTrigger)}


class Telling(ProcessWindowFunction):
    """With state of the window, which is removed when the window is, and of the key."""

    def process(self, key: Any, context: Any, elements: Any) -> Any:
        firings = context.window_state().get_state(ValueStateDescriptor("firings"))
        firings.update((firings.value() or 0) + 1)
        (values,) = elements
        yield key, context.window().start, context.window().end, firings.value(), values

    def clear(self, context: Any) -> None:
        context.window_state().get_state(ValueStateDescriptor("firings")).clear()


def run(
    path: str,
    records: list[Any],
    size: int,
    slide: int,
    offset: int,
    delay: int,
    lateness: int,
    tiny: bool,
    telling: bool = False,
) -> Any:
    function, trigger = PATHS[path]
    env = StreamExecutionEnvironment()
    strategy = WatermarkStrategy.for_bounded_out_of_orderness(Duration.of_millis(delay)).with_timestamp_assigner(
        lambda value, _: value[1]
    )
    stamped = env.from_collection(records).assign_timestamps_and_watermarks(strategy)
    assigner = SlidingEventTimeWindows.of(
        Time.milliseconds(size), Time.milliseconds(slide), Time.milliseconds(offset % slide)
    )
    windows = stamped.key_by(lambda v: v[0]).window(assigner).trigger(trigger()).allowed_lateness(lateness)
    out = windows.side_output_late_data(LATE).aggregate(function(), *([Telling()] if telling else []))
    collect(out, "out")
    collect(out.get_side_output(LATE), "late")
    extra = TINY if tiny else {}
    job = local_job(env, settings=RuntimeSettings(per_record_watermarks=True, **extra))
    job.run([3, 5])
    assert not job.state_blobs(), "state is left"
    return Counter(job.results.get("out", [])), Counter(job.results.get("late", []))


@settings(max_examples=examples(150), deadline=None)
@given(
    st.lists(st.tuples(st.sampled_from("ab"), st.integers(-30, 60)), max_size=25),
    st.integers(1, 20),
    st.integers(1, 20),
    st.integers(0, 5),
    st.integers(0, 15),
    st.integers(0, 20),
    st.booleans(),
)
def test_general_aligned_and_panes_agree(
    pairs: list[tuple[str, int]], size: int, slide: int, offset: int, delay: int, lateness: int, tiny: bool
) -> None:
    """W4, W5, W7: main and late output are the same, and nothing is left."""
    records = [(key, stamp, number) for number, (key, stamp) in enumerate(pairs)]
    expected = run("general", records, size, slide, offset, delay, lateness, False)
    assert run("aligned", records, size, slide, offset, delay, lateness, tiny) == expected
    assert run("panes", records, size, slide, offset, delay, lateness, tiny) == expected


@settings(max_examples=examples(100), deadline=None)
@given(
    st.lists(st.tuples(st.sampled_from("ab"), st.integers(-30, 60)), max_size=25),
    st.integers(1, 20),
    st.integers(1, 20),
    st.sampled_from([0, 0, 7]),
    st.booleans(),
)
def test_they_agree_in_what_a_process_function_sees(
    pairs: list[tuple[str, int]], size: int, slide: int, lateness: int, tiny: bool
) -> None:
    """W5: the window, its own state, and that it is told when the window is gone."""
    records = [(key, stamp, number) for number, (key, stamp) in enumerate(pairs)]
    expected = run("general", records, size, slide, 0, 5, lateness, False, True)
    for path in ("aligned", "panes"):
        assert run(path, records, size, slide, 0, 5, lateness, tiny, True) == expected


def run_sessions(trigger: Any, records: list[Any], delay: int, lateness: int, tiny: bool) -> Any:
    env = StreamExecutionEnvironment()
    strategy = WatermarkStrategy.for_bounded_out_of_orderness(Duration.of_millis(delay)).with_timestamp_assigner(
        lambda value, _: value[1]
    )
    stamped = env.from_collection(records).assign_timestamps_and_watermarks(strategy)
    windows = stamped.key_by(lambda v: v[0]).window(DynamicEventTimeSessionWindows(lambda v: v[3]))
    late = windows.trigger(trigger).allowed_lateness(lateness).side_output_late_data(LATE)
    out = late.aggregate(Values(), Span())
    collect(out, "out")
    collect(out.get_side_output(LATE), "late")
    extra = TINY if tiny else {}
    job = local_job(env, settings=RuntimeSettings(per_record_watermarks=True, **extra))
    job.run([3, 5])
    assert not job.state_blobs(), "state is left"
    return Counter(job.results.get("out", [])), Counter(job.results.get("late", []))


class Span(WindowFunction):
    def apply(self, key: Any, window: Any, inputs: Any) -> Any:
        return [(key, window.start, window.end, *inputs)]


@settings(max_examples=examples(200), deadline=None)
@given(
    st.lists(st.tuples(st.sampled_from("ab"), st.integers(-30, 60), st.integers(1, 12)), max_size=25),
    st.integers(0, 15),
    st.integers(0, 20),
    st.booleans(),
)
def test_sessions_agree_with_the_general_operator(
    given_: list[tuple[str, int, int]], delay: int, lateness: int, tiny: bool
) -> None:
    """W4, W5, W7: whatever merges, fires again, or comes too late."""
    records = [(key, stamp, number, gap) for number, (key, stamp, gap) in enumerate(given_)]
    expected = run_sessions(Slow(), records, delay, lateness, False)
    assert run_sessions(EventTimeTrigger(), records, delay, lateness, tiny) == expected


def test_each_path_is_taken() -> None:
    """The comparison above would be empty if all three were the same operator."""
    kinds = {}
    for path, (function, trigger) in PATHS.items():
        env = StreamExecutionEnvironment()
        keyed = env.from_collection([("a", 1, 1)][:0]).key_by(lambda v: v[0])
        windows = keyed.window(SlidingEventTimeWindows.of(Time.seconds(2), Time.seconds(1))).trigger(trigger())
        collect(windows.aggregate(function()), "out")
        job = local_job(env)
        vertex = next(v for v in job.plan.vertices if not v.is_source)
        job.run()
        task = next(t for stage in job._tasks.values() for t in stage.tasks.values() if t.vertex is vertex)
        kinds[path] = type(task.chain.operators[0])
    assert kinds == {"general": WindowOperator, "aligned": AlignedWindowOperator, "panes": PaneWindowOperator}
