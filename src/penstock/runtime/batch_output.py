"""The output of one batch as the driver gets it: results, committables, metrics, notices."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import ClassVar

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
from penstock.runtime.metrics import Report
from penstock.runtime.values import Records

__all__ = ["BatchOutput", "Lost", "Notice"]

Lost = tuple[str, str, int, int]
"""Source, uid, split and number of events that a source which cannot rewind has lost."""

Notice = tuple[str, str, str]
"""Source, uid, and what the source has to say."""


class BatchOutput:
    """Everything that left the end of the line of stages in one batch, by kind."""

    def __init__(self, rows: Iterable[ChunkRow]) -> None:
        self.collected: list[Collected] = []
        self.committables: list[tuple[str, Records]] = []
        self.pending: list[tuple[str, Records]] = []
        self.metrics: list[Report] = []
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


def _prepared(payload: bytes) -> tuple[str, Records]:
    """The uid of a sink and the committables that one of its subtasks prepared."""
    uid, _, items = loads(payload)
    return uid, items
