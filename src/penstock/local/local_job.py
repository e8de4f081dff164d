"""A job on the local host: the same stages in this process; the caller chooses the clock and the batches."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain, repeat
from typing import Any

from penstock.core.contracts.source import Position, SourceClock
from penstock.core.errors import SavepointError
from penstock.core.program.job import JobPlan, Vertex
from penstock.core.time.clock import Clock, SystemClock
from penstock.runtime.batch_output import BatchOutput
from penstock.runtime.chunk import DRIVER, BatchInfo, ChunkRow
from penstock.runtime.commit_coordinator import CommitCoordinator
from penstock.runtime.local_classes import enter_job
from penstock.runtime.metrics_aggregator import MetricsAggregator
from penstock.runtime.operator_state import RunStart, gather_union
from penstock.runtime.source_function_runner import SourceFunctionRunners
from penstock.runtime.source_task import read_split
from penstock.runtime.stage import StageTask, control_rows, sorted_rows
from penstock.runtime.state.store import MemoryStore
from penstock.runtime.state.store_keys import BlobKind, kind_of
from penstock.savepoint.compatibility import fit
from penstock.savepoint.plan_notes import notes_of
from penstock.savepoint.restore_rows import restore_rows
from penstock.savepoint.savepoint import Moment, Savepoint, write_savepoint

__all__ = ["LocalJob"]


class LocalJob:
    """A job that its caller runs batch by batch. State goes through the real codec and survives a restart.

    `run_batch(limit)` reads at most `limit` records of every source split; `restart` forgets
    everything but what was durable. `progressed` says whether the last batch read anything.
    """

    def __init__(
        self,
        plan: JobPlan,
        clock: Clock | None = None,
        printer: Callable[[str], None] = print,
        savepoint: str | None = None,
        allow_unclaimed: bool = False,
    ) -> None:
        self._origin = Savepoint(savepoint) if savepoint is not None else None
        self.plan = plan if self._origin is None else fit(plan, self._origin, allow_unclaimed)
        self.clock = clock or SystemClock()
        self.results: dict[str, list[Any]] = {s.name: [] for s in self.plan.collected if not s.printing}
        self.metrics: list[dict[str, Any]] = []
        self.book = MetricsAggregator()
        self.batch_id = self._first_batch = self.plan.settings.first_batch
        self.finished = self.stopped = False
        self.restarts = 0
        self.progressed = False
        self._printer = printer
        self._stores = {key: MemoryStore() for key in self._places()}
        self._positions = {
            (v.vertex_id, s): self._initial(v, s) for v in self.plan.sources for s in range(v.split_count)
        }
        self._started: set[tuple[int, int]] = set()
        self._undrained: dict[tuple[int, int], Position] | None = None
        self._start_run()

    def _initial(self, vertex: Vertex, split: int) -> Position:
        note = self._origin.metadata.source(vertex.uid) if self._origin is not None else None
        return note.splits[split] if note is not None else vertex.source.initial(split, vertex.split_count)

    @property
    def _restoring(self) -> Savepoint | None:
        """The savepoint that the next batch takes in: until the first batch is durable."""
        return self._origin if self.batch_id == self._first_batch else None

    def _start_run(self) -> None:
        enter_job(self.plan)
        self._run_id = uuid.uuid4().hex
        self._base = dict(self._positions)
        self._started_ms = self.clock.now_ms()
        union = (
            self._restoring.union_lists()
            if self._restoring is not None
            else gather_union(item for store in self._stores.values() for item in store.blobs.items())
        )
        start = RunStart(self._run_id, union, self.restarts)
        self._live = SourceFunctionRunners(self.plan, self.clock)
        self._tasks = {key: StageTask(self.plan, *key, self.clock, start) for key in self._places()}
        self.commits = CommitCoordinator(
            self.plan, lambda n, vs: self.results.setdefault(n, []).extend(vs), self._printer, self.book
        )

    def _places(self) -> list[tuple[int, int]]:
        return [(level, p) for level in range(1, self.plan.stage_count + 1) for p in range(self.plan.partitions)]

    # -- running ----------------------------------------------------------------------------------

    def run(self, batches: Iterable[int] | None = None) -> None:
        """Run to the end of the input: batches of the given sizes first, then of any size."""
        for _ in self.steps(batches):
            pass

    def steps(self, batches: Iterable[int] | None = None) -> Iterator[None]:
        """As `run`, stopping after each batch. Where sources run by themselves, an idle job waits for them."""
        try:
            for limit in chain(batches or (), repeat(2**40)):
                if self.finished or self.stopped:
                    return
                before = dict(self._positions)
                self.run_batch(limit)
                yield
                if before == self._positions and not self.finished:
                    self._live.wait()
        finally:
            self._live.close()

    def stop(self) -> None:
        """End `run` after the batch that is running; may be called from another thread."""
        self.stopped = True

    def run_batch(self, limit: int, commit: bool = True) -> None:
        """One batch. With `commit` False it is run and thrown away, as if the job had died before the commit."""
        self._run_to(self._advance(limit), commit)

    def drain(self) -> None:
        """One more batch, which reads nothing: every source ends, so that event time does too."""
        self._undrained = dict(self._positions)
        self._run_to({key: Position(p.at, True) for key, p in self._positions.items()})

    def savepoint(self, path: str) -> Savepoint:
        """Write the state after the last durable batch into a folder."""
        if self._restoring is not None:
            raise SavepointError("The job has not taken in the savepoint that it starts from: run a batch first")
        positions: dict[str, dict[int, Position]] = {}
        for (vertex_id, split), position in (self._undrained or self._positions).items():
            positions.setdefault(self.plan.vertex(vertex_id).uid, {})[split] = position
        moment = Moment(self.batch_id - 1, self.clock.now_ms(), positions, drained=self._undrained is not None)
        return write_savepoint(
            path, notes_of(self.plan), (store.blobs.items() for store in self._stores.values()), moment
        )

    def _run_to(self, ends: dict[tuple[int, int], Position], commit: bool = True) -> None:
        enter_job(self.plan)
        self.progressed = ends != self._positions
        saved = {key: dict(store.blobs) for key, store in self._stores.items()}
        try:
            output = BatchOutput(self._line(ends))
            self.commits.hold(output)
        except BaseException:
            self._restore(saved)
            raise
        if not commit:
            self._restore(saved)
            self.commits.drop()
            return
        self._positions.update(ends)
        self._started.update(ends)
        for (vertex_id, split), end in ends.items():
            self._live.release(vertex_id, split, end)
        self.metrics = output.metrics
        self.batch_id += 1
        self.commits.release()
        self.finished = all(p.ended for p in self._positions.values())

    def restart(self) -> None:
        """A new run from the last durable batch."""
        self.restarts += 1
        for task in self._tasks.values():
            task.close()
        lost, live = self.commits.lost_records, self._live
        live.close()
        self._start_run()
        self.commits.lost_records = lost
        self.commits.note_lost(live.unreleased())

    def _restore(self, saved: dict[tuple[int, int], dict[bytes, bytes]]) -> None:
        for key, blobs in saved.items():
            self._stores[key].blobs = blobs

    def _advance(self, limit: int) -> dict[tuple[int, int], Position]:
        now = SourceClock(self.clock.now_ms(), self._started_ms)
        ends = {}
        for vertex in self.plan.sources:
            for split in range(vertex.split_count):
                key = (vertex.vertex_id, split)
                start = self._positions[key]
                ends[key] = (
                    start if start.ended else self._live.advance(vertex, split, start, self._base[key], limit, now)
                )
        return ends

    def _line(self, ends: dict[tuple[int, int], Position]) -> list[ChunkRow]:
        info = BatchInfo(self._run_id, self.batch_id, self.clock.now_ms())
        rows = list(self._read(ends, info))
        rows += control_rows(self.plan, info)
        if self._restoring is not None:
            rows += restore_rows(self.plan, self._restoring)
        for level in range(1, self.plan.stage_count + 1):
            rows = list(self._stage(level, rows))
        return [r for r in rows if r.target == DRIVER]

    def _read(self, ends: dict[tuple[int, int], Position], info: BatchInfo) -> Iterator[ChunkRow]:
        for vertex in self.plan.sources:
            for split in range(vertex.split_count):
                key = (vertex.vertex_id, split)
                start = self._positions[key]
                first = key not in self._started
                if start == ends[key] and not (first and start.ended):
                    continue
                begin = Position(start.at, False) if first else start
                held = self._live.held(vertex, split, begin, ends[key])
                batches = held.batches if held is not None else None
                now = SourceClock(self.clock.now_ms(), self._started_ms)
                lag = self._live.lag(vertex, split, ends[key], self._base[key], now)
                yield from read_split(self.plan, vertex, split, begin, ends[key], self.clock, info, batches, lag)

    def _stage(self, level: int, rows: Sequence[ChunkRow]) -> Iterator[ChunkRow]:
        for partition in range(self.plan.partitions):
            mine = [r for r in rows if r.partition == partition]
            task = self._tasks[level, partition]
            yield from task.run(sorted_rows(mine, self.plan.settings.sort_budget_bytes), self._stores[level, partition])

    # -- looking inside -----------------------------------------------------------------------------

    def state_blobs(self) -> dict[bytes, bytes]:
        """Every blob of keyed and operator state; empty when nothing leaked (roots are not counted)."""
        return {
            key: blob
            for store in self._stores.values()
            for key, blob in store.blobs.items()
            if kind_of(key) is not BlobKind.ROOT
        }
