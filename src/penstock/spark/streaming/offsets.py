"""The intake's offset as it stands in Spark's log: positions, with a sum that tells a damaged one (F8)."""

from __future__ import annotations

import json
from typing import Any
from zlib import crc32

from penstock.core.job import Vertex

__all__ = ["intact", "offset", "split_positions"]


def offset(tick: int, sources: dict[str, Any]) -> dict[str, Any]:
    """The offset that names these positions.

    >>> intact(offset(1, {"words": {"0": {"at": 5, "ended": False}}}))
    True
    >>> intact(offset(1, {}) | {"tick": 2})
    False
    """
    return {"tick": tick, "sources": sources, "sum": _sum(tick, sources)}


def intact(found: Any) -> bool:
    """Whether an offset read back is one that was written."""
    return (
        isinstance(found, dict)
        and found.keys() == {"tick", "sources", "sum"}
        and found["sum"] == _sum(found["tick"], found["sources"])
    )


def _sum(tick: Any, sources: Any) -> int:
    return crc32(json.dumps([tick, sources], sort_keys=True).encode())


def split_positions(vertex: Vertex, known: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Where each split of a source stands."""
    saved = known.get(vertex.uid, {})
    source = vertex.source
    return {
        str(s): saved.get(str(s)) or source.initial(s, vertex.parallelism).to_json() for s in range(vertex.parallelism)
    }
