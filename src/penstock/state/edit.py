"""Changes state offline, and makes state from data; the result is always a new savepoint."""

from __future__ import annotations

import uuid
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from penstock.core.contracts.source import Position
from penstock.core.errors import SavepointError
from penstock.core.functions.base import KeyedStateStore
from penstock.core.program.job import ChainedOperator, RuntimeSettings
from penstock.core.program.specs import OperatorSpec
from penstock.core.state.keyed import StateDescriptor
from penstock.core.time.clock import SystemClock
from penstock.runtime.context import LiveRuntimeContext, TaskContext
from penstock.runtime.list_keys import hashable
from penstock.runtime.state.backend import EVENT, PROCESSING, KeyedBackend
from penstock.runtime.state.store import MemoryStore
from penstock.runtime.state.store_keys import uid_hash
from penstock.savepoint.blobs import KEYED, Blob, blobs_of
from penstock.savepoint.metadata import Metadata, OperatorNote, SourceNote
from penstock.savepoint.savepoint import METADATA, Savepoint, refuse_used
from penstock.savepoint.storage import Folder
from penstock.state.keyed import make_backend, page_keys, state_kinds
from penstock.state.regroup import regrouped
from penstock.state.view import StateView

__all__ = ["KeyedEditor", "StateEditor"]


class KeyedEditor(LiveRuntimeContext):
    """The keyed state of one operator, as its function sees it: `get_state` and the like give the current key's state.

    Call `set_key` first. A state with a time to live is asked for with the descriptor that the program uses.

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
        """Make a key the current one; a key that had no state so far may be given."""
        self._backend.select(hashable(key))

    def register_event_time_timer(self, timestamp_ms: int) -> None:
        """Register a timer of the current key, which fires in the job that starts from the new savepoint."""
        self._backend.register(EVENT, timestamp_ms)

    def register_processing_time_timer(self, timestamp_ms: int) -> None:
        """As `register_event_time_timer`, by the wall clock."""
        self._backend.register(PROCESSING, timestamp_ms)

    def delete_event_time_timer(self, timestamp_ms: int) -> None:
        """Remove a timer of the current key; nothing happens if there is none."""
        self._backend.delete(EVENT, timestamp_ms)

    def delete_processing_time_timer(self, timestamp_ms: int) -> None:
        """Remove a timer of the current key; nothing happens if there is none."""
        self._backend.delete(PROCESSING, timestamp_ms)

    def clear(self, *descriptors: StateDescriptor) -> None:
        """Remove the values of the current key in these states."""
        for descriptor in descriptors:
            self.get_partitioned_state(descriptor).clear()


class StateEditor:
    """Collects changes to a savepoint, and writes them as a new one; the old savepoint stays as it is.

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
        """An editor without a savepoint behind it, to make the state of a job from data."""
        editor = StateEditor.__new__(StateEditor)
        editor._view, editor._edited, editor._names = None, {}, {}
        now_ms = SystemClock().now_ms()
        editor._metadata = Metadata(uuid.uuid4().hex, job, -1, now_ms, max_parallelism, (), (), (), ())
        return editor

    # -- changes --------------------------------------------------------------------------------------

    @contextmanager
    def keyed(self, uid: str) -> Iterator[KeyedEditor]:
        """The keyed state of an operator, to be read and changed inside the `with` block; a new uid is a new operator.

        The state of the operator is held in memory until `write`. Raises SavepointError for an operator that is not
        keyed, and for windows, whose layout is the operator's own.
        """
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

        `rows` is a pandas or Spark DataFrame, whose rows come as named tuples or Spark rows, or any iterable.
        """
        with self.keyed(uid) as state:
            for row in _rows(rows):
                state.set_key(key(row))
                function(row, state)

    def remove(self, uid: str) -> None:
        """Leave an operator and all of its state, or a source and its position, out of the new savepoint."""
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
        """Give an operator's state, or a source's position, to another uid; an edited operator cannot be renamed."""
        self._known(uid)
        if uid in self._edited:
            raise SavepointError(f"Operator (uid {uid}) has been edited: rename it first, then edit it")
        if self._metadata.operator(new_uid) is not None:
            raise SavepointError(f"There is an operator with uid {new_uid!r} already")
        self._names[uid] = new_uid
        self._metadata = _renamed(self._metadata, uid, new_uid)

    def set_position(self, uid: str, split: int, at: object, ended: bool = False) -> None:
        """Let a split of a source go on elsewhere; `at` is in the source's own terms, see `StateView.sources`."""
        note = self._metadata.source(uid)
        if note is None or not 0 <= split < len(note.splits):
            raise SavepointError(f"There is no split {split} of a source with uid {uid!r}")
        moved = (*note.splits[:split], Position(at, ended), *note.splits[split + 1 :])
        sources = (replace(s, splits=moved) if s is note else s for s in self._metadata.sources)
        self._metadata = replace(self._metadata, sources=tuple(sources))

    def set_max_parallelism(self, max_parallelism: int) -> None:
        """Lay all keyed state out anew in another number of key groups, the most subtasks that a job can have."""
        if max_parallelism < 1:
            raise SavepointError(f"A maximum parallelism must be at least 1, got {max_parallelism}")
        for note in self._metadata.operators:
            if note.keyed:
                old = self._edited.get(note.uid) or self._backend(note.uid)
                self._edited[note.uid] = regrouped(old, note.uid, max_parallelism)
        self._metadata = replace(self._metadata, max_parallelism=max_parallelism)

    # -- writing ----------------------------------------------------------------------------------------

    def write(self, path: str) -> StateView:
        """Write a new savepoint with all changes, into a folder that must be empty, and open it."""
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
            yield from blobs_of(backend.store.blobs.items(), {uid_hash(uid): uid})

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
    method = getattr(rows, "itertuples", None) or getattr(rows, "toLocalIterator", None)
    found: Iterable[object] = rows if method is None else method()
    return found


def _counted(blobs: Iterable[Blob], counts: Counter[tuple[str, str]]) -> Iterator[Blob]:
    for blob in blobs:
        counts[blob.operator, blob.kind] += 1
        yield blob
