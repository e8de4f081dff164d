"""Conditions on events. An iterative one sees what the partial match holds so far."""

from __future__ import annotations

import inspect
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from typing import Any, Generic

from penstock.core.functions.base import Function
from penstock.core.given import a_class_of, described
from penstock.core.types.subscript import Subscriptable
from penstock.core.types.type_variables import IN, T, T_co

__all__ = [
    "IterativeCondition",
    "RichIterativeCondition",
    "SimpleCondition",
    "both",
    "condition",
    "either",
    "of_type",
    "parts",
]


class IterativeCondition(Function, Generic[IN]):
    """Whether an event may be taken, judged with a look at the events taken before it.

    Called for every event and every partial match that waits for it, so it must be quick and must not change anything.
    """

    class Context(Subscriptable, ABC, Generic[T_co]):
        """Given to `filter`; valid during the call only."""

        @abstractmethod
        def get_events_for_pattern(self, name: str) -> Iterable[T_co]:
            """The events that the partial match has taken under a name, in order; none if there are none yet."""

        @abstractmethod
        def timestamp(self) -> int | None:
            """The timestamp of the event in question."""

        @abstractmethod
        def current_processing_time(self) -> int:
            """The processing time of the batch, in milliseconds."""

    @abstractmethod
    def filter(self, *args: Any, **kwargs: Any) -> bool:
        """`filter(value, ctx)`: whether the event may be taken. A `SimpleCondition` is not given the context."""

    def test(self, value: IN, ctx: IterativeCondition.Context[IN]) -> bool:
        """What the matcher calls."""
        return bool(self.filter(value, ctx))


class RichIterativeCondition(IterativeCondition[IN]):
    """An iterative condition with `open` and `close`; `open` is given a runtime context without keyed state."""


class SimpleCondition(IterativeCondition[IN]):
    """A condition on the event alone.

    >>> SimpleCondition.of(lambda value: value > 3).filter(4)
    True
    """

    @staticmethod
    def of(filter_function: Callable[[T], bool]) -> SimpleCondition[T]:
        """A plain function as a condition."""
        return _Simple(filter_function)

    @abstractmethod
    def filter(self, value: IN) -> bool:
        """Whether the event may take this stage."""

    def test(self, value: IN, ctx: IterativeCondition.Context[IN]) -> bool:
        return bool(self.filter(value))


class _Simple(SimpleCondition[IN]):
    def __init__(self, call: Callable[[IN], bool]) -> None:
        self._call = call

    def filter(self, value: IN) -> bool:
        return bool(self._call(value))

    def test(self, value: IN, ctx: IterativeCondition.Context[IN]) -> bool:
        return bool(self._call(value))


class _Iterative(IterativeCondition[IN]):
    def __init__(self, call: Callable[[IN, IterativeCondition.Context[IN]], bool]) -> None:
        self._call = call

    def filter(self, value: IN, ctx: IterativeCondition.Context[IN]) -> bool:
        return bool(self._call(value, ctx))

    test = filter


class _Subtype(SimpleCondition[object]):
    def __init__(self, kind: type) -> None:
        self._kind = kind

    def filter(self, value: object) -> bool:
        return isinstance(value, self._kind)


class _Joined(IterativeCondition[IN]):
    """Two conditions; the second is not asked when the first decides."""

    def __init__(self, first: IterativeCondition[IN], second: IterativeCondition[IN]) -> None:
        self.first, self.second = first, second


class _And(_Joined[IN]):
    def filter(self, value: IN, ctx: IterativeCondition.Context[IN]) -> bool:
        return self.first.test(value, ctx) and self.second.test(value, ctx)


class _Or(_Joined[IN]):
    def filter(self, value: IN, ctx: IterativeCondition.Context[IN]) -> bool:
        return self.first.test(value, ctx) or self.second.test(value, ctx)


def both(first: IterativeCondition[T] | None, second: IterativeCondition[T]) -> IterativeCondition[T]:
    """Both must hold."""
    return second if first is None else _And(first, second)


def either(first: IterativeCondition[T] | None, second: IterativeCondition[T]) -> IterativeCondition[T]:
    """One must hold."""
    return second if first is None else _Or(first, second)


def of_type(kind: object) -> IterativeCondition[object]:
    """The event must be an instance of a class."""
    if not isinstance(kind, type):
        raise TypeError(f"subtype() takes a class, got {kind!r}")
    return _Subtype(kind)


def condition(given: object, where: str) -> IterativeCondition[Any]:
    """What a user gave as a condition: an object, or a function of the event, or of the event and the context."""
    if isinstance(given, IterativeCondition):
        return given
    filter_method = getattr(given, "filter", None)
    if isinstance(given, Function) and callable(filter_method):
        return _Simple(filter_method)
    if isinstance(given, Function | type) or not callable(given):
        forgotten = a_class_of(given, Function, IterativeCondition)
        found = given.__name__ if isinstance(given, type) and not forgotten else described(given)
        raise TypeError(f"{where} takes a condition or a function of an event, got {found}")
    return _Iterative(given) if _parameters(given) == 2 else _Simple(given)


def _parameters(call: Callable[..., object]) -> int:
    """How many positional arguments a function needs."""
    try:
        found = inspect.signature(call).parameters.values()
    except (TypeError, ValueError):
        return 1
    kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    return sum(1 for p in found if p.kind in kinds and p.default is inspect.Parameter.empty)


def parts(given: IterativeCondition[Any] | None) -> list[IterativeCondition[Any]]:
    """The conditions that a condition is made of: those that users wrote, to be opened and closed."""
    if isinstance(given, _Joined):
        return parts(given.first) + parts(given.second)
    return [] if given is None else [given]
