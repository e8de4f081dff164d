"""A program with every kind of operator and no uid, and the marks by which checkpoints know its operators.

`python -m tests.golden.unnamed` writes the marks of the present code. They stand in checkpoints: do that only when a
new kind of operator is added to the program, never to make the test pass.
"""

import json
from pathlib import Path
from typing import Any

from penstock.cep import CEP, Pattern
from penstock.common import Duration, Row, Time, Types, WatermarkStrategy
from penstock.common.serialization import Encoder
from penstock.datastream import (
    AsyncDataStream,
    AsyncFunction,
    KeyedProcessFunction,
    OutputTag,
    ProcessFunction,
    StreamExecutionEnvironment,
)
from penstock.datastream.connectors import FileSink
from penstock.datastream.functions import (
    AggregateFunction,
    BroadcastProcessFunction,
    CoMapFunction,
    KeyedCoProcessFunction,
    MapFunction,
    ProcessJoinFunction,
    ProcessWindowFunction,
    ReduceFunction,
    SinkFunction,
    WindowFunction,
)
from penstock.datastream.state import MapStateDescriptor
from penstock.datastream.window import (
    CountTrigger,
    EventTimeSessionWindows,
    GlobalWindows,
    SlidingEventTimeWindows,
    TumblingEventTimeWindows,
    TumblingProcessingTimeWindows,
)
from penstock.plan.identity import marks_of

MARKS = Path(__file__).with_name("marks.json")
ASIDE = OutputTag("aside")
RULES = MapStateDescriptor("rules", Types.STRING(), Types.STRING())


class Increment(MapFunction):
    def map(self, value: Any) -> Any:
        return value + 1


class Larger(ReduceFunction):
    def reduce(self, value1: Any, value2: Any) -> Any:
        return max(value1, value2)


class Total(AggregateFunction):
    def create_accumulator(self) -> int:
        return 0

    def add(self, value: Any, accumulator: Any) -> Any:
        return accumulator + value[1]

    def get_result(self, accumulator: Any) -> Any:
        return accumulator

    def merge(self, acc_a: Any, acc_b: Any) -> Any:
        return acc_a + acc_b


class Split(ProcessFunction):
    def process_element(self, value: Any, ctx: Any) -> Any:
        yield value
        yield ASIDE, value


class Echo(KeyedProcessFunction):
    def process_element(self, value: Any, ctx: Any) -> Any:
        yield value


class Listed(ProcessWindowFunction):
    def process(self, key: Any, context: Any, elements: Any) -> Any:
        yield key, list(elements)


class Whole(WindowFunction):
    def apply(self, key: Any, window: Any, inputs: Any) -> Any:
        return list(inputs)


class Two(CoMapFunction):
    def map1(self, value: Any) -> Any:
        return value

    def map2(self, value: Any) -> Any:
        return value


class Meet(KeyedCoProcessFunction):
    def process_element1(self, value: Any, ctx: Any) -> Any:
        yield value

    def process_element2(self, value: Any, ctx: Any) -> Any:
        yield value


class Ruled(BroadcastProcessFunction):
    def process_element(self, value: Any, ctx: Any) -> Any:
        yield value

    def process_broadcast_element(self, value: Any, ctx: Any) -> Any:
        ctx.get_broadcast_state(RULES).put(value, value)


class Joined(ProcessJoinFunction):
    def process_element(self, left: Any, right: Any, ctx: Any) -> Any:
        yield left, right


class Later(AsyncFunction):
    async def async_invoke(self, value: Any) -> list[Any]:
        return [value]


class Nowhere(SinkFunction):
    def invoke(self, value: Any, context: Any) -> None: ...


def program() -> StreamExecutionEnvironment:
    """The operators of the API, without uids."""
    env = StreamExecutionEnvironment()
    pairs = env.from_collection([("a", 1), ("b", 2)], Types.TUPLE([Types.STRING(), Types.INT()]))
    numbers = env.from_sequence(1, 10)
    strategy: Any = WatermarkStrategy.for_bounded_out_of_orderness(Duration.of_seconds(1)).with_timestamp_assigner(
        lambda value, _: value[1]
    )
    timed = pairs.assign_timestamps_and_watermarks(strategy)
    ends = [numbers.map(Increment()), numbers.flat_map(lambda n: [n, n]), numbers.filter(lambda n: n % 2 == 0)]
    ends += [
        pairs.rebalance().map(lambda p: Row(*p)).project(0),
        numbers.partition_custom(lambda k, n: k % n, lambda n: n),
    ]
    split = pairs.process(Split())
    ends += [split, split.get_side_output(ASIDE)]
    keyed = timed.key_by(lambda p: p[0])
    ends += [keyed.reduce(lambda a, b: a), keyed.map(lambda p: p[1]).key_by(lambda n: n).reduce(Larger()), keyed.sum(1)]
    ends += [keyed.max_by(1), keyed.process(Echo())]
    ends += _windows(timed, keyed) + _two(env, pairs, timed, keyed)
    ends.append(AsyncDataStream.ordered_wait(numbers, Later(), Time.seconds(5)))
    pattern = Pattern.begin("low").where(lambda p: p[1] < 2).next("high").where(lambda p: p[1] > 2)
    ends.append(CEP.pattern(keyed, pattern).select(lambda match: match["low"]))
    joined = ends[0].map(str)
    for end in ends[1:]:
        joined = joined.union(end.map(str))
    joined.print()
    joined.sink_to(FileSink.for_row_format("out", Encoder.simple_string_encoder()).build())
    numbers.add_sink(Nowhere())
    return env


def _windows(timed: Any, keyed: Any) -> list[Any]:
    tumbling = keyed.window(TumblingEventTimeWindows.of(Time.seconds(5)))
    return [
        tumbling.reduce(lambda a, b: a),
        tumbling.aggregate(Total(), Listed()),
        tumbling.process(Listed()),
        tumbling.apply(Whole()),
        keyed.window(SlidingEventTimeWindows.of(Time.seconds(5), Time.seconds(1))).aggregate(Total()),
        keyed.window(EventTimeSessionWindows.with_gap(Time.seconds(5))).process(Listed()),
        keyed.window(TumblingProcessingTimeWindows.of(Time.seconds(5))).reduce(lambda a, b: b),
        keyed.window(GlobalWindows.create()).trigger(CountTrigger.of(2)).process(Listed()),
        keyed.count_window(3).reduce(lambda a, b: b),
        timed.window_all(TumblingEventTimeWindows.of(Time.seconds(5))).reduce(lambda a, b: a),
    ]


def _two(env: Any, pairs: Any, timed: Any, keyed: Any) -> list[Any]:
    other = timed.key_by(lambda p: p[0])
    rules = env.from_collection(["rule"]).broadcast(RULES)
    window = TumblingEventTimeWindows.of(Time.seconds(5))
    return [
        pairs.connect(timed).map(Two()),
        keyed.connect(other).process(Meet()),
        pairs.connect(rules).process(Ruled()),
        keyed.interval_join(other).between(Time.seconds(-1), Time.seconds(1)).process(Joined()),
        timed.join(timed).where(lambda p: p[0]).equal_to(lambda p: p[0]).window(window).apply(lambda a, b: (a, b)),
        timed.co_group(timed).where(lambda p: p[0]).equal_to(lambda p: p[0]).window(window).apply(lambda a, b: [a, b]),
        keyed.regular_join(other).inner(lambda a, b: (a, b)),
    ]


def marks() -> dict[str, str]:
    """Each operator's number and name, and its mark as checkpoints have it."""
    graph = program().get_stream_graph()
    found = marks_of(graph)
    return {f"{node.node_id} {node.name}": str(found[node.node_id]) for node in graph.nodes}


if __name__ == "__main__":
    MARKS.write_text(json.dumps(marks(), indent=1) + "\n", encoding="utf-8")
