"""The offset of the multiplexed source as it stands in Spark's log: positions, with a checksum over them."""

from __future__ import annotations

import json
from typing import Any
from zlib import crc32

from penstock.core.program.job import Vertex

__all__ = ["Offset", "Splits", "intact", "offset", "split_positions"]

Splits = dict[str, dict[str, Any]]
"""Where the splits of a source stand: a position as JSON for each, by the number of the split."""
Offset = dict[str, Any]
"""`tick` counts offsets; `sources` has the `Splits` of each source by its uid; `sum` is the checksum of the two."""


def offset(tick: int, sources: dict[str, Splits]) -> Offset:
    """The offset that names these positions; made by the planner, and written by Spark into its log.

    >>> intact(offset(1, {"words": {"0": {"at": 5, "ended": False}}}))
    True
    >>> intact(offset(1, {}) | {"tick": 2})
    False
    """
    return {"tick": tick, "sources": sources, "sum": _sum(tick, sources)}


def intact(found: object) -> bool:
    """Whether an offset that was read back from the log is whole: its checksum matches."""
    return (
        isinstance(found, dict)
        and found.keys() == {"tick", "sources", "sum"}
        and found["sum"] == _sum(found["tick"], found["sources"])
    )


def _sum(tick: object, sources: object) -> int:
    return crc32(json.dumps([tick, sources], sort_keys=True).encode())


def split_positions(vertex: Vertex, known: dict[str, Splits]) -> Splits:
    """Where each split of a source stands: as `known`, else at its beginning."""
    saved = known.get(vertex.uid, {})
    source = vertex.source
    return {
        str(s): saved.get(str(s)) or source.initial(s, vertex.parallelism).to_json() for s in range(vertex.parallelism)
    }
