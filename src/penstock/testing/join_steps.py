"""Joins in transcripts.

    join: {with: b, where: "v[0]", equal_to: "v[0]", window: "Tumbling(10)", apply: "(a, b)"}
    co_group: the same, its function given the records of each side
    interval_join: {with: b, key_by: ["v[0]", "v[0]"], between: [-5, 5], process: "Pair()"}
    regular_join: {with: b, key_by: ["v[0]", "v[0]"], inner: "(a, b)"}     # or `left`

`trigger`, `evictor`, `lateness` (ms) and `late` (a tag) are options of the first two; `exclusive: [lower, upper]` or
one of them, `outer: left`, `right` or `full`, and `late: [tag, tag]` of the third.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from penstock.api.data_stream import DataStream
from penstock.core.functions import join as join_functions
from penstock.core.program.output_tag import OutputTag
from penstock.core.time import spans as time
from penstock.core.time.spans import Time
from penstock.core.types import row
from penstock.core.windows import assigners as window_assigners
from penstock.core.windows import evictors, triggers
from penstock.core.windows import window as windows

__all__ = ["JOIN_VERBS", "join_names", "join_step"]

Function = Callable[[str, str], Any]
"""From the parameters and the text of an expression to a function."""

Make = Callable[[str], Any]
"""From the text of an expression to what it makes."""

JOIN_VERBS = ("join", "co_group", "interval_join", "regular_join")


def join_names() -> dict[str, object]:
    """Names that the functions of a transcript may use, beside those that every transcript has."""
    modules = (join_functions, windows, window_assigners, triggers, evictors, row, time)
    return {name: getattr(module, name) for module in modules for name in module.__all__}


def join_step(
    stream: DataStream[Any], other: DataStream[Any], verb: str, given: Mapping[str, Any], function: Function, made: Make
) -> DataStream[Any]:
    """One join of a transcript."""
    if verb in ("join", "co_group"):
        return _windowed(getattr(stream, verb)(other), given, function, made)
    left, right = (function("v", text) for text in given["key_by"])
    joined = getattr(stream.key_by(left), verb)(other.key_by(right))
    return _regular(joined, given, function) if verb == "regular_join" else _interval(joined, given, made)


def _windowed(joined: Any, given: Mapping[str, Any], function: Function, made: Make) -> DataStream[object]:
    keyed = joined.where(function("v", given["where"])).equal_to(function("v", given["equal_to"]))
    windowed = keyed.window(made(given["window"]))
    for option in ("trigger", "evictor"):
        if option in given:
            windowed = getattr(windowed, option)(made(given[option]))
    if "lateness" in given:
        windowed = windowed.allowed_lateness(given["lateness"])
    if "late" in given:
        windowed = windowed.side_output_late_data(OutputTag(given["late"]))
    applied: DataStream[Any] = windowed.apply(function("a, b", given["apply"]))
    return applied


def _interval(joined: Any, given: Mapping[str, Any], made: Make) -> DataStream[object]:
    bounded = joined.between(*map(Time.milliseconds, given["between"]))
    for bound in given.get("exclusive", ()):
        bounded = getattr(bounded, f"{bound}_bound_exclusive")()
    if "outer" in given:
        bounded = getattr(bounded, f"{given['outer']}_outer")()
    if "late" in given:
        left: OutputTag[object]
        right: OutputTag[object]
        left, right = map(OutputTag, given["late"])
        bounded = bounded.side_output_left_late_data(left).side_output_right_late_data(right)
    processed: DataStream[Any] = bounded.process(made(given["process"]))
    return processed


def _regular(joined: object, given: Mapping[str, Any], function: Function) -> DataStream[object]:
    kind = "left" if "left" in given else "inner"
    result: DataStream[Any] = getattr(joined, kind)(function("a, b", given[kind]))
    return result
