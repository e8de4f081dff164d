"""What a program is made of: cases that share one job, so that a JVM is started once for many of them.

A case builds a stream (or lists values itself) from an environment and a seeded `Random`. Every record of its stream
is noted as the text of its ``repr`` by a last `map`, which sees what a user's function would see; the streams of
all cases are united and collected by one job.
"""

from __future__ import annotations

import json
import os
import random
import traceback
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from pyflink.common import Configuration, Types
from pyflink.datastream import StreamExecutionEnvironment

EXACT = "exact"
"""One source, one subtask throughout: the order counts."""

PER_KEY = "per key"
"""Records are tuples; those with the same first field are compared in order."""

MULTISET = "multiset"
"""Only what there is and how often."""

VALUES = "values"
"""Not a stream but a list, made on the driver."""

Build = Callable[[Any, random.Random], Any]


@dataclass(frozen=True)
class Case:
    name: str
    order: str
    build: Build


@dataclass
class Program:
    """Cases that run in one job with these settings."""

    settings: dict[str, str] = field(default_factory=dict)
    cases: list[Case] = field(default_factory=list)

    def stream(self, order: str = EXACT) -> Callable[[Build], Build]:
        """A case that returns a stream."""
        return lambda build: self._add(build, order)

    def values(self, build: Build) -> Build:
        """A case that returns a list; it may run jobs of its own."""
        return self._add(build, VALUES)

    def _add(self, build: Build, order: str) -> Build:
        self.cases.append(Case(build.__name__, order, build))
        return build

    def environment(self) -> StreamExecutionEnvironment:
        given = json.loads(os.environ.get("DIFFERENTIAL_CONF", "{}"))
        configuration = Configuration()
        for key, value in {"parallelism.default": "1", **given, **self.settings}.items():
            configuration.set_string(key, value)
        return StreamExecutionEnvironment.get_execution_environment(configuration)


def run(program: Program, cases: list[Case], seed: int) -> Iterator[dict[str, Any]]:
    """Outcomes of some of a program's cases: values, or the error that came instead."""
    yield from (_listed(program, case, seed) for case in cases if case.order == VALUES)
    yield from _together(program, [c for c in cases if c.order != VALUES], seed)


def _listed(program: Program, case: Case, seed: int) -> dict[str, Any]:
    try:
        values = case.build(program.environment(), _draw(case, seed))
        return _outcome(case, [("", repr(v)) for v in values])
    except Exception:
        return _outcome(case, [], traceback.format_exc())


def _together(program: Program, cases: list[Case], seed: int) -> Iterator[dict[str, Any]]:
    """One job for all. If it fails, the harness asks for each alone, so that the culprit alone is to blame."""
    env, streams = program.environment(), {}
    for case in cases:
        try:
            streams[case] = _noted(case, case.build(env, _draw(case, seed)))
        except Exception:
            yield _outcome(case, [], traceback.format_exc())
    if not streams:
        return
    try:
        noted = _collected(list(streams.values()))
    except Exception:
        error = traceback.format_exc()
        yield from (_outcome(case, [], error) | {"together": len(streams) > 1} for case in streams)
        return
    for case in streams:
        yield _outcome(case, [(key, text) for name, key, text in noted if name == case.name])


def _draw(case: Case, seed: int) -> random.Random:
    return random.Random(f"{seed} {case.name}")


def _noted(case: Case, stream: Any) -> Any:
    name, keyed = case.name, case.order == PER_KEY
    noted = stream.map(lambda value: json.dumps([name, repr(value[0]) if keyed else "", repr(value)]), Types.STRING())
    return noted.set_parallelism(1) if case.order == EXACT else noted


def _collected(streams: list[Any]) -> list[list[str]]:
    united = streams[0].union(*streams[1:]) if len(streams) > 1 else streams[0]
    with united.execute_and_collect() as results:
        return [json.loads(text) for text in results]


def _outcome(case: Case, values: list[tuple[str, str]], error: str | None = None) -> dict[str, Any]:
    return {"case": case.name, "order": case.order, "values": values, "error": error}
