"""A subtask of a vertex: its chain of operators, its clock, its pages."""

from __future__ import annotations

import os
from collections.abc import Callable
from hashlib import blake2b
from typing import Any

from penstock.core.clock import Clock
from penstock.core.job import InEdge, JobPlan, Vertex
from penstock.core.time import MAX_WATERMARK
from penstock.runtime.chunk import BatchInfo, ChunkRow, channel_id, decode_payload, edge_of
from penstock.runtime.codec import dumps, loads
from penstock.runtime.context import TaskContext
from penstock.runtime.failures import NO_RECORD, user_failure
from penstock.runtime.operators.base import Fan, Operator, Output
from penstock.runtime.operators.factory import build_operator
from penstock.runtime.operators.shaped import shaped
from penstock.runtime.sorting import HeldInput
from penstock.runtime.state.backend import EVENT, PROCESSING, KeyedBackend
from penstock.runtime.state.page import NO_TIMER, StoreKeys
from penstock.runtime.state.store import StateStore
from penstock.runtime.valve import Valve
from penstock.runtime.writer import EdgeWriter

__all__ = ["VertexTask", "store_prefix", "wire_chain"]


def store_prefix(uid: str) -> bytes:
    """State is keyed by uid: the first bytes of an operator's blobs in the store."""
    return blake2b(uid.encode(), digest_size=8).digest()


def wire_chain(
    plan: JobPlan, vertex: Vertex, sender: int, context: TaskContext, operators: list[Operator]
) -> list[EdgeWriter]:
    """Connect the operators of a chain with each other and with the edges that leave it."""
    writers = []
    feeds: dict[tuple[int, str | None], list[Output]] = {}
    for index, op in enumerate(vertex.operators):
        for tag, target in op.consumers:
            feeds.setdefault((index, tag), []).append(operators[target])
    for edge in vertex.out_edges:
        op = vertex.operators[edge.operator]
        writer = EdgeWriter(plan, edge, sender, op.name, op.uid, context.send)
        writers.append(writer)
        feeds.setdefault((edge.operator, edge.tag), []).append(writer)
    for (index, tag), outputs in feeds.items():
        output = outputs[0] if len(outputs) == 1 else Fan(outputs, not plan.settings.object_reuse)
        output = shaped(vertex.operators[index], tag, output)
        if tag is None:
            operators[index].out = output
        else:
            operators[index].sides[tag] = output
    return writers


class VertexTask:
    """Host-independent: rows in, rows out through `send`, state in a store.

    `nonce` names the attempt that made what is in memory. The store's root names the attempt whose
    state is durable; only if the two agree may a task kept from the last batch be used again.
    """

    def __init__(
        self,
        plan: JobPlan,
        vertex: Vertex,
        subtask: int,
        store: StateStore,
        clock: Clock,
        send: Callable[[ChunkRow], None],
        root: bytes | None,
    ) -> None:
        # configuration
        self.plan, self.vertex, self.subtask = plan, vertex, subtask
        self._store = store
        self._names = StoreKeys(store_prefix(vertex.uid))
        self._op_names = [StoreKeys(store_prefix(op.uid)).operator(subtask) for op in vertex.operators]
        # checkpointed
        saved = loads(root) if root is not None else None
        self._run_id: str | None = saved["run"] if saved else None
        self.nonce: bytes = saved["nonce"] if saved else b""
        self._valve = Valve(self._channels())
        if saved:
            self._valve.restore(saved["channels"], saved["clock"])
        # not checkpointed
        self.context = TaskContext(
            vertex.name,
            subtask,
            vertex.parallelism,
            plan.max_parallelism,
            plan.partition_of(vertex, subtask),
            vertex.vertex_id,
            plan.settings,
            clock,
            send,
        )
        self._backend = self._make_backend(saved["groups"] if saved else {})
        self.context.backend = self._backend
        self._operators = [build_operator(op, self.context) for op in vertex.operators]
        self._writers = wire_chain(plan, vertex, subtask, self.context, self._operators)
        self._head = self._operators[0]
        self._entries = {edge.edge_id: self._head.entry(edge.input) for edge in vertex.in_edges}
        self._op_blobs = store.get_many(self._op_names)
        self._batch = self._hold_input() if plan.settings.batch_mode else None
        self.records_in = 0
        self._open()

    @staticmethod
    def root_name(vertex: Vertex, subtask: int) -> bytes:
        return StoreKeys(store_prefix(vertex.uid)).root(subtask)

    def _make_backend(self, group_timers: dict[int, tuple[int, int]]) -> KeyedBackend | None:
        if not self.vertex.operators[0].spec.is_keyed:
            return None
        settings = self.plan.settings
        return KeyedBackend(
            self._store,
            self._names,
            self.plan.max_parallelism,
            settings.page_bytes,
            settings.state_budget_bytes,
            group_timers,
        )

    def _hold_input(self) -> HeldInput:
        return HeldInput(self.vertex, self.plan.settings.sort_budget_bytes, self.plan.max_parallelism)

    def _channels(self) -> list[int]:
        return [channel_id(e.edge_id, s) for e in self.vertex.in_edges for s in self._senders(e)]

    def _senders(self, edge: InEdge) -> range:
        """Who sends to this subtask: everybody, or on a forward edge every sender whose turn it is."""
        return range(self.subtask, edge.senders, self.vertex.parallelism) if edge.forward else range(edge.senders)

    def _open(self) -> None:
        self._head.current_watermark = self._valve.clock
        for op, blob in zip(self._operators, self._op_blobs, strict=True):
            if blob is not None:
                op.restore(loads(blob))
            for _, target in op.desc.consumers:
                self._operators[target].current_watermark = op.sent_watermark
            self._open_one(op)

    @staticmethod
    def _open_one(op: Operator) -> None:
        try:
            op.open()
        except Exception as error:
            raise user_failure(op.desc.name, op.desc.uid, "open()", NO_RECORD, error) from error

    # -- one batch --------------------------------------------------------------------------------

    def attach(self, store: StateStore) -> None:
        """Use the store of a new batch for a task kept from the last one."""
        self._store = store
        if self._backend is not None:
            self._backend.store = store

    def begin(self, info: BatchInfo) -> None:
        """A batch starts. From here on what is in memory belongs to this attempt alone."""
        self.nonce = os.urandom(16)
        context = self.context
        context.batch = info
        context.attempt_id = self.nonce.hex()
        context.new_run = self._run_id != info.run_id
        self._run_id = info.run_id
        self.records_in = 0
        for writer in self._writers:
            writer.begin(info.batch_id)
        for op in self._operators:
            op.begin()
        if self._valve.closed_unheard():
            self._head.watermark(MAX_WATERMARK)
        self.tick()

    def process(self, row: ChunkRow) -> None:
        """One chunk of one channel: records, with watermarks in between."""
        values, times, keys, marks = decode_payload(row.payload)
        edge = edge_of(row.channel)
        enter = self._entries[edge]
        self.records_in += len(values)
        if self._batch is not None:
            marks = [mark for mark in marks if mark[1] == MAX_WATERMARK]
            if self._batch.take(row, edge, values, times, keys, marks):
                return
        if self._backend is not None and keys is not None:
            self._backend.ensure(keys)
        position = 0
        for place, mark in marks:
            if place > position:
                enter(
                    values[position:place],
                    times[position:place] if times is not None else None,
                    keys[position:place] if keys is not None else None,
                )
                position = place
            moved = self._valve.advance(row.channel, mark)
            if moved is not None:
                self._advance(moved, keys, place)
        if position < len(values):
            enter(
                values[position:] if position else values,
                times[position:] if times is not None and position else times,
                keys[position:] if keys is not None and position else keys,
            )
        self.tick()

    def _release(self, batch: HeldInput) -> None:
        """All input of a BATCH job is there: key by key, then the end of time."""
        for part in batch.sorter.drain():
            if self._backend is not None:
                self._backend.ensure(part.keys)
            self._head.entry(part.input)(part.values, part.stamps, part.keys)
        for channel in batch.closed:
            moved = self._valve.advance(channel, MAX_WATERMARK)
            if moved is not None:
                self._head.watermark(moved)

    def _advance(self, watermark: int, keys: list[Any] | None, place: int) -> None:
        """Move the clock; firing timers may push pages of records still to come out of memory."""
        evicted = self._backend.evictions if self._backend is not None else 0
        self._head.watermark(watermark)
        if self._backend is not None and keys is not None and self._backend.evictions != evicted:
            self._backend.ensure(keys[place:])

    def tick(self) -> None:
        """Fire processing-time timers that are due (T11)."""
        if self._backend is None or self._batch is not None:
            return
        if self._backend.earliest(PROCESSING) != NO_TIMER:
            self._head.processing_time(self.context.clock.now_ms())

    def end(self) -> None:
        """The batch ends: everything out, everything written."""
        if self._batch is not None:
            self._release(self._batch)
        self.tick()
        for op in self._operators:
            op.end()
        for writer in self._writers:
            writer.flush()
        self._save()

    def _save(self) -> None:
        if self._backend is not None:
            self._backend.flush()
        puts = [(self._names.root(self.subtask), self._root())]
        drops = []
        for index, op in enumerate(self._operators):
            if not op.changed():
                continue
            state = op.snapshot()
            blob = dumps(state) if state is not None else None
            if blob == self._op_blobs[index]:
                continue
            self._op_blobs[index] = blob
            if blob is None:
                drops.append(self._op_names[index])
            else:
                puts.append((self._op_names[index], blob))
        self._store.delete_many(drops)
        self._store.put_many(puts)

    def _root(self) -> bytes:
        return dumps(
            {
                "nonce": self.nonce,
                "run": self._run_id,
                "clock": self._valve.clock,
                "channels": self._valve.snapshot(),
                "groups": self._backend.group_timers if self._backend is not None else {},
            }
        )

    def close(self) -> None:
        for op in self._operators:
            op.close()

    @property
    def clock(self) -> int:
        """The subtask's event time."""
        return self._valve.clock

    def next_timer_ms(self, domain: int = EVENT) -> int:
        """When the next timer may be due; NO_TIMER if there is none."""
        return self._backend.earliest(domain) if self._backend is not None else NO_TIMER
