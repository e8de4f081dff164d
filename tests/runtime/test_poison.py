"""F9: records on which user functions raise fail the job, are skipped and counted, or go to a side output."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from penstock.common import Time
from penstock.common.errors import ConfigurationError, ProgramError, UserFunctionError
from penstock.core.contracts.sink import Sink, SinkWriter
from penstock.core.program.job import RuntimeSettings
from penstock.core.program.poison import POISON_TAG, poison_policy
from penstock.core.time.clock import ManualClock
from penstock.core.time.watermarks import WatermarkStrategy
from penstock.datastream import (
    AsyncDataStream,
    AsyncFunction,
    CoMapFunction,
    CoProcessFunction,
    KeyedProcessFunction,
    MapFunction,
    OutputTag,
    ProcessFunction,
    RuntimeContext,
    SinkFunction,
)
from penstock.datastream import StreamExecutionEnvironment as Environment
from penstock.datastream.state import ValueStateDescriptor
from penstock.launch import plan_options
from penstock.local.local_job import LocalJob
from penstock.testing.jobs import collect, local_job
from tests.effort import examples

BAD = OutputTag("bad")
SIDE = OutputTag("side")
SKIP = replace(RuntimeSettings(), poison=poison_policy("skip"))


def reciprocal(value: int) -> float:
    return 12 / value


def twice(value: int) -> Iterator[Any]:
    yield value
    yield 12 / value


class Twice(ProcessFunction):
    """Emits twice, and to a side output by both ways; fails on 0 after some of it."""

    def process_element(self, value: int, ctx: Any) -> Iterator[Any]:
        yield value
        yield SIDE, value
        ctx.output(SIDE, -value)
        yield 12 / value


class Counting(KeyedProcessFunction):
    """State changes of the failing call stay."""

    def open(self, runtime_context: RuntimeContext) -> None:
        self.seen = runtime_context.get_state(ValueStateDescriptor("seen"))

    def process_element(self, value: int, ctx: Any) -> Iterator[Any]:
        self.seen.update((self.seen.value() or 0) + 1)
        yield value
        yield self.seen.value() * 12 / value


def apply(stream: Any, kind: str) -> Any:
    return {
        "map": lambda: stream.map(reciprocal),
        "flat_map": lambda: stream.flat_map(twice),
        "filter": lambda: stream.filter(lambda v: 12 / v > 3),
        "process": lambda: stream.process(Twice()),
        "keyed": lambda: stream.key_by(lambda v: 0).process(Counting()),
    }[kind]()


EXPECTED = {
    "map": [12, 6, 4],
    "flat_map": [1, 12, 2, 6, 3, 4],
    "filter": [1, 2, 3],
    "process": [1, 12, 2, 6, 3, 4],
    "keyed": [1, 12, 2, 18, 3, 20],
}


def job_of(kind: str, policy: Any, beside_source: bool = False, data: tuple[Any, ...] = (1, 0, 2, "x", 3)) -> LocalJob:
    env = Environment()
    stream: Any = env.from_collection(data)
    stream = stream if beside_source else stream.rebalance()
    made = apply(stream, kind).uid("it").on_poison(policy)
    collect(made, "out")
    for tag in (BAD, SIDE):
        collect(made.get_side_output(tag), tag.tag_id)
    return local_job(env, clock=ManualClock())


def poison_count(job: LocalJob, uid: str = "it") -> int:
    return int(job.book.totals().get(uid, {}).get("poisonRecords", 0))


@pytest.mark.parametrize("beside_source", [False, True])
@pytest.mark.parametrize("kind", list(EXPECTED))
def test_poison_records_are_skipped_and_counted(kind: str, beside_source: bool) -> None:
    """F9: nothing of the failing call is emitted; the records after it are processed; a batch run twice counts once."""
    job = job_of(kind, "skip", beside_source)
    job.run_batch(2)
    job.run_batch(2, commit=False)
    job.run()
    assert job.results["out"] == EXPECTED[kind]
    assert poison_count(job) == 2
    assert job.results["bad"] == []
    if kind == "process":
        assert job.results["side"] == [1, -1, 2, -2, 3, -3]
    if kind != "keyed":
        assert job.state_blobs() == {}


@pytest.mark.parametrize("kind", list(EXPECTED))
def test_poison_records_go_to_a_side_output_with_their_error(kind: str) -> None:
    """F9, O4"""
    job = job_of(kind, BAD)
    job.run()
    assert job.results["out"] == EXPECTED[kind]
    zero, text = job.results["bad"]
    assert zero == (0, "ZeroDivisionError: division by zero")
    assert text[0] == "x"
    assert text[1].startswith("TypeError: ")
    assert poison_count(job) == 2


@pytest.mark.parametrize("kind", list(EXPECTED))
def test_by_default_they_fail_the_job(kind: str) -> None:
    """F9, P9"""
    env = Environment()
    collect(apply(env.from_collection([1, 0]), kind), "out")
    with pytest.raises(UserFunctionError, match=r"failed on record 0"):
        local_job(env).run()
    with pytest.raises(UserFunctionError, match=r"failed on record 0"):
        job_of(kind, "fail").run()


def test_one_operator_may_fail_where_the_others_skip() -> None:
    """F9: the operator's choice is stronger than the environment's."""
    env = Environment()
    collect(env.from_collection([1, 0]).map(reciprocal).on_poison("fail"), "out")
    with pytest.raises(UserFunctionError):
        local_job(env, settings=SKIP).run()


def test_a_failure_further_down_the_chain_is_not_taken_for_ones_own() -> None:
    """F9"""
    env = Environment()
    collect(env.from_collection([1]).rebalance().map(lambda v: v).on_poison("skip").map(lambda v: v / 0), "out")
    with pytest.raises(UserFunctionError, match="on record 1"):
        local_job(env).run()


def test_the_environments_choice_holds_for_all() -> None:
    """F9"""
    env = Environment()
    first = env.from_collection([4, 0, 3]).map(reciprocal).uid("first")
    second = first.filter(lambda v: v / (v - 3)).uid("second")
    collect(second, "out")
    collect(first.get_side_output(POISON_TAG), "bad")
    job = local_job(env, settings=replace(RuntimeSettings(), poison=poison_policy("side-output")))
    job.run()
    assert job.results == {"out": [4.0], "bad": [(0, "ZeroDivisionError: division by zero")]}
    assert (poison_count(job, "first"), poison_count(job, "second")) == (1, 1)


def test_the_setting_is_read_from_the_configuration() -> None:
    """F9"""
    conf = Environment().get_configuration().set_string("penstock.poison", "side-output")
    assert plan_options(conf, "local", 1, 128).settings.poison == poison_policy(POISON_TAG)
    conf.set_string("penstock.poison", "drop")
    with pytest.raises(
        ConfigurationError, match=r"penstock.poison must be one of fail, skip, side-output.* got 'drop'"
    ):
        plan_options(conf, "local", 1, 128)


def test_an_unknown_policy_is_refused() -> None:
    """F9, P9"""
    stream = Environment().from_collection([1]).map(reciprocal)
    with pytest.raises(ProgramError, match=r"Operator 'Map': on_poison\(\) must be one of fail, skip, side-output"):
        stream.on_poison("ignore")


@pytest.mark.parametrize("policy", ["skip", BAD])
def test_key_selectors_that_fail_or_give_no_key(policy: Any) -> None:
    """F9, G5: belong to the operator before `key_by`; the timestamp stays with the record."""
    env = Environment()
    keys = {0: 1 // 1, 1: {}, 3: object(), 4: "a"}
    source = env.from_collection([0, 1, 2, 3, 4]).map(lambda v: v).uid("it").on_poison(policy)
    collect(source.key_by(lambda v: keys[v]).map(lambda v: v), "out")
    collect(source.get_side_output(BAD), "bad")
    job = local_job(env, 2)
    job.run()
    assert sorted(job.results["out"]) == [0, 4]
    assert poison_count(job) == 3
    if policy is BAD:
        found = sorted(job.results["bad"])
        assert [value for value, _ in found] == [1, 2, 3]
        assert found[1][1] == "KeyError: 2"
        assert found[0][1].startswith("KeyTypeError: ")


def test_partitioners_that_fail() -> None:
    """F9"""
    env = Environment()
    source = env.from_collection([0, 1, 2]).map(lambda v: v).uid("it").on_poison("skip")
    collect(source.partition_custom(lambda k, n: 2 // k % n, lambda v: v).map(lambda v: v), "out")
    job = local_job(env, 2)
    job.run()
    assert sorted(job.results["out"]) == [1, 2]
    assert poison_count(job) == 1


class Stamped(ProcessFunction):
    def process_element(self, value: Any, ctx: Any) -> Iterator[Any]:
        yield value, ctx.timestamp()


def test_timestamp_assigners_that_fail_or_give_none() -> None:
    """F9, T8"""
    env = Environment()
    stamps = {1: 10, 2: None, 3: "x", 5: 50}
    strategy = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(lambda v, _: stamps[v])
    made = env.from_collection([1, 2, 3, 4, 5]).assign_timestamps_and_watermarks(strategy).uid("it").on_poison(BAD)
    collect(made.process(Stamped()), "out")
    collect(made.get_side_output(BAD), "bad")
    job = local_job(env)
    job.run()
    assert job.results["out"] == [(1, 10), (5, 50)]
    assert [value for value, _ in job.results["bad"]] == [2, 3, 4]
    assert job.results["bad"][2] == (4, "KeyError: 4")


def test_a_poison_record_keeps_its_timestamp() -> None:
    """F9, T1: in the side output, from every kind of function."""
    for kind in EXPECTED:
        env = Environment()
        strategy = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(lambda v, _: v + 100)
        stamped = env.from_collection([1, 0, 2]).assign_timestamps_and_watermarks(strategy)
        made = apply(stamped, kind).on_poison(BAD)
        collect(made, "out")
        collect(made.get_side_output(BAD).process(Stamped()), "bad")
        job = local_job(env)
        job.run()
        assert job.results["bad"] == [((0, "ZeroDivisionError: division by zero"), 100)]


class Picky(Sink):
    """Takes everything but None."""

    def __init__(self, folder: Any) -> None:
        self.folder = folder

    def create_writer(self, context: Any) -> SinkWriter:
        return PickyWriter(self.folder / f"{context.batch_id}-{context.attempt_id}")


class PickyWriter(SinkWriter):
    def __init__(self, path: Any) -> None:
        self.path = path

    def write(self, value: Any, timestamp: Any) -> None:
        if value is None:
            raise ValueError("nothing to write")
        with open(self.path, "a") as file:
            file.write(value)


def test_records_that_a_sink_refuses(tmp_path: Any) -> None:
    """F9, F6: each record is written once, whatever its neighbours do."""
    env = Environment()
    env.from_collection(["a", None, "b"]).sink_to(Picky(tmp_path)).uid("it").on_poison("skip")
    job = local_job(env)
    job.run()
    assert [p.read_text() for p in tmp_path.iterdir()] == ["ab"]
    assert poison_count(job) == 1


class PickyFunction(SinkFunction):
    def __init__(self, path: Any) -> None:
        self.path = path

    def invoke(self, value: Any, context: Any) -> None:
        PickyWriter(self.path).write(f"{value}{context.timestamp()}" if value else value, None)


@pytest.mark.parametrize("plain", [True, False])
def test_records_that_a_sink_function_refuses(tmp_path: Any, plain: bool) -> None:
    """F9, F6"""
    path = tmp_path / "out"
    env = Environment()
    stream = env.from_collection(["a", None, "b"])
    sink: Any = (lambda value: PickyWriter(path).write(value, None)) if plain else PickyFunction(path)
    stream.add_sink(sink).uid("it").on_poison("skip")
    job = local_job(env)
    job.run()
    assert path.read_text() == ("ab" if plain else "aNonebNone")
    assert poison_count(job) == 1


class MistakenWriter(SinkWriter):
    def write(self, value: Any, timestamp: Any) -> None:
        raise ProgramError("the sink was given no schema")


class Mistaken(Sink):
    def create_writer(self, context: Any) -> SinkWriter:
        return MistakenWriter()


def test_a_mistake_in_the_program_that_a_sink_finds_fails_the_job() -> None:
    """F9"""
    env = Environment()
    env.from_collection(["a"]).sink_to(Mistaken()).uid("it").on_poison("skip")
    with pytest.raises(ProgramError, match="the sink was given no schema"):
        local_job(env).run()


class Reciprocals(AsyncFunction):
    async def async_invoke(self, value: Any) -> list[Any]:
        return [12 / value]


def test_asynchronous_calls_that_fail() -> None:
    """F9, O5"""
    env = Environment()
    stream = env.from_collection([1, 0, 2, 3])
    made = AsyncDataStream.ordered_wait(stream, Reciprocals(), Time.seconds(10)).uid("it").on_poison(BAD)
    collect(made, "out")
    collect(made.get_side_output(BAD), "bad")
    job = local_job(env)
    job.run()
    assert job.results == {"out": [12.0, 6.0, 4.0], "bad": [(0, "ZeroDivisionError: division by zero")]}
    assert poison_count(job) == 1


class Sides(CoProcessFunction):
    def process_element1(self, value: Any, ctx: Any) -> Iterator[Any]:
        yield "first"
        yield 12 / value

    def process_element2(self, value: Any, ctx: Any) -> Iterator[Any]:
        yield "second"
        yield 12 / value


class Doubles(CoMapFunction):
    def map1(self, value: Any) -> Any:
        return 12 / value

    def map2(self, value: Any) -> Any:
        return -12 / value


def test_functions_of_two_streams() -> None:
    """F9, O3"""
    env = Environment()
    both = env.from_collection([1, 0]).connect(env.from_collection([0, 2]))
    processed, mapped = both.process(Sides()).on_poison(BAD), both.map(Doubles()).on_poison("skip")
    collect(processed, "out")
    collect(processed.get_side_output(BAD), "bad")
    collect(mapped, "mapped")
    job = local_job(env)
    job.run()
    assert sorted(map(str, job.results["out"])) == ["12.0", "6.0", "first", "second"]
    assert job.results["bad"] == [(0, "ZeroDivisionError: division by zero")] * 2
    assert sorted(job.results["mapped"]) == [-6.0, 12.0]


class Misused(MapFunction):
    def open(self, runtime_context: RuntimeContext) -> None:
        self.context = runtime_context

    def map(self, value: Any) -> Any:
        return self.context.get_state(ValueStateDescriptor("v"))


def test_mistakes_in_the_program_fail_the_job_all_the_same() -> None:
    """F9, P9: every record would meet them."""
    env = Environment()
    collect(env.from_collection([1]).map(Misused()).on_poison("skip"), "out")
    with pytest.raises(ProgramError, match="asks for keyed state 'v' but its input is not keyed"):
        local_job(env).run()
    env = Environment()
    collect(env.from_collection([1]).flat_map(lambda v: v).on_poison("skip"), "out")
    with pytest.raises(UserFunctionError, match="yield records or return an iterable of them"):
        local_job(env).run()


def test_what_is_yielded_is_fixed_at_that_moment() -> None:
    """F9, S7: also where a call is run to its end first."""

    class Growing(ProcessFunction):
        def process_element(self, value: Any, ctx: Any) -> Iterator[Any]:
            held: list[int] = []
            for i in range(3):
                held.append(i)
                yield held

    env = Environment()
    collect(env.from_collection([1]).process(Growing()).on_poison("skip"), "out")
    job = local_job(env)
    job.run()
    assert job.results["out"] == [[0], [0, 1], [0, 1, 2]]


@settings(max_examples=examples(40), deadline=None)
@given(st.lists(st.integers(-2, 2)), st.sampled_from(list(EXPECTED)), st.lists(st.integers(1, 5), max_size=4))
def test_the_rest_of_the_stream_is_as_if_the_poison_had_not_been_there(
    data: list[int], kind: str, batches: list[int]
) -> None:
    """F9: for every kind of function and every split into batches; keyed state is left out, which keeps changes."""
    kind = "process" if kind == "keyed" else kind
    job, clean = job_of(kind, BAD, data=tuple(data)), job_of(kind, "fail", data=tuple(v for v in data if v))
    job.run(batches)
    clean.run()
    for name in ("out", "side"):
        assert job.results.get(name) == clean.results.get(name)
    assert len(job.results.get("bad", [])) == data.count(0) == poison_count(job)
