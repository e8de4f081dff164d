"""Patterns in transcripts.

    pattern: {of: "Pattern.begin('a').where(lambda v: v[1] < 3)", select: "m['a'][0]"}

`select` and `flat_select` take an expression in `m`, the match (names to lists of events), `process` one that makes a
`PatternProcessFunction`. Options: `timeout: [tag, expression in m and t]` for partial matches that ran out of time,
`late` (a tag), `comparator` (an expression in `a` and `b`), `processing: true`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from penstock.api.data_stream import DataStream
from penstock.api.pattern_stream import CEP
from penstock.core.cep import builder, conditions, functions, patterns, skip
from penstock.core.program.output_tag import OutputTag

__all__ = ["pattern_names", "pattern_step"]

Make = Callable[[str], Any]
"""From the text of an expression to what it makes."""


def pattern_names() -> dict[str, object]:
    """Names that the functions of a transcript may use, beside those that every transcript has."""
    public = {
        "Pattern": builder.Pattern,
        "AfterMatchSkipStrategy": skip.AfterMatchSkipStrategy,
        "WithinType": patterns.WithinType,
    }
    return public | {name: getattr(module, name) for module in (conditions, functions) for name in module.__all__}


def pattern_step(stream: DataStream[Any], given: Mapping[str, Any], made: Make) -> DataStream[Any]:
    """One pattern of a transcript, and what is done with its matches."""
    comparator = made(f"lambda a, b: {given['comparator']}") if "comparator" in given else None
    found = CEP.pattern(stream, made(given["of"]), comparator)
    if given.get("processing"):
        found = found.in_processing_time()
    if "late" in given:
        found = found.side_output_late_data(OutputTag(given["late"]))
    if "process" in given:
        return found.process(made(given["process"]))
    verb = "flat_select" if "flat_select" in given else "select"
    select = made(f"lambda m: {given[verb]}")
    timed_out: tuple[object, ...] = ()
    if "timeout" in given:
        tag, text = given["timeout"]
        timed_out = (OutputTag(tag), made(f"lambda m, t: {text}"))
    selected: DataStream[Any] = getattr(found, verb)(*timed_out, select)
    return selected
