"""Event time that never moves is warned about by name, when the job is planned or at the first timer (T5, P9)."""

import warnings
from collections.abc import Callable
from typing import Any

import pytest

from penstock.cep import CEP, Pattern
from penstock.common import Configuration, Duration, Time, WatermarkStrategy
from penstock.datastream import (
    DataStream,
    KeyedProcessFunction,
    ProcessJoinFunction,
    SourceFunction,
    StreamExecutionEnvironment,
)
from penstock.datastream.connectors.datagen import DataGeneratorSource
from penstock.datastream.window import (
    ContinuousEventTimeTrigger,
    CountTrigger,
    EventTimeSessionWindows,
    EventTimeTrigger,
    PurgingTrigger,
    TumblingEventTimeWindows,
    TumblingProcessingTimeWindows,
)
from penstock.testing import local_job

NONE = WatermarkStrategy.no_watermarks()
SOME = WatermarkStrategy.for_bounded_out_of_orderness(Duration.of_seconds(1))
SECOND = TumblingEventTimeWindows.of(Time.seconds(1))


def endless(env: StreamExecutionEnvironment, strategy: WatermarkStrategy = NONE, name: str = "forever") -> Any:
    return env.from_source(DataGeneratorSource(lambda i: i), strategy, name)


def summed(windowed: Any) -> DataStream[Any]:
    out: DataStream[Any] = windowed.reduce(lambda a, b: a + b)
    return out


def keyed(stream: Any) -> Any:
    return stream.key_by(lambda v: v % 3)


class Silent(SourceFunction):
    emits_watermarks = False

    def run(self, ctx: Any) -> None: ...
    def cancel(self) -> None: ...


class Speaking(Silent):
    emits_watermarks = True


class Pair(ProcessJoinFunction):
    def process_element(self, left: Any, right: Any, ctx: Any) -> Any:
        yield left, right


IN_VAIN: dict[str, tuple[Callable[[Any], Any], str]] = {
    "windows": (lambda env: summed(keyed(endless(env)).window(SECOND)), "its windows never fire"),
    "all": (lambda env: summed(endless(env).window_all(SECOND)), "its windows never fire"),
    "sessions": (
        lambda env: summed(keyed(endless(env)).window(EventTimeSessionWindows.with_gap(Time.seconds(1)))),
        "its windows never fire",
    ),
    "purging": (
        lambda env: summed(keyed(endless(env)).window(SECOND).trigger(PurgingTrigger.of(EventTimeTrigger.create()))),
        "its windows never fire",
    ),
    "continuous": (
        lambda env: summed(
            keyed(endless(env)).window(SECOND).trigger(ContinuousEventTimeTrigger.of(Time.milliseconds(100)))
        ),
        "its windows never fire",
    ),
    "one of two": (
        lambda env: summed(keyed(endless(env, SOME, "good").union(endless(env))).window(SECOND)),
        "its windows never fire",
    ),
    "join": (
        lambda env: (
            endless(env, SOME, "good")
            .join(endless(env))
            .where(lambda v: v)
            .equal_to(lambda v: v)
            .window(SECOND)
            .apply(lambda a, b: a)
        ),
        "its windows never fire",
    ),
    "interval join": (
        lambda env: (
            keyed(endless(env))
            .interval_join(keyed(endless(env, SOME, "good")))
            .between(Time.seconds(-1), Time.seconds(1))
            .process(Pair())
        ),
        "it never forgets a record",
    ),
    "pattern": (
        lambda env: CEP.pattern(keyed(endless(env)), Pattern.begin("a").where(lambda e: True)).select(
            lambda match: match
        ),
        "finds no match",
    ),
    "timestamps only": (
        lambda env: summed(
            keyed(endless(env).assign_timestamps_and_watermarks(NONE.with_timestamp_assigner(lambda v, t: v))).window(
                SECOND
            )
        ),
        "its windows never fire",
    ),
    "a silent function": (
        lambda env: summed(keyed(env.add_source(Silent(), "forever")).window(SECOND)),
        "its windows never fire",
    ),
}


@pytest.mark.filterwarnings("ignore:.*cannot rewind")
@pytest.mark.parametrize("case", IN_VAIN)
def test_an_operator_that_can_never_fire_is_warned_about(case: str) -> None:
    """T5, P9"""
    build, never = IN_VAIN[case]
    env = StreamExecutionEnvironment()
    build(env).print()
    with pytest.warns(RuntimeWarning, match=rf"Operator '.*' works in event time, .*'Source: forever'.*: .*{never}"):
        local_job(env)


FINE: dict[str, Callable[[Any], Any]] = {
    "watermarks at the source": lambda env: summed(keyed(endless(env, SOME)).window(SECOND)),
    "watermarks behind it": lambda env: summed(
        keyed(endless(env).map(lambda v: v).assign_timestamps_and_watermarks(SOME)).window(SECOND)
    ),
    "an end": lambda env: summed(keyed(env.from_collection([1])).window(SECOND)),
    "processing time": lambda env: summed(
        keyed(endless(env)).window(TumblingProcessingTimeWindows.of(Time.seconds(1)))
    ),
    "a count trigger": lambda env: summed(keyed(endless(env)).window(SECOND).trigger(CountTrigger.of(2))),
    "count windows": lambda env: summed(keyed(endless(env)).count_window(2)),
    "a function that may emit watermarks": lambda env: summed(keyed(env.add_source(Speaking())).window(SECOND)),
}


@pytest.mark.parametrize("case", FINE)
def test_operators_that_fire_are_not(case: str) -> None:
    """T4, T5"""
    env = StreamExecutionEnvironment()
    FINE[case](env).print()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", ".*cannot rewind")
        local_job(env)


def test_periodic_watermarks_may_have_been_switched_off() -> None:
    """T9: nothing moves event time then."""
    env = StreamExecutionEnvironment(Configuration({"pipeline.auto-watermark-interval": "0 ms"}))
    summed(keyed(endless(env, SOME)).window(SECOND)).print()
    with pytest.warns(RuntimeWarning, match="its windows never fire"):
        local_job(env)


class Alarm(KeyedProcessFunction):
    def process_element(self, value: Any, ctx: KeyedProcessFunction.Context) -> None:
        ctx.timer_service().register_event_time_timer(value)


@pytest.mark.parametrize("strategy", [NONE, SOME], ids=["none", "some"])
def test_a_timer_that_can_never_fire_is_warned_about_once(strategy: WatermarkStrategy) -> None:
    """S4, P9: the plan cannot know of it, so the first timer says so."""
    env = StreamExecutionEnvironment()
    keyed(endless(env, strategy)).process(Alarm()).name("Alarm").uid("alarm").print()
    job = local_job(env)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        job.run_batch(10)
    texts = [str(w.message) for w in caught]
    expected = ["Operator 'Alarm' (uid alarm) sets an event-time timer"] if strategy is NONE else []
    assert [text.partition(", but its stream has no watermarks")[0] for text in texts] == expected
