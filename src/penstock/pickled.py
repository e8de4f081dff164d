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
    "create_row": "penstock.core.types.row:_create_row",
    "rows_of": "penstock.core.types.row:rows_of",
    "row_kind": "penstock.core.types.row:_row_kind",
    "time_window": "penstock.core.windows.window:_time_window",
    "count_window": "penstock.core.windows.window:_count_window",
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
    "PreparedFile": "penstock.connectors.files.writer:PreparedFile",
    "StagedRows": "penstock.connectors.sql.jdbc:Staged",
    "LoggedRecords": "penstock.core.contracts.transactions:_Logged",
    # what sources have emitted
    "MarkedBatch": "penstock.core.contracts.source:MarkedBatch",
    # values that users may keep
    "Row": "penstock.core.types.row:Row",
    "RowKind": "penstock.core.types.row:RowKind",
    "TimeWindow": "penstock.core.windows.window:TimeWindow",
    "CountWindow": "penstock.core.windows.window:CountWindow",
    "GlobalWindow": "penstock.core.windows.window:GlobalWindow",
    "Time": "penstock.core.time.spans:Time",
    "Duration": "penstock.core.time.spans:Duration",
    "Instant": "penstock.core.time.spans:Instant",
    "Watermark": "penstock.core.time.watermarks:Watermark",
    "Timestamped": "penstock.core.contracts.python_source:Timestamped",
    "TimestampedValue": "penstock.core.windows.evictors:TimestampedValue",
    "TaggedUnion": "penstock.core.functions.join:TaggedUnion",
    "FailedTimer": "penstock.core.program.poison:FailedTimer",
    "FailedWindow": "penstock.core.program.poison:FailedWindow",
    "OutputTag": "penstock.core.program.output_tag:OutputTag",
    # types
    "BasicType": "penstock.core.types.type_info:BasicType",
    "BasicTypeInfo": "penstock.core.types.type_info:BasicTypeInfo",
    "InstantTypeInfo": "penstock.core.types.type_info:InstantTypeInfo",
    "SqlTimeTypeInfo": "penstock.core.types.type_info:SqlTimeTypeInfo",
    "DateTypeInfo": "penstock.core.types.type_info:DateTypeInfo",
    "TimeTypeInfo": "penstock.core.types.type_info:TimeTypeInfo",
    "TimestampTypeInfo": "penstock.core.types.type_info:TimestampTypeInfo",
    "LocalTimeTypeInfo": "penstock.core.types.type_info:LocalTimeTypeInfo",
    "LocalTimeType": "penstock.core.types.type_info:LocalTimeTypeInfo.TimeType",
    "PickledBytesTypeInfo": "penstock.core.types.type_info:PickledBytesTypeInfo",
    "PrimitiveArrayTypeInfo": "penstock.core.types.type_info:PrimitiveArrayTypeInfo",
    "BasicArrayTypeInfo": "penstock.core.types.type_info:BasicArrayTypeInfo",
    "ObjectArrayTypeInfo": "penstock.core.types.type_info:ObjectArrayTypeInfo",
    "ListTypeInfo": "penstock.core.types.type_info:ListTypeInfo",
    "MapTypeInfo": "penstock.core.types.type_info:MapTypeInfo",
    "TupleTypeInfo": "penstock.core.types.type_info:TupleTypeInfo",
    "RowTypeInfo": "penstock.core.types.type_info:RowTypeInfo",
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
