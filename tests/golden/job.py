"""The job of the golden checkpoint and the golden savepoint: it keeps as many kinds of things in state as there are.

The golden files refer to the classes of this module by name, and to the operators by uid: change neither.
Results are the same however the input is cut into batches, so that a run in two parts can be compared with one.
"""

from __future__ import annotations

import datetime
import sqlite3
import threading
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from decimal import Decimal
from enum import Enum
from pathlib import Path
from typing import Any, NamedTuple

from penstock.cep import CEP, Pattern
from penstock.common import Configuration, Duration, Row, RowKind, Time, Types, WatermarkStrategy
from penstock.common.watermark_strategy import Watermark, WatermarkGenerator
from penstock.connectors.files.sink import Encoder, FileSink
from penstock.datastream import (
    AggregateFunction,
    AsyncDataStream,
    AsyncFunction,
    CheckpointCommitter,
    CheckpointedFunction,
    CoGroupFunction,
    CountWindow,
    DataStream,
    FailedTimer,
    FailedWindow,
    GenericWriteAheadSink,
    GlobalWindow,
    KeyedBroadcastProcessFunction,
    KeyedCoProcessFunction,
    KeyedProcessFunction,
    MapFunction,
    OutputTag,
    ProcessJoinFunction,
    ProcessWindowFunction,
    SourceFunction,
    StreamExecutionEnvironment,
    Timestamped,
    TimeWindow,
    TwoPhaseCommitSinkFunction,
)
from penstock.datastream.connectors.jdbc import JdbcConnectionOptions, JdbcSink
from penstock.datastream.state import (
    AggregatingStateDescriptor,
    ListStateDescriptor,
    MapStateDescriptor,
    ReducingStateDescriptor,
    StateTtlConfig,
    ValueStateDescriptor,
)
from penstock.datastream.window import (
    CountTrigger,
    EventTimeSessionWindows,
    GlobalWindows,
    PurgingTrigger,
    SlidingEventTimeWindows,
    TimeEvictor,
    TumblingEventTimeWindows,
)

__all__ = ["program", "results", "settings"]

RECORDS = 90
POISON = 50
"""The record at which a run that is to be stopped fails, in the middle of a batch."""

BAD = OutputTag("bad")
RULES = MapStateDescriptor("rules")
END_MS = 10_000


class Colour(Enum):
    """An enum of the user's."""

    RED = 1
    BLUE = 2


@dataclass
class Event:
    """A dataclass with a `__dict__`."""

    key: str
    ts: int
    amount: int


@dataclass(frozen=True, slots=True)
class Slotted:
    """A dataclass with slots."""

    name: str
    colour: Colour


class Pair(NamedTuple):
    """A named tuple."""

    left: Any
    right: Any


EVENTS = [Event("abcd"[n % 4], n + (n * 7) % 11, (n * 5) % 9) for n in range(RECORDS)]
OTHERS = [Event("bcde"[n % 4], n + (n * 3) % 7, (n * 2) % 5) for n in range(RECORDS)]
CURIOSITIES: list[Any] = [
    Row(name="a", age=1),
    Row(1, Row(x=2.5)),
    Row.of_kind(RowKind.DELETE, k="v"),
    RowKind.UPDATE_AFTER,
    TimeWindow(0, 10),
    CountWindow(3),
    GlobalWindow(),
    Time.milliseconds(5),
    Duration.of_millis(7),
    Watermark(11),
    Timestamped("value", 12),
    FailedTimer("key", 13),
    FailedWindow("key", TimeWindow(1, 2)),
    Types.ROW_NAMED(["a", "b"], [Types.STRING(), Types.LIST(Types.INT())]),
    Types.MAP(Types.LONG(), Types.TUPLE([Types.DOUBLE(), Types.SQL_DATE()])),
    Types.PRIMITIVE_ARRAY(Types.INT()),
    Types.PICKLED_BYTE_ARRAY(),
    Slotted("s", Colour.BLUE),
    Pair(1, [Pair("x", None)]),
    Event("e", 1, 2),
    {"nested": [Row(a=TimeWindow(3, 4)), (Slotted("t", Colour.RED),)]},
    Decimal("1.50"),
    datetime.datetime(2026, 1, 2, 3, 4, 5),
]


def shown(value: Any) -> str:
    """A value as text; attributes where there is no text of its own."""
    text = repr(value)
    return text if " object at " not in text else f"{type(value).__name__}{sorted(vars(value).items())}"


# -- sources ----------------------------------------------------------------------------------------


class Behind(WatermarkGenerator):
    """A generator of the user's, which is kept with its state."""

    def __init__(self) -> None:
        self.largest = -1

    def on_event(self, event: Any, event_timestamp: int, output: Any) -> None:
        self.largest = max(self.largest, event_timestamp)

    def on_periodic_emit(self, output: Any) -> None:
        if self.largest >= 0:
            output.emit_watermark(Watermark(self.largest - 12))


class Numbers(SourceFunction, CheckpointedFunction):
    """Rows of numbers; the next one is its state."""

    def initialize_state(self, context: Any) -> None:
        self.state = context.get_operator_state_store().get_list_state(ListStateDescriptor("next"))
        self.next = next((row.n for row in self.state.get()), 0)

    def snapshot_state(self, context: Any) -> None:
        self.state.update([Row(n=self.next)])

    def open(self, runtime_context: Any) -> None:
        self.stopped = threading.Event()

    def run(self, ctx: Any) -> None:
        while self.next < RECORDS and not self.stopped.is_set():
            with ctx.get_checkpoint_lock():
                ctx.collect(Row(n=self.next, window=TimeWindow(self.next, self.next + 1)))
                self.next += 1

    def cancel(self) -> None:
        self.stopped.set()


class Stumble(MapFunction):
    """Fails on one record if it is told to."""

    def __init__(self, stumbling: bool) -> None:
        self.stumbling = stumbling

    def map(self, value: Event) -> Event:
        if self.stumbling and value == EVENTS[POISON]:
            raise RuntimeError("stopped in the middle")
        return value


# -- functions with state ---------------------------------------------------------------------------


class Hoard(KeyedProcessFunction):
    """Keeps what it is given, in every kind of state, and tells of it at the end of time."""

    ttl = False

    def open(self, runtime_context: Any) -> None:
        self.value = runtime_context.get_state(self._made(ValueStateDescriptor("value")))
        self.list = runtime_context.get_list_state(self._made(ListStateDescriptor("list")))
        self.map = runtime_context.get_map_state(self._made(MapStateDescriptor("map")))
        self.reduced = runtime_context.get_reducing_state(
            self._made(ReducingStateDescriptor("reduced", lambda a, b: max(a, b, key=shown)))
        )
        self.aggregated = runtime_context.get_aggregating_state(
            self._made(AggregatingStateDescriptor("aggregated", Gather()))
        )

    def _made(self, descriptor: Any) -> Any:
        if self.ttl:
            descriptor.enable_time_to_live(StateTtlConfig.new_builder(Time.days(100_000)).build())
        return descriptor

    def process_element(self, value: Any, ctx: Any) -> Iterator[Any]:
        self.value.update(value)
        self.list.add(value)
        self.map.put(shown(value), value)
        self.reduced.add(value)
        self.aggregated.add(value)
        ctx.timer_service().register_event_time_timer(END_MS)
        yield from ()

    def on_timer(self, timestamp: int, ctx: Any) -> Iterator[Any]:
        lists = sorted(map(shown, self.list.get()))
        maps = sorted((k, shown(v)) for k, v in self.map.items())
        yield shown(self.value.value()), lists, maps, shown(self.reduced.get()), sorted(self.aggregated.get())


class HoardForAWhile(Hoard):
    """The same with a time to live."""

    ttl = True


class Gather(AggregateFunction):
    """An accumulator that is a list of anything."""

    def create_accumulator(self) -> list[Any]:
        return []

    def add(self, value: Any, accumulator: list[Any]) -> list[Any]:
        return [*accumulator, value]

    def get_result(self, accumulator: list[Any]) -> list[str]:
        return sorted(map(shown, accumulator))

    def merge(self, a: list[Any], b: list[Any]) -> list[Any]:
        return a + b


class Contents(ProcessWindowFunction):
    """The contents of a window."""

    def process(self, key: Any, context: Any, elements: Iterable[Any]) -> Iterator[Any]:
        yield shown(key), repr(context.window()), sorted(map(shown, elements))


class Raising(KeyedProcessFunction):
    """Timers that fail."""

    def process_element(self, value: Event, ctx: Any) -> Iterator[Any]:
        ctx.timer_service().register_event_time_timer(value.ts)
        yield from ()

    def on_timer(self, timestamp: int, ctx: Any) -> Iterator[Any]:
        raise ValueError("a timer that fails")


class Kept(MapFunction, CheckpointedFunction):
    """A split list of rows and a union list of marks."""

    def initialize_state(self, context: Any) -> None:
        store = context.get_operator_state_store()
        self.rows = store.get_list_state(ListStateDescriptor("rows"))
        self.marks = store.get_union_list_state(ListStateDescriptor("marks"))
        self.items = list(self.rows.get())
        for item in self.items:
            assert isinstance(item["window"], TimeWindow)
        for mark in self.marks.get():
            assert mark == Pair("mark", GlobalWindow())

    def snapshot_state(self, context: Any) -> None:
        self.rows.update(self.items)
        self.marks.update([Pair("mark", GlobalWindow())])

    def map(self, value: Event) -> Event:
        self.items.append(Row(event=value, window=TimeWindow(value.ts, value.ts + 1)))
        return value


class Ruled(KeyedBroadcastProcessFunction):
    """Events with the rule, when their time has come."""

    def process_element(self, value: Event, ctx: Any) -> None:
        ctx.timer_service().register_event_time_timer(END_MS + value.ts)

    def on_timer(self, timestamp: int, ctx: Any) -> Iterator[Any]:
        yield ctx.get_current_key(), timestamp, ctx.get_broadcast_state(RULES).get("factor")

    def process_broadcast_element(self, value: Any, ctx: Any) -> None:
        ctx.get_broadcast_state(RULES).put(*value)


class Both(KeyedCoProcessFunction):
    """Both sides, at the end of time."""

    def open(self, runtime_context: Any) -> None:
        self.sides = runtime_context.get_list_state(ListStateDescriptor("sides"))

    def process_element1(self, value: Event, ctx: Any) -> None:
        self._keep(Pair("left", value), ctx)

    def process_element2(self, value: Event, ctx: Any) -> None:
        self._keep(Pair("right", value), ctx)

    def _keep(self, value: Pair, ctx: Any) -> None:
        self.sides.add(value)
        ctx.timer_service().register_event_time_timer(END_MS)

    def on_timer(self, timestamp: int, ctx: Any) -> Iterator[Any]:
        yield ctx.get_current_key(), sorted(map(shown, self.sides.get()))


class Joined(ProcessJoinFunction):
    """Pairs of an interval join."""

    def process_element(self, left: Any, right: Any, ctx: Any) -> Iterator[Any]:
        yield left, right


class Grouped(CoGroupFunction):
    """How many there are on either side."""

    def co_group(self, first: Iterable[Any], second: Iterable[Any]) -> list[Any]:
        return [(sorted(map(shown, first)), sorted(map(shown, second)))]


class Large(KeyedProcessFunction):
    """A list and a map that are too large for a page."""

    def open(self, runtime_context: Any) -> None:
        self.list = runtime_context.get_list_state(ListStateDescriptor("long"))
        self.map = runtime_context.get_map_state(MapStateDescriptor("large"))

    def process_element(self, value: Event, ctx: Any) -> Iterator[Any]:
        if value.ts == 0:
            self.map.put_all({Pair(n, "x"): TimeWindow(n, n + 1) for n in range(3000)})
        self.list.add_all([Row(n=value.ts, text="x" * 600) for _ in range(10)])
        self.map.put(Pair(value.ts, "x"), value.amount)
        ctx.timer_service().register_event_time_timer(END_MS)
        yield from ()

    def on_timer(self, timestamp: int, ctx: Any) -> Iterator[Any]:
        yield sum(row.n for row in self.list.get()), Counter(type(v).__name__ for v in self.map.values())


class Meeting(ProcessJoinFunction):
    """Those that are of the same time, and the first of their kind."""

    def process_element(self, left: Any, right: Any, ctx: Any) -> Iterator[Any]:
        if left.n == right.ts and left.first:
            yield left.n, right


class Doubled(AsyncFunction):
    """An answer from outside."""

    async def async_invoke(self, value: Event) -> list[Any]:
        return [Row(key=value.key, twice=2 * value.amount)]


# -- sinks ------------------------------------------------------------------------------------------


class Transactions(TwoPhaseCommitSinkFunction):
    """A transaction is a dict that holds its records; committed, it is a file."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def begin_transaction(self) -> dict[str, Any]:
        return {"values": [], "window": TimeWindow(0, 1)}

    def invoke(self, transaction: Any, value: Any, context: Any) -> None:  # type: ignore[override]
        transaction["values"].append(value)

    def pre_commit(self, transaction: Any) -> None:
        transaction["name"] = f"{transaction['values'][0].n}-{transaction['values'][-1].n}"

    def commit(self, transaction: Any) -> None:
        _written(self.folder / transaction["name"], transaction["values"])


class Sent(CheckpointCommitter):
    """Remembers nothing: what is sent twice replaces itself."""

    def commit_checkpoint(self, subtask_idx: int, checkpoint_id: int) -> None:
        """Nothing to note."""

    def is_checkpoint_committed(self, subtask_idx: int, checkpoint_id: int) -> bool:
        return False


class Ahead(GenericWriteAheadSink):
    """Writes a file for each batch."""

    def __init__(self, folder: Path) -> None:
        super().__init__(Sent())
        self.folder = folder

    def send_values(self, values: Iterable[Any], checkpoint_id: int, timestamp: int) -> bool:
        kept = list(values)
        _written(self.folder / f"{kept[0].n}-{kept[-1].n}", kept)
        return True


def _written(path: Path, values: Iterable[Any]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(f"{shown(value)}\n" for value in values))


# -- the program ------------------------------------------------------------------------------------


def settings(folder: Path, host: str, savepoint: str | None = None) -> Configuration:
    """How the golden files are made, and how jobs go on from them: few records a batch, so that there are many."""
    start = {"execution.state-recovery.path": savepoint} if savepoint is not None else {}
    return Configuration(
        {
            **start,
            "penstock.host": host,
            "execution.checkpointing.dir": str(folder / "checkpoint"),
            "restart-strategy.type": "none",
            "penstock.batch.max-records": 20,
            "penstock.source.buffer-records": 10,
            "parallelism.default": 2,
        }
    )


def program(
    folder: Path, host: str = "streaming", stumbling: bool = False, savepoint: str | None = None
) -> StreamExecutionEnvironment:
    """The job; it writes into `folder`. With `stumbling` it fails in the middle of a batch."""
    env = StreamExecutionEnvironment(settings(folder, host, savepoint))
    strategy = WatermarkStrategy.for_bounded_out_of_orderness(Duration.of_millis(12))
    own = WatermarkStrategy.for_generator(lambda context: Behind())
    events = _timed(env, EVENTS, strategy, "events").map(Stumble(stumbling)).uid("stumble").set_parallelism(1)
    others = _timed(env, OTHERS, own, "others")
    numbers = env.add_source(Numbers()).uid("numbers")
    found = [*_windows(events), *_keyed(env, events), *_pairs(events, others)]
    lines = [branch.map(_Line(uid)).uid(f"{uid} as text") for uid, branch in found]
    sink = FileSink.for_row_format(str(folder / "out" / "lines"), Encoder.simple_string_encoder()).build()
    lines[0].union(*lines[1:]).sink_to(sink).uid("lines")
    numbers.add_sink(Transactions(folder / "out" / "transactions")).uid("transactions").set_parallelism(1)
    numbers.sink_to(Ahead(folder / "out" / "ahead")).uid("ahead").set_parallelism(1)
    connection = JdbcConnectionOptions.JdbcConnectionOptionsBuilder().with_url(f"jdbc:sqlite:{folder}/rows.db").build()
    with sqlite3.connect(folder / "rows.db") as database:
        database.execute("create table if not exists rows (n integer)")
    into = JdbcSink.exactly_once_sink("insert into rows values (?)", Types.ROW([Types.INT()]), connection)
    numbers.map(lambda row: Row(row.n)).uid("narrow").add_sink(into).uid("rows")
    return env


class _Line(MapFunction):
    """A result as a line of text."""

    def __init__(self, branch: str) -> None:
        self.branch = branch

    def map(self, value: Any) -> str:
        return f"{self.branch}: {shown(value)}"


def _timed(env: Any, events: list[Event], strategy: Any, uid: str) -> DataStream[Event]:
    stamped = strategy.with_timestamp_assigner(lambda event, _: event.ts)
    timed = env.from_collection(events).uid(uid).assign_timestamps_and_watermarks(stamped).uid(f"{uid} time")
    # one subtask, so that the order of a key is fixed
    return timed.set_parallelism(1)  # type: ignore[no-any-return]


Found = Iterator[tuple[str, DataStream[Any]]]


def _windows(events: DataStream[Event]) -> Found:
    rows = (
        events.map(lambda e: Row(key=e.key, amount=e.amount))
        .uid("as rows")
        .set_parallelism(1)
        .key_by(lambda row: row.key)
    )
    ms = Time.milliseconds
    yield "tumbling", rows.window(TumblingEventTimeWindows.of(ms(40))).process(Contents()).uid("tumbling")
    sessions = rows.window(EventTimeSessionWindows.with_gap(ms(3)))
    yield "sessions", sessions.reduce(lambda a, b: Row(key=a.key, amount=a.amount + b.amount)).uid("sessions")
    merged = rows.window(EventTimeSessionWindows.with_gap(ms(15)))
    yield "merged", merged.process(Contents()).uid("merged")
    sliding = rows.window(SlidingEventTimeWindows.of(ms(30), ms(20)))
    yield "sliding", sliding.aggregate(Gather(), Contents()).uid("sliding")
    evicting = rows.window(TumblingEventTimeWindows.of(ms(50))).evictor(TimeEvictor.of(ms(20)))
    yield "evicting", evicting.process(Contents()).uid("evicting")
    everything = rows.window(GlobalWindows.create()).trigger(PurgingTrigger.of(CountTrigger.of(7)))
    yield "global", everything.process(Contents()).uid("global")
    yield "counted", rows.count_window(6, 4).process(Contents()).uid("counted")


def _keyed(env: Any, events: DataStream[Event]) -> Found:
    odd = env.from_collection(list(enumerate(CURIOSITIES * 2))).uid("odd")
    timed = odd.assign_timestamps_and_watermarks(
        WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(lambda p, _: p[0])
    ).uid("odd time")
    for function in (Hoard(), HoardForAWhile()):
        name = type(function).__name__
        alone = timed.key_by(lambda p: [p[0] % len(CURIOSITIES), Row(n=1)]).process(Second(function)).uid(name)
        yield name, alone
    failing = events.key_by(lambda e: Pair(e.key, 1)).process(Raising()).uid("raising").on_poison(BAD)
    failed = failing.get_side_output(BAD).map(lambda found: found[0]).uid("failed")
    yield "failed", failed.key_by(lambda f: f.key).process(Hoard()).uid("hoard of failures")
    keyed = events.key_by(lambda e: e.key)
    low = Pattern.begin("low").where(lambda e: e.amount < 2)
    pattern = low.followed_by("high").where(lambda e: e.amount > 6).within(Time.milliseconds(60))
    yield (
        "matches",
        CEP.pattern(keyed, pattern).select(lambda match: (match["low"][0], match["high"][0])).uid("matches"),
    )
    rules = env.from_collection([("factor", Slotted("rule", Colour.RED))]).uid("rules").broadcast(RULES)
    yield "ruled", keyed.connect(rules).process(Ruled()).uid("ruled")
    yield "kept", events.rebalance().map(Kept()).uid("kept")
    tuples = events.map(lambda e: (e.key, e.amount)).uid("tuples").set_parallelism(1)
    yield "summed", tuples.key_by(lambda p: p[0]).sum(1).uid("summed")
    yield "answers", AsyncDataStream.unordered_wait(events, Doubled(), Time.minutes(5)).uid("answers")


class Second(Hoard):
    """A hoard of the second parts of its records."""

    def __init__(self, inner: Hoard) -> None:
        self.ttl = inner.ttl

    def process_element(self, value: Any, ctx: Any) -> Iterator[Any]:
        yield from super().process_element(value[1], ctx)


def _pairs(events: DataStream[Event], others: DataStream[Event]) -> Found:
    left, right = events.key_by(lambda e: e.key), others.key_by(lambda e: e.key)
    ms = Time.milliseconds
    yield "both", left.connect(right).process(Both()).uid("both")
    yield "interval", left.interval_join(right).between(ms(-5), ms(5)).process(Joined()).uid("interval")
    many = events.flat_map(lambda e: [Row(n=e.ts, first=n == 0, text="x" * 900) for n in range(3)]).uid("many")
    wide = many.key_by(lambda row: 0).interval_join(others.key_by(lambda e: 0)).between(ms(-200), ms(200))
    yield "wide", wide.process(Meeting()).uid("wide")
    yield "large", events.key_by(lambda e: 0).process(Large()).uid("large")
    yield "regular", left.regular_join(right).inner(lambda a, b: (a, b)).uid("regular")
    windows = TumblingEventTimeWindows.of(ms(25))
    joined = events.join(others).where(lambda e: e.key).equal_to(lambda e: e.key).window(windows)
    yield "joined", joined.apply(lambda a, b: Pair(a, b)).uid("joined")
    grouped = events.co_group(others).where(lambda e: e.key).equal_to(lambda e: e.key).window(windows)
    yield "grouped", grouped.apply(Grouped()).uid("grouped")


def results(folder: Path) -> dict[str, Counter[str]]:
    """What has been committed: the lines of each of the sinks that write files, and the rows of the database."""
    found: dict[str, Counter[str]] = {}
    for name in ("lines", "transactions", "ahead"):
        files = [f for f in (folder / "out" / name).rglob("*") if f.is_file() and not f.name.startswith(".")]
        found[name] = Counter(line for file in files for line in file.read_text().splitlines())
    with sqlite3.connect(folder / "rows.db") as database:
        found["rows"] = Counter(str(n) for (n,) in database.execute("select n from rows"))
    return found
