"""Failures while a job runs name the operator, the record, and show the user's traceback alone (P9)."""

from collections.abc import Iterator
from typing import Any

import pytest

from penstock.common import WatermarkStrategy
from penstock.core.errors import (
    KeyTypeError,
    OperatorError,
    ProgramError,
    RecordError,
    TimestampError,
    UserFunctionError,
)
from penstock.datastream import (
    DataStream,
    KeyedProcessFunction,
    MapFunction,
    ProcessFunction,
    RuntimeContext,
    StreamExecutionEnvironment,
)
from penstock.datastream.state import ListStateDescriptor, MapStateDescriptor, ValueStateDescriptor
from penstock.testing import collect, local_job


def run(build: Any, items: list[Any] | None = None, parallelism: int = 2) -> list[Any]:
    env = StreamExecutionEnvironment()
    stream: DataStream[Any] = build(env.from_collection([1, 2, 3] if items is None else items))
    collect(stream, "out")
    job = local_job(env, parallelism)
    job.run()
    return job.results["out"]


def divide(value: int) -> float:
    return 1 / (value - 2)


class Failing(KeyedProcessFunction):
    def __init__(self, where: str, result: Any = None) -> None:
        self.where, self.result = where, result

    def open(self, runtime_context: RuntimeContext) -> None:
        if self.where == "open":
            divide(2)

    def process_element(self, value: int, ctx: Any) -> Any:
        if self.where == "element":
            divide(value)
        if self.where == "result":
            return self.result
        ctx.timer_service().register_event_time_timer(7)
        return None

    def on_timer(self, timestamp: int, ctx: Any) -> Any:
        if self.where == "timer":
            divide(2)
        return self.result


class FailingGenerator(ProcessFunction):
    def process_element(self, value: int, ctx: Any) -> Iterator[Any]:
        yield value
        divide(value)


@pytest.mark.parametrize(
    ("build", "start"),
    [
        (lambda s: s.map(divide).uid("m"), "The map function of operator 'Map' (uid m) failed on record 2\n"),
        (lambda s: s.filter(divide).uid("f"), "The filter function of operator 'Filter' (uid f) failed on record 2\n"),
        (
            lambda s: s.flat_map(lambda v: [divide(v)]).name("Cut").uid("c"),
            "The flat_map function of operator 'Cut' (uid c) failed on record 2\n",
        ),
        (
            lambda s: s.process(FailingGenerator()).uid("p"),
            "process_element of operator 'Process' (uid p) failed on record 2\n",
        ),
        (
            lambda s: s.key_by(lambda v: v).process(Failing("element")).uid("k"),
            "process_element of operator 'KeyedProcess' (uid k) failed on record 2\n",
        ),
        (
            lambda s: s.key_by(lambda v: 0).process(Failing("timer")).uid("k"),
            "on_timer of operator 'KeyedProcess' (uid k) failed on record 'timer 7 of key 0'\n",
        ),
        (
            lambda s: s.key_by(lambda v: v).process(Failing("open")).uid("k"),
            "open() of operator 'KeyedProcess' (uid k) failed\n",
        ),
        (
            lambda s: s.uid("s").key_by(divide).map(lambda v: v),
            "The key selector of operator 'Source: Collection' (uid s) failed on record 2\n",
        ),
        (
            lambda s: s.key_by(lambda v: 0).reduce(lambda a, b: divide(2)).uid("r"),
            "process_element of operator 'Reduce' (uid r) failed on record 2\n",
        ),
        (
            lambda s: s.assign_timestamps_and_watermarks(
                WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(lambda v, _: int(divide(v)))
            ).uid("t"),
            "The timestamp assigner of operator 'Timestamps/Watermarks' (uid t) failed on record 2\n",
        ),
    ],
)
@pytest.mark.parametrize("parallelism", [1, 2])
def test_a_function_that_raises_is_named_with_its_record(build: Any, start: str, parallelism: int) -> None:
    """P9: operator, uid, record, and a traceback that begins in the user's function."""
    with pytest.raises(UserFunctionError) as caught:
        run(build, parallelism=parallelism)
    text = str(caught.value)
    assert text.startswith(start), text
    assert text.endswith("ZeroDivisionError: division by zero")
    assert "in divide" in text
    assert "return 1 / (value - 2)" in text
    assert "/penstock/runtime/" not in text
    assert "/penstock/api/" not in text
    assert caught.value.operator
    assert caught.value.uid


class FailingOpen(MapFunction):
    def open(self, runtime_context: RuntimeContext) -> None:
        divide(2)

    def map(self, value: Any) -> Any:
        return value


def test_a_rich_function_beside_the_source_that_fails_to_open_is_named() -> None:
    """P9"""
    with pytest.raises(UserFunctionError, match=r"open\(\) of operator 'Map' \(uid m\) failed\n"):
        run(lambda s: s.map(FailingOpen()).uid("m"), parallelism=1)


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (
            lambda s: s.flat_map(lambda v: v).uid("f"),
            r"The flat_map function of operator 'FlatMap' \(uid f\) returned 1 \(int\) for record 1: yield records or",
        ),
        (
            lambda s: s.key_by(lambda v: v).process(Failing("result", 5)).uid("k"),
            r"process_element of operator 'KeyedProcess' \(uid k\) returned 5 \(int\) for record \d: yield records or",
        ),
        (
            lambda s: s.key_by(lambda v: v).process(Failing("ok", 5)).uid("k"),
            r"on_timer of operator 'KeyedProcess' \(uid k\) returned 5 \(int\) for record 'timer 7 of key \d'",
        ),
    ],
)
def test_a_wrong_return_type_is_named(build: Any, message: str) -> None:
    """P9"""
    with pytest.raises(UserFunctionError, match=message):
        run(build)


def test_returning_none_means_no_records() -> None:
    """P6"""
    assert run(lambda s: s.flat_map(lambda v: None if v == 2 else [v])) == [1, 3]


@pytest.mark.parametrize(
    ("timestamp", "message"),
    [
        (1.5, r"got the timestamp 1\.5 \(float\) for record 1: return milliseconds since the epoch as an int"),
        ("7", r"got the timestamp '7' \(str\) for record 1: return milliseconds"),
        (None, r"got the timestamp None \(NoneType\) for record 1: return milliseconds"),
        (True, r"got the timestamp True \(bool\) for record 1: return milliseconds"),
        (2**63, r"got the timestamp 9223372036854775808 for record 1: it must fit in 64 bits; is it in milliseconds\?"),
        (2**63 - 1, r".*it must fit in 64 bits"),
        (-(2**63) - 1, r".*it must fit in 64 bits"),
    ],
)
@pytest.mark.parametrize("parallelism", [1, 2])
def test_a_bad_timestamp_is_refused(timestamp: Any, message: str, parallelism: int) -> None:
    """P9, T8"""
    strategy = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(lambda v, t: timestamp)
    with pytest.raises(TimestampError, match=rf"Operator 'Timestamps/Watermarks' \(uid t\) {message}"):
        run(lambda s: s.assign_timestamps_and_watermarks(strategy).uid("t"), parallelism=parallelism)


class Timer(KeyedProcessFunction):
    def __init__(self, timestamp: Any) -> None:
        self.timestamp = timestamp

    def process_element(self, value: Any, ctx: Any) -> None:
        ctx.timer_service().register_event_time_timer(self.timestamp)


@pytest.mark.parametrize(
    ("timestamp", "message"),
    [(1.5, "a timer needs an int of milliseconds, got 1.5"), (2**63, "the timer 9223372036854775808 is out of range")],
)
def test_a_bad_timer_is_refused(timestamp: Any, message: str) -> None:
    """P9, S4"""
    with pytest.raises(TimestampError, match=rf"Operator 'KeyedProcess' \(uid k\): {message}"):
        run(lambda s: s.key_by(lambda v: v).process(Timer(timestamp)).uid("k"))


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda s: s.key_by(lambda v: [{v}]).process(Timer(1)), r"\{1\} \(set\) \(inside \[\{1\}\]\) cannot be a key"),
        (lambda s: s.key_by(lambda v: {v}).process(Timer(1)), r"\{1\} \(set\) cannot be a key: it is unhashable"),
        (lambda s: s.key_by(lambda v: object).process(Timer(1)), "a type cannot be a key"),
        (lambda s: s.key_by(lambda v: float("nan")).process(Timer(1)), "nan cannot be a key"),
    ],
)
@pytest.mark.parametrize("parallelism", [1, 2])
def test_a_bad_key_is_refused(build: Any, message: str, parallelism: int) -> None:
    """G5, P9"""
    with pytest.raises(KeyTypeError, match=message) as caught:
        run(build, parallelism=parallelism)
    assert "'Source: Collection'" in str(caught.value)


@pytest.mark.parametrize(
    "build",
    [
        lambda s: s.map(lambda v: lambda: v).name("Wrap").uid("w"),
        lambda s: s.flat_map(lambda v: [lambda: v]).name("Wrap").uid("w"),
    ],
)
def test_an_unpicklable_record_is_refused(build: Any) -> None:
    """P9"""
    with pytest.raises(RecordError, match=r"Operator 'Wrap' \(uid w\): a record cannot be pickled: <function"):
        run(build)


class StoresLambda(KeyedProcessFunction):
    def open(self, runtime_context: RuntimeContext) -> None:
        self.state = runtime_context.get_state(ValueStateDescriptor("s"))

    def process_element(self, value: Any, ctx: Any) -> None:
        self.state.update(lambda: 1)


def test_an_unpicklable_state_value_is_refused() -> None:
    """P9"""
    with pytest.raises(RecordError, match=r"Operator 'KeyedProcess' \(uid k\): a state value cannot be pickled"):
        run(lambda s: s.key_by(lambda v: v).process(StoresLambda()).uid("k"))


class AsksForState(ProcessFunction):
    def open(self, runtime_context: RuntimeContext) -> None:
        runtime_context.get_state(ValueStateDescriptor("total"))

    def process_element(self, value: Any, ctx: Any) -> None:
        ctx.timer_service().register_event_time_timer(1)


class AsksForTimer(AsksForState):
    def open(self, runtime_context: RuntimeContext) -> None: ...


def test_keyed_state_without_key_by_is_refused() -> None:
    """P9, S1"""
    message = r"Operator 'Process' \(uid p\) asks for keyed state 'total' but its input is not keyed: call key_by first"
    with pytest.raises(ProgramError, match=message):
        run(lambda s: s.process(AsksForState()).uid("p"))


def test_a_timer_without_key_by_is_refused() -> None:
    """P9, S4"""
    with pytest.raises(ProgramError, match=r"Operator 'Process' \(uid p\) sets a timer but its input is not keyed"):
        run(lambda s: s.process(AsksForTimer()).uid("p"))


class TwoKinds(KeyedProcessFunction):
    def __init__(self, first: Any, second: Any) -> None:
        self.pair = first, second

    def open(self, runtime_context: RuntimeContext) -> None:
        runtime_context.get_state(self.pair[0])
        runtime_context.get_list_state(self.pair[1])

    def process_element(self, value: Any, ctx: Any) -> None: ...


@pytest.mark.parametrize(
    ("second", "message"),
    [
        (ListStateDescriptor("s"), "uses the state name 's' for a value and for a list state: give each descriptor"),
        (MapStateDescriptor("m"), "MapStateDescriptor given where a ListStateDescriptor is needed"),
    ],
)
def test_state_names_are_unique_in_an_operator(second: Any, message: str) -> None:
    """P9, S1"""
    with pytest.raises(ProgramError, match=rf"Operator 'KeyedProcess' \(uid k\):? {message}"):
        run(lambda s: s.key_by(lambda v: v).process(TwoKinds(ValueStateDescriptor("s"), second)).uid("k"))


class Unreadable:
    def __repr__(self) -> str:
        raise ValueError("no")


def test_a_record_that_cannot_be_shown_does_not_hide_the_failure() -> None:
    """P9"""
    with pytest.raises(UserFunctionError, match="failed on record <Unreadable whose repr raised ValueError>"):
        run(lambda s: s.map(lambda v: v.missing), [Unreadable()])


def test_a_long_record_is_cut() -> None:
    """P9"""
    with pytest.raises(UserFunctionError) as caught:
        run(lambda s: s.map(lambda v: v.missing), ["x" * 5_000])
    assert len(caught.value.record) == 300


def test_errors_survive_pickling() -> None:
    """P9: they travel from workers to the driver."""
    import pickle

    with pytest.raises(OperatorError) as caught:
        run(lambda s: s.map(divide).uid("m"))
    back = pickle.loads(pickle.dumps(caught.value))
    assert (str(back), back.operator, back.uid, back.record) == (str(caught.value), "Map", "m", "2")
