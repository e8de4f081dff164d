"""F9 where there is no record at hand: timers, windows that fire, matches; and records on their way into a window."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from penstock.cep import CEP, Pattern
from penstock.common import Time, WatermarkStrategy
from penstock.common.errors import ProgramError, UserFunctionError
from penstock.core.cep.functions import PatternProcessFunction
from penstock.core.program.poison import FailedTimer, FailedWindow
from penstock.core.time.clock import ManualClock
from penstock.core.windows.window import TimeWindow
from penstock.datastream import (
    AggregateFunction,
    KeyedProcessFunction,
    OutputTag,
    ProcessWindowFunction,
    RuntimeContext,
)
from penstock.datastream import StreamExecutionEnvironment as Environment
from penstock.datastream.state import ValueStateDescriptor
from penstock.datastream.window import EventTimeSessionWindows, SlidingEventTimeWindows, TumblingEventTimeWindows
from penstock.local.local_job import LocalJob
from penstock.testing.jobs import collect, local_job
from tests.effort import examples

BAD = OutputTag("bad")
SIDE = OutputTag("side")
ZERO = "ZeroDivisionError: division by zero"


def stream_of(env: Environment, data: list[Any]) -> Any:
    """Records (key, value, time); those of the key z move the clock only."""
    strategy: Any = WatermarkStrategy.for_monotonous_timestamps()
    stamped = strategy.with_timestamp_assigner(lambda v, _: v[2])
    records = env.from_collection(data).assign_timestamps_and_watermarks(stamped)
    return records.filter(lambda v: v[0] != "z").key_by(lambda v: v[0])


def run(made: Any, env: Environment, policy: Any = BAD, batches: tuple[int, ...] = ()) -> LocalJob:
    made = made.uid("it").on_poison(policy)
    collect(made, "out")
    for tag in (BAD, SIDE):
        collect(made.get_side_output(tag), tag.tag_id)
    job = local_job(env, clock=ManualClock())
    job.run(batches)
    return job


def poison_count(job: LocalJob) -> int:
    return int(job.book.totals().get("it", {}).get("poisonRecords", 0))


# -- timers --------------------------------------------------------------------------------------------------


class Alarm(KeyedProcessFunction):
    """Divides by the key's last value when its timer comes."""

    def open(self, runtime_context: RuntimeContext) -> None:
        self.last = runtime_context.get_state(ValueStateDescriptor("last"))

    def process_element(self, value: Any, ctx: Any) -> None:
        self.last.update(value[1])
        ctx.timer_service().register_event_time_timer(value[2] + 5)

    def on_timer(self, timestamp: int, ctx: Any) -> Iterator[Any]:
        yield "before"
        ctx.output(SIDE, timestamp)
        yield 12 / self.last.value()


def test_a_failing_timer_is_put_aside_and_the_others_fire() -> None:
    """F9, S4: with the key and the timer in the record's place; nothing that it yielded is emitted."""
    env = Environment()
    job = run(stream_of(env, [("a", 2, 0), ("b", 0, 1), ("c", 3, 2)]).process(Alarm()), env)
    assert job.results["out"] == ["before", 6.0, "before", 4.0]
    assert job.results["side"] == [5, 7]
    assert job.results["bad"] == [(FailedTimer("b", 6), ZERO)]
    assert poison_count(job) == 1


def test_without_a_policy_a_failing_timer_fails_the_job() -> None:
    """F9, P9"""
    env = Environment()
    with pytest.raises(UserFunctionError, match="on_timer of operator"):
        run(stream_of(env, [("b", 0, 1)]).process(Alarm()), env, "fail")


# -- windows -------------------------------------------------------------------------------------------------


class Sum(AggregateFunction):
    """Sums reciprocals; cannot show a sum of 3."""

    def create_accumulator(self) -> list[float]:
        return [0.0]

    def add(self, value: Any, accumulator: list[float]) -> list[float]:
        accumulator[0] += 12 / value[1]
        return accumulator

    def get_result(self, accumulator: list[float]) -> float:
        if accumulator[0] == 3:
            raise ValueError("three")
        return accumulator[0]

    def merge(self, acc_a: list[float], acc_b: list[float]) -> list[float]:
        return [acc_a[0] + acc_b[0]]


class MergeableSum(Sum):
    mergeable = True


class Whole(ProcessWindowFunction):
    def process(self, key: Any, context: Any, elements: Any) -> Iterator[Any]:
        yield "window"
        yield SIDE, context.window().start
        yield sum(12 / value[1] for value in elements)

    def clear(self, context: Any) -> None: ...


def reduced(a: Any, b: Any) -> Any:
    return a[0], 12 / b[1] and a[1] + b[1], b[2]


def windowed(stream: Any, kind: str) -> Any:
    tumbling = TumblingEventTimeWindows.of(Time.milliseconds(10))
    sliding = SlidingEventTimeWindows.of(Time.milliseconds(10), Time.milliseconds(5))
    return {
        "aggregate": lambda: stream.window(tumbling).aggregate(Sum()),
        "late": lambda: stream.window(tumbling).allowed_lateness(100).aggregate(Sum()),
        "sliding": lambda: stream.window(sliding).aggregate(Sum()),
        "panes": lambda: stream.window(sliding).aggregate(MergeableSum()),
    }[kind]()


KINDS = ["aggregate", "late", "sliding", "panes"]
WORDS = st.lists(st.tuples(st.sampled_from("ab"), st.integers(-2, 2), st.just(0)), max_size=12)


@settings(max_examples=examples(80))
@given(WORDS, st.sampled_from(KINDS), st.lists(st.integers(1, 5), max_size=3))
def test_windows_are_as_if_the_poison_had_not_been_there(data: list[Any], kind: str, batches: list[int]) -> None:
    """F9, W5: for every split into batches; a record is counted once, however many windows it belongs to."""
    data = [(key, value, 3 * i) for i, (key, value, _) in enumerate(data)]
    env, other = Environment(), Environment()
    job = run(windowed(stream_of(env, data), kind), env, BAD, tuple(batches))
    clean = run(windowed(stream_of(other, [r if r[1] else ("z", 1, r[2]) for r in data]), kind), other)
    assert sorted(job.results.get("out", [])) == sorted(clean.results.get("out", []))
    zeros = [(record, ZERO) for record in data if record[1] == 0]
    assert [bad for bad in job.results.get("bad", []) if not isinstance(bad[0], FailedWindow)] == zeros
    assert len(job.results.get("bad", [])) == poison_count(job)


def test_a_result_that_cannot_be_made_is_put_aside() -> None:
    """F9: the window stands for the record; the other windows fire."""
    for kind in ("aggregate", "late"):
        env = Environment()
        job = run(windowed(stream_of(env, [("a", 4, 1), ("a", 2, 11), ("b", 4, 12)]), kind), env)
        assert job.results["out"] == [6.0]
        bad = [
            (FailedWindow(key, TimeWindow(start, start + 10)), "ValueError: three")
            for key, start in (("a", 0), ("b", 10))
        ]
        assert job.results["bad"] == bad


def test_a_window_function_that_fails_is_put_aside() -> None:
    """F9, O4: nothing of the failing call is emitted, by neither way."""
    env = Environment()
    windows = stream_of(env, [("a", 2, 0), ("b", 0, 1), ("c", 3, 2)]).window(
        TumblingEventTimeWindows.of(Time.milliseconds(10))
    )
    job = run(windows.process(Whole()), env)
    assert job.results["out"] == ["window", 6.0, "window", 4.0]
    assert job.results["side"] == [0, 0]
    assert job.results["bad"] == [(FailedWindow("b", TimeWindow(0, 10)), ZERO)]


@pytest.mark.parametrize("combine", ["aggregate", "reduce"])
def test_sessions_survive_a_record_that_cannot_be_added(combine: str) -> None:
    """F9, W4: sessions that the record brings together keep what they hold; its time counts."""
    env = Environment()
    data = [("a", 2, 0), ("a", 3, 14), ("a", 0, 7), ("a", 1, 90)]
    strategy: Any = WatermarkStrategy.for_bounded_out_of_orderness(Time.milliseconds(50))
    stream = env.from_collection(data).assign_timestamps_and_watermarks(
        strategy.with_timestamp_assigner(lambda v, _: v[2])
    )
    sessions = stream.key_by(lambda v: v[0]).window(EventTimeSessionWindows.with_gap(Time.milliseconds(8)))
    job = run(sessions.aggregate(Sum()) if combine == "aggregate" else sessions.reduce(reduced), env)
    assert job.results["out"] == ([10.0, 12.0] if combine == "aggregate" else [("a", 5, 14), ("a", 1, 90)])
    assert job.results["bad"] == [(("a", 0, 7), ZERO)]


def test_nothing_is_left_of_a_window_whose_only_record_failed() -> None:
    """F9, W3: it does not exist."""
    for kind in KINDS:
        env = Environment()
        job = run(windowed(stream_of(env, [("a", 0, 1)]), kind), env)
        assert job.results["out"] == []
        assert job.state_blobs() == {}


def test_a_record_that_failed_has_its_place_in_a_count_window() -> None:
    """F9, W1: it was counted before the function saw it."""
    env = Environment()
    job = run(stream_of(env, [("a", v, i) for i, v in enumerate((1, 0, 2, 4))]).count_window(2).aggregate(Sum()), env)
    assert (job.results["out"], len(job.results["bad"])) == ([12.0, 9.0], 1)


class Strict(Sum):
    def add(self, value: Any, accumulator: list[float]) -> list[float]:
        raise ProgramError("no such thing")


def test_mistakes_in_the_program_and_failures_behind_a_window_fail_the_job() -> None:
    """F9, P9: a guard guards its own operator alone."""
    env = Environment()
    windows = stream_of(env, [("a", 1, 1)]).window(TumblingEventTimeWindows.of(Time.milliseconds(10)))
    with pytest.raises(ProgramError, match="no such thing"):
        run(windows.aggregate(Strict()), env)
    env = Environment()
    windows = stream_of(env, [("a", 1, 1), ("a", 1, 2)]).count_window(1)
    made = windows.aggregate(Sum()).on_poison("skip").map(lambda v: 1 / 0).name("behind")
    collect(made, "out")
    with pytest.raises(UserFunctionError, match="operator 'behind'"):
        local_job(env).run()


# -- matches -------------------------------------------------------------------------------------------------


class Divide(PatternProcessFunction):
    def process_match(self, match: Any, ctx: Any) -> Iterator[Any]:
        yield "match"
        yield 12 / match["x"][0][1]


def test_a_match_function_and_a_condition_that_fail_are_put_aside() -> None:
    """F9, C1, C2"""
    env = Environment()
    data = [("a", 2, 0), ("a", 0, 1), ("a", "x", 2), ("a", 3, 3)]
    pattern = Pattern.begin("x").where(lambda event: event[1] >= 0)
    job = run(CEP.pattern(stream_of(env, data), pattern).process(Divide()), env)
    assert job.results["out"] == ["match", 6.0, "match", 4.0]
    assert job.results["bad"] == [
        ({"x": [("a", 0, 1)]}, ZERO),
        (("a", "x", 2), "TypeError: '>=' not supported between instances of 'str' and 'int'"),
    ]
