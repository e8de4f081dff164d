"""Operator state of source functions: it travels in their positions, so that it always fits the records."""

from __future__ import annotations

from base64 import b85decode, b85encode
from collections.abc import Callable
from typing import Any

from penstock.core.contracts.source import Position
from penstock.core.functions.base import KeyedStateStore
from penstock.core.functions.checkpointed import CheckpointedFunction
from penstock.core.program.job import ChainedOperator
from penstock.core.time.clock import Clock
from penstock.runtime.chunk import BatchInfo
from penstock.runtime.codec import decode, dumps, encode, loads
from penstock.runtime.operator_state import FunctionState, Place
from penstock.runtime.state.store import MemoryStore
from penstock.runtime.state.store_keys import StoreKeys

__all__ = ["SourceState", "events_at", "kept_name", "renewed"]


def events_at(position: Position) -> int:
    """How many events a function had emitted at a position."""
    at = position.at
    return int(at["events"] if isinstance(at, dict) else at)


def kept_name(position: Position) -> str | None:
    """The name under which the events of the batch that ends at a position are kept; None if they are not kept."""
    name: str | None = position.at.get("kept") if isinstance(position.at, dict) else None
    return name


def renewed(state: dict[str, str]) -> dict[str, str]:
    """The state of a position as this version writes it: an older one may have written the same in other bytes."""
    return {key: b85encode(_renewed(b85decode(blob))).decode() for key, blob in state.items()}


def _renewed(blob: bytes) -> bytes:
    blocks, items = loads(blob)
    return dumps((blocks, [encode(decode(item)) for item in items]))


class SourceState:
    """The operator state of a source function, as JSON for its positions.

    A subtask starts from the state in its start position.
    """

    def __init__(
        self,
        function: CheckpointedFunction,
        operator: ChainedOperator,
        subtask: tuple[int, int],
        start: Position,
        keyed: KeyedStateStore,
        clock: Clock,
    ) -> None:
        saved: dict[str, str] | None = start.at["state"]
        self._store = MemoryStore({b85decode(key): b85decode(blob) for key, blob in (saved or {}).items()})
        names = StoreKeys.of(operator.uid)
        place = Place(operator, names, *subtask, None if saved is None else "", None)
        self._lists = FunctionState(function, place, self._store, keyed)
        self._clock = clock
        self._checkpoint: int = start.at["checkpoint"]
        self._noted: Position | None = None

    def initialize(self) -> None:
        """Call `initialize_state`."""
        self._lists.initialize()

    def now(self) -> dict[str, str]:
        """Call `snapshot_state`; returns the state as JSON."""
        self._lists.save(BatchInfo("", self._checkpoint, self._clock.now_ms()))
        blobs = sorted(self._store.blobs.items())
        return {b85encode(key).decode(): b85encode(blob).decode() for key, blob in blobs}

    def position(self, end: Position, keep: Callable[[], str | None]) -> Position:
        """The end of a batch with the state that belongs to it; the same end gives the same position again.

        `keep` is called once for each new end: it keeps the events up to there and returns the name of what it kept.
        """
        if self._noted is None or events_at(self._noted) != end.at:
            at: dict[str, Any] = {"events": end.at, "state": self.now(), "checkpoint": self._checkpoint + 1}
            name = keep()
            if name is not None:
                at["kept"] = name
            self._checkpoint += 1
            self._noted = Position(at)
        return Position(self._noted.at, end.ended)
