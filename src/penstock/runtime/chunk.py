"""Rows between stages: a row's payload is a whole list of records (docs/architecture.md, *What travels*)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from penstock.core.contracts.source import ACTIVE, IDLE
from penstock.core.errors import RecordError
from penstock.runtime.codec import dumps, loads
from penstock.runtime.record_packing import packed
from penstock.runtime.values import Records

__all__ = [
    "ACTIVE",
    "COLLECTED",
    "COMMITTABLES",
    "CONTROL",
    "CONTROL_SEQ",
    "DATA",
    "DRIVER",
    "FINISHED",
    "IDLE",
    "LOST",
    "METRICS",
    "NOTICE",
    "PENDING",
    "RESTORE",
    "RESTORE_SEQ",
    "WAKING_SEQ",
    "BatchInfo",
    "ChunkRow",
    "Collected",
    "Mark",
    "Payload",
    "channel_edge_sender",
    "channel_id",
    "decode_collected",
    "decode_payload",
    "edge_of",
    "encode_collected",
    "encode_payload",
    "sort_key",
]

CONTROL, DATA, COLLECTED, COMMITTABLES, PENDING, METRICS, FINISHED, LOST, RESTORE, NOTICE = range(10)

RESTORE_SEQ, CONTROL_SEQ, WAKING_SEQ = -3, -2, -1
"""Places before all data: state of a savepoint, then control rows, then channels that wake in the batch (they count
before any of its data)."""

DRIVER = -1
"""Target of rows that go to the end of the line."""

_CHANNEL_BITS = 24

Mark = tuple[int, int]
"""(how many records come before it, watermark or IDLE or ACTIVE)."""


class ChunkRow(NamedTuple):
    """One row of a stage's input or output."""

    partition: int
    target: int
    channel: int
    seq: int
    kind: int
    payload: bytes


class Payload(NamedTuple):
    """Records of one channel in order: values, timestamps and keys side by side, marks in between."""

    values: Records
    timestamps: list[int | None] | None
    keys: Records | None
    marks: list[Mark]


class Collected(NamedTuple):
    """Records on their way to the driver, where they are printed or iterated over.

    `name` is that of the collecting operator; `subtask` and `parallelism` say where the records come from.
    """

    name: str
    subtask: int
    parallelism: int
    values: Records


class BatchInfo(NamedTuple):
    """The run, the batch and its processing time: every subtask gets it at the start of a batch."""

    run_id: str
    batch_id: int
    processing_time_ms: int


def channel_id(edge_id: int, sender: int) -> int:
    """The number of a channel: an edge and the sending subtask (or source split)."""
    return edge_id << _CHANNEL_BITS | sender


def channel_edge_sender(channel: int) -> tuple[int, int]:
    """The edge and the sender that make a channel."""
    return channel >> _CHANNEL_BITS, channel & ((1 << _CHANNEL_BITS) - 1)


def edge_of(channel: int) -> int:
    """The edge that a channel belongs to."""
    return channel >> _CHANNEL_BITS


def sort_key(row: ChunkRow) -> tuple[int, int]:
    """The key by which a receiver sorts rows: order within a channel is kept, channels are interleaved, control is
    first."""
    return (row.seq, row.channel)


def encode_payload(payload: Payload, operator: str, uid: str) -> bytes:
    """Pickle a chunk; an unpicklable record is named."""
    try:
        return dumps((packed(payload.values), *payload[1:]))
    except Exception as error:
        raise _unpicklable(payload.values, operator, uid, error) from error


def decode_payload(data: bytes) -> Payload:
    """Read what `encode_payload` wrote."""
    return Payload(*loads(data))


def encode_collected(collected: Collected, operator: str, uid: str) -> bytes:
    """Pickle collected records; an unpicklable record is named."""
    try:
        return dumps((*collected[:3], packed(collected.values)))
    except Exception as error:
        raise _unpicklable(collected.values, operator, uid, error) from error


def decode_collected(data: bytes) -> Collected:
    """Read what `encode_collected` wrote."""
    return Collected(*loads(data))


def _unpicklable(values: Iterable[Any], operator: str, uid: str, error: Exception) -> RecordError:
    for value in values:
        try:
            dumps(value)
        except Exception as inner:
            return RecordError(
                f"Operator '{operator}' (uid {uid}) emitted a record that cannot be pickled: "
                f"{value!r:.200} ({type(inner).__name__}: {inner}). Emit plain data, not handles, locks or lambdas",
                operator,
                uid,
            )
    return RecordError(
        f"Operator '{operator}' (uid {uid}) emitted records that cannot be pickled: {error}", operator, uid
    )
