"""Joins of keyed streams by how far apart in event time their records are."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Generic, Self

from penstock.api.connected import add_to_both
from penstock.api.data_stream import DataStream
from penstock.api.joined_streams import same_environment
from penstock.api.keyed_stream import KeyedStream
from penstock.core.errors import ProgramError
from penstock.core.functions.join import ProcessJoinFunction
from penstock.core.given import described
from penstock.core.program.output_tag import OutputTag
from penstock.core.program.specs import IntervalJoinSpec, IntervalSide
from penstock.core.time.spans import Span
from penstock.core.types.type_info import TypeInformation
from penstock.core.types.type_variables import R, T, V
from penstock.core.windows.window import span_ms

__all__ = ["IntervalJoin", "IntervalJoined"]


class IntervalJoin(Generic[T, V]):
    """Two streams keyed alike, joined by event time; made by `keyed.interval_join(other)`."""

    def __init__(self, left: KeyedStream[T, Any], right: KeyedStream[V, Any]) -> None:
        same_environment("interval_join()", left, right, KeyedStream)
        self._left, self._right = left, right
        self._event_time = True

    def in_event_time(self) -> Self:
        """By event time: the default."""
        self._event_time = True
        return self

    def in_processing_time(self) -> Self:
        """There for Flink's sake: `between` refuses it."""
        self._event_time = False
        return self

    def between(self, lower_bound: Span, upper_bound: Span) -> IntervalJoined[T, V]:
        """A right record matches if its timestamp is `left + lower … left + upper`; bounds may be negative."""
        if not self._event_time:
            raise ProgramError("interval_join() is there in event time only: leave in_processing_time() out")
        lower = span_ms(lower_bound, "between(): the lower bound", positive=False)
        upper = span_ms(upper_bound, "between(): the upper bound", positive=False)
        if lower > upper:
            raise ProgramError(
                f"between({lower} ms, {upper} ms): the lower bound must not be greater than the upper one"
            )
        return IntervalJoined(self._left, self._right, _Settings(lower, upper))


@dataclass(frozen=True, slots=True)
class _Settings:
    lower: int
    upper: int
    lower_exclusive: bool = False
    upper_exclusive: bool = False
    left_outer: bool = False
    right_outer: bool = False
    left_late: OutputTag[Any] | None = None
    right_late: OutputTag[Any] | None = None

    def sides(self) -> tuple[IntervalSide, IntervalSide]:
        """The interval as each side sees it, in whole milliseconds, both ends included."""
        first, last = self.lower + self.lower_exclusive, self.upper - self.upper_exclusive
        if first > last:
            raise ProgramError(
                f"between({self.lower} ms, {self.upper} ms) without its bounds holds no millisecond: nothing can match"
            )
        return (
            IntervalSide(first, last, self.left_outer, self.left_late),
            IntervalSide(-last, -first, self.right_outer, self.right_late),
        )


class IntervalJoined(Generic[T, V]):
    """An interval join but for its function: which bounds count, what becomes of late records and of those alone.

    State holds only what can still match: a record leaves it when the watermark is past the last timestamp of the
    other side that matches it. A record behind the watermark is late; without a side output it is dropped
    and counted.

    >>> from penstock.common import Time
    >>> from penstock.api.environment import StreamExecutionEnvironment
    >>> from penstock.core.config import Configuration
    >>> from penstock.core.time.watermarks import WatermarkStrategy
    >>> class Pair(ProcessJoinFunction):
    ...     def process_element(self, left, right, ctx): yield left, right, ctx.get_timestamp()
    >>> env = StreamExecutionEnvironment(Configuration({"penstock.host": "local"}))
    >>> stamp = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(lambda v, _: v)
    >>> orders = env.from_collection([10, 50]).assign_timestamps_and_watermarks(stamp).key_by(lambda v: 0)
    >>> payments = env.from_collection([12, 90]).assign_timestamps_and_watermarks(stamp).key_by(lambda v: 0)
    >>> joined = orders.interval_join(payments).between(Time.milliseconds(0), Time.milliseconds(5)).left_outer()
    >>> sorted(joined.process(Pair()).execute_and_collect())
    [(10, 12, 12), (50, None, 56)]
    """

    def __init__(self, left: KeyedStream[Any, Any], right: KeyedStream[Any, Any], settings: _Settings) -> None:
        self._left, self._right, self._settings = left, right, settings

    def lower_bound_exclusive(self) -> IntervalJoined[T, V]:
        """`left + lower` itself does not match."""
        return self._with(lower_exclusive=True)

    def upper_bound_exclusive(self) -> IntervalJoined[T, V]:
        """`left + upper` itself does not match."""
        return self._with(upper_exclusive=True)

    def left_outer(self) -> IntervalJoined[T, V | None]:
        """Also emit left records that nothing matched, once, when the watermark is past their interval."""
        return self._with(left_outer=True)

    def right_outer(self) -> IntervalJoined[T | None, V]:
        """Also emit right records that nothing matched, once, when the watermark is past their interval."""
        return self._with(right_outer=True)

    def full_outer(self) -> IntervalJoined[T | None, V | None]:
        """Both."""
        return self._with(left_outer=True, right_outer=True)

    def side_output_left_late_data(self, output_tag: OutputTag[Any]) -> IntervalJoined[T, V]:
        """Where late records of the left stream go."""
        return self._with(left_late=_tag(output_tag, "side_output_left_late_data()"))

    def side_output_right_late_data(self, output_tag: OutputTag[Any]) -> IntervalJoined[T, V]:
        """Where late records of the right stream go."""
        return self._with(right_late=_tag(output_tag, "side_output_right_late_data()"))

    def _with(self, **changes: Any) -> IntervalJoined[Any, Any]:
        return IntervalJoined(self._left, self._right, replace(self._settings, **changes))

    def process(
        self, process_join_function: ProcessJoinFunction[T, V, R], output_type: TypeInformation[object] | None = None
    ) -> DataStream[R]:
        """Call the function for every pair. Results carry the larger timestamp of the two.

        A record that stayed alone is stamped with the first timestamp at which nothing could match it any more (its
        own, if that is larger): with its own it would be late for windows behind the join.
        """
        if not isinstance(process_join_function, ProcessJoinFunction):
            found = described(process_join_function)
            raise TypeError(f"process() of an interval join takes a ProcessJoinFunction, got {found}")
        spec = IntervalJoinSpec(process_join_function, *self._settings.sides())
        return add_to_both(self._left, self._right, "Interval Join", spec)._typed(output_type)


def _tag(given: OutputTag[R], where: str) -> OutputTag[R]:
    if not isinstance(given, OutputTag):
        raise TypeError(f"{where} takes an OutputTag, got {type(given).__name__}")
    return given
