"""A subtask of a vertex: its chain of operators, its clock, its pages."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import Any

from penstock.core.checkpointed import checkpoint_listener, checkpointed_function
from penstock.core.clock import Clock, Stopwatch
from penstock.core.job import InEdge, JobPlan, Vertex
from penstock.core.partition import Forward
from penstock.core.time import MAX_WATERMARK, MIN_WATERMARK
from penstock.runtime.chunk import IDLE, BatchInfo, ChunkRow, channel_id, decode_payload, edge_of
from penstock.runtime.codec import dumps, loads
from penstock.runtime.context import Lane, LiveRuntimeContext, TaskContext
from penstock.runtime.failures import NO_RECORD, user_failure
from penstock.runtime.heavy_keys import HeavyKeys
from penstock.runtime.operator_state import FunctionState, Place, RunStart
from penstock.runtime.operators.base import Entry, Fan, Operator, Output, Timestamps
from penstock.runtime.operators.factory import build_operator
from penstock.runtime.operators.shaped import shaped
from penstock.runtime.sorting import HeldInput
from penstock.runtime.state.backend import EVENT, PROCESSING, KeyedBackend
from penstock.runtime.state.kinds import StateKinds
from penstock.runtime.state.page import NO_TIMER, Earliest
from penstock.runtime.state.store import StateStore
from penstock.runtime.state.store_keys import StoreKeys
from penstock.runtime.valve import Valve
from penstock.runtime.writer import EdgeWriter

__all__ = ["VertexTask", "wire_chain"]


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
        writer.poison = operators[edge.operator].poison
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


def _capacity(heavy_keys: int) -> int:
    """How many keys are counted so that the heaviest `heavy_keys` of them are right."""
    return max(100, 10 * heavy_keys)


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
        start: RunStart | None = None,
    ) -> None:
        # configuration
        self.plan, self.vertex, self.subtask = plan, vertex, subtask
        self._store = store
        self._names = StoreKeys.of(vertex.uid)
        self._op_names = [StoreKeys.of(op.uid).operator(subtask) for op in vertex.operators]
        # checkpointed
        saved = loads(root) if root is not None else None
        self._run_id: str | None = saved["run"] if saved else None
        self.nonce: bytes = saved["nonce"] if saved else b""
        self._restored = bool(saved and saved.get("restored"))
        self._lane_of = self._channels()
        self._valve = Valve(self._lane_of)
        if saved:
            self._valve.restore(saved["valve"])
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
            attempt_number=start.attempt if start is not None else 0,
            head_uid=vertex.uid,
            lanes=tuple(dict.fromkeys(self._lane_of.values())),
            timeless=plan.timeless,
        )
        self._backend = self._make_backend(saved or {})
        self.context.backend = self._backend
        self._operators = [build_operator(op, self.context) for op in vertex.operators]
        self._writers = wire_chain(plan, vertex, subtask, self.context, self._operators)
        self._head = self._operators[0]
        self._entries = {edge.edge_id: self._head.entry(edge.input) for edge in vertex.in_edges}
        self._op_blobs = store.get_many(self._op_names)
        self._functions = self._make_functions(start)
        self._listeners = [(op, found) for op in self._operators if (found := checkpoint_listener(op.desc.spec))]
        self._batch = self._hold_input() if plan.settings.batch_mode else None
        self.records_in = self.records_late = 0
        self.busy = Stopwatch()
        if plan.settings.count_late:
            self._entries = {edge: self._counting_late(enter) for edge, enter in self._entries.items()}
        self._heavy = self._make_heavy()
        self._open()

    @staticmethod
    def root_name(vertex: Vertex, subtask: int) -> bytes:
        return StoreKeys.of(vertex.uid).root(subtask)

    def _make_backend(self, saved: dict[str, Any]) -> KeyedBackend | None:
        head = self.vertex.operators[0]
        if not head.spec.is_keyed:
            return None
        settings = self.plan.settings
        group_timers: dict[int, Earliest] = saved.get("groups", {})
        backend = KeyedBackend(
            self._store,
            self._names,
            self.plan.max_parallelism,
            settings.page_bytes,
            settings.state_budget_bytes,
            group_timers,
            StateKinds(f"Operator '{head.name}' (uid {head.uid})", saved.get("states", {})),
        )
        backend.size = saved.get("size", [0, 0, 0])
        backend.probe = saved.get("probe")
        backend.kinds.check_probe(backend.probe, self.plan.max_parallelism)
        return backend

    def _make_functions(self, start: RunStart | None) -> dict[int, FunctionState]:
        """Functions that keep operator state, by their place in the chain."""
        made = {}
        for index, op in enumerate(self._operators):
            function = checkpointed_function(op.desc.spec)
            if function is not None:
                names = StoreKeys.of(op.desc.uid)
                place = Place(op.desc, names, self.subtask, self.vertex.parallelism, self._run_id, start)
                keyed = LiveRuntimeContext(self.context, op.desc, op.desc.spec.is_keyed)
                made[index] = FunctionState(function, place, self._store, keyed)
        return made

    def _make_heavy(self) -> HeavyKeys | None:
        number = self.plan.settings.heavy_keys
        return HeavyKeys(_capacity(number)) if number and self._backend is not None else None

    def _hold_input(self) -> HeldInput:
        return HeldInput(self.vertex, self.plan.settings.sort_budget_bytes, self.plan.max_parallelism)

    def _channels(self) -> dict[int, Lane]:
        """The channels that end here, each with its lane: one of its own where it brings just one source split."""
        splits = {e.edge_id for v in self.plan.sources for e in v.out_edges if isinstance(e.exchange, Forward)}
        return {
            channel_id(e.edge_id, s): (number, s) if e.edge_id in splits else None
            for number, e in enumerate(self.vertex.in_edges)
            for s in self._senders(e)
        }

    def _senders(self, edge: InEdge) -> range:
        """Who sends to this subtask: everybody, or on a forward edge every sender whose turn it is."""
        return range(self.subtask, edge.senders, self.vertex.parallelism) if edge.forward else range(edge.senders)

    def _open(self) -> None:
        self._head.current_watermark = self._valve.clock
        for index, (op, blob) in enumerate(zip(self._operators, self._op_blobs, strict=True)):
            if blob is not None:
                op.restore(loads(blob))
            if index in self._functions:
                self._functions[index].initialize()
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
        for function in self._functions.values():
            function.store = store

    def begin(self, info: BatchInfo) -> None:
        """A batch starts. From here on what is in memory belongs to this attempt alone."""
        self.nonce = os.urandom(16)
        context = self.context
        context.batch = info
        context.attempt_id = self.nonce.hex()
        context.new_run = self._run_id != info.run_id
        self._run_id = info.run_id
        self.records_in = self.records_late = 0
        self._heavy = self._make_heavy()
        for writer in self._writers:
            writer.begin(info.batch_id)
        if info.batch_id > 0 and self._batch is None:
            self._notify(info.batch_id)
        for op in self._operators:
            op.begin()
        if self._restored:
            self._restored = False
            self._resume()
        if self._valve.closed_unheard():
            self._head.watermark(MAX_WATERMARK)
        self.tick()

    def _notify(self, checkpoint_id: int) -> None:
        """The batch before this one is durable, or this one would not run (F6)."""
        for op, listener in self._listeners:
            try:
                listener.notify_checkpoint_complete(checkpoint_id)
            except Exception as error:
                doing = "notify_checkpoint_complete()"
                raise user_failure(op.desc.name, op.desc.uid, doing, NO_RECORD, error) from error

    def _resume(self) -> None:
        """After a start from a savepoint: move the clock if it can, and tell all receivers where this subtask stands.

        What they heard before is known to them only as far as they were, and heard it, before.
        """
        for move in self._valve.settle():
            self._advance(move, None, 0)
        sleeps = {0: self._valve.asleep}
        for index, op in enumerate(self._operators):
            op.resume()
            sleeps[index] = op.sleeps(sleeps[index])
            sleeps.update({target: sleeps[index] for _, target in op.desc.consumers})
        for writer, edge in zip(self._writers, self.vertex.out_edges, strict=True):
            sent = self._operators[edge.operator].sent_watermark
            if sent > MIN_WATERMARK:
                writer.watermark(sent)
            if sleeps[edge.operator]:
                writer.status(True)

    def process(self, row: ChunkRow) -> None:
        """One chunk of one channel: records, with marks in between."""
        values, times, keys, marks = decode_payload(row.payload)
        edge = edge_of(row.channel)
        enter = self._entries[edge]
        self.records_in += len(values)
        self.context.lane = self._lane_of[row.channel]
        if self._heavy is not None and keys is not None:
            self._heavy.count(keys)
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
            self._mark(row.channel, mark, keys, place)
        if position < len(values):
            enter(
                values[position:] if position else values,
                times[position:] if times is not None and position else times,
                keys[position:] if keys is not None and position else keys,
            )
        self.tick()

    def _counting_late(self, enter: Entry) -> Entry:
        """An entry that counts the records that come late (T10)."""

        def counted(values: list[Any], times: Timestamps, keys: Sequence[Any] | None) -> None:
            clock = self._valve.clock
            self.records_late += sum(stamp is not None and stamp <= clock for stamp in times or ())
            enter(values, times, keys)

        return counted

    def _release(self, batch: HeldInput) -> None:
        """All input of a BATCH job is there: key by key, then the end of time."""
        for part in batch.sorter.drain():
            if self._backend is not None:
                self._backend.ensure(part.keys)
            self._head.entry(part.input)(part.values, part.stamps, part.keys)
        for channel in batch.closed:
            self._mark(channel, MAX_WATERMARK, None, 0)

    def _mark(self, channel: int, mark: int, keys: list[Any] | None, place: int) -> None:
        """What the chain has to know of a mark that came in."""
        moves = self._valve.take(channel, mark)
        if mark == MAX_WATERMARK and self._lane_has_ended(self._lane_of[channel]):
            self._head.lane_ended(self._lane_of[channel])
        for move in moves:
            if move > MAX_WATERMARK:
                self._head.status(move == IDLE)
            else:
                self._advance(move, keys, place)

    def _lane_has_ended(self, lane: Lane) -> bool:
        return all(self._valve.has_ended(c) for c, other in self._lane_of.items() if other == lane)

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
        if self._backend.sweeper is not None and self._backend.sweeper.every_chunk:
            self._backend.sweeper.sweep()

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
        if self._batch is None:  # BATCH has no checkpoints (P5)
            for function in self._functions.values():
                function.save(self.context.batch)
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
                "valve": self._valve.snapshot(),
                "groups": self._backend.group_timers if self._backend is not None else {},
                "size": self._backend.size if self._backend is not None else [0, 0, 0],
                "probe": self._backend.find_probe() if self._backend is not None else None,
                "states": self._backend.kinds.known if self._backend is not None else {},
            }
        )

    def report(self) -> dict[str, Any]:
        """What the batch did, for the driver (G6). Called once, at its end."""
        pages, page_bytes, blobs = self._backend.size if self._backend is not None else (0, 0, 0)
        entry = {
            "vertex": self.vertex.vertex_id,
            "name": self.vertex.name,
            "subtask": self.subtask,
            "time_ms": self.context.batch.processing_time_ms,
            "in": self.records_in,
            "out": sum(writer.records for writer in self._writers),
            "late": self.records_late,
            "busy_ms": self.busy.take_ms(),
            "state_pages": pages,
            "state_bytes": page_bytes,
            "state_blobs": blobs,
            "watermark": self.clock,
            "next_timer_ms": self.next_timer_ms(PROCESSING),
            "operators": [metrics.drain() for metrics in self.context.reports.values()],
        }
        if self._heavy is not None:
            number = self.plan.settings.heavy_keys
            entry["heavy_keys"] = (number, _capacity(number), dict(self._heavy.counts), self._heavy.error)
        return entry

    def close(self) -> None:
        for op in self._operators:
            op.close()

    @property
    def clock(self) -> int:
        """The subtask's event time."""
        return self._valve.clock

    def next_timer_ms(self, domain: int = EVENT) -> int:
        """When the next timer may be due; in processing time operators may wait too, or state is to be swept."""
        backend = self._backend
        earliest = backend.earliest(domain) if backend is not None else NO_TIMER
        if domain != PROCESSING:
            return earliest
        sweep = backend.next_sweep_ms() if backend is not None else NO_TIMER
        return min([earliest, sweep, *(op.next_processing_ms() for op in self._operators)])
