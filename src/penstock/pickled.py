"""The names under which Penstock's own classes and functions stand in pickles. This module never moves.

Checkpoints and savepoints outlive the layout of the package, so what they hold is written as `penstock.pickled.NAME`
and not as the module in which it happens to live. `NAMES` says where each lives now. Unpickling, also by plain
`pickle.loads`, looks a name up as an attribute of this module and finds it here lazily.

A name is never changed, taken away or used for something else. Whoever moves or renames what is listed here changes the
place beside its name, and nothing else; whoever adds something that can be kept in state adds a line.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any, TypeVar

__all__ = ["NAMES", "record", "remade", "resolve", "stable", "stable_name"]

T = TypeVar("T")

NAMES: dict[str, str] = {
    # what makes records and keys anew
    "create_row": "penstock.core.row:_create_row",
    "rows_of": "penstock.core.row:rows_of",
    "row_kind": "penstock.core.row:_row_kind",
    "time_window": "penstock.core.windows:_time_window",
    "count_window": "penstock.core.windows:_count_window",
    "reader": "penstock.runtime.shapes:reader",
    "tuples_by_name": "penstock.runtime.record_packing:_tuples_by_name",
    "list_key": "penstock.runtime.list_keys:_restored",
    "local_class": "penstock.runtime.local_classes:local_class",
    # how state is laid out
    "Encoded": "penstock.runtime.codec:Encoded",
    "SegmentList": "penstock.runtime.state.collections:SegmentList",
    "BucketMap": "penstock.runtime.state.collections:BucketMap",
    "Runs": "penstock.runtime.state.timed:Runs",
    "ValveState": "penstock.runtime.valve:ValveState",
    "Partial": "penstock.runtime.cep.nfa:Partial",
    # what sinks have prepared
    "PreparedFile": "penstock.connectors.file_writer:PreparedFile",
    "StagedRows": "penstock.connectors.sql.jdbc:Staged",
    "LoggedRecords": "penstock.core.transactions:_Logged",
    # what sources have emitted
    "MarkedBatch": "penstock.core.source:MarkedBatch",
    # values that users may keep
    "Row": "penstock.core.row:Row",
    "RowKind": "penstock.core.row:RowKind",
    "TimeWindow": "penstock.core.windows:TimeWindow",
    "CountWindow": "penstock.core.windows:CountWindow",
    "GlobalWindow": "penstock.core.windows:GlobalWindow",
    "Time": "penstock.core.time:Time",
    "Duration": "penstock.core.time:Duration",
    "Instant": "penstock.core.time:Instant",
    "Watermark": "penstock.core.watermark:Watermark",
    "Timestamped": "penstock.core.python_source:Timestamped",
    "TimestampedValue": "penstock.core.evictors:TimestampedValue",
    "TaggedUnion": "penstock.core.join_functions:TaggedUnion",
    "FailedTimer": "penstock.core.poison:FailedTimer",
    "FailedWindow": "penstock.core.poison:FailedWindow",
    "OutputTag": "penstock.core.output_tag:OutputTag",
    # types
    "BasicType": "penstock.core.types:BasicType",
    "BasicTypeInfo": "penstock.core.types:BasicTypeInfo",
    "InstantTypeInfo": "penstock.core.types:InstantTypeInfo",
    "SqlTimeTypeInfo": "penstock.core.types:SqlTimeTypeInfo",
    "DateTypeInfo": "penstock.core.types:DateTypeInfo",
    "TimeTypeInfo": "penstock.core.types:TimeTypeInfo",
    "TimestampTypeInfo": "penstock.core.types:TimestampTypeInfo",
    "LocalTimeTypeInfo": "penstock.core.types:LocalTimeTypeInfo",
    "LocalTimeType": "penstock.core.types:LocalTimeTypeInfo.TimeType",
    "PickledBytesTypeInfo": "penstock.core.types:PickledBytesTypeInfo",
    "PrimitiveArrayTypeInfo": "penstock.core.types:PrimitiveArrayTypeInfo",
    "BasicArrayTypeInfo": "penstock.core.types:BasicArrayTypeInfo",
    "ObjectArrayTypeInfo": "penstock.core.types:ObjectArrayTypeInfo",
    "ListTypeInfo": "penstock.core.types:ListTypeInfo",
    "MapTypeInfo": "penstock.core.types:MapTypeInfo",
    "TupleTypeInfo": "penstock.core.types:TupleTypeInfo",
    "RowTypeInfo": "penstock.core.types:RowTypeInfo",
}

_AT = {place: name for name, place in NAMES.items()}


def __getattr__(name: str) -> Any:
    """Called for a name of the table that is looked up for the first time; from then on it is a plain attribute."""
    try:
        module, _, path = NAMES[name].partition(":")
    except KeyError:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}") from None
    found: Any = import_module(module)
    for part in path.split("."):
        found = getattr(found, part)
    globals()[name] = found
    return found


def resolve(name: str) -> Any:
    """The object that a stable name stands for.

    >>> resolve("TimeWindow")(0, 10)
    TimeWindow(start=0, end=10)
    """
    found = globals().get(name) if name in NAMES else None
    return __getattr__(name) if found is None else found


def stable(name: str) -> Callable[[T], T]:
    """Let pickle write a function, or an internal class, under its stable name instead of its module.

    Public classes go without it, so that documentation and type hints find their module: the codec names them.
    """

    def mark(one: Any) -> Any:
        one.__module__, one.__qualname__, one.__name__ = __name__, name, name
        return one

    return mark


def stable_name(cls: type) -> str | None:
    """The stable name of a class; None if it has none, as classes of users."""
    return cls.__name__ if cls.__module__ == __name__ else _AT.get(f"{cls.__module__}:{cls.__qualname__}")


# -- called by unpickling: these are stable names themselves ------------------------------------------


def remade(name: str, new: bool, *args: Any) -> Any:
    """An object of a class by its stable name: `new` without its `__init__`, as pickle makes most objects."""
    cls = resolve(name)
    return cls.__new__(cls, *args) if new else cls(*args)


def record(name: str, fields: str, values: Any) -> Any:
    """A named tuple or dataclass by its stable name, from the values of fields of these names."""
    cls, read = resolve(name), resolve("reader")
    if issubclass(cls, tuple):
        return read(cls, fields)(values)
    made = cls.__new__(cls)
    read(cls, fields)(made, values)
    return made
