"""Patterns on streams: `CEP.pattern(stream, pattern)` and what to do with the matches."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any, Generic, Protocol, overload

from penstock.api.data_stream import DataStream
from penstock.api.keyed_stream import KeyedStream
from penstock.core.cep.builder import Pattern
from penstock.core.cep.functions import (
    PatternFlatSelectFunction,
    PatternFlatTimeoutFunction,
    PatternProcessFunction,
    PatternSelectFunction,
    PatternTimeoutFunction,
    TimedOutPartialMatchHandler,
)
from penstock.core.errors import ProgramError
from penstock.core.functions.base import Emitted, Function, NullByteKeySelector, RuntimeContext
from penstock.core.given import a_class_of, described
from penstock.core.program.output_tag import OutputTag
from penstock.core.program.specs import PatternMatchSpec
from penstock.core.types.type_info import TypeInformation
from penstock.core.types.type_variables import R, T, T_contra, V

__all__ = ["CEP", "Comparator", "PatternStream"]

_Match = dict[str, list[T]]


class Comparator(Protocol[T_contra]):
    """Orders events of the same timestamp: less than zero if `one` comes first, greater than zero if `two` does."""

    def compare(self, one: T_contra, two: T_contra, /) -> int: ...


class CEP:
    """Where patterns meet streams.

    >>> from penstock.api.environment import StreamExecutionEnvironment
    >>> from penstock.testing import collect, local_job
    >>> env = StreamExecutionEnvironment()
    >>> low_high = Pattern.begin("low").where(lambda v: v < 3).next("high").where(lambda v: v > 7)
    >>> found = CEP.pattern(env.from_collection([1, 9, 2, 5, 8]), low_high).in_processing_time()
    >>> collect(found.select(lambda match: (match["low"], match["high"])), "found")
    >>> job = local_job(env)
    >>> job.run()
    >>> job.results["found"]
    [([1], [9])]
    """

    @staticmethod
    def pattern(
        input: DataStream[T], pattern: Pattern, comparator: Callable[[T, T], int] | Comparator[T] | None = None
    ) -> PatternStream[T]:
        """Look for a pattern in a stream, key by key if it is keyed; if not, in one subtask.

        `comparator` (a function of two events, or an object with `compare`) orders events of the same timestamp;
        without it they are taken as they came.
        """
        if not isinstance(input, DataStream):
            raise TypeError(f"CEP.pattern() takes a stream, got {type(input).__name__}")
        if not isinstance(pattern, Pattern):
            raise TypeError(f"CEP.pattern() takes a Pattern, got {described(pattern)}")
        if comparator is not None and not callable(getattr(comparator, "compare", comparator)):
            raise TypeError(f"CEP.pattern() takes a comparator of two events, got {type(comparator).__name__}")
        return PatternStream(input, PatternMatchSpec(pattern.freeze(), _Nothing(), comparator=comparator))


@dataclass(frozen=True, slots=True)
class PatternStream(Generic[T]):
    """The matches of a pattern in a stream; nothing is added to the program before one of the last three methods."""

    _input: DataStream[T]
    _spec: PatternMatchSpec

    def in_event_time(self) -> PatternStream[T]:
        """Order events by their timestamps before matching (the default)."""
        return self._with(event_time=True)

    def in_processing_time(self) -> PatternStream[T]:
        """Match events as they come; `within` is measured by the clock."""
        if self._spec.comparator is not None:
            raise ProgramError("in_processing_time() takes events as they come: a comparator is for event time only")
        return self._with(event_time=False)

    def side_output_late_data(self, late_data_output_tag: OutputTag[T]) -> PatternStream[T]:
        """Events that come after the watermark has passed them are sent to a tag instead of being dropped."""
        return self._with(late_tag=_tag(late_data_output_tag, "side_output_late_data()"))

    def _with(self, **changes: Any) -> PatternStream[T]:
        return PatternStream(self._input, replace(self._spec, **changes))

    def process(
        self, pattern_process_function: PatternProcessFunction[T, R], output_type: TypeInformation[object] | None = None
    ) -> DataStream[R]:
        """See every match with its context, and with a `TimedOutPartialMatchHandler` those that ran out of time."""
        if not isinstance(pattern_process_function, PatternProcessFunction):
            found = described(pattern_process_function)
            raise TypeError(f"process() takes a PatternProcessFunction, got {found}")
        return self._add(pattern_process_function, output_type)

    @overload
    def select(
        self,
        function: Callable[[_Match[T]], R] | PatternSelectFunction[T, R],
        /,
        *,
        output_type: TypeInformation[object] | None = None,
    ) -> DataStream[R]: ...
    @overload
    def select(
        self,
        tag: OutputTag[V],
        timeout_function: Callable[[_Match[T], int], V] | PatternTimeoutFunction[T, V],
        function: Callable[[_Match[T]], R] | PatternSelectFunction[T, R],
        /,
        *,
        output_type: TypeInformation[object] | None = None,
    ) -> DataStream[R]: ...
    def select(self, *arguments: Any, output_type: TypeInformation[object] | None = None) -> DataStream[Any]:
        """One record for every match: `select(function)`.

        `select(tag, timeout_function, function)` also makes a record of every partial match that ran out of time and
        sends it to a side output.
        """
        return self._selected("select", arguments, output_type)

    @overload
    def flat_select(
        self,
        function: Callable[[_Match[T]], Iterable[R] | None] | PatternFlatSelectFunction[T, R],
        /,
        *,
        output_type: TypeInformation[object] | None = None,
    ) -> DataStream[R]: ...
    @overload
    def flat_select(
        self,
        tag: OutputTag[V],
        timeout_function: Callable[[_Match[T], int], Iterable[V] | None] | PatternFlatTimeoutFunction[T, V],
        function: Callable[[_Match[T]], Iterable[R] | None] | PatternFlatSelectFunction[T, R],
        /,
        *,
        output_type: TypeInformation[object] | None = None,
    ) -> DataStream[R]: ...
    def flat_select(self, *arguments: object, output_type: TypeInformation[object] | None = None) -> DataStream[Any]:
        """Any number of records for every match, with the same arguments as `select`."""
        return self._selected("flat_select", arguments, output_type)

    def _selected(
        self, what: str, given: tuple[Any, ...], output_type: TypeInformation[object] | None
    ) -> DataStream[object]:
        if len(given) not in (1, 3):
            raise TypeError(
                f"{what}() takes (function) or (tag, timeout_function, function), got {len(given)} arguments"
            )
        flat = what == "flat_select"
        select_type: type[Function] = PatternFlatSelectFunction if flat else PatternSelectFunction
        select = _method(given[-1], select_type, what, what)
        if len(given) == 1:
            return self._add(_Select(flat, given, select), output_type)
        timeout_type: type[Function] = PatternFlatTimeoutFunction if flat else PatternTimeoutFunction
        timeout = _method(given[1], timeout_type, "timeout", what)
        return self._add(_SelectTimeout(flat, given[1:], select, _tag(given[0], f"{what}()"), timeout), output_type)

    def _add(
        self, function: PatternProcessFunction[T, R], output_type: TypeInformation[object] | None
    ) -> DataStream[R]:
        spec = replace(self._spec, function=function)
        if isinstance(self._input, KeyedStream):
            return self._input._add("PatternMatch", spec)._typed(output_type)
        keyed = self._input.key_by(NullByteKeySelector())
        return keyed._add("PatternMatch", spec)._typed(output_type).set_parallelism(1)


def _method(given: object, expected: type, method: str, where: str) -> Callable[..., object]:
    if isinstance(given, expected):
        bound: Callable[..., Any] = getattr(given, method)
        return bound
    if isinstance(given, Function) or not callable(given) or a_class_of(given, Function):
        raise TypeError(f"{where}() takes a function or a {expected.__name__}, got {described(given)}")
    return given


def _tag(given: OutputTag[R], where: str) -> OutputTag[R]:
    if not isinstance(given, OutputTag):
        raise TypeError(f"{where} takes an OutputTag, got {type(given).__name__}")
    return given


class _Nothing(PatternProcessFunction[object, object]):
    """Until it is said what to do with matches."""

    def process_match(self, match: _Match[object], ctx: PatternProcessFunction.Context) -> None:
        return None


class _Select(PatternProcessFunction[T, R]):
    """A select or flat select function."""

    def __init__(self, flat: bool, functions: tuple[object, ...], select: Callable[[_Match[T]], Any]) -> None:
        self._flat, self._functions, self._select = flat, functions, select

    def open(self, runtime_context: RuntimeContext) -> None:
        for function in self._functions:
            if isinstance(function, Function):
                function.open(runtime_context)

    def close(self) -> None:
        for function in self._functions:
            if isinstance(function, Function):
                function.close()

    def process_match(self, match: _Match[T], ctx: PatternProcessFunction.Context) -> Emitted[R]:
        result = self._select(match)
        return result if self._flat else (result,)


class _SelectTimeout(_Select[T, R], TimedOutPartialMatchHandler[T]):
    """With a function for partial matches that ran out of time."""

    def __init__(
        self,
        flat: bool,
        functions: tuple[object, ...],
        select: Callable[[_Match[T]], Any],
        tag: OutputTag[V],
        timeout: Callable[[_Match[T], int], Any],
    ) -> None:
        super().__init__(flat, functions, select)
        self._tag, self._timeout = tag, timeout

    def process_timed_out_match(self, match: _Match[T], ctx: PatternProcessFunction.Context) -> None:
        result = self._timeout(match, ctx.timestamp())
        for record in (result,) if not self._flat else result or ():
            ctx.output(self._tag, record)
        return None
