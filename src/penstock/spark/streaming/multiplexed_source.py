"""The multiplexed source: the one Spark source through which a streaming job reads all of Penstock's own sources.

It is part of every job, so that adding a source never changes what Spark's checkpoint knows. Its offset names the
position of every split of every source. It also brings the control rows. The chains of level 0 run in its readers.
"""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import pyarrow as pa
from pyspark.sql.datasource import DataSource, DataSourceStreamReader, InputPartition
from pyspark.sql.streaming.datasource import ReadAllAvailable, ReadLimit
from pyspark.sql.types import StructType

from penstock.core.contracts.source import Lag, Position, SourceClock
from penstock.core.functions.source import FunctionSource
from penstock.core.program.job import JobPlan, Vertex
from penstock.core.time.clock import SystemClock
from penstock.runtime.chunk import DRIVER, FINISHED, LOST, BatchInfo, ChunkRow
from penstock.runtime.codec import dumps, loads
from penstock.runtime.source_function_runner import SourceFunctionRunners
from penstock.runtime.source_task import read_split
from penstock.runtime.stage import control_rows
from penstock.savepoint.restore_rows import page_rows, subtask_rows
from penstock.savepoint.savepoint import Savepoint
from penstock.spark.failures import errors_travel
from penstock.spark.frames import batch_id, frame_vertices, own_vertices
from penstock.spark.pickled_plan import PickledPlan
from penstock.spark.rows import SCHEMA, to_arrow
from penstock.spark.streaming.control import ControlFile
from penstock.spark.streaming.offsets import Offset, Splits, offset, split_positions
from penstock.spark.streaming.source_event_log import SourceEventLog

__all__ = ["MultiplexedOptions", "multiplexed_source"]

_RETRY_MS = 100


@dataclass(frozen=True, slots=True)
class MultiplexedOptions:
    """What the multiplexed source of one run needs to know; travels to the planner and to the readers."""

    pickled: PickledPlan
    run_id: str
    control_path: str
    limits: dict[str, int]
    savepoint: Savepoint | None = None
    checkpoint: str = ""
    """The checkpoint folder, where the planner logs what functions with state emit until that is durable."""


def multiplexed_source(options: MultiplexedOptions) -> type[DataSource]:
    """The data source class of one run of the query. Spark pickles it by value, so it carries its options."""

    class MultiplexedSource(DataSource):
        given = options

        @classmethod
        def name(cls) -> str:
            return f"penstock_sources_{cls.given.run_id}"

        def schema(self) -> StructType:
            return SCHEMA

        def streamReader(self, schema: StructType) -> DataSourceStreamReader:
            return MultiplexedReader(self.given)

    MultiplexedSource.__module__ = "__main__"
    return MultiplexedSource


class _Part(InputPartition):
    """What one task of a batch reads: a stretch of one split, from `start` to `end` (nothing if `vertex` is None).

    The first part of a batch also brings the control rows. In the first batch of a job that starts from a savepoint,
    it also `restores` what belongs to subtasks, and further parts bring one `file` of pages each.
    """

    def __init__(self, info: BatchInfo) -> None:
        self.info = info
        self.control = self.finished = False
        self.vertex: int | None = None
        self.split = 0
        self.start = self.end = Position(None)
        self.held: bytes | None = None
        self.lost = 0
        self.lag: Lag | None = None
        self.file: int | None = None
        self.restores = False


class MultiplexedReader(DataSourceStreamReader):
    """Plans batches and reads splits, in different processes: Spark pickles it.

    The planner is one process on the driver's machine, which lives as long as the query. It calls `latestOffset`,
    `partitions` and `commit`. Workers call `read`.
    """

    def __init__(self, options: MultiplexedOptions) -> None:
        self._options = options
        self._control = ControlFile(options.control_path)
        self._clock = SystemClock()
        self._started_ms = self._clock.now_ms()
        self._base: dict[str, Splits] | None = None
        self._announced = False
        self._retry_ms: dict[int, int] = {}
        self._live: SourceFunctionRunners | None = None

    # -- planning, on the driver ------------------------------------------------------------------

    def initialOffset(self) -> Offset:
        """Called once in the life of a checkpoint: where its first batch starts, from a savepoint if there is one."""
        savepoint = self._options.savepoint
        if savepoint is None:
            return offset(0, {})
        known = {note.uid: note for note in savepoint.metadata.sources}
        return offset(
            0,
            {
                v.uid: {str(s): p.to_json() for s, p in enumerate(known[v.uid].splits)}
                for v in own_vertices(self._options.pickled.load())
                if v.uid in known
            },
        )

    def getDefaultReadLimit(self) -> ReadLimit:
        """No limit of Spark's: `latestOffset` has limits of its own."""
        return ReadAllAvailable()

    def latestOffset(self, start: Offset, limit: ReadLimit) -> Offset:
        """Called whenever Spark could run a batch: where that batch ends. `start` itself means that none is wanted."""
        with errors_travel():
            return self._latest(start)

    def _latest(self, start: Offset) -> Offset:
        control = self._control.read()
        if control.get("stop"):
            self.stop()
            return start
        if control.get("hold"):
            return start
        if control.get("drain"):
            return self._drained(start)
        plan = self._options.pickled.load()
        limits = self._options.limits | control.get("limits", {})
        sources = {v.uid: self._advance(v, start["sources"], limits[v.uid]) for v in own_vertices(plan)}
        if self._base is None:
            self._base = {v.uid: split_positions(v, start["sources"]) for v in own_vertices(plan)}
        if not self._ticks(control.get("next_timer_ms")) and sources == start["sources"]:
            return start
        self._announced = True
        return offset(start["tick"] + 1, sources)

    def _drained(self, start: Offset) -> Offset:
        """The end of the last batch of a job that is drained: the batch reads nothing, but every source ends in it."""
        self.stop()
        plan = self._options.pickled.load()
        sources = {
            v.uid: {name: {**at, "ended": True} for name, at in split_positions(v, start["sources"]).items()}
            for v in own_vertices(plan)
        }
        return start if sources == start["sources"] else offset(start["tick"] + 1, sources)

    def _ticks(self, due_ms: int | None) -> bool:
        """Whether a batch is wanted even without data: the first batch of a run, and one for timers that are due.

        A worker whose clock is behind the driver's may find nothing due yet. Then the timer is still reported, and the
        next batch for it is wanted only a little later.
        """
        now_ms = self._clock.now_ms()
        if self._announced and (due_ms is None or now_ms < max(due_ms, self._retry_ms.get(due_ms, 0))):
            return False
        self._retry_ms = {} if due_ms is None else {due_ms: now_ms + _RETRY_MS}
        return True

    def _advance(self, vertex: Vertex, known: dict[str, Splits], limit: int) -> Splits:
        """How far a batch may read a source, at most `limit` records of each split."""
        if vertex.uid not in known and vertex.source.moving_start:
            return split_positions(vertex, known)  # the first batch only notes it, so that a replay finds the same
        now = SourceClock(self._clock.now_ms(), self._started_ms)
        base = self._begun(vertex, known)
        live = self._running()
        ends = {}
        for name, data in split_positions(vertex, known).items():
            start = Position.from_json(data)
            if not start.ended:
                start = live.advance(vertex, int(name), start, Position.from_json(base[name]), limit, now)
            ends[name] = start.to_json()
        return ends

    def _begun(self, vertex: Vertex, known: dict[str, Splits]) -> Splits:
        """Where this run of the job began to read a source."""
        return (self._base or {}).get(vertex.uid) or split_positions(vertex, known)

    def _running(self) -> SourceFunctionRunners:
        """The functions that run by themselves in this process; they are cancelled when Spark ends it."""
        if self._live is None:
            plan = self._options.pickled.load()
            self._live = SourceFunctionRunners(plan, self._clock, self._keeper(plan))
            _when_terminated(self.stop)
        return self._live

    def _keeper(self, plan: JobPlan) -> SourceEventLog | None:
        """The log of emitted events; opened only if a function needs it, since that may open a connection."""
        if not any(isinstance(v.source, FunctionSource) and v.source.replayable for v in own_vertices(plan)):
            return None
        return SourceEventLog.beside(self._options.checkpoint)

    def partitions(self, start: Offset, end: Offset) -> Sequence[InputPartition]:
        """Called for each batch, and again for one that is run again: what its tasks read."""
        with errors_travel():
            return self._parts(start, end)

    def _parts(self, start: Offset, end: Offset) -> list[_Part]:
        plan = self._options.pickled.load()
        info = BatchInfo(self._options.run_id, -1, self._clock.now_ms())
        known, ends = start["sources"], end["sources"]
        restores = self._options.savepoint is not None and start["tick"] == 0
        if restores:  # sources that had ended announce their end again: their receivers are new
            known = {uid: {n: {**p, "ended": False} for n, p in splits.items()} for uid, splits in known.items()}
        parts = [p for v in own_vertices(plan) for p in self._split_parts(v, known.get(v.uid, {}), ends, info)]
        parts = parts or [_Part(info)]
        parts[0].control = True
        if restores:
            parts[0].restores = True
            parts += self._file_parts(info)
        ended = all(p["ended"] for splits in ends.values() for p in splits.values())
        parts[0].finished = ended and not frame_vertices(plan)
        return parts

    def _file_parts(self, info: BatchInfo) -> Iterator[_Part]:
        assert self._options.savepoint is not None
        for number in range(len(self._options.savepoint.metadata.files)):
            part = _Part(info)
            part.file = number
            yield part

    def _split_parts(self, vertex: Vertex, known: Splits, ends: dict[str, Splits], info: BatchInfo) -> Iterator[_Part]:
        """A part for each split that moves in a batch."""
        for name, stop in ends[vertex.uid].items():
            begin = known.get(name)
            if begin == stop:
                continue
            part = _Part(info)
            part.vertex, part.split, part.end = vertex.vertex_id, int(name), Position.from_json(stop)
            part.start = Position.from_json(begin) if begin is not None else _beginning(vertex, part)
            held = self._running().held(vertex, part.split, part.start, part.end)
            if held is not None:
                part.held, part.lost = dumps(held.batches), held.lost
            part.lag = self._lag(vertex, part, known)
            yield part

    def _lag(self, vertex: Vertex, part: _Part, known: dict[str, Splits]) -> Lag:
        """How far the end of a part is behind what the source has."""
        now = SourceClock(self._clock.now_ms(), self._started_ms)
        base = Position.from_json(self._begun(vertex, known)[str(part.split)])
        lag: Lag = self._running().lag(vertex, part.split, part.end, base, now)
        return lag

    def commit(self, end: Offset) -> None:
        """Called when a batch is durable: let go of what is held for sources that cannot be read again."""
        if self._live is None:
            return
        for vertex in own_vertices(self._options.pickled.load()):
            for name, position in end["sources"].get(vertex.uid, {}).items():
                self._live.release(vertex.vertex_id, int(name), Position.from_json(position))

    def stop(self) -> None:
        """Cancel the source functions that run in the planner; called when the query stops and when it drains."""
        if self._live is not None:
            self._live.close()

    # -- reading, in workers ----------------------------------------------------------------------

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """Called in a worker, once for each attempt at a task: the rows of a part, after the chain of its source."""
        assert isinstance(partition, _Part)
        with errors_travel():
            plan = self._options.pickled.load()
            yield from to_arrow(self._rows(plan, partition), plan.partitions)

    def _rows(self, plan: JobPlan, part: _Part) -> Iterator[ChunkRow]:
        info = part.info._replace(batch_id=plan.settings.first_batch + batch_id())
        savepoint = self._options.savepoint
        if part.control:
            yield from control_rows(plan, info)
        if part.restores and savepoint is not None:
            yield from subtask_rows(plan, savepoint)
        if part.file is not None and savepoint is not None:
            yield from page_rows(plan, savepoint, savepoint.metadata.files[part.file])
        if part.finished:
            yield ChunkRow(0, DRIVER, 0, 0, FINISHED, b"")
        if part.vertex is not None:
            vertex = plan.vertex(part.vertex)
            if part.lost:
                lost = (vertex.operators[0].name, vertex.uid, part.split, part.lost)
                yield ChunkRow(0, DRIVER, 0, 0, LOST, dumps(lost))
            held = loads(part.held) if part.held is not None else None
            yield from read_split(plan, vertex, part.split, part.start, part.end, SystemClock(), info, held, part.lag)


def _when_terminated(stop: Callable[[], None]) -> None:
    """Call `stop` when Spark ends the planner with a signal, so that source functions can close what they opened."""
    if threading.current_thread() is not threading.main_thread():
        return

    def end(number: int, frame: object) -> None:
        stop()
        sys.exit(128 + number)

    signal.signal(signal.SIGTERM, end)


def _beginning(vertex: Vertex, part: _Part) -> Position:
    """Where a split is read from in a job's first batch. It counts as not ended there, so that its end is announced."""
    source = vertex.source
    return Position(part.end.at if source.moving_start else source.initial(part.split, vertex.split_count).at)
