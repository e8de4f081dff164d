"""Windows in transcripts: from `window: {tumbling: 10, offset: 3}` and its options to a windowed stream."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from penstock.api.windowed_stream import AllWindowedStream, WindowedStream
from penstock.core.program.output_tag import OutputTag
from penstock.core.windows.assigners import (
    CountSlidingWindowAssigner,
    CountTumblingWindowAssigner,
    DynamicEventTimeSessionWindows,
    DynamicProcessingTimeSessionWindows,
    EventTimeSessionWindows,
    GlobalWindows,
    ProcessingTimeSessionWindows,
    SlidingEventTimeWindows,
    SlidingProcessingTimeWindows,
    TumblingEventTimeWindows,
    TumblingProcessingTimeWindows,
)
from penstock.core.windows.window import WindowAssigner

__all__ = ["assigner", "is_windowed", "window_step"]

Make = Callable[[str], Any]
"""From the text of an expression to what it makes."""

_TIME: Mapping[str, tuple[object, object]] = {
    "tumbling": (TumblingEventTimeWindows, TumblingProcessingTimeWindows),
    "sliding": (SlidingEventTimeWindows, SlidingProcessingTimeWindows),
    "session": (EventTimeSessionWindows, ProcessingTimeSessionWindows),
    "session_by": (DynamicEventTimeSessionWindows, DynamicProcessingTimeSessionWindows),
}


def is_windowed(stream: object) -> bool:
    """Whether steps go on with windows."""
    return isinstance(stream, WindowedStream | AllWindowedStream)


def assigner(given: Any, function: Make, made: Make) -> WindowAssigner:
    """Numbers are milliseconds, or records for `count`; a text is an expression that makes an assigner."""
    if isinstance(given, str):
        found: WindowAssigner = made(given)
        return found
    options = dict(given)
    offset, processing = options.pop("offset", 0), options.pop("processing", False)
    ((kind, argument),) = options.items()
    if kind == "global":
        return GlobalWindows.create()
    if kind == "count":
        return _counting(argument)
    return _timed(_TIME[kind][processing], kind, argument, offset, function)


def _counting(argument: Any) -> WindowAssigner:
    if isinstance(argument, int):
        return CountTumblingWindowAssigner.of(argument)
    return CountSlidingWindowAssigner.of(*argument)


def _timed(cls: Any, kind: str, argument: Any, offset: int, function: Make) -> WindowAssigner:
    arguments: dict[str, Callable[[], tuple[Any, ...]]] = {
        "tumbling": lambda: (argument, offset),
        "sliding": lambda: (*argument, offset),
        "session": lambda: (argument,),
        "session_by": lambda: (function(argument),),
    }
    found: WindowAssigner = cls(*arguments[kind]())
    return found


def window_step(windowed: Any, verb: str, argument: Any, reducer: Make, made: Make) -> Any:
    """One step on windows; `reduce` and `aggregate` may be given a list: the function, and the one on its result."""
    if verb == "trigger":
        return windowed.trigger(made(argument))
    if verb == "evictor":
        return windowed.evictor(made(argument))
    if verb == "lateness":
        return windowed.allowed_lateness(argument)
    if verb == "late":
        return windowed.side_output_late_data(OutputTag(argument))
    first, *then = argument if isinstance(argument, list) else [argument]
    function = reducer(first) if verb == "reduce" else made(first)
    return getattr(windowed, verb)(function, *map(made, then))
