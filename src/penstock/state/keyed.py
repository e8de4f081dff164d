"""Reads keyed state out of its pages: an entry for each key, state and namespace, and one for each timer."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

from penstock.core.errors import SavepointError, StateError
from penstock.core.time.spans import MAX_TIMESTAMP
from penstock.runtime.codec import Encoded, loads
from penstock.runtime.list_keys import shown
from penstock.runtime.state.backend import KeyedBackend
from penstock.runtime.state.collections import BucketMap, SegmentList
from penstock.runtime.state.kind_check import kinds_of
from penstock.runtime.state.page import Page
from penstock.runtime.state.store import MemoryStore
from penstock.runtime.state.store_keys import BlobKind, StoreKeys, kind_of, parse_key
from penstock.runtime.state.tables import parse_table
from penstock.runtime.state.timed import Runs
from penstock.savepoint.blobs import Blob

__all__ = ["Entry", "Stored", "TimerEntry", "entries", "make_backend", "page_keys", "pages", "state_kinds", "timers"]

_EVENT, _PROCESSING = "event time", "processing time"


class Entry(NamedTuple):
    """What one key has in one state.

    `kind` is value, list, map, reducing or aggregating, or internal for what the operator itself keeps. `namespace` is
    the window, if the state belongs to one. `stamp_ms` is the last use of state that has a time to live.
    """

    key: Any
    state: str
    kind: str
    namespace: Any
    value: Any
    stamp_ms: int | None = None


class TimerEntry(NamedTuple):
    """A timer that has not fired yet; `domain` is event time or processing time."""

    key: Any
    domain: str
    time_ms: int
    namespace: Any


def make_backend(uid: str, blobs: Iterable[Blob], max_parallelism: int) -> KeyedBackend:
    """The keyed state of one operator, in memory, from its blobs in a savepoint."""
    store = MemoryStore({blob.key: blob.value for blob in blobs})
    return KeyedBackend(store, StoreKeys.of(uid), max_parallelism, 12 << 10, MAX_TIMESTAMP)


def pages(backend: KeyedBackend) -> Iterator[Page]:
    """Every page of the operator, decoded, in the order of key groups."""
    assert isinstance(backend.store, MemoryStore)
    for key, blob in sorted(backend.store.blobs.items()):
        if kind_of(key) is BlobKind.PAGE:
            with understandable():
                yield Page.decode(parse_key(key).page_id, blob, ())


def state_kinds(backend: KeyedBackend) -> dict[str, str]:
    """The kinds of the operator's states, by name; states in which no key has a value are left out."""
    return kinds_of(name for page in pages(backend) for name, table in page.tables.items() if table)


@contextmanager
def understandable() -> Iterator[None]:
    """Inside, a value whose class cannot be imported here raises SavepointError, which says what to do."""
    try:
        yield
    except StateError as error:
        if not isinstance(error.__cause__, (AttributeError, ImportError)):
            raise
        raise SavepointError(
            f"State holds values of a class that is not at hand here: {error.__cause__}. Make its module importable; "
            "if it was defined in the script of the job, define it (or import it) in the script that looks at the state"
        ) from error


def page_keys(backend: KeyedBackend) -> Iterator[Any]:
    """Every key of the operator that has a value or a timer."""
    for page in pages(backend):
        yield from map(shown, sorted(page.members(), key=repr))


def timers(backend: KeyedBackend) -> Iterator[TimerEntry]:
    """Every timer of the operator, in the order of time within a page."""
    for page in pages(backend):
        for domain, waiting in zip((_EVENT, _PROCESSING), page.timers, strict=True):
            for time_ms, key, namespace in sorted(waiting, key=lambda timer: timer[0]):
                yield TimerEntry(shown(key), domain, time_ms, namespace)


def entries(backend: KeyedBackend) -> Iterator[Entry]:
    """Every value of the operator."""
    for page in pages(backend):
        with backend.at(page):
            for table in sorted(page.tables):
                for key, stored in page.tables[table].items():
                    yield from _of_key(backend, table, shown(key), stored)


Stored = Any
"""A value as a page keeps it: plain, encoded, or in segments and buckets outside the page."""


def _of_key(backend: KeyedBackend, table: str, key: object, stored: Stored) -> Iterator[Entry]:
    named = parse_table(table)
    kind = named.kind or "internal"
    if not named.windowed:
        value, stamp_ms = _value(backend, stored, named.timed)
        yield Entry(key, named.name, kind, None, value, stamp_ms)
        return
    for namespace, inner in stored.items():
        yield Entry(key, named.name, kind, namespace, _plain(backend, inner))


def _value(backend: KeyedBackend, stored: Stored, timed: bool) -> tuple[object, int | None]:
    """A value without the stamps that state with a time to live keeps beside it, and the newest stamp."""
    value = _plain(backend, stored)
    if not timed:
        return value, None
    if isinstance(value, list):
        return [item for _, item in value], max((stamp for stamp, _ in value), default=None)
    if isinstance(value, dict):
        return {k: item for k, (_, item) in value.items()}, max((s for s, _ in value.values()), default=None)
    return value[1], value[0]


def _plain(backend: KeyedBackend, stored: object) -> Any:
    """The value that the program put into state."""
    if stored.__class__ is Encoded:
        return loads(stored)
    if stored.__class__ is SegmentList:
        return list(stored.read(backend, stored.keys(backend), stored.tail))
    if stored.__class__ is Runs:
        return _plain(backend, stored.segments(backend))
    if stored.__class__ is BucketMap:
        return {key: _plain(backend, item) for key, item in stored.items(backend)}
    if stored.__class__ is list:
        return [_plain(backend, item) for item in stored]
    if stored.__class__ is dict:
        return {key: _plain(backend, item) for key, item in stored.items()}
    return tuple(_plain(backend, item) for item in stored) if stored.__class__ is tuple else stored
