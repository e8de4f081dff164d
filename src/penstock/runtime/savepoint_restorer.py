"""Puts the state of a savepoint into the store of a partition, in the first batch of a job that starts from it."""

from __future__ import annotations

from typing import Any

from penstock.runtime.chunk import ChunkRow
from penstock.runtime.codec import dumps, loads
from penstock.runtime.state.kind_check import Probe, probe_of
from penstock.runtime.state.page import NO_TIMER, Earliest, Group, Page
from penstock.runtime.state.store import StateStore
from penstock.runtime.state.store_keys import BlobKind, kind_of, parse_key

__all__ = ["SavepointRestorer"]


class SavepointRestorer:
    """Writes blobs as they come. Roots are written last, since they hold the earliest timers and the size of all
    blobs."""

    def __init__(self) -> None:
        self._roots: dict[int, tuple[bytes, dict[str, Any]]] = {}
        self._groups: dict[int, dict[int, Earliest]] = {}
        self._sizes: dict[int, list[int]] = {}
        self._probes: dict[int, Probe | None] = {}

    def take(self, row: ChunkRow, store: StateStore) -> None:
        """Take the blobs of one row, all of one vertex."""
        entries: list[tuple[bytes, bytes]] = loads(row.payload)
        for key, blob in entries:
            self._note(row.target, key, blob)
        store.put_many((key, blob) for key, blob in entries if kind_of(key) is not BlobKind.ROOT)

    def _note(self, target: int, key: bytes, blob: bytes) -> None:
        size, parsed = self._sizes.setdefault(target, [0, 0, 0]), parse_key(key)
        if parsed.kind is BlobKind.ROOT:
            self._roots[target] = (key, loads(blob))
        elif parsed.kind is BlobKind.PAGE:
            self._probe(target, parsed.place, blob)
            size[0] += 1
            size[1] += len(blob)
        elif parsed.kind is BlobKind.SEGMENT:
            size[2] += 1
        elif parsed.kind is BlobKind.DIRECTORY:
            earliest = Group.decode(parsed.place, blob).earliest()
            if earliest != (NO_TIMER, NO_TIMER):
                self._groups.setdefault(target, {})[parsed.place] = earliest

    def _probe(self, target: int, group: int, blob: bytes) -> None:
        """Note a key of the first page of a vertex: it shows later whether keys are still routed as they were."""
        if target not in self._probes:
            self._probes[target] = probe_of(Page.decode((group, 0, 0), blob, ()).members(), group)

    def finish(self, store: StateStore) -> None:
        """Write the roots. Called when all rows have come."""
        store.put_many((key, dumps({**root, **self._gathered(target)})) for target, (key, root) in self._roots.items())
        self._roots.clear()

    def _gathered(self, target: int) -> dict[str, object]:
        return {
            "groups": self._groups.get(target, {}),
            "size": self._sizes[target],
            "probe": self._probes.get(target),
        }
