"""BATCH mode: only final results, one watermark, key by key in bounded memory (P5, T4)."""

from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.common import Configuration, Duration, WatermarkStrategy
from penstock.core.errors import ConfigurationError, ProgramError
from penstock.core.program.job import RuntimeSettings
from penstock.core.time.spans import MAX_WATERMARK, MIN_WATERMARK
from penstock.datastream import (
    BroadcastProcessFunction,
    KeyedProcessFunction,
    RuntimeContext,
    StreamExecutionEnvironment,
    TimeDomain,
)
from penstock.datastream.connectors.datagen import DataGeneratorSource
from penstock.datastream.state import MapStateDescriptor, ReducingStateDescriptor
from penstock.launch import choose_host
from penstock.runtime.sorting import RecordSorter
from penstock.testing import collect, local_job

BATCH = RuntimeSettings(batch_mode=True, periodic_watermarks=False)


def stamped(env: StreamExecutionEnvironment, records: list[Any]) -> Any:
    strategy = WatermarkStrategy.for_bounded_out_of_orderness(Duration.of_millis(0)).with_timestamp_assigner(
        lambda value, _: value[1]
    )
    return env.from_collection(records).assign_timestamps_and_watermarks(strategy)


@pytest.mark.parametrize("parallelism", [1, 3])
def test_a_rolling_reduce_emits_only_its_final_value(parallelism: int) -> None:
    """P5"""
    env = StreamExecutionEnvironment()
    stream = env.from_collection([("a", 1), ("b", 5), ("a", 2), ("a", 4)]).key_by(lambda v: v[0])
    collect(stream.reduce(lambda x, y: (x[0], x[1] + y[1])), "reduced")
    collect(stream.sum(1), "summed")
    collect(stream.max_by(1), "largest")
    job = local_job(env, parallelism, settings=BATCH)
    job.run()
    assert sorted(job.results["reduced"]) == sorted(job.results["summed"]) == [("a", 7), ("b", 5)]
    assert sorted(job.results["largest"]) == [("a", 4), ("b", 5)]


class Seen(KeyedProcessFunction):
    """Emits what it sees of time; timers of both domains."""

    def process_element(self, value: Any, ctx: Any) -> Iterator[Any]:
        service = ctx.timer_service()
        service.register_event_time_timer(value[1] + 5)
        service.register_processing_time_timer(10**15)  # one for all records, whenever they are processed
        yield "record", value, service.current_watermark()

    def on_timer(self, timestamp: int, ctx: Any) -> Iterator[Any]:
        yield "timer", ctx.time_domain(), ctx.timer_service().current_watermark()


def test_records_of_a_key_come_by_timestamp_and_there_is_one_watermark() -> None:
    """P5, T4: pending processing-time timers fire at the end."""
    env = StreamExecutionEnvironment()
    collect(stamped(env, [("a", 3), ("a", 1), ("a", 2), ("a", 1)]).key_by(lambda v: v[0]).process(Seen()), "out")
    job = local_job(env, settings=BATCH)
    job.run()
    out = job.results["out"]
    assert [v for v in out if v[0] == "record"] == [("record", ("a", t), MIN_WATERMARK) for t in (1, 1, 2, 3)]
    assert [v[1] for v in out if v[0] == "timer"] == [TimeDomain.EVENT_TIME] * 3 + [TimeDomain.PROCESSING_TIME]
    assert {v[2] for v in out if v[0] == "timer"} == {MAX_WATERMARK}
    assert not job.state_blobs()


class Keep(BroadcastProcessFunction):
    names = MapStateDescriptor("names")

    def process_element(self, value: Any, ctx: Any) -> Iterator[Any]:
        if value in ctx.get_broadcast_state(self.names):
            yield value

    def process_broadcast_element(self, value: Any, ctx: Any) -> None:
        ctx.get_broadcast_state(self.names).put(value, True)


def test_what_is_broadcast_comes_before_what_it_is_applied_to() -> None:
    """P5, S3"""
    env = StreamExecutionEnvironment()
    names = env.from_collection(["b"]).map(lambda v: v).disable_chaining().map(lambda v: v)
    collect(env.from_collection(["a", "b", "b"]).connect(names.broadcast(Keep.names)).process(Keep()), "out")
    job = local_job(env, settings=BATCH)
    job.run()
    assert job.results["out"] == ["b", "b"]


@given(
    st.lists(st.lists(st.tuples(st.sampled_from("abc"), st.integers(-5, 5)), max_size=6), max_size=8),
    st.sampled_from([1, 200, 10**9]),
)
def test_sorting_is_that_of_sorted_whatever_is_spilled(chunks: list[list[tuple[str, int]]], budget: int) -> None:
    """P5: records of a key by timestamp, equal ones as they came."""
    sorter, every = RecordSorter(budget, 128), []
    for number, chunk in enumerate(chunks):
        values = [(key, stamp, number, place) for place, (key, stamp) in enumerate(chunk)]
        every += values
        sorter.add(0, values, [v[1] for v in values], [v[0] for v in values], 100)
    found = [v for part in sorter.drain() for v in part.values]
    for key in "abc":
        assert [v for v in found if v[0] == key] == sorted((v for v in every if v[0] == key), key=lambda v: v[1])
    assert sorted(found) == sorted(every)
    assert len({v[0] for v in found}) == sum(1 for i, v in enumerate(found) if i == 0 or found[i - 1][0] != v[0]), (
        "keys come one after the other"
    )


@given(
    st.lists(
        st.tuples(st.integers(0, 1), st.lists(st.tuples(st.sampled_from("abc"), st.none() | st.integers(-3, 3)))),
        max_size=8,
    ),
    st.sampled_from([1, 700, 10**9]),
    st.booleans(),
    st.booleans(),
)
def test_piles_of_two_inputs(
    chunks: list[tuple[int, list[tuple[str, int | None]]]], budget: int, keyed: bool, stamped: bool
) -> None:
    """P5: by timestamp, none being the smallest, or as they came; everything with its own key, timestamp and input."""
    sorter, every = RecordSorter(budget, 128), []
    for index, chunk in chunks:
        values = [(index, key, stamp if stamped else None, len(every) + n) for n, (key, stamp) in enumerate(chunk)]
        every += values
        times = [v[2] for v in values] if stamped else None
        sorter.add(index, values, times, [v[1] for v in values] if keyed else None, 100)
    found = []
    for part in sorter.drain():
        assert all(value[0] == part.input for value in part.values)
        assert part.timestamps == [value[2] for value in part.values]
        assert part.keys == [value[1] if keyed else None for value in part.values]
        found += part.values
    if not keyed:
        assert found == every
        return
    for key in "abc":
        mine = [v for v in every if v[1] == key]
        assert [v for v in found if v[1] == key] == sorted(mine, key=lambda v: -9 if v[2] is None else v[2])
    assert sorted(v[3] for v in found) == list(range(len(every)))


@given(
    st.lists(st.tuples(st.integers(0, 5), st.integers(0, 9)), max_size=60),
    st.sampled_from([1, 3]),
    st.sampled_from([300, 10**9]),
)
def test_a_rolling_reduce_in_batch_mode_takes_all_records_in_order(
    records: list[tuple[int, int]], parallelism: int, budget: int
) -> None:
    """P5: one value for each key, what a loop over its records comes to."""
    env = StreamExecutionEnvironment()
    given_lists = env.from_collection([(key, [n]) for key, n in records])
    collect(given_lists.key_by(lambda v: v[0]).reduce(lambda a, b: (a[0], a[1] + b[1])), "out")
    tiny = RuntimeSettings(
        batch_mode=True, periodic_watermarks=False, sort_budget_bytes=budget, state_budget_bytes=2000
    )
    job = local_job(env, parallelism, settings=tiny)
    job.run()
    expected = {key: [n for k, n in records if k == key] for key, _ in records}
    assert sorted(job.results["out"]) == sorted(expected.items())


class Largest(KeyedProcessFunction):
    def open(self, runtime_context: RuntimeContext) -> None:
        self.state = runtime_context.get_reducing_state(ReducingStateDescriptor("largest", max))

    def process_element(self, value: Any, ctx: Any) -> None:
        self.state.add(value[1])
        ctx.timer_service().register_event_time_timer(MAX_WATERMARK)

    def on_timer(self, timestamp: int, ctx: Any) -> Iterator[Any]:
        yield ctx.get_current_key(), self.state.get()
        self.state.clear()


@given(st.lists(st.tuples(st.integers(0, 20), st.integers(-50, 50)), max_size=40), st.sampled_from([1, 2, 4]))
def test_batch_mode_agrees_with_a_loop(records: list[tuple[int, int]], parallelism: int) -> None:
    """P5, P11"""
    env = StreamExecutionEnvironment()
    collect(stamped(env, records).key_by(lambda v: v[0]).process(Largest()), "out")
    tiny = RuntimeSettings(batch_mode=True, periodic_watermarks=False, sort_budget_bytes=300, state_budget_bytes=2000)
    job = local_job(env, parallelism, settings=tiny)
    job.run()
    expected = {k: max(v for key, v in records if key == k) for k, _ in records}
    assert sorted(job.results.get("out", [])) == sorted(expected.items())


def graph(bounded: bool) -> Any:
    env = StreamExecutionEnvironment()
    source = DataGeneratorSource(lambda i: i, 3 if bounded else None)
    env.from_source(source, WatermarkStrategy.no_watermarks(), "numbers").print()
    return env.get_stream_graph()


def test_which_mode_and_host_run_a_job() -> None:
    """P5, P10"""
    batch = Configuration({"execution.runtime-mode": "BATCH"})
    automatic = Configuration({"execution.runtime-mode": "AUTOMATIC", "execution.checkpointing.interval": "100"})
    assert choose_host(graph(True), batch) == choose_host(graph(True), automatic) == "bounded"
    assert choose_host(graph(False), automatic) == "streaming"
    with pytest.raises(ProgramError, match="BATCH mode needs bounded sources, but 'Source: numbers' never ends"):
        choose_host(graph(False), batch)
    with pytest.raises(ConfigurationError, match="must be one of STREAMING, BATCH, AUTOMATIC, got 'fast'"):
        choose_host(graph(True), Configuration({"execution.runtime-mode": "fast"}))
