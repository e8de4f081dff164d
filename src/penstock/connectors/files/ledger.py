"""What a watched source knows of the files it has read, small enough to stand in every position."""

from __future__ import annotations

import base64
import struct
from collections.abc import Mapping
from typing import NamedTuple

from penstock.connectors.files.listing import EDGES, PATH_HASH

__all__ = ["GIVEN_UP", "Known", "Ledger", "pack", "unpack", "unpack_hashes"]

_ENTRY = struct.Struct(f">{PATH_HASH}sHI{EDGES}s")
_LOW = 1 << 32


class Known(NamedTuple):
    """A file that was begun: up to which byte it has been planned, and the `edges` of the bytes before."""

    at: int
    edges: bytes


GIVEN_UP = Known((1 << 48) - 1, bytes(EDGES))
"""A file that changed after it was read: it is left alone for as long as it is there."""

Ledger = dict[bytes, Known]
"""By the hash of the path."""


def pack(known: Mapping[bytes, Known]) -> str:
    """Twenty bytes a file, as text.

    >>> unpack(pack({b"12345678": Known(1 << 33, b"abcdef")}))
    {b'12345678': Known(at=8589934592, edges=b'abcdef')}
    """
    entries = (_ENTRY.pack(key, at // _LOW, at % _LOW, edges) for key, (at, edges) in sorted(known.items()))
    return base64.b85encode(b"".join(entries)).decode()


def unpack(text: str) -> Ledger:
    """Back from a position."""
    entries = _ENTRY.iter_unpack(base64.b85decode(text))
    return {key: Known(high * _LOW + low, edges) for key, high, low, edges in entries}


def unpack_hashes(text: str) -> list[bytes]:
    """The files that a position of the older form names: hashes of paths, and nothing of how far they were read."""
    data = base64.b85decode(text)
    return [data[i : i + PATH_HASH] for i in range(0, len(data), PATH_HASH)]
