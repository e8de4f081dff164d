"""Names for the values that pass through the runtime.

Their types are the program's: the runtime moves them, hashes keys and encodes what it keeps, and looks into nothing.
The names say which value is meant.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

__all__ = ["Accumulator", "Entries", "Key", "Keys", "Namespace", "Record", "Records", "Stored", "Timestamps"]

Record = Any
"""A record of a stream."""

Records = list[Any]
"""Records in order; the receiver may keep the list and change it."""

Key = Any
"""A key as the runtime keeps it: hashable, a list replaced by its stand-in (`list_keys.py`)."""

Keys = Sequence[Any] | None
"""The key of each record; None on a stream that is not keyed."""

Namespace = Any
"""A window as a small value that can be hashed and pickled (`windows/merging.py`)."""

Stored = Any
"""A value as state keeps it: itself if it is immutable, else encoded (`codec.py`)."""

Accumulator = Any
"""A value into which an aggregate or reduce function folds records."""

Entries = dict[Any, Any]
"""What a page or a bucket holds of a state: stored values by key, by namespace or by the key of a map."""

Timestamps = Sequence[Any] | None
"""The timestamp of each record, None for a record that has none; None if no record has one."""
