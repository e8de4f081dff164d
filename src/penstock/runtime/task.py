"""A subtask of a vertex behind the sources: its chain of operators, its clock, its pages."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence

from penstock.core.functions.checkpointed import checkpoint_listener, checkpointed_function
from penstock.core.program.job import InEdge, JobPlan, Vertex
from penstock.core.program.partition import Forward
from penstock.core.time.clock import Clock
from penstock.core.time.spans import MAX_WATERMARK, MIN_WATERMARK
from penstock.runtime.chain import OperatorChain
from penstock.runtime.chunk import IDLE, BatchInfo, ChunkRow, channel_id, decode_payload, edge_of
from penstock.runtime.codec import dumps
from penstock.runtime.context import LiveRuntimeContext, TaskContext, WatermarkChannel
from penstock.runtime.failures import NO_RECORD, user_failure
from penstock.runtime.heavy_keys import HeavyKeys
from penstock.runtime.metrics import Report
from penstock.runtime.operator_state import FunctionState, Place, RunStart
from penstock.runtime.operators.base import Entry, Operator
from penstock.runtime.operators.factory import build_operator
from penstock.runtime.sorting import HeldInput
from penstock.runtime.state.backend import EVENT, PROCESSING, KeyedBackend
from penstock.runtime.state.kind_check import StateKindCheck
from penstock.runtime.state.page import NO_TIMER
from penstock.runtime.state.store import StateStore
from penstock.runtime.state.store_keys import StoreKeys
from penstock.runtime.task_root import TaskRoot, root_key
from penstock.runtime.values import Keys, Records, Timestamps
from penstock.runtime.valve import Valve

__all__ = ["VertexTask"]


class VertexTask:
    """Host-independent: rows in, rows out through `send`, state in a store.

    Order of calls: per batch `begin`, `process` for each row, `end`, `report`; `close` once at the end of its life. A
    host may keep a task between batches: `attach` then gives it the store of the next one. `nonce` names the attempt
    that made what is in memory. The store's root names the attempt whose state is durable; only if the two agree may a
    kept task be used again.
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
        saved = TaskRoot.decode(root)
        # configuration
        self.plan, self.vertex, self.subtask = plan, vertex, subtask
        self._store = store
        self._input = _InputChannels(plan, vertex, subtask)
        # checkpointed
        self._run_id, self.nonce, self._restored = saved.run_id, saved.nonce, saved.restored
        self._valve = Valve(self._input.watermark_channel_of)
        if saved.valve is not None:
            self._valve.restore(saved.valve)
        self._backend = _keyed_backend(plan, vertex, store, saved)
        # not checkpointed
        self.context = self._make_context(clock, send, start)
        self.chain = OperatorChain(
            plan, vertex, subtask, self.context, [build_operator(op, self.context) for op in vertex.operators]
        )
        self._head, self.busy = self.chain.head, self.chain.busy
        self._snapshots = _OperatorSnapshots(store, vertex, subtask)
        self._functions = self._make_functions(start)
        self._listeners = [(op, found) for op in self.chain.operators if (found := checkpoint_listener(op.desc.spec))]
        self._batch = HeldInput.of(plan, vertex) if plan.settings.batch_mode else None
        self.records_in = self.records_late = 0
        self._heavy = self._make_heavy()
        self._entries = self._make_entries()
        self._head.current_watermark = self._valve.clock
        self.chain.open(self._snapshots.blobs, self._functions)

    def _make_context(self, clock: Clock, send: Callable[[ChunkRow], None], start: RunStart | None) -> TaskContext:
        plan, vertex = self.plan, self.vertex
        return TaskContext(
            vertex.name,
            self.subtask,
            vertex.parallelism,
            plan.max_parallelism,
            plan.partition_of(vertex, self.subtask),
            vertex.vertex_id,
            plan.settings,
            clock,
            send,
            self._backend,
            attempt_number=start.attempt if start is not None else 0,
            head_uid=vertex.uid,
            watermark_channels=self._input.watermark_channels,
            timeless=plan.timeless,
        )

    def _make_functions(self, start: RunStart | None) -> dict[int, FunctionState]:
        """Functions that keep operator state, by their place in the chain."""
        made = {}
        for index, op in enumerate(self.chain.operators):
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

    def _make_entries(self) -> dict[int, Entry]:
        """Where the records of each edge go; with late records counted, by way of the counter."""
        entries = {edge.edge_id: self._head.entry(edge.input) for edge in self.vertex.in_edges}
        if not self.plan.settings.count_late:
            return entries
        return {edge: self._counting_late(enter) for edge, enter in entries.items()}

    # -- one batch --------------------------------------------------------------------------------

    def attach(self, store: StateStore) -> None:
        """Give a task that was kept from the last batch the store of the new one."""
        self._store = store
        if self._backend is not None:
            self._backend.store = store
        for function in self._functions.values():
            function.store = store

    def begin(self, info: BatchInfo) -> None:
        """Start a batch: called once, before its rows. From here on what is in memory belongs to this attempt alone."""
        self.nonce = os.urandom(16)
        context = self.context
        context.batch = info
        context.attempt_id = self.nonce.hex()
        context.new_run = self._run_id != info.run_id
        self._run_id = info.run_id
        self.records_in = self.records_late = 0
        self._heavy = self._make_heavy()
        if info.batch_id > 0 and self._batch is None:
            self._notify(info.batch_id)
        self.chain.begin(info)
        if self._restored:
            self._restored = False
            self._resume()
        if self._valve.closed_without_input():
            self._head.watermark(MAX_WATERMARK)
        self.tick()

    def _notify(self, checkpoint_id: int) -> None:
        """Tell functions that the batch before is durable: else this one would not run."""
        for op, listener in self._listeners:
            try:
                listener.notify_checkpoint_complete(checkpoint_id)
            except Exception as error:
                doing = "notify_checkpoint_complete()"
                raise user_failure(op.desc.name, op.desc.uid, doing, NO_RECORD, error) from error

    def _resume(self) -> None:
        """After a start from a savepoint: move the clock if it can move, and send it to all receivers.

        Receivers restored from the savepoint do not know our clock yet, so we send it again.
        """
        for move in self._valve.settle():
            self._advance(move, None, 0)
        sleeps = {0: self._valve.asleep}
        for index, op in enumerate(self.chain.operators):
            op.resume()
            sleeps[index] = op.sleeps(sleeps[index])
            sleeps.update({target: sleeps[index] for _, target in op.desc.consumers})
        for writer, edge in zip(self.chain.writers, self.vertex.out_edges, strict=True):
            sent = self.chain.operators[edge.operator].sent_watermark
            if sent > MIN_WATERMARK:
                writer.watermark(sent)
            if sleeps[edge.operator]:
                writer.status(True)

    def process(self, row: ChunkRow) -> None:
        """Process one chunk of one channel: records, with marks in between."""
        values, times, keys, marks = decode_payload(row.payload)
        edge = edge_of(row.channel)
        enter = self._entries[edge]
        self.records_in += len(values)
        self.context.watermark_channel = self._input.watermark_channel_of[row.channel]
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
        """An entry that counts the records that come late."""

        def counted(values: Records, times: Timestamps, keys: Keys) -> None:
            clock = self._valve.clock
            self.records_late += sum(stamp is not None and stamp <= clock for stamp in times or ())
            enter(values, times, keys)

        return counted

    def _release(self, batch: HeldInput) -> None:
        """Process the held input of a BATCH job, key by key, then the end of time. Called when all input is there."""
        for part in batch.sorter.drain():
            if self._backend is not None:
                self._backend.ensure(part.keys)
            self._head.entry(part.input)(part.values, part.stamps, part.keys)
        for channel in batch.closed:
            self._mark(channel, MAX_WATERMARK, None, 0)

    def _mark(self, channel: int, mark: int, keys: list[object] | None, place: int) -> None:
        """Take a mark that came in on a channel, and pass the resulting watermark or idleness to the chain."""
        moves = self._valve.take(channel, mark)
        whole = self._input.watermark_channel_of[channel]
        if mark == MAX_WATERMARK and all(map(self._valve.has_ended, self._input.channels_of(whole))):
            self._head.watermark_channel_ended(whole)
        for move in moves:
            if move > MAX_WATERMARK:
                self._head.status(move == IDLE)
            else:
                self._advance(move, keys, place)

    def _advance(self, watermark: int, keys: list[object] | None, place: int) -> None:
        """Move the clock. Timers that fire may evict pages of records still to come, so these are loaded again."""
        evicted = self._backend.evictions if self._backend is not None else 0
        self._head.watermark(watermark)
        if self._backend is not None and keys is not None and self._backend.evictions != evicted:
            self._backend.ensure(keys[place:])

    def tick(self) -> None:
        """Fire processing-time timers that are due."""
        if self._backend is None or self._batch is not None:
            return
        if self._backend.earliest(PROCESSING) != NO_TIMER:
            self._head.processing_time(self.context.clock.now_ms())
        if self._backend.sweeper is not None and self._backend.sweeper.every_chunk:
            self._backend.sweeper.sweep()

    def end(self) -> None:
        """End the batch: called after its last row. Everything is sent, and everything is written to the store."""
        if self._batch is not None:
            self._release(self._batch)
        self.tick()
        self.chain.end()
        self.chain.flush()
        self._save()

    def _save(self) -> None:
        if self._batch is None:  # BATCH has no checkpoints (P5)
            for function in self._functions.values():
                function.save(self.context.batch)
        if self._backend is not None:
            self._backend.flush()
        puts, drops = self._snapshots.changes(self.chain.operators)
        self._store.delete_many(drops)
        self._store.put_many([(root_key(self.vertex, self.subtask), self._root().encode()), *puts])

    def _root(self) -> TaskRoot:
        root = TaskRoot(self.nonce, self._run_id, valve=self._valve.snapshot())
        if (backend := self._backend) is not None:
            root.groups, root.size = backend.group_timers, backend.size
            root.probe, root.states = backend.find_probe(), backend.kinds.known
        return root

    def report(self) -> Report:
        """The figures of the batch, for the driver. Called once, at its end."""
        pages, page_bytes, blobs = self._backend.size if self._backend is not None else (0, 0, 0)
        entry = self.chain.report(self.records_in, self.next_timer_ms(PROCESSING)) | {
            "late": self.records_late,
            "state_pages": pages,
            "state_bytes": page_bytes,
            "state_blobs": blobs,
            "watermark": self.clock,
        }
        if self._heavy is not None:
            number = self.plan.settings.heavy_keys
            entry["heavy_keys"] = (number, _capacity(number), dict(self._heavy.counts), self._heavy.error)
        return entry

    def close(self) -> None:
        """Release what the operators hold."""
        self.chain.close()

    @property
    def clock(self) -> int:
        """The subtask's event time."""
        return self._valve.clock

    def next_timer_ms(self, domain: int = EVENT) -> int:
        """When the next timer may be due; in processing time also when an operator waits or state is to be swept."""
        backend = self._backend
        earliest = backend.earliest(domain) if backend is not None else NO_TIMER
        if domain != PROCESSING:
            return earliest
        sweep = backend.next_sweep_ms() if backend is not None else NO_TIMER
        return min([earliest, sweep, *(op.next_processing_ms() for op in self.chain.operators)])


class _InputChannels:
    """The channels that end at a subtask.

    `watermark_channel_of` has the watermark channel of each: one of its own if it brings one source split alone.
    """

    def __init__(self, plan: JobPlan, vertex: Vertex, subtask: int) -> None:
        splits = {e.edge_id for v in plan.sources for e in v.out_edges if isinstance(e.exchange, Forward)}
        self.watermark_channel_of: dict[int, WatermarkChannel] = {
            channel_id(e.edge_id, s): (number, s) if e.edge_id in splits else None
            for number, e in enumerate(vertex.in_edges)
            for s in _senders(e, vertex, subtask)
        }

    @property
    def watermark_channels(self) -> tuple[WatermarkChannel, ...]:
        """All watermark channels, each once."""
        return tuple(dict.fromkeys(self.watermark_channel_of.values()))

    def channels_of(self, watermark_channel: WatermarkChannel) -> list[int]:
        """The channels that make up a watermark channel."""
        return [channel for channel, other in self.watermark_channel_of.items() if other == watermark_channel]


def _senders(edge: InEdge, vertex: Vertex, subtask: int) -> range:
    """The subtasks that send to this one: all of them, or on a forward edge those whose turn it is."""
    return range(subtask, edge.senders, vertex.parallelism) if edge.forward else range(edge.senders)


class _OperatorSnapshots:
    """The operators' own state as the store has it: read when the subtask is built, written when it has changed."""

    def __init__(self, store: StateStore, vertex: Vertex, subtask: int) -> None:
        self._keys = [StoreKeys.of(op.uid).operator(subtask) for op in vertex.operators]
        self.blobs = store.get_many(self._keys)

    def changes(self, operators: Sequence[Operator]) -> tuple[list[tuple[bytes, bytes]], list[bytes]]:
        """The blobs to write and the keys to delete. Called once at the end of a batch: they count as written."""
        puts: list[tuple[bytes, bytes]] = []
        drops: list[bytes] = []
        for index, op in enumerate(operators):
            if not op.changed():
                continue
            state = op.snapshot()
            blob = dumps(state) if state is not None else None
            if blob == self.blobs[index]:
                continue
            self.blobs[index] = blob
            if blob is None:
                drops.append(self._keys[index])
            else:
                puts.append((self._keys[index], blob))
        return puts, drops


def _keyed_backend(plan: JobPlan, vertex: Vertex, store: StateStore, root: TaskRoot) -> KeyedBackend | None:
    """The state and timers of the chain's head, as the root has them; None if it is not keyed."""
    head = vertex.operators[0]
    if not head.spec.is_keyed:
        return None
    backend = KeyedBackend(
        store,
        StoreKeys.of(vertex.uid),
        plan.max_parallelism,
        plan.settings.page_bytes,
        plan.settings.state_budget_bytes,
        root.groups,
        StateKindCheck(f"Operator '{head.name}' (uid {head.uid})", root.states),
    )
    backend.size, backend.probe = root.size, root.probe
    backend.kinds.check_probe(backend.probe, plan.max_parallelism)
    return backend


def _capacity(heavy_keys: int) -> int:
    """How many keys are counted so that the heaviest `heavy_keys` of them are right."""
    return max(100, 10 * heavy_keys)
