"""W1–W7: windows against a brute-force oracle; main and late output, state and timers, batches and parallelism."""

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from penstock.common import Duration, WatermarkStrategy
from penstock.core.program.job import RuntimeSettings
from penstock.datastream import (
    AggregateFunction,
    DataStream,
    OutputTag,
    ProcessWindowFunction,
    StreamExecutionEnvironment,
)
from penstock.datastream.window import (
    ContinuousEventTimeTrigger,
    CountTrigger,
    DynamicEventTimeSessionWindows,
    EventTimeSessionWindows,
    EventTimeTrigger,
    PurgingTrigger,
    SlidingEventTimeWindows,
    Trigger,
    TumblingEventTimeWindows,
    WindowAssigner,
)
from penstock.runtime.state.store_keys import BlobKind, kind_of
from penstock.testing import At, LocalJob, ManualClock, ScriptedSource, collect, local_job
from tests.effort import examples
from tests.properties.programs import Event
from tests.properties.test_same_results import batches, run
from tests.properties.window_oracle import Oracle, Shape, gap_of, made

LATE = OutputTag("late")
FUNCTIONS = ["reduce", "aggregate", "mergeable", "process", "reduce and process"]
PHASES = [Phase.explicit, Phase.reuse, Phase.generate, Phase.shrink]


class Folded(AggregateFunction):
    """(key, sum, count), in an accumulator that is changed in place."""

    def create_accumulator(self) -> list[Any]:
        return [None, 0, 0]

    def add(self, value: Any, accumulator: list[Any]) -> list[Any]:
        accumulator[0] = value[0]
        accumulator[1] += value[1]
        accumulator[2] += 1
        return accumulator

    def get_result(self, accumulator: list[Any]) -> Any:
        return tuple(accumulator)

    def merge(self, acc_a: list[Any], acc_b: list[Any]) -> list[Any]:
        return [acc_a[0], acc_a[1] + acc_b[1], acc_a[2] + acc_b[2]]


class Mergeable(Folded):
    """… of which sliding windows may share panes."""

    mergeable = True


class General(EventTimeTrigger):
    """No trigger that the operator knows by heart."""


class Gathered(ProcessWindowFunction):
    def process(self, key: Any, context: Any, elements: Iterable[Any]) -> Iterator[Any]:
        window = context.window()
        yield key, window.start, window.end, tuple(sorted(e[1] for e in elements))


class Labelled(ProcessWindowFunction):
    def process(self, key: Any, context: Any, elements: Iterable[Any]) -> Iterator[Any]:
        (result,) = elements
        yield key, context.window().start, context.window().end, result


def assigner(shape: Shape) -> WindowAssigner:
    if shape.kind == "tumbling":
        return TumblingEventTimeWindows(shape.size, shape.offset)
    if shape.kind == "sliding":
        return SlidingEventTimeWindows(shape.size, shape.slide, shape.offset)
    if shape.kind == "session":
        return EventTimeSessionWindows(shape.size)
    return DynamicEventTimeSessionWindows(lambda row: gap_of(row[1]))


def trigger(kind: str, number: int) -> Trigger:
    if kind == "continuous":
        return ContinuousEventTimeTrigger(number)
    if kind in ("default", "general"):
        return EventTimeTrigger() if kind == "default" else General()
    return CountTrigger(number) if kind == "count" else PurgingTrigger.of(CountTrigger(number))


def windowed(
    stream: DataStream[Event], shape: Shape, when: tuple[str, int], lateness: int, function: str
) -> DataStream[Any]:
    """The program that the oracle is compared with, on records (key, amount, 1)."""
    rows = stream.map(lambda e: (e.key, e.amount, 1)).set_parallelism(1)
    windows = rows.key_by(lambda e: e[0]).window(assigner(shape)).trigger(trigger(*when))
    windows = windows.allowed_lateness(lateness).side_output_late_data(LATE)
    if function == "process":
        return windows.process(Gathered())
    if function in ("aggregate", "mergeable"):
        return windows.aggregate(Folded() if function == "aggregate" else Mergeable())
    return windows.reduce(_added, Labelled() if function == "reduce and process" else None)


def _added(a: Any, b: Any) -> Any:
    return a[0], a[1] + b[1], a[2] + b[2]


KEYS = st.sampled_from(["a", "a", "b", None])

SHAPES: dict[str, st.SearchStrategy[Shape]] = {
    "tumbling": st.builds(
        lambda size, offset: Shape("tumbling", size, 0, offset % size * (-1) ** offset),
        st.integers(1, 12),
        st.integers(0, 11),
    ),
    "sliding": st.builds(
        lambda size, slide, offset: Shape("sliding", size, slide, offset % slide * (-1) ** offset),
        st.integers(1, 15),
        st.integers(1, 8),
        st.integers(0, 7),
    ),
    "session": st.builds(Shape, st.just("session"), st.integers(1, 10)),
    "dynamic": st.just(Shape("dynamic")),
}

triggers = st.one_of(
    st.just(("default", 0)),
    st.just(("default", 0)),
    st.just(("general", 0)),
    st.tuples(st.sampled_from(["count", "purging"]), st.integers(1, 4)),
    st.tuples(st.just("continuous"), st.integers(1, 9)),
)

lateness = st.sampled_from([0, 0, 1, 3, 8, 20, 2**63 - 1])


@st.composite
def streams(draw: st.DrawFn, most_lag: int = 30) -> list[Event]:
    """Time goes on from somewhere before the epoch; records lag behind it by up to `most_lag`."""
    front = draw(st.integers(-40, 5))
    lags = st.one_of(st.just(0), st.integers(0, most_lag // 3), st.integers(0, most_lag))
    steps = st.tuples(KEYS, st.integers(0, 8), lags, st.integers(-3, 9))
    events = []
    for key, step, lag, amount in draw(st.lists(steps, max_size=30)):
        front += step
        events.append(Event(key, front - lag, amount))
    return events


def marked(env: StreamExecutionEnvironment, events: list[Event], delay: int) -> DataStream[Event]:
    strategy = WatermarkStrategy.for_bounded_out_of_orderness(Duration.of_millis(delay))
    return env.from_source(ScriptedSource([[At(e.ts, e) for e in events]]), strategy, "events")


def left(job: LocalJob) -> list[bytes]:
    """State and timers; what generators of watermarks keep does not count."""
    return [key for key in job.state_blobs() if kind_of(key) is not BlobKind.OPERATOR]


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("kind", SHAPES)
@settings(max_examples=examples(40), deadline=None, phases=PHASES)
@given(
    data=st.data(),
    events=streams(),
    delay=st.sampled_from([0, 0, 3, 10]),
    when=triggers,
    lateness=lateness,
    parallelism=st.sampled_from([1, 2, 4]),
    plan=batches,
    page_bytes=st.sampled_from([1, 12 << 10]),
    budget=st.sampled_from([0, 64 << 20]),
)
def test_main_and_late_output_are_the_oracles(
    kind: str,
    function: str,
    data: st.DataObject,
    events: list[Event],
    delay: int,
    when: tuple[str, int],
    lateness: int,
    parallelism: int,
    plan: list[tuple[int, str]],
    page_bytes: int,
    budget: int,
) -> None:
    """W1–W7, T4, T10, P11, F1: with watermarks per record even late output does not depend on batches and
    parallelism; nothing is left after +∞."""
    shape = data.draw(SHAPES[kind])
    env = StreamExecutionEnvironment()
    out = windowed(marked(env, events, delay), shape, when, lateness, function)
    collect(out, "out")
    collect(out.get_side_output(LATE), "late")
    options = RuntimeSettings(watermark_records=1, page_bytes=page_bytes, state_budget_bytes=budget)
    job = local_job(env, parallelism, settings=options, clock=ManualClock())
    run(job, plan)
    expected = Oracle(shape, when, lateness).run(events, delay)
    assert Counter(job.results.get("out", [])) == made(function, expected.fired)
    assert Counter(job.results.get("late", [])) == Counter((e.key, e.amount, 1) for e in expected.late)
    assert left(job) == []


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("parallelism", [1, 2, 4])
@settings(max_examples=examples(15), deadline=None, phases=PHASES)
@given(
    inputs=st.lists(streams(15), min_size=1, max_size=3),
    shape=st.one_of(*SHAPES.values()),
    lateness=lateness,
    plan=batches,
    options=st.builds(
        RuntimeSettings,
        chunk_records=st.sampled_from([1, 3, 8192]),
        watermark_records=st.sampled_from([1, 2, 5, 1024]),
        page_bytes=st.sampled_from([1, 200, 12 << 10]),
        state_budget_bytes=st.sampled_from([0, 500, 64 << 20]),
        sort_budget_bytes=st.sampled_from([0, 256 << 20]),
    ),
)
def test_without_late_records_batches_and_parallelism_do_not_matter(
    function: str,
    parallelism: int,
    inputs: list[list[Event]],
    shape: Shape,
    lateness: int,
    plan: list[tuple[int, str]],
    options: RuntimeSettings,
) -> None:
    """P11, F1, S6: several sources in any interleaving, watermarks wherever they fall; the oracle closes all at +∞."""
    env = StreamExecutionEnvironment()
    first, *others = (marked(env, events, 15) for events in inputs)
    out = windowed(first.union(*others) if others else first, shape, ("default", 0), lateness, function)
    collect(out, "out")
    collect(out.get_side_output(LATE), "late")
    job = local_job(env, parallelism, settings=options, clock=ManualClock())
    run(job, plan)
    everything = [event for events in inputs for event in events]
    expected = Oracle(shape, ("default", 0), 0).run(everything, 10**6)
    assert Counter(job.results.get("out", [])) == made(function, expected.fired)
    assert job.results.get("late", []) == []
    assert left(job) == []
