"""Turns what users pass (lambdas, functions, function classes) into specs."""

from __future__ import annotations

import copy
import operator
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from penstock.core.functions.base import (
    FilterFunction,
    FlatMapFunction,
    Function,
    KeyedProcessFunction,
    KeySelector,
    MapFunction,
    Partitioner,
    ReduceFunction,
    RuntimeContext,
)
from penstock.core.functions.connected import CoFlatMapFunction, CoMapFunction, KeyedCoProcessFunction
from penstock.core.functions.internal import RollingFunction
from penstock.core.given import a_class_of, described
from penstock.core.program.specs import TransformSpec
from penstock.core.state.keyed import ReducingStateDescriptor
from penstock.core.time.spans import MAX_TIMESTAMP
from penstock.core.types.row import Row

__all__ = [
    "Accumulate",
    "CoTransform",
    "KeyedTransform",
    "Projection",
    "RollingReduce",
    "WithKey",
    "as_call",
    "transform_spec",
]

_METHODS: dict[str, tuple[type, str]] = {
    "map": (MapFunction, "map"),
    "flat_map": (FlatMapFunction, "flat_map"),
    "filter": (FilterFunction, "filter"),
    "key_by": (KeySelector, "get_key"),
    "partition_custom": (Partitioner, "partition"),
    "reduce": (ReduceFunction, "reduce"),
}


def as_call(operation: str, function: object) -> Callable[..., Any]:
    """The plain callable behind what was passed to `operation`."""
    expected, method = _METHODS[operation]
    if isinstance(function, expected):
        bound: Callable[..., Any] = getattr(function, method)
        return bound
    if isinstance(function, Function) or not callable(function) or a_class_of(function, Function):
        raise TypeError(f"{operation}() takes a function or a {expected.__name__}, got {described(function)}")
    return function


def transform_spec(operation: str, function: object) -> TransformSpec:
    """The spec of a `map`, `flat_map` or `filter`."""
    return TransformSpec(operation, as_call(operation, function), function if isinstance(function, Function) else None)


class KeyedTransform(KeyedProcessFunction):
    """A rich `map`, `flat_map` or `filter` after `key_by`: may use keyed state."""

    def __init__(self, operation: str, function: Function) -> None:
        self._operation = operation
        self._function = function
        self._call = as_call(operation, function)

    def open(self, runtime_context: RuntimeContext) -> None:
        self._function.open(runtime_context)

    def close(self) -> None:
        self._function.close()

    def process_element(self, value: object, ctx: object) -> Iterable[Any] | None:
        result = self._call(value)
        if self._operation == "map":
            return (result,)
        if self._operation == "filter":
            return (value,) if result else None
        iterable: Iterable[Any] | None = result
        return iterable


class RollingReduce(RollingFunction):
    """Updates and emits per record; the first record of a key is its own accumulator."""

    def __init__(self, function: object) -> None:
        self._function = function
        self._call = as_call("reduce", function)

    def open(self, runtime_context: RuntimeContext) -> None:
        if isinstance(self._function, Function):
            self._function.open(runtime_context)
        self.rolled = runtime_context.get_reducing_state(ReducingStateDescriptor("_reduce", self._call))
        self.only_last = runtime_context.in_batch_mode()

    def close(self) -> None:
        if isinstance(self._function, Function):
            self._function.close()

    def process_element(self, value: Any, ctx: Any) -> Iterable[Any] | None:
        result = self.rolled.fold(value)
        if self.only_last:
            ctx.timer_service().register_event_time_timer(MAX_TIMESTAMP)
            return None
        return (result,)

    def on_timer(self, timestamp: int, ctx: object) -> Iterable[Any]:
        """The end of the input, in BATCH mode: the final value."""
        return (self.rolled.get(),)


class Accumulate:
    """Rolling `sum`, `min`, `max`, `min_by`, `max_by` of a field; the other fields are the first record's, or the
    whole record is that of the extreme (`_by`).

    A field is a position, or the name of a row's field, a dict's key or an object's attribute.

    >>> Accumulate("sum", 1)(("a", 1), ("b", 2))
    ('a', 3)
    >>> Accumulate("max_by", 1)(("a", 1), ("b", 2))
    ('b', 2)
    """

    def __init__(self, operation: str, position: int | str) -> None:
        if not isinstance(position, int | str) or isinstance(position, bool):
            raise TypeError(
                f"{operation}() takes the position (int) or name (str) of a field, got {type(position).__name__}"
            )
        self._operation, self._position = operation, position
        self._sums, self._by = operation == "sum", operation.endswith("_by")
        self._better = operator.lt if operation.startswith("min") else operator.gt
        self._place = position if isinstance(position, int) and position >= 0 else None

    def __call__(self, kept: object, value: object) -> Any:
        place = self._place
        if type(kept) is tuple and type(value) is tuple and place is not None:
            # the commonest records, without another call
            old, new = kept[place], value[place]
            if not self._sums and not self._better(new, old):
                return kept
            return value if self._by else (*kept[:place], old + new if self._sums else new, *kept[place + 1 :])
        if not self._has_fields(value):
            if self._position != 0:
                raise TypeError(
                    f"{self._operation}({self._position!r}) on {value!r:.100}: a plain value has no fields, "
                    "only position 0 is allowed"
                )
            return self._combined(kept, value)
        old, new = self._field(kept), self._field(value)
        if self._by:
            return value if self._better(new, old) else kept
        return self._with_field(kept, self._combined(old, new))

    def _combined(self, old: Any, new: Any) -> Any:
        if self._sums:
            return old + new
        return new if self._better(new, old) else old

    def _has_fields(self, value: object) -> bool:
        """Sequences and rows have fields; of dicts and other objects, fields are named."""
        if isinstance(value, tuple | list | Row | dict):
            return True
        return isinstance(self._position, str) and not isinstance(value, _PLAIN) and hasattr(value, self._position)

    def _field(self, value: Any) -> Any:
        position = self._position
        if not isinstance(position, str) and not isinstance(value, dict):
            return value[position]
        try:
            return value[position] if isinstance(value, Row | dict) else getattr(value, str(position))
        except (KeyError, AttributeError):
            raise TypeError(
                f"{self._operation}({position!r}) on {value!r:.100}: the record has no field {position!r}"
            ) from None

    def _with_field(self, kept: Any, field: Any) -> Any:
        """A copy of a record with another value of the field."""
        change = next((change for cls, change in _CHANGES if isinstance(kept, cls)), _with_attribute)
        return change(kept, self._position, field)


_PLAIN = (bool, int, float, complex, str, bytes, bytearray)
"""Values that are a field themselves, though they have attributes (`int.real`, `str.count`)."""


def _with_attribute(record: Any, name: int | str, value: Any) -> Any:
    """Set by way of `object`, since a frozen dataclass refuses an assignment."""
    changed = copy.copy(record)
    object.__setattr__(changed, str(name), value)
    return changed


def _with_item(record: Any, position: int | str, value: Any) -> Any:
    changed = copy.copy(record)
    changed[position] = value
    return changed


def _with_tuple_field(record: Any, position: int | str, value: Any) -> Any:
    if isinstance(position, str):
        return record._replace(**{position: value})
    fields = list(record)
    fields[position] = value
    return type(record)(*fields) if hasattr(record, "_fields") else tuple(fields)


_CHANGES: tuple[tuple[type | tuple[type, ...], Callable[[Any, int | str, Any], Any]], ...] = (
    ((list, Row, dict), _with_item),
    (tuple, _with_tuple_field),
)
"""How a field of a record is replaced; other records are changed by attribute."""


class Projection:
    """Some fields of a tuple, in a given order.

    >>> Projection((2, 0))(("a", "b", "c"))
    ('c', 'a')
    """

    def __init__(self, indexes: Sequence[int]) -> None:
        if not indexes or not all(isinstance(i, int) for i in indexes):
            raise TypeError(f"project() takes the indexes of the fields to keep, got {tuple(indexes)!r}")
        self._indexes = tuple(indexes)

    def __call__(self, value: Any) -> tuple[Any, ...]:
        return tuple(value[i] for i in self._indexes)


class WithKey:
    """A record in a row with its key.

    >>> WithKey(len)("abc")
    Row(f0=3, f1='abc')
    """

    def __init__(self, selector: Callable[[Any], object]) -> None:
        self._selector = selector

    def __call__(self, value: object) -> Row:
        return Row(f0=self._selector(value), f1=value)


class CoTransform(KeyedCoProcessFunction):
    """A `CoMapFunction` or `CoFlatMapFunction`; after `key_by` it may use keyed state."""

    def __init__(self, function: CoMapFunction | CoFlatMapFunction) -> None:
        self._function = function

    def open(self, runtime_context: RuntimeContext) -> None:
        self._function.open(runtime_context)

    def close(self) -> None:
        self._function.close()

    def process_element1(self, value: object, ctx: object) -> Iterable[Any] | None:
        if isinstance(self._function, CoMapFunction):
            return (self._function.map1(value),)
        return self._function.flat_map1(value)

    def process_element2(self, value: object, ctx: object) -> Iterable[Any] | None:
        if isinstance(self._function, CoMapFunction):
            return (self._function.map2(value),)
        return self._function.flat_map2(value)
