"""Looking at the state of a job that does not run."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from typing import Any

import pandas as pd

from penstock.core.errors import SavepointError
from penstock.runtime.codec import decode, loads
from penstock.runtime.operator_state import SPLIT
from penstock.runtime.state.backend import KeyedBackend
from penstock.savepoint.blobs import KEYED, Blob
from penstock.savepoint.files import Folder
from penstock.savepoint.folder import Savepoint
from penstock.savepoint.metadata import Metadata, OperatorNote
from penstock.state.keyed import Entry, TimerEntry, entries, make_backend, page_keys, timers

__all__ = ["StateView", "open_state"]

_ENTRY_SCHEMA = "key string, state string, kind string, namespace string, value string, stamp_ms long"
_TIMER_SCHEMA = "key string, domain string, time_ms long, namespace string"


def open_state(path: str, copy_to: str | None = None) -> StateView:
    """Open a savepoint, or the last committed state of a checkpoint.

    The state of a checkpoint lies in Spark's store; it is read by Spark and written as a savepoint to `copy_to` (a
    temporary folder, if nothing is said), which is what is opened. The job should not be running.
    """
    if Folder(path).size("penstock/owner") is None:
        return StateView(Savepoint(path))
    from penstock.launch import checkpoint_to_savepoint

    target = copy_to or tempfile.mkdtemp(prefix="penstock-state-")
    return StateView(checkpoint_to_savepoint(path, target))


class StateView:
    """A savepoint's operators, keys, state and timers as pandas or Spark DataFrames.

    >>> from penstock.datastream.state import ValueStateDescriptor
    >>> from penstock.state import StateEditor
    >>> folder = tempfile.mkdtemp() + "/one"
    >>> new = StateEditor.new("visits")
    >>> with new.keyed("count") as state:
    ...     state.set_key("ann")
    ...     state.get_state(ValueStateDescriptor("seen")).update(3)
    ...     state.register_event_time_timer(1000)
    >>> view = new.write(folder)
    >>> view.keyed("count")[["key", "state", "value"]].values.tolist()
    [['ann', 'seen', 3]]
    >>> view.timers("count").to_dict("records")
    [{'key': 'ann', 'domain': 'event time', 'time_ms': 1000, 'namespace': None}]
    """

    def __init__(self, savepoint: Savepoint) -> None:
        self.savepoint = savepoint

    @property
    def metadata(self) -> Metadata:
        return self.savepoint.metadata

    # -- the job ------------------------------------------------------------------------------------

    def operators(self) -> pd.DataFrame:
        """Every operator: uid, name, kind, parallelism, whether it is keyed, and how many blobs of state it has."""
        columns = ["uid", "name", "kind", "parallelism", "keyed", "blobs"]
        rows = [
            (op.uid, op.name, op.kind.removesuffix("Spec"), op.parallelism, op.keyed, sum(op.blobs.values()))
            for op in self.metadata.operators
        ]
        return pd.DataFrame(rows, columns=columns)

    def sources(self) -> pd.DataFrame:
        """Where every split of every source stands."""
        rows = [
            (s.uid, s.name, split, p.at, p.ended) for s in self.metadata.sources for split, p in enumerate(s.splits)
        ]
        return pd.DataFrame(rows, columns=["uid", "name", "split", "at", "ended"])

    def clocks(self) -> pd.DataFrame:
        """The event time of every subtask, by the uid of the head of its chain."""
        rows = [(v.uid, s, c.clock) for v in self.metadata.vertices for s, c in enumerate(v.subtasks)]
        return pd.DataFrame(rows, columns=["uid", "subtask", "watermark"])

    # -- keyed state ----------------------------------------------------------------------------------

    def keys(self, uid: str) -> list[Any]:
        """Every key of an operator that has state or a timer."""
        return list(page_keys(self.backend(uid)))

    def keyed(self, uid: str) -> pd.DataFrame:
        """An operator's keyed state: key, state, kind, namespace (window), value, stamp_ms (time to live)."""
        return _frame(entries(self.backend(uid)), Entry._fields)

    def timers(self, uid: str) -> pd.DataFrame:
        """An operator's timers: key, domain, time_ms, namespace."""
        return _frame(timers(self.backend(uid)), TimerEntry._fields)

    def backend(self, uid: str) -> KeyedBackend:
        """The keyed state of one operator, in memory."""
        self._note(uid)
        blobs = (b for b in self.savepoint.blobs(KEYED) if b.operator == uid)
        return make_backend(uid, blobs, self.metadata.max_parallelism)

    # -- operator state -------------------------------------------------------------------------------

    def lists(self, uid: str) -> pd.DataFrame:
        """An operator's list and union-list state: subtask, state, mode, item."""
        rows = [
            (b.place, b.rest[5:].decode(), "split" if b.rest[:1] == SPLIT else "union", decode(item))
            for b in self._of(uid, "list")
            for item in loads(b.value)[1]
        ]
        return pd.DataFrame(rows, columns=["subtask", "state", "mode", "item"])

    def broadcast(self, uid: str) -> pd.DataFrame:
        """An operator's broadcast state, which is the same in every subtask: state, key, value."""
        if self._note(uid).kind != "BroadcastSpec":
            raise SavepointError(f"Operator (uid {uid}) in {self.savepoint.path} has no broadcast state")
        tables: dict[str, Any] = next((loads(b.value) for b in self._of(uid, "operator")), {})
        rows = [(name, key, decode(value)) for name, table in tables.items() for key, value in table.items()]
        return pd.DataFrame(rows, columns=["state", "key", "value"])

    def _of(self, uid: str, kind: str) -> list[Blob]:
        self._note(uid)
        found = [b for b in self.savepoint.blobs({kind}) if b.operator == uid]
        return sorted(found, key=lambda b: (b.place, b.rest))

    def _note(self, uid: str) -> OperatorNote:
        note = self.metadata.operator(uid)
        if note is None:
            known = ", ".join(op.uid for op in self.metadata.operators)
            raise SavepointError(f"{self.savepoint.path} has no operator with uid {uid!r}. It has: {known}")
        return note

    # -- by Spark ---------------------------------------------------------------------------------------

    def keyed_frame(
        self,
        spark: object,
        uid: str,
        schema: str = _ENTRY_SCHEMA,
        row: Callable[[Entry], tuple[object, ...]] | None = None,
    ) -> Any:
        """As `keyed`, as a Spark DataFrame that is read in parallel, one key group at a time.

        Keys, namespaces and values are any Python objects, so they come as text (`repr`); with `row`, a function of an
        entry that gives a row of `schema`, as whatever is wanted.
        """
        return self._spark_frame(spark, uid, entries, schema, row or _entry_text)

    def timers_frame(self, spark: object, uid: str) -> Any:
        """As `timers`, as a Spark DataFrame; keys and namespaces come as text."""
        return self._spark_frame(spark, uid, timers, _TIMER_SCHEMA, _timer_text)

    def _spark_frame(
        self, spark: Any, uid: str, read: Any, schema: str, row: Callable[[Any], tuple[Any, ...]]
    ) -> object:
        self._note(uid)
        self.savepoint.verify()
        groups = self.metadata.max_parallelism
        names = [field.split()[0] for field in schema.split(",")]
        files = [self.savepoint.folder.at(f.name) for f in self.metadata.files]

        def decoded(rows: pd.DataFrame) -> pd.DataFrame:
            blobs = (Blob(*values) for values in rows[list(Blob._fields)].itertuples(index=False, name=None))
            return pd.DataFrame([row(entry) for entry in read(make_backend(uid, blobs, groups))], columns=names)

        frame = spark.read.schema("operator string, kind string, place int, rest binary, value binary").parquet(*files)
        mine = frame.where(frame["operator"] == uid).where(frame["kind"].isin(sorted(KEYED)))
        return mine.groupBy("place").applyInPandas(decoded, schema)


def _entry_text(entry: Entry) -> tuple[object, ...]:
    namespace = None if entry.namespace is None else repr(entry.namespace)
    return (repr(entry.key), entry.state, entry.kind, namespace, repr(entry.value), entry.stamp_ms)


def _timer_text(timer: TimerEntry) -> tuple[object, ...]:
    return (repr(timer.key), timer.domain, timer.time_ms, None if timer.namespace is None else repr(timer.namespace))


def _frame(rows: Iterator[Any], columns: tuple[str, ...]) -> pd.DataFrame:
    """Values stay the objects that they are."""
    held = list(rows)
    return pd.DataFrame({name: pd.Series([r[i] for r in held], dtype=object) for i, name in enumerate(columns)})
