"""The driver's side of a batch: results handed over, committables committed when the batch is durable (F6)."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Iterable
from typing import Any, ClassVar

from penstock.core.clock import Clock
from penstock.core.errors import PenstockError, SinkError
from penstock.core.job import JobPlan
from penstock.core.sink import CommitRequest, Committer, SupportsCommitter
from penstock.core.specs import CollectSpec, FunctionSinkSpec, OperatorSpec, SinkSpec
from penstock.core.transactions import TransactionCommitter, TwoPhaseCommitSinkFunction
from penstock.runtime.chunk import (
    COLLECTED,
    COMMITTABLES,
    FINISHED,
    LOST,
    METRICS,
    NOTICE,
    PENDING,
    ChunkRow,
    Collected,
    decode_collected,
)
from penstock.runtime.codec import loads
from penstock.runtime.metrics_book import MetricsBook

__all__ = ["BatchOutput", "Ledger"]

ORPHAN_AGE_MS = 3_600_000

Lost = tuple[str, str, int, int]
"""Source, uid, split and number of events that a source which cannot rewind has lost."""

Notice = tuple[str, str, str]
"""Source, uid, and what the source has to say."""


class BatchOutput:
    """What came out of the end of the line in one batch."""

    def __init__(self, rows: Iterable[ChunkRow]) -> None:
        self.collected: list[Collected] = []
        self.committables: list[tuple[str, list[Any]]] = []
        self.pending: list[tuple[str, list[Any]]] = []
        self.metrics: list[dict[str, Any]] = []
        self.lost: list[Lost] = []
        self.notices: list[Notice] = []
        self.finished = False
        self.batch_ms: int | None = None
        for row in sorted(rows, key=lambda r: (r.channel, r.partition, r.seq)):
            self._take(row)

    def _take(self, row: ChunkRow) -> None:
        take = self._TAKERS.get(row.kind)
        if take is not None:
            take(self, row.payload)

    def _finish(self, payload: bytes) -> None:
        self.finished = True

    _TAKERS: ClassVar[dict[int, Callable[[BatchOutput, bytes], None]]] = {
        COLLECTED: lambda output, payload: output.collected.append(decode_collected(payload)),
        COMMITTABLES: lambda output, payload: output.committables.append(_prepared(payload)),
        PENDING: lambda output, payload: output.pending.append(_prepared(payload)),
        METRICS: lambda output, payload: output.metrics.extend(loads(payload)),
        LOST: lambda output, payload: output.lost.append(loads(payload)),
        NOTICE: lambda output, payload: output.notices.append(loads(payload)),
        FINISHED: _finish,
    }
    """What is done with the rows of each kind."""


def _prepared(payload: bytes) -> tuple[str, list[Any]]:
    """What a subtask of a sink prepared: the uid of the sink and its committables."""
    uid, _, items = loads(payload)
    return uid, items


class Ledger:
    """Keeps what a batch delivered until the batch is durable, then lets it out.

    `recover` is for committables that a restarted job found in its state: they belong to a batch that
    is durable already, and are committed at once, again if need be.
    """

    def __init__(
        self,
        plan: JobPlan,
        deliver: Callable[[str, list[Any]], None],
        printer: Callable[[str], None],
        book: MetricsBook | None = None,
    ) -> None:
        self._deliver = deliver
        self._printer = printer
        operators = [op for v in plan.vertices for op in v.operators]
        self._prints = {op.spec.name: op.spec for op in operators if isinstance(op.spec, CollectSpec)}
        made = ((op, _committer(op.spec)) for op in operators)
        self._committers = {op.uid: (op.name, committer) for op, committer in made if committer is not None}
        self._waiting: BatchOutput | None = None
        self.book = book or MetricsBook()
        self.lost_records = 0

    def hold(self, output: BatchOutput) -> None:
        """A batch ran; it is not durable yet. Recovered committables are committed now."""
        assert self._waiting is None, "the batch before has not been released"
        for uid, requests in _requests(output.pending).items():
            self._commit(uid, requests, recovered=True)
        self._waiting = output

    @property
    def holding(self) -> bool:
        return self._waiting is not None

    def release(self) -> None:
        """The batch is durable: hand over and commit."""
        output, self._waiting = self._waiting, None
        if output is None:
            return
        self.book.add(output.metrics, output.batch_ms)
        # a commit that fails is made good after the restart, from state; results would be lost
        for collected in output.collected:
            self._hand_over(collected)
        self.note_lost(output.lost)
        for source, uid, text in output.notices:
            warnings.warn(f"Source '{source}' (uid {uid}): {text}", RuntimeWarning, stacklevel=2)
        for uid, requests in _requests(output.committables).items():
            self._commit(uid, requests, recovered=False)

    def note_lost(self, entries: Iterable[Lost]) -> None:
        """Count and say what a failure took from sources that cannot rewind (F7)."""
        for source, uid, split, count in entries:
            self.lost_records += count
            warnings.warn(
                f"Source '{source}' (uid {uid}, split {split}) lost {count} record(s) in a restart: it cannot rewind, "
                "so delivery is at-most-once",
                RuntimeWarning,
                stacklevel=2,
            )

    def drop(self) -> None:
        """The batch failed: what it delivered never happened."""
        self._waiting = None

    def clean(self, clock: Clock) -> None:
        """Remove what attempts that lost have left behind long ago."""
        for _, committer in self._committers.values():
            committer.abandon_older_than(ORPHAN_AGE_MS, clock.now_ms())

    def close(self) -> None:
        for _, committer in self._committers.values():
            committer.close()

    def _commit(self, uid: str, requests: list[CommitRequest], recovered: bool) -> None:
        if uid not in self._committers:
            return
        name, committer = self._committers[uid]
        try:
            (committer.recover if recovered else committer.commit)(requests)
        except PenstockError:
            raise
        except Exception as error:
            raise SinkError(f"Sink '{name}' (uid {uid}) could not commit: {type(error).__name__}: {error}") from error

    def _hand_over(self, collected: Collected) -> None:
        spec = self._prints[collected.name]
        if not spec.printing:
            self._deliver(collected.name, collected.values)
            return
        prefix = _print_prefix(spec.prefix, collected.subtask, collected.parallelism)
        printer = _print_to_err if spec.to_err else self._printer
        for value in collected.values:
            printer(f"{prefix}{value}")


def _committer(spec: OperatorSpec) -> Committer | None:
    """Who commits what a sink's writers prepare, if they do."""
    if isinstance(spec, SinkSpec) and isinstance(spec.sink, SupportsCommitter):
        return spec.sink.create_committer()
    if isinstance(spec, FunctionSinkSpec) and isinstance(spec.function, TwoPhaseCommitSinkFunction):
        return TransactionCommitter(spec.function)
    return None


def _requests(prepared: Iterable[tuple[str, list[Any]]]) -> dict[str, list[CommitRequest]]:
    """What all subtasks prepared, by sink: a committer sees a batch as a whole."""
    found: dict[str, list[CommitRequest]] = {}
    for uid, items in prepared:
        found.setdefault(uid, []).extend(map(CommitRequest, items))
    return found


def _print_to_err(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def _print_prefix(identifier: str, subtask: int, parallelism: int) -> str:
    """As Flink: `id:subtask> value`, the subtask only where there are several."""
    where = str(subtask + 1) if parallelism > 1 else ""
    joined = ":".join(part for part in (identifier, where) if part)
    return f"{joined}> " if joined else ""
