"""Runs one process function in a harness: push records, watermarks and time, look at what comes out.

The function runs in the real stage task, with its state in pages behind the real codec.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from penstock.api.data_stream import DataStream
from penstock.api.environment import StreamExecutionEnvironment
from penstock.core.functions.base import KeyedProcessFunction, KeySelector, ProcessFunction
from penstock.core.functions.connected import (
    BroadcastProcessFunction,
    CoProcessFunction,
    KeyedBroadcastProcessFunction,
    KeyedCoProcessFunction,
)
from penstock.core.program.job import JobPlan, RuntimeSettings, Vertex
from penstock.core.program.output_tag import OutputTag
from penstock.core.program.specs import CollectSpec
from penstock.core.state.keyed import MapStateDescriptor
from penstock.core.time.clock import ManualClock
from penstock.core.time.spans import MAX_WATERMARK
from penstock.core.time.watermarks import WatermarkStrategy
from penstock.plan.compile import PlanOptions, compile_job
from penstock.runtime.batch_output import BatchOutput
from penstock.runtime.chunk import BatchInfo, ChunkRow
from penstock.runtime.codec import loads
from penstock.runtime.list_keys import shown
from penstock.runtime.local_classes import enter_job
from penstock.runtime.operator_state import RunStart, gather_union
from penstock.runtime.stage import StageTask, control_row, sorted_rows
from penstock.runtime.state.backend import EVENT, PROCESSING
from penstock.runtime.state.store import MemoryStore
from penstock.runtime.state.store_keys import BlobKind, kind_of
from penstock.runtime.writer import EdgeWriter
from penstock.testing.leaks import leaks
from penstock.testing.scripted import ScriptedSource

__all__ = ["BroadcastHarness", "JoinHarness", "KeyedOneInputHarness", "OneInputHarness", "Snapshot", "TwoInputHarness"]


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A snapshot of an operator: the blobs of every subtask's store, and the clock."""

    blobs: tuple[Mapping[bytes, bytes], ...]
    now_ms: int


class _WithTimestamp(ProcessFunction):
    """Keeps a record's timestamp, which a sink does not see."""

    def process_element(self, value: object, ctx: ProcessFunction.Context) -> Iterable[object]:
        return ((value, ctx.timestamp()),)


class _Harness:
    """Every call is a micro-batch of its own, unless made inside `with harness.batch():`."""

    def __init__(
        self,
        attach: Callable[..., DataStream[object]],
        tags: Iterable[OutputTag],
        parallelism: int,
        channels: int,
        settings: RuntimeSettings | None,
        now_ms: int,
        snapshot: Snapshot | None,
        inputs: int = 1,
    ) -> None:
        self.clock = ManualClock(now_ms if snapshot is None else snapshot.now_ms)
        self._tags = {tag.tag_id: tag for tag in tags}
        self.plan = _plan(attach, self._tags.values(), parallelism, channels, settings or RuntimeSettings(), inputs)
        saved = snapshot.blobs if snapshot is not None else ({},) * self.plan.partitions
        if len(saved) != self.plan.partitions:
            raise ValueError(f"The snapshot was taken at parallelism {len(saved)}, not {self.plan.partitions}")
        self._stores = [MemoryStore(dict(blobs)) for blobs in saved]
        self._info = BatchInfo(uuid.uuid4().hex, 0, now_ms)
        start = RunStart(self._info.run_id, gather_union(item for blobs in saved for item in blobs.items()))
        self._tasks = [StageTask(self.plan, 1, p, self.clock, start) for p in range(self.plan.partitions)]
        self._outputs: dict[str, list[tuple[object, int | None]]] = {}
        self._rows: list[ChunkRow] = []
        self._channels = channels
        self._writers = [
            _writer(self.plan, source, c, self._rows.append) for source in self.plan.sources for c in range(channels)
        ]
        self._in_batch = False
        self._run()

    # -- input ------------------------------------------------------------------------------------

    def push(self, value: object, timestamp: int | None = None, channel: int = 0, input: int = 1) -> None:
        """One record arrives."""
        with self._one_call():
            self._writer(input, channel).emit([value], None if timestamp is None else [timestamp])

    def push_all(self, records: Iterable[tuple[object, int | None]], channel: int = 0, input: int = 1) -> None:
        """Records with their timestamps arrive in one batch."""
        with self._one_call():
            for value, timestamp in records:
                self._writer(input, channel).emit([value], None if timestamp is None else [timestamp])

    def push_watermark(self, timestamp: int, channel: int = 0, input: int = 1) -> None:
        """A watermark arrives."""
        with self._one_call():
            self._writer(input, channel).watermark(timestamp)

    def _writer(self, input: int, channel: int) -> EdgeWriter:
        return self._writers[(input - 1) * self._channels + channel]

    def end_input(self) -> None:
        """All channels end: +∞ arrives on each."""
        with self._one_call():
            for writer in self._writers:
                writer.watermark(MAX_WATERMARK)

    def set_processing_time(self, now_ms: int) -> None:
        """The clock moves; due processing-time timers fire."""
        self.clock.set_ms(now_ms)
        with self._one_call():
            pass

    @contextmanager
    def batch(self) -> Iterator[None]:
        """Calls inside make up one micro-batch."""
        if self._in_batch:
            raise RuntimeError("a batch is already open")
        self._in_batch = True
        try:
            yield
        finally:
            self._in_batch = False
        self._run()

    @contextmanager
    def _one_call(self) -> Iterator[None]:
        yield
        if not self._in_batch:
            self._run()

    def _run(self) -> None:
        enter_job(self.plan)
        for writer in self._writers:
            writer.flush()
        rows, self._rows[:] = list(self._rows), []
        made: list[ChunkRow] = []
        for partition, (task, store) in enumerate(zip(self._tasks, self._stores, strict=True)):
            mine = [control_row(partition, 1, self._info), *(r for r in rows if r.partition == partition)]
            made += task.run(sorted_rows(mine, 1 << 30), store)
        for name, _, _, values in BatchOutput(made).collected:
            self._outputs.setdefault(name, []).extend(values)
        self._info = self._info._replace(batch_id=self._info.batch_id + 1, processing_time_ms=self.clock.now_ms())
        for writer in self._writers:
            writer.begin(self._info.batch_id)

    # -- output -----------------------------------------------------------------------------------

    def output(self) -> list[Any]:
        """Records of the main output so far."""
        return [value for value, _ in self.output_with_timestamps()]

    def output_with_timestamps(self) -> list[tuple[object, int | None]]:
        """Records of the main output so far, each with its timestamp."""
        return list(self._outputs.get("", ()))

    def side_output(self, tag: OutputTag) -> list[object]:
        """Records of a side output so far; the tag must have been given to the harness."""
        if tag.tag_id not in self._tags:
            raise KeyError(f"the harness was not told of the side output {tag.tag_id!r}: pass it in `tags`")
        return [value for value, _ in self._outputs.get(tag.tag_id, ())]

    def clear_output(self) -> None:
        """Forget what came out so far."""
        self._outputs.clear()

    # -- state ------------------------------------------------------------------------------------

    def snapshot(self) -> Snapshot:
        """The state as a restart would find it; give it to another harness to go on from here."""
        return Snapshot(tuple(dict(store.blobs) for store in self._stores), self.clock.now_ms())

    def state_blobs(self) -> dict[bytes, bytes]:
        """Every blob of state and timers."""
        return {k: b for store in self._stores for k, b in store.blobs.items() if kind_of(k) is not BlobKind.ROOT}

    def assert_no_leaks(self) -> None:
        """Fail if any state or timer is left."""
        left = leaks(self.plan, self.state_blobs())
        assert not left, "State is left:\n" + "\n".join(left)

    def event_time_timers(self) -> list[tuple[int, object]]:
        """Pending event-time timers as (timestamp, key), in order."""
        return self._timers(EVENT)

    def processing_time_timers(self) -> list[tuple[int, object]]:
        """Pending processing-time timers as (timestamp, key), in order."""
        return self._timers(PROCESSING)

    def _timers(self, domain: int) -> list[tuple[int, Any]]:
        pages = [loads(blob) for key, blob in self.state_blobs().items() if kind_of(key) is BlobKind.PAGE]
        found = [(timestamp, shown(key)) for page in pages for timestamp, key, _ in page[1 + domain]]
        return sorted(found, key=lambda timer: (timer[0], repr(timer[1])))

    def close(self) -> None:
        """Close the function."""
        for task in self._tasks:
            task.close()


class KeyedOneInputHarness(_Harness):
    """A `KeyedProcessFunction` under test.

    >>> from penstock.core.functions.base import KeyedProcessFunction
    >>> class AtTen(KeyedProcessFunction):
    ...     def process_element(self, value, ctx):
    ...         ctx.timer_service().register_event_time_timer(10)
    ...     def on_timer(self, timestamp, ctx):
    ...         yield ctx.get_current_key(), timestamp
    >>> harness = KeyedOneInputHarness(AtTen(), lambda v: v)
    >>> harness.push("a", timestamp=3)
    >>> harness.event_time_timers()
    [(10, 'a')]
    >>> harness.push_watermark(10)
    >>> harness.output_with_timestamps()
    [(('a', 10), 10)]
    >>> harness.assert_no_leaks()
    """

    def __init__(
        self,
        function: KeyedProcessFunction,
        key_selector: Callable[[Any], object] | KeySelector,
        *,
        tags: Iterable[OutputTag] = (),
        parallelism: int = 1,
        channels: int = 1,
        settings: RuntimeSettings | None = None,
        now_ms: int = 0,
        snapshot: Snapshot | None = None,
    ) -> None:
        super().__init__(
            lambda stream: stream.key_by(key_selector).process(function),
            tags,
            parallelism,
            channels,
            settings,
            now_ms,
            snapshot,
        )


class OneInputHarness(_Harness):
    """A `ProcessFunction` under test.

    >>> from penstock.core.functions.base import ProcessFunction
    >>> class Stamp(ProcessFunction):
    ...     def process_element(self, value, ctx):
    ...         yield value, ctx.timestamp(), ctx.timer_service().current_watermark()
    >>> harness = OneInputHarness(Stamp())
    >>> harness.push_watermark(7)
    >>> harness.push("a", timestamp=9)
    >>> harness.output()
    [('a', 9, 7)]
    """

    def __init__(
        self,
        function: ProcessFunction,
        *,
        tags: Iterable[OutputTag] = (),
        parallelism: int = 1,
        channels: int = 1,
        settings: RuntimeSettings | None = None,
        now_ms: int = 0,
        snapshot: Snapshot | None = None,
    ) -> None:
        super().__init__(
            lambda stream: stream.rebalance().process(function),
            tags,
            parallelism,
            channels,
            settings,
            now_ms,
            snapshot,
        )


class TwoInputHarness(_Harness):
    """A `CoProcessFunction` under test, or with key selectors a `KeyedCoProcessFunction`; `input` is 1 or 2.

    >>> from penstock.core.functions.connected import CoProcessFunction
    >>> class Which(CoProcessFunction):
    ...     def process_element1(self, value, ctx): yield 1, value
    ...     def process_element2(self, value, ctx): yield 2, value
    >>> harness = TwoInputHarness(Which())
    >>> harness.push("a", input=1)
    >>> harness.push("b", input=2)
    >>> harness.output()
    [(1, 'a'), (2, 'b')]
    """

    def __init__(
        self,
        function: CoProcessFunction | KeyedCoProcessFunction,
        key_selector1: Callable[[Any], object] | KeySelector | None = None,
        key_selector2: Callable[[Any], object] | KeySelector | None = None,
        *,
        tags: Iterable[OutputTag] = (),
        parallelism: int = 1,
        channels: int = 1,
        settings: RuntimeSettings | None = None,
        now_ms: int = 0,
        snapshot: Snapshot | None = None,
    ) -> None:
        def attach(first: DataStream[object], second: DataStream[object]) -> DataStream[object]:
            if key_selector1 is None or key_selector2 is None:
                return first.rebalance().connect(second.rebalance()).process(function)
            return first.connect(second).key_by(key_selector1, key_selector2).process(function)

        super().__init__(attach, tags, parallelism, channels, settings, now_ms, snapshot, inputs=2)


class BroadcastHarness(_Harness):
    """A `BroadcastProcessFunction` under test, or with a key selector a `KeyedBroadcastProcessFunction`.

    Input 2 is the broadcast one.
    """

    def __init__(
        self,
        function: BroadcastProcessFunction | KeyedBroadcastProcessFunction,
        descriptors: Sequence[MapStateDescriptor],
        key_selector: Callable[[Any], object] | KeySelector | None = None,
        *,
        tags: Iterable[OutputTag] = (),
        parallelism: int = 1,
        channels: int = 1,
        settings: RuntimeSettings | None = None,
        now_ms: int = 0,
        snapshot: Snapshot | None = None,
    ) -> None:
        def attach(stream: DataStream[object], rules: DataStream[object]) -> DataStream[object]:
            left = stream.rebalance() if key_selector is None else stream.key_by(key_selector)
            return left.connect(rules.broadcast(descriptors[0], *descriptors[1:])).process(function)

        super().__init__(attach, tags, parallelism, channels, settings, now_ms, snapshot, inputs=2)


class JoinHarness(_Harness):
    """Whatever one operator makes of two streams, given as a function of them; `input` is 1 or 2.

    >>> harness = JoinHarness(lambda a, b: a.key_by(len).regular_join(b.key_by(len)).inner(lambda x, y: x + y))
    >>> harness.push("ab", input=1)
    >>> harness.push("cd", input=2)
    >>> harness.output()
    ['abcd']
    """

    def __init__(
        self,
        attach: Callable[[DataStream[Any], DataStream[Any]], DataStream[object]],
        *,
        tags: Iterable[OutputTag] = (),
        parallelism: int = 1,
        channels: int = 1,
        settings: RuntimeSettings | None = None,
        now_ms: int = 0,
        snapshot: Snapshot | None = None,
    ) -> None:
        super().__init__(attach, tags, parallelism, channels, settings, now_ms, snapshot, inputs=2)


def _plan(
    attach: Callable[..., DataStream[Any]],
    tags: Iterable[OutputTag],
    parallelism: int,
    channels: int,
    settings: RuntimeSettings,
    inputs: int,
) -> JobPlan:
    env = StreamExecutionEnvironment()
    never = WatermarkStrategy.no_watermarks()
    stream = attach(*(env.from_source(ScriptedSource([[]] * channels), never, "harness") for _ in range(inputs)))
    _keep(stream, "")
    for tag in tags:
        _keep(stream.get_side_output(tag), tag.tag_id)
    return compile_job(env.get_stream_graph("harness"), PlanOptions(parallelism, settings=settings))


def _keep(stream: DataStream[object], name: str) -> None:
    stream.process(_WithTimestamp())._add_sink("Collect", CollectSpec(name, False))


def _writer(plan: JobPlan, source: Vertex, channel: int, send: Callable[[ChunkRow], None]) -> EdgeWriter:
    op = source.operators[0]
    return EdgeWriter(plan, source.out_edges[0], channel, op.name, op.uid, send)
