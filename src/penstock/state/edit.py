"""Changing state offline, and making it from data: always into a new savepoint."""

from __future__ import annotations

import uuid
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from penstock.core.clock import SystemClock
from penstock.core.errors import SavepointError
from penstock.core.functions import KeyedStateStore
from penstock.core.job import ChainedOperator, RuntimeSettings
from penstock.core.source import Position
from penstock.core.specs import OperatorSpec
from penstock.core.state import StateDescriptor
from penstock.runtime.context import LiveRuntimeContext, TaskContext
from penstock.runtime.list_keys import hashable
from penstock.runtime.state.backend import EVENT, PROCESSING, KeyedBackend
from penstock.runtime.state.store import MemoryStore
from penstock.runtime.task import store_prefix
from penstock.savepoint.blobs import KEYED, Blob, blobs_of
from penstock.savepoint.files import Folder
from penstock.savepoint.folder import METADATA, Savepoint, refuse_used
from penstock.savepoint.metadata import Metadata, OperatorNote, SourceNote
from penstock.state.keyed import make_backend, page_keys, state_kinds
from penstock.state.regroup import regrouped
from penstock.state.view import StateView

__all__ = ["KeyedEditor", "StateEditor"]


class KeyedEditor(LiveRuntimeContext):
    """Keyed state of one operator, as its function sees it: `get_state` and its like give the state of the current key.

    A state with a time to live is asked for with the descriptor that the program uses.

    >>> from penstock.datastream.state import ListStateDescriptor
    >>> with StateEditor.new("visits").keyed("count") as state:
    ...     state.set_key("ann")
    ...     state.get_list_state(ListStateDescriptor("names")).add_all(["Ann", "Anna"])
    ...     list(state.get_list_state(ListStateDescriptor("names")).get())
    ['Ann', 'Anna']
    """

    def __init__(self, note: OperatorNote, backend: KeyedBackend, max_parallelism: int) -> None:
        task = TaskContext(
            note.name, 0, 1, max_parallelism, 0, 0, RuntimeSettings(), SystemClock(), lambda row: None, backend
        )
        super().__init__(task, ChainedOperator(note.uid, note.name, OperatorSpec()), keyed=True)
        self._backend = backend

    def keys(self) -> list[Any]:
        """The keys that had state or a timer when editing began."""
        return list(page_keys(self._backend))

    def set_key(self, key: object) -> None:
        """Make a key the current one; it need not have been there before."""
        self._backend.select(hashable(key))

    def register_event_time_timer(self, timestamp_ms: int) -> None:
        """A timer of the current key."""
        self._backend.register(EVENT, timestamp_ms)

    def register_processing_time_timer(self, timestamp_ms: int) -> None:
        self._backend.register(PROCESSING, timestamp_ms)

    def delete_event_time_timer(self, timestamp_ms: int) -> None:
        self._backend.delete(EVENT, timestamp_ms)

    def delete_processing_time_timer(self, timestamp_ms: int) -> None:
        self._backend.delete(PROCESSING, timestamp_ms)

    def clear(self, *descriptors: StateDescriptor) -> None:
        """Remove what the current key has in these states."""
        for descriptor in descriptors:
            self.get_any_state(descriptor).clear()


class StateEditor:
    """Changes that become a new savepoint when they are written; the old one stays as it is.

    >>> import tempfile
    >>> from penstock.datastream.state import ValueStateDescriptor
    >>> seen, folder = ValueStateDescriptor("seen"), tempfile.mkdtemp()
    >>> new = StateEditor.new("visits")
    >>> new.bootstrap("count", [("ann", 3), ("bob", 1)], lambda row: row[0],
    ...     lambda row, state: state.get_state(seen).update(row[1]))
    >>> editor = StateEditor(new.write(folder + "/one"))
    >>> with editor.keyed("count") as state:
    ...     for key in state.keys():
    ...         state.set_key(key)
    ...         state.get_state(seen).update(10 * state.get_state(seen).value())
    >>> dict(editor.write(folder + "/two").keyed("count")[["key", "value"]].values.tolist())
    {'ann': 30, 'bob': 10}
    """

    def __init__(self, view: StateView) -> None:
        self._view: StateView | None = view
        self._metadata = view.metadata
        self._edited: dict[str, KeyedBackend] = {}
        self._names: dict[str, str | None] = {}

    @staticmethod
    def new(job: str, max_parallelism: int = 128) -> StateEditor:
        """An empty one, to make the state of a job from data."""
        editor = StateEditor.__new__(StateEditor)
        editor._view, editor._edited, editor._names = None, {}, {}
        now_ms = SystemClock().now_ms()
        editor._metadata = Metadata(uuid.uuid4().hex, job, -1, now_ms, max_parallelism, (), (), (), ())
        return editor

    # -- changes --------------------------------------------------------------------------------------

    @contextmanager
    def keyed(self, uid: str) -> Iterator[KeyedEditor]:
        """The keyed state of an operator; one that is not there is made. It is held in memory until it is written."""
        note = self._metadata.operator(uid) or self._new_operator(uid)
        if not note.keyed:
            raise SavepointError(f"Operator '{note.name}' (uid {uid}) is not keyed: it has no keyed state to edit")
        if note.form:
            raise SavepointError(
                f"The windows of operator '{note.name}' (uid {uid}) are laid out by the operator itself: look at them "
                "with StateView.keyed; they cannot be edited"
            )
        if uid not in self._edited:
            self._edited[uid] = self._backend(uid)
        backend = self._edited[uid]
        yield KeyedEditor(note, backend, self._metadata.max_parallelism)
        backend.flush()

    def bootstrap(
        self,
        uid: str,
        rows: object,
        key: Callable[[Any], object],
        function: Callable[[Any, KeyedStateStore], None],
    ) -> None:
        """Make keyed state from data: `function` is called for each row, with the state of the row's key.

        `rows`: a pandas or Spark DataFrame (rows come as named tuples or Spark rows), or anything that can be iterated.
        """
        with self.keyed(uid) as state:
            for row in _rows(rows):
                state.set_key(key(row))
                function(row, state)

    def remove(self, uid: str) -> None:
        """Forget an operator and all of its state, or a source and its position."""
        self._known(uid)
        self._edited.pop(uid, None)
        self._names[uid] = None
        kept, sources = self._metadata.operators, self._metadata.sources
        self._metadata = replace(
            self._metadata,
            operators=tuple(op for op in kept if op.uid != uid),
            sources=tuple(s for s in sources if s.uid != uid),
        )

    def rename(self, uid: str, new_uid: str) -> None:
        """From now on an operator's state, or a source's position, belongs to another uid."""
        self._known(uid)
        if uid in self._edited:
            raise SavepointError(f"Operator (uid {uid}) has been edited: rename it first, then edit it")
        if self._metadata.operator(new_uid) is not None:
            raise SavepointError(f"There is an operator with uid {new_uid!r} already")
        self._names[uid] = new_uid
        self._metadata = _renamed(self._metadata, uid, new_uid)

    def set_position(self, uid: str, split: int, at: object, ended: bool = False) -> None:
        """Where a split of a source goes on; `at` is in the source's own terms, see `StateView.sources`."""
        note = self._metadata.source(uid)
        if note is None or not 0 <= split < len(note.splits):
            raise SavepointError(f"There is no split {split} of a source with uid {uid!r}")
        moved = (*note.splits[:split], Position(at, ended), *note.splits[split + 1 :])
        sources = (replace(s, splits=moved) if s is note else s for s in self._metadata.sources)
        self._metadata = replace(self._metadata, sources=tuple(sources))

    def set_max_parallelism(self, max_parallelism: int) -> None:
        """Lay all keyed state out anew, in another number of key groups: a job cannot have more subtasks than these."""
        if max_parallelism < 1:
            raise SavepointError(f"A maximum parallelism must be at least 1, got {max_parallelism}")
        for note in self._metadata.operators:
            if note.keyed:
                old = self._edited.get(note.uid) or self._backend(note.uid)
                self._edited[note.uid] = regrouped(old, note.uid, max_parallelism)
        self._metadata = replace(self._metadata, max_parallelism=max_parallelism)

    # -- writing ----------------------------------------------------------------------------------------

    def write(self, path: str) -> StateView:
        """A new savepoint with all changes."""
        refuse_used(path)
        counts: Counter[tuple[str, str]] = Counter()
        file = Folder(path).write_blobs("state/00000.parquet", _counted(self._blobs(), counts))
        operators = (
            replace(
                op,
                blobs={kind: n for (uid, kind), n in sorted(counts.items()) if uid == op.uid},
                states=state_kinds(self._edited[op.uid]) if op.uid in self._edited else op.states,
            )
            for op in self._metadata.operators
        )
        metadata = replace(self._metadata, ident=uuid.uuid4().hex, operators=tuple(operators), files=(file,))
        Folder(path).write(METADATA, metadata.encode())
        return StateView(Savepoint(path))

    def _blobs(self) -> Iterator[Blob]:
        for blob in self._view.savepoint.blobs() if self._view is not None else ():
            uid = self._names.get(blob.operator, blob.operator)
            if uid is not None and not (uid in self._edited and blob.kind in KEYED):
                yield blob._replace(operator=uid)
        for uid, backend in self._edited.items():
            assert isinstance(backend.store, MemoryStore)
            yield from blobs_of(backend.store.blobs.items(), {store_prefix(uid): uid})

    def _backend(self, uid: str) -> KeyedBackend:
        old = next((before for before, now in self._names.items() if now == uid), uid)
        found = self._view.savepoint.blobs(KEYED) if self._view is not None else ()
        mine = (blob._replace(operator=uid) for blob in found if blob.operator == old)
        return make_backend(uid, mine, self._metadata.max_parallelism)

    def _new_operator(self, uid: str) -> OperatorNote:
        note = OperatorNote(uid, uid, uid, "KeyedProcessSpec", 1, True)
        self._metadata = replace(self._metadata, operators=(*self._metadata.operators, note))
        return note

    def _known(self, uid: str) -> None:
        if self._metadata.operator(uid) is None and self._metadata.source(uid) is None:
            raise SavepointError(f"There is no operator or source with uid {uid!r}")


def _renamed(metadata: Metadata, uid: str, new: str) -> Metadata:
    def now(name: str) -> str:
        return new if name == uid else name

    return replace(
        metadata,
        operators=tuple(replace(op, uid=now(op.uid), vertex=now(op.vertex)) for op in metadata.operators),
        vertices=tuple(
            replace(v, uid=now(v.uid), edges=tuple(replace(e, sender=now(e.sender)) for e in v.edges))
            for v in metadata.vertices
        ),
        sources=tuple(_renamed_source(s, now(s.uid)) for s in metadata.sources),
    )


def _renamed_source(note: SourceNote, uid: str) -> SourceNote:
    return replace(note, uid=uid)


def _rows(rows: Any) -> Iterable[object]:
    """The rows of a pandas or Spark DataFrame, or what is iterable anyhow."""
    for method in ("itertuples", "toLocalIterator"):
        if hasattr(rows, method):
            found: Iterable[Any] = getattr(rows, method)()
            return found
    plain: Iterable[Any] = rows
    return plain


def _counted(blobs: Iterable[Blob], counts: Counter[tuple[str, str]]) -> Iterator[Blob]:
    for blob in blobs:
        counts[blob.operator, blob.kind] += 1
        yield blob
