"""Joins and co-groups of the records of two streams that share a key and a window."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, Generic, Self, overload

from penstock.api.data_stream import DataStream
from penstock.api.keyed_stream import KeyedStream
from penstock.api.windowed_stream import WindowedStream
from penstock.api.wrap import as_call
from penstock.core.errors import ProgramError
from penstock.core.functions.base import Function, KeySelector, RuntimeContext
from penstock.core.functions.join import CoGroupFunction, FlatJoinFunction, JoinFunction, TaggedUnion
from penstock.core.functions.window import WindowFunction
from penstock.core.given import a_class_of, described
from penstock.core.program.output_tag import OutputTag
from penstock.core.program.partition import Hash
from penstock.core.time.spans import Span
from penstock.core.types.type_info import TypeInformation
from penstock.core.types.type_variables import K, R, T, V, Win
from penstock.core.windows.evictors import Evictor
from penstock.core.windows.triggers import Trigger
from penstock.core.windows.window import WindowAssigner

__all__ = ["CoGroupedStreams", "JoinedStreams", "same_environment"]


def same_environment(
    where: str, first: DataStream[object], second: object, expected: type[DataStream[object]] = DataStream
) -> None:
    """Refuse what is not a stream, or one of another program."""
    if not isinstance(second, expected):
        way_out = ": call key_by on it first" if isinstance(second, DataStream) else ""
        raise TypeError(f"{where} takes a {expected.__name__}, got {type(second).__name__}{way_out}")
    if second.get_execution_environment() is not first.get_execution_environment():
        raise ProgramError(f"{where} joins two streams of one environment; these belong to different ones")


class _Pair(Generic[T, V]):
    """Two streams whose records are to meet in windows. As in Flink, `where`, `equal_to` and `window` follow."""

    _operation: str

    def __init__(self, first: DataStream[T], second: DataStream[V]) -> None:
        same_environment(f"{self._operation}()", first, second)
        self._first, self._second = first, second


class _Where(Generic[T, V, K]):
    """The key of the first stream is known."""

    def __init__(self, pair: _Pair[T, V], selector: Callable[[T], K]) -> None:
        self._pair, self._selector = pair, selector


class _EqualTo(Generic[T, V, K]):
    """Both keys are known."""

    def __init__(self, pair: _Pair[T, V], first: Callable[[T], K], second: Callable[[V], K]) -> None:
        self._pair, self._selectors = pair, (first, second)

    def _windowed(self, assigner: WindowAssigner[TaggedUnion, Win]) -> WindowedStream[TaggedUnion, K, Win]:
        """The records of both streams with their sides, in windows of their keys."""
        first, second = self._selectors
        one = _tagged(self._pair._first, TaggedUnion.one)._exchanged(Hash(_KeyOf(first)))
        two = _tagged(self._pair._second, TaggedUnion.two)._exchanged(Hash(_KeyOf(second)))
        keyed: KeyedStream[TaggedUnion, K] = KeyedStream(self._pair._first.get_execution_environment(), (*one, *two))
        return WindowedStream(keyed, assigner)


class _WithWindow(Generic[T, V, K, Win]):
    """Everything but the function is known. Triggers, evictors and late data see records as `TaggedUnion`s."""

    def __init__(self, windowed: WindowedStream[TaggedUnion, K, Win]) -> None:
        self._windowed = windowed

    def trigger(self, trigger: Trigger[TaggedUnion, Win]) -> Self:
        """When windows fire, instead of the assigner's own trigger."""
        self._windowed.trigger(trigger)
        return self

    def evictor(self, evictor: Evictor[TaggedUnion, Win]) -> Self:
        """Which records of either side the function is not shown."""
        self._windowed.evictor(evictor)
        return self

    def allowed_lateness(self, time_ms: int | Span) -> Self:
        """For how long after its end a window takes late records in; each makes it fire all its results again."""
        self._windowed.allowed_lateness(time_ms)
        return self

    def side_output_late_data(self, output_tag: OutputTag[TaggedUnion]) -> Self:
        """Where records of either side go that come after all their windows have ended."""
        self._windowed.side_output_late_data(output_tag)
        return self

    def _apply(
        self,
        name: str,
        function: WindowFunction[TaggedUnion, Any, object, object],
        output_type: TypeInformation[object] | None,
    ) -> DataStream[Any]:
        return self._windowed.apply(function, output_type).name(name)


class _JoinedWindows(_WithWindow[T, V, K, Win]):
    """Windows in which pairs of records are joined."""

    @overload
    def apply(
        self, function: FlatJoinFunction[T, V, R], output_type: TypeInformation[object] | None = None
    ) -> DataStream[R]: ...
    @overload
    def apply(
        self,
        function: Callable[[T, V], R] | JoinFunction[T, V, R],
        output_type: TypeInformation[object] | None = None,
    ) -> DataStream[R]: ...
    def apply(self, function: object, output_type: TypeInformation[object] | None = None) -> DataStream[object]:
        """Call the function for every pair of a key and window; a callable is taken as a `JoinFunction`."""
        call = join_call("apply() of a join", function, (JoinFunction, FlatJoinFunction))
        several = isinstance(function, FlatJoinFunction)
        return self._apply("Join", _Pairs(function, call, several), output_type)


class _CoGroupedWindows(_WithWindow[T, V, K, Win]):
    """Windows in which all records of both sides meet."""

    def apply(
        self,
        function: Callable[[list[T], list[V]], Iterable[R] | None] | CoGroupFunction[T, V, R],
        output_type: TypeInformation[object] | None = None,
    ) -> DataStream[R]:
        """Call the function for every key and window in which either side has a record."""
        call = join_call("apply() of a co-group", function, (CoGroupFunction,))
        return self._apply("CoGroup", _Sides(function, call), output_type)


class _JoinEqualTo(_EqualTo[T, V, K]):
    """Both keys are known."""

    def window(self, assigner: WindowAssigner[TaggedUnion, Win]) -> _JoinedWindows[T, V, K, Win]:
        """The windows in which records meet; an assigner is given `TaggedUnion`s."""
        return _JoinedWindows(self._windowed(assigner))


class _JoinWhere(_Where[T, V, K]):
    """The key of the first stream is known."""

    def equal_to(
        self, key_selector: Callable[[V], K] | KeySelector[V, K], key_type: TypeInformation[object] | None = None
    ) -> _JoinEqualTo[T, V, K]:
        """The key of a record of the second stream."""
        return _JoinEqualTo(self._pair, self._selector, as_call("key_by", key_selector))


class _CoGroupEqualTo(_EqualTo[T, V, K]):
    """Both keys are known."""

    def window(self, assigner: WindowAssigner[TaggedUnion, Win]) -> _CoGroupedWindows[T, V, K, Win]:
        """The windows in which records meet; an assigner is given `TaggedUnion`s."""
        return _CoGroupedWindows(self._windowed(assigner))


class _CoGroupWhere(_Where[T, V, K]):
    """The key of the first stream is known."""

    def equal_to(
        self, key_selector: Callable[[V], K] | KeySelector[V, K], key_type: TypeInformation[object] | None = None
    ) -> _CoGroupEqualTo[T, V, K]:
        """The key of a record of the second stream."""
        return _CoGroupEqualTo(self._pair, self._selector, as_call("key_by", key_selector))


class JoinedStreams(_Pair[T, V]):
    """Pairs of records that share a key and a window; made by `stream.join(other)`.

    Windows fire as others do: results are stamped with the window's last timestamp, and records of either side
    that come after it are late.

    >>> from penstock.api.environment import StreamExecutionEnvironment
    >>> from penstock.core.config import Configuration
    >>> from penstock.core.windows.assigners import CountTumblingWindowAssigner
    >>> env = StreamExecutionEnvironment(Configuration({"penstock.host": "local"}))
    >>> fruit, prices = env.from_collection([("apple", 3)]), env.from_collection([("apple", 0.5)])
    >>> by_name = fruit.join(prices).where(lambda f: f[0]).equal_to(lambda p: p[0])
    >>> joined = by_name.window(CountTumblingWindowAssigner.of(2)).apply(lambda f, p: (*f, p[1]))
    >>> list(joined.execute_and_collect())
    [('apple', 3, 0.5)]
    """

    Where, EqualTo, WithWindow = _JoinWhere, _JoinEqualTo, _JoinedWindows
    _operation = "join"

    def where(
        self, key_selector: Callable[[T], K] | KeySelector[T, K], key_type: TypeInformation[object] | None = None
    ) -> _JoinWhere[T, V, K]:
        """The key of a record of the first stream."""
        return _JoinWhere(self, as_call("key_by", key_selector))


class CoGroupedStreams(_Pair[T, V]):
    """All records of a key and window, those of each stream in a list; made by `stream.co_group(other)`.

    >>> from penstock.api.environment import StreamExecutionEnvironment
    >>> from penstock.core.config import Configuration
    >>> from penstock.core.windows.assigners import CountTumblingWindowAssigner
    >>> env = StreamExecutionEnvironment(Configuration({"penstock.host": "local"}))
    >>> one, two = env.from_collection([1, 2]), env.from_collection([3])
    >>> grouped = one.co_group(two).where(lambda v: 0).equal_to(lambda v: 0)
    >>> sums = grouped.window(CountTumblingWindowAssigner.of(3)).apply(lambda ones, twos: [(sum(ones), sum(twos))])
    >>> list(sums.execute_and_collect())
    [(3, 3)]
    """

    Where, EqualTo, WithWindow = _CoGroupWhere, _CoGroupEqualTo, _CoGroupedWindows
    _operation = "co_group"

    def where(
        self, key_selector: Callable[[T], K] | KeySelector[T, K], key_type: TypeInformation[object] | None = None
    ) -> _CoGroupWhere[T, V, K]:
        """The key of a record of the first stream."""
        return _CoGroupWhere(self, as_call("key_by", key_selector))


_METHODS: dict[type, str] = {JoinFunction: "join", FlatJoinFunction: "join", CoGroupFunction: "co_group"}


def join_call(where: str, function: object, expected: tuple[type, ...]) -> Callable[[Any, Any], Any]:
    """The plain callable behind what was passed as a join function."""
    for kind in expected:
        if isinstance(function, kind):
            bound: Callable[[Any, Any], Any] = getattr(function, _METHODS[kind])
            return bound
    if isinstance(function, Function) or not callable(function) or a_class_of(function, Function):
        names = " or a ".join(kind.__name__ for kind in expected)
        raise TypeError(f"{where} takes a function of two records or a {names}, got {described(function)}")
    return function


def _tagged(stream: DataStream[object], tag: Callable[[object], TaggedUnion]) -> DataStream[TaggedUnion]:
    """The stream's records with their side, in the same tasks as what makes them."""
    tagged = stream.map(tag).name("Tag")
    (read, *others) = stream._inputs
    if not others and read.exchange is None and read.source.parallelism is not None:
        tagged.set_parallelism(read.source.parallelism)
    return tagged


class _KeyOf:
    """The key of a tagged record."""

    def __init__(self, selector: Callable[[Any], object]) -> None:
        self._selector = selector

    def __call__(self, tagged: TaggedUnion) -> object:
        return self._selector(tagged.value)


class _Sides(WindowFunction[TaggedUnion, object, object, object]):
    """A co-group function on windows of tagged records."""

    def __init__(self, function: object, call: Callable[[Any, Any], Any]) -> None:
        self._function, self._call = function, call

    def open(self, runtime_context: RuntimeContext) -> None:
        if isinstance(self._function, Function):
            self._function.open(runtime_context)

    def close(self) -> None:
        if isinstance(self._function, Function):
            self._function.close()

    def apply(self, key: object, window: object, inputs: Iterable[TaggedUnion]) -> Iterable[object] | None:
        sides: tuple[list[object], list[object]] = ([], [])
        for side, value in inputs:
            sides[side].append(value)
        return self._meet(*sides)

    def _meet(self, first: list[object], second: list[object]) -> Iterable[object] | None:
        result: Iterable[object] | None = self._call(first, second)
        return result


class _Pairs(_Sides):
    """A join function on windows of tagged records: called for every pair."""

    def __init__(self, function: object, call: Callable[[Any, Any], object], several: bool) -> None:
        super().__init__(function, call)
        self._several = several

    def _meet(self, first: list[object], second: list[object]) -> Iterator[object]:
        for one in first:
            for two in second:
                result = self._call(one, two)
                if not self._several:
                    yield result
                elif result is not None:
                    yield from result
