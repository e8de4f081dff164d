"""P6, G6: metrics and accumulators of functions, and what the driver makes of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.common.accumulators import (
    AverageAccumulator,
    DoubleCounter,
    DoubleMaximum,
    DoubleMinimum,
    Histogram,
    IntCounter,
    IntMaximum,
    IntMinimum,
    ListAccumulator,
    LongCounter,
    LongMaximum,
    LongMinimum,
)
from penstock.common.errors import ProgramError
from penstock.core.program.job import RuntimeSettings
from penstock.core.time.clock import ManualClock
from penstock.core.time.watermarks import WatermarkStrategy
from penstock.datastream import KeyedProcessFunction, MapFunction, ProcessFunction, RuntimeContext
from penstock.datastream import StreamExecutionEnvironment as Environment
from penstock.datastream.state import ListStateDescriptor, ValueStateDescriptor
from penstock.local.local_job import LocalJob
from penstock.runtime.heavy_keys import HeavyKeys
from penstock.runtime.state.store_keys import BlobKind, kind_of
from penstock.testing import OneInputHarness
from penstock.testing.jobs import collect, local_job


class Measured(MapFunction):
    """Registers one metric of each kind."""

    def open(self, runtime_context: RuntimeContext) -> None:
        group = runtime_context.get_metrics_group()
        self.seen = group.counter("seen")
        self.even = group.add_group("kind", "even").counter("seen")
        self.rate = group.add_group("rates").meter("events", 10)
        self.size = group.distribution("size")
        self.last = 0
        group.gauge("last", lambda: self.last)
        group.gauge("broken", lambda: 1 // 0)

    def map(self, value: int) -> int:
        self.seen.inc()
        self.rate.mark_event(2)
        self.size.update(value)
        self.last = value
        if value % 2 == 0:
            self.even.inc(5)
            self.even.dec(4)
        return value


def job_of(function: Any, beside_source: bool, last: int = 10, **options: Any) -> LocalJob:
    env = Environment()
    stream: Any = env.from_sequence(1, last)
    stream = stream if beside_source else stream.rebalance()
    collect(stream.map(function).uid("measured"), "out")
    return local_job(env, clock=ManualClock(1000), **options)


def metrics(job: LocalJob, uid: str = "measured") -> list[dict[str, Any]]:
    return [s["operators"][uid] for s in job.book.subtasks() if uid in s["operators"]]


@pytest.mark.parametrize("beside_source", [True, False])
def test_metrics_are_summed_over_committed_batches(beside_source: bool) -> None:
    """P6: beside a source, where operators live for a batch, as elsewhere; a batch run twice counts once."""
    job = job_of(Measured(), beside_source)
    for _ in range(5):
        job.run_batch(2, commit=False)
        job.run_batch(2)
        job.restart()
    (found,) = metrics(job)
    assert found == {
        "name": "Map",
        "seen": 10,
        "kind.even.seen": 5,
        "rates.events": {"count": 20, "rate": 2.0},
        "size": {"count": 10, "sum": 55, "min": 1, "max": 10, "mean": 5.5},
        "last": 10,
        "broken": "<ZeroDivisionError: integer division or modulo by zero>",
    }
    assert job.book.totals()["measured"] == {"name": "Map", "seen": 10, "kind.even.seen": 5}


def test_a_meter_forgets_what_is_older_than_its_span() -> None:
    """P6"""
    clock = ManualClock(0)
    job = job_of(Measured(), False)
    job.clock = clock
    job.run_batch(4)
    clock.set_ms(10_000)
    job.run_batch(1)
    assert metrics(job)[0]["rates.events"] == {"count": 10, "rate": 0.2}


def test_metrics_of_each_subtask_are_kept_apart() -> None:
    """P6, G6"""
    env = Environment()
    collect(env.from_sequence(1, 30).rebalance().map(Measured()).uid("measured"), "out")
    job = local_job(env, 3)
    job.run()
    assert [m["seen"] for m in metrics(job)] == [10, 10, 10]
    assert job.book.totals()["measured"]["seen"] == 30


class Scoped(ProcessFunction):
    def open(self, runtime_context: RuntimeContext) -> None:
        group = runtime_context.get_metrics_group().add_group("a").add_group("b", "c")
        self.told = (group.get_scope_components(), group.get_metric_identifier("m"), group.get_all_variables())
        assert group.counter("m") is group.counter("m")

    def process_element(self, value: Any, ctx: Any) -> Iterator[Any]:
        yield self.told


def test_groups_have_scopes_and_variables() -> None:
    """P6"""
    harness = OneInputHarness(Scoped())
    harness.push(1)
    scope, identifier, variables = harness.output()[0]
    assert scope[1:] == ["Process", "0", "a", "b", "c"]
    assert identifier == ".".join([*scope, "m"])
    assert variables["<b>"] == "c"
    assert variables["<operator_name>"] == "Process"
    assert variables["<subtask_index>"] == "0"


class Accumulating(MapFunction):
    def open(self, runtime_context: RuntimeContext) -> None:
        self.kinds = {
            "sum": IntCounter(),
            "long": LongCounter(),
            "float": DoubleCounter(),
            "list": ListAccumulator(),
            "histogram": Histogram(),
            "most": IntMaximum(),
            "least": LongMinimum(),
            "mean": AverageAccumulator(),
        }
        for name, accumulator in self.kinds.items():
            runtime_context.add_accumulator(name, accumulator)
        assert runtime_context.get_accumulator("sum") is self.kinds["sum"]

    def map(self, value: int) -> int:
        for accumulator in self.kinds.values():
            accumulator.add(value)
        return value


@pytest.mark.parametrize("beside_source", [True, False])
@pytest.mark.parametrize("parallelism", [1, 3])
def test_accumulators_are_exact(beside_source: bool, parallelism: int) -> None:
    """P6, F1: merged over subtasks and committed batches, with lost batches and restarts in between."""
    job = job_of(Accumulating(), beside_source, parallelism=parallelism, last=12)
    while not job.finished:
        job.run_batch(2, commit=False)
        job.run_batch(2)
        job.restart()
    results = job.book.accumulators()
    assert sorted(results.pop("list")) == list(range(1, 13))
    assert results == {
        "sum": 78,
        "long": 78,
        "float": 78.0,
        "histogram": dict.fromkeys(range(1, 13), 1),
        "most": 12,
        "least": 1,
        "mean": 6.5,
    }


def test_the_result_of_a_job_has_its_accumulators() -> None:
    """P6, P8"""
    env = Environment()
    env.get_configuration().set_string("penstock.host", "local")
    env.from_sequence(1, 4).map(Accumulating()).print()
    client = env.execute_async()
    result = client.wait()
    assert result.get_accumulator_result("sum") == 10
    assert result.get_accumulator_result("none") is None
    assert result.get_all_accumulator_results()["most"] == 4
    assert result.metrics == client.get_metrics()
    assert sum(task["in"] for task in result.metrics["subtasks"]) == 4


ACCUMULATORS = {
    IntCounter: sum,
    LongCounter: sum,
    DoubleCounter: sum,
    ListAccumulator: list,
    Histogram: lambda ns: dict(sorted(Counter(ns).items())),
    IntMaximum: lambda ns: max(ns, default=None),
    LongMaximum: lambda ns: max(ns, default=None),
    DoubleMaximum: lambda ns: max(ns, default=None),
    IntMinimum: lambda ns: min(ns, default=None),
    LongMinimum: lambda ns: min(ns, default=None),
    DoubleMinimum: lambda ns: min(ns, default=None),
    AverageAccumulator: lambda ns: sum(ns) / len(ns) if ns else 0.0,
}


@given(st.sampled_from(list(ACCUMULATORS)), st.lists(st.lists(st.integers(-9, 9), max_size=5), max_size=4))
def test_merging_is_adding(kind: Any, parts: list[list[int]]) -> None:
    """P6: accumulators merged hold what one would that was given everything; reset, nothing."""
    whole = kind()
    for part in parts:
        one = kind()
        for number in part:
            one.add(number)
        whole.merge(one.clone())
    assert whole.get_local_value() == ACCUMULATORS[kind]([n for part in parts for n in part])
    whole.reset_local()
    assert whole.get_local_value() == kind().get_local_value()


def refused(registering: Any) -> str:
    class Bad(ProcessFunction):
        def open(self, runtime_context: RuntimeContext) -> None:
            registering(runtime_context)

        def process_element(self, value: Any, ctx: Any) -> None: ...

    with pytest.raises(ProgramError) as caught:
        OneInputHarness(Bad())
    return str(caught.value)


def test_mistakes_are_named() -> None:
    """P9"""

    def two_kinds(context: RuntimeContext) -> None:
        context.get_metrics_group().counter("x")
        context.get_metrics_group().meter("x")

    def twice(context: RuntimeContext) -> None:
        context.add_accumulator("x", IntCounter())
        context.add_accumulator("x", IntCounter())

    assert "Operator 'Process'" in refused(two_kinds)
    assert "uses the metric name 'x' for a counter and for a meter" in refused(two_kinds)
    assert "adds the accumulator 'x' twice" in refused(twice)
    assert "asks for the accumulator 'x', which it has not added" in refused(lambda c: c.get_accumulator("x"))
    assert "adds 5 as accumulator 'x', which is not an Accumulator" in refused(lambda c: c.add_accumulator("x", 5))


def test_two_kinds_of_accumulator_under_one_name_are_refused() -> None:
    """P9"""

    class Adds(MapFunction):
        def __init__(self, accumulator: Any) -> None:
            self.accumulator = accumulator

        def open(self, runtime_context: RuntimeContext) -> None:
            runtime_context.add_accumulator("x", self.accumulator)

        def map(self, value: Any) -> Any:
            return value

    env = Environment()
    collect(env.from_sequence(1, 4).map(Adds(IntCounter())).map(Adds(Histogram())), "out")
    with pytest.raises(ProgramError, match="The accumulator 'x' is a IntCounter in one operator and a Histogram in an"):
        local_job(env).run()


class Keeps(KeyedProcessFunction):
    """Fills and empties state: a value, and a list long enough to leave its page."""

    def open(self, runtime_context: RuntimeContext) -> None:
        self.value = runtime_context.get_state(ValueStateDescriptor("v"))
        self.list = runtime_context.get_list_state(ListStateDescriptor("l"))

    def process_element(self, value: Any, ctx: Any) -> None:
        if value[1] == "fill":
            self.value.update("x" * 5000)
            self.list.add_all(["y" * 1000] * 256)
        elif value[1] == "clear":
            self.value.clear()
            self.list.clear()


def test_subtasks_show_records_state_and_time() -> None:
    """G6: state is what the store holds, also after a restart."""
    env = Environment()
    data = [(k, "fill") for k in range(12)] + [(99, "rest")] * 12 + [(k, "clear") for k in range(12)]
    collect(env.from_collection(data).key_by(lambda v: v[0]).process(Keeps()), "out")
    job = local_job(env, 1, settings=RuntimeSettings(page_bytes=4096))
    job.run_batch(12)
    source, keyed = job.book.subtasks()
    assert (source["in"], source["out"], keyed["in"], keyed["late"]) == (12, 12, 12, 0)
    assert keyed["busy_ms"] > 0
    assert_size(job, keyed)
    assert keyed["state_blobs"] >= 12
    job.restart()
    job.run_batch(12)
    assert_size(job, job.book.subtasks()[1])
    job.run()
    assert_size(job, job.book.subtasks()[1])
    assert job.book.subtasks()[1]["in"] == 36
    assert job.state_blobs() == {}


def assert_size(job: LocalJob, shown: dict[str, Any]) -> None:
    blobs = job.state_blobs()
    pages = [blob for key, blob in blobs.items() if kind_of(key) is BlobKind.PAGE]
    segments = [blob for key, blob in blobs.items() if kind_of(key) is BlobKind.SEGMENT]
    assert (shown["state_pages"], shown["state_bytes"]) == (len(pages), sum(map(len, pages)))
    assert shown["state_blobs"] == len(segments)


def test_late_records_are_counted_when_asked_for() -> None:
    """G6, T10"""
    env = Environment()
    strategy = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(lambda v, _: v)
    stream = env.from_collection([5, 9, 8, 10, 3]).assign_timestamps_and_watermarks(strategy)
    collect(stream.key_by(lambda v: 0).process(Keepless()), "out")
    settings = RuntimeSettings(per_record_watermarks=True, count_late=True)
    job = local_job(env, 1, settings=settings)
    job.run()
    assert [s.get("late") for s in job.book.subtasks()] == [0, 2]


class Keepless(KeyedProcessFunction):
    def process_element(self, value: Any, ctx: Any) -> None: ...


def test_the_heaviest_keys_are_shown_when_asked_for() -> None:
    """G6: over batches and restarts; a batch run twice counts once."""
    env = Environment()
    data = [f"light {i}" for i in range(400)] + ["heavy"] * 100 + ["heavier"] * 300
    data = [data[i * 7 % len(data)] for i in range(len(data))]
    collect(env.from_collection(data).key_by(lambda v: v).process(Keepless()), "out")
    job = local_job(env, 1, settings=RuntimeSettings(heavy_keys=2))
    while not job.finished:
        job.run_batch(100, commit=False)
        job.run_batch(100)
        job.restart()
    shown = [s for s in job.book.subtasks() if "heavy_keys" in s]
    assert len(shown) == 1
    (first, least1, error1), (second, least2, error2) = shown[0]["heavy_keys"]
    assert (first, second) == ("heavier", "heavy")
    assert least1 <= 300 <= least1 + error1
    assert least2 <= 100 <= least2 + error2


def test_nothing_is_counted_by_key_unless_asked_for() -> None:
    """G6"""
    env = Environment()
    collect(env.from_collection([1]).key_by(lambda v: v).process(Keepless()), "out")
    job = local_job(env)
    job.run()
    assert all("heavy_keys" not in s for s in job.book.subtasks())


@given(st.lists(st.lists(st.integers(0, 9), max_size=30), max_size=8), st.integers(1, 6))
def test_counts_of_heavy_keys_are_within_their_error(chunks: list[list[int]], capacity: int) -> None:
    """G6: in memory for `capacity` keys, whether counted in one place or merged from several."""
    direct, merged = HeavyKeys(capacity), HeavyKeys(capacity)
    for chunk in chunks:
        direct.count(chunk)
        part = HeavyKeys(capacity)
        part.count(chunk)
        merged.merge(part.counts, part.error)
    truth = Counter(key for chunk in chunks for key in chunk)
    for sketch in (direct, merged):
        assert len(sketch.counts) <= capacity
        assert sketch.error <= truth.total() / (capacity + 1)
        for key, count in truth.items():
            assert sketch.counts[key] <= count <= sketch.counts[key] + sketch.error


def test_a_subtask_without_a_timer_says_so() -> None:
    """G6: not by the number that stands for none inside."""
    env = Environment()
    collect(env.from_collection([1]).key_by(lambda v: v).map(lambda v: v), "out")
    job = local_job(env, 1)
    job.run()
    assert [entry["next_timer_ms"] for entry in job.book.subtasks()] == [None, None]
