"""A class where an instance is meant is refused by name: it can be called, so it would pass as a function (P9)."""

from collections.abc import Callable
from typing import Any

import pytest

from penstock.cep import CEP, Pattern, PatternProcessFunction, PatternSelectFunction, SimpleCondition
from penstock.common import Time, WatermarkStrategy
from penstock.common.watermark_strategy import TimestampAssigner
from penstock.core.errors import ProgramError
from penstock.datastream import (
    AggregateFunction,
    AsyncDataStream,
    AsyncFunction,
    CoFlatMapFunction,
    CoMapFunction,
    CoProcessFunction,
    FilterFunction,
    FlatMapFunction,
    JoinFunction,
    KeyedProcessFunction,
    KeySelector,
    MapFunction,
    Partitioner,
    ProcessFunction,
    ProcessJoinFunction,
    ProcessWindowFunction,
    ReduceFunction,
    SinkFunction,
    SourceFunction,
    StreamExecutionEnvironment,
    WindowFunction,
)
from penstock.datastream.window import (
    EventTimeSessionWindows,
    EventTimeTrigger,
    PurgingTrigger,
    SessionWindowTimeGapExtractor,
    TumblingEventTimeWindows,
)
from penstock.testing import collect, local_job

WINDOWS = TumblingEventTimeWindows.of(Time.seconds(1))
Streams = tuple[StreamExecutionEnvironment, Any, Any]
"""An environment, a stream of it, and the stream keyed."""


def windowed(s: Streams) -> Any:
    return s[2].window(WINDOWS)


def joined(s: Streams) -> Any:
    return s[1].join(s[1]).where(lambda v: v).equal_to(lambda v: v).window(WINDOWS)


def patterns(s: Streams) -> Any:
    return CEP.pattern(s[2], Pattern.begin("a"))


def strategy(assigner: Any) -> Any:
    return WatermarkStrategy.no_watermarks().with_timestamp_assigner(assigner)


CALLS: dict[str, tuple[type, Callable[[Streams, Any], Any]]] = {
    "map": (MapFunction, lambda s, c: s[1].map(c)),
    "keyed map": (MapFunction, lambda s, c: s[2].map(c)),
    "flat_map": (FlatMapFunction, lambda s, c: s[1].flat_map(c)),
    "filter": (FilterFunction, lambda s, c: s[1].filter(c)),
    "key_by": (KeySelector, lambda s, c: s[1].key_by(c)),
    "partition_custom": (Partitioner, lambda s, c: s[1].partition_custom(c, lambda v: v)),
    "partition_custom key": (KeySelector, lambda s, c: s[1].partition_custom(lambda k, n: 0, c)),
    "reduce": (ReduceFunction, lambda s, c: s[2].reduce(c)),
    "process": (ProcessFunction, lambda s, c: s[1].process(c)),
    "keyed process": (KeyedProcessFunction, lambda s, c: s[2].process(c)),
    "connected map": (CoMapFunction, lambda s, c: s[1].connect(s[1]).map(c)),
    "connected flat_map": (CoFlatMapFunction, lambda s, c: s[1].connect(s[1]).flat_map(c)),
    "connected process": (CoProcessFunction, lambda s, c: s[1].connect(s[1]).process(c)),
    "window": (TumblingEventTimeWindows, lambda s, c: s[2].window(c)),
    "trigger": (EventTimeTrigger, lambda s, c: windowed(s).trigger(c)),
    "purging trigger": (EventTimeTrigger, lambda s, c: PurgingTrigger.of(c)),
    "window reduce": (ReduceFunction, lambda s, c: windowed(s).reduce(c)),
    "aggregate": (AggregateFunction, lambda s, c: windowed(s).aggregate(c)),
    "window process": (ProcessWindowFunction, lambda s, c: windowed(s).process(c)),
    "apply": (WindowFunction, lambda s, c: windowed(s).apply(c)),
    "reduce and process": (ProcessWindowFunction, lambda s, c: windowed(s).reduce(lambda a, b: a, c)),
    "gap": (SessionWindowTimeGapExtractor, lambda s, c: EventTimeSessionWindows.with_dynamic_gap(c)),
    "join": (JoinFunction, lambda s, c: joined(s).apply(c)),
    "where": (KeySelector, lambda s, c: s[1].join(s[1]).where(c)),
    "interval join": (
        ProcessJoinFunction,
        lambda s, c: s[2].interval_join(s[2]).between(Time.seconds(-1), Time.seconds(1)).process(c),
    ),
    "async": (AsyncFunction, lambda s, c: AsyncDataStream.ordered_wait(s[1], c, Time.seconds(1))),
    "add_source": (SourceFunction, lambda s, c: s[0].add_source(c)),
    "add_sink": (SinkFunction, lambda s, c: s[1].add_sink(c)),
    "timestamps": (TimestampAssigner, lambda s, c: strategy(c)),
    "condition": (SimpleCondition, lambda s, c: Pattern.begin("a").where(c)),
    "select": (PatternSelectFunction, lambda s, c: patterns(s).select(c)),
    "pattern process": (PatternProcessFunction, lambda s, c: patterns(s).process(c)),
}


@pytest.mark.parametrize("name", CALLS)
def test_a_class_for_an_instance_is_refused_with_what_to_write(name: str) -> None:
    """P6, P9"""
    base, call = CALLS[name]
    env = StreamExecutionEnvironment()
    stream = env.from_collection([1])
    mine = type("Mine", (base,), {})
    with pytest.raises((TypeError, ProgramError), match=r"got the class Mine itself: create an instance, Mine\(\.\.\."):
        call((env, stream, stream.key_by(lambda v: v)), mine)


@pytest.mark.parametrize("make", [str, float, frozenset])
def test_other_classes_are_functions(make: Any) -> None:
    """P6: a class whose instances are records makes them."""
    env = StreamExecutionEnvironment()
    collect(env.from_collection(["1"]).map(make), "made")
    job = local_job(env)
    job.run()
    assert job.results["made"] == [make("1")]
