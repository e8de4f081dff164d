"""A trace of windows: what arrived when, where the watermark stood, which windows fired with what.

The program runs in the local host, one record a batch, by a clock that moves on a step after each.
"""

from __future__ import annotations

import copy
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

from penstock.api.windowed_stream import AllWindowedStream, WindowedStream
from penstock.core.errors import ProgramError
from penstock.core.functions.base import KeyedProcessFunction, ProcessFunction
from penstock.core.functions.window import ProcessWindowFunction
from penstock.core.program.job import RuntimeSettings
from penstock.core.program.output_tag import OutputTag
from penstock.core.time.clock import ManualClock
from penstock.core.time.spans import MAX_WATERMARK, MIN_WATERMARK
from penstock.core.windows.assigners import SessionWindows, TimeWindows
from penstock.local.local_job import LocalJob
from penstock.testing.jobs import collect, local_job
from penstock.testing.trace_svg import draw

__all__ = ["Arrival", "Firing", "Trace", "trace"]

_TOO_LATE = OutputTag("penstock-trace-late")
_RECORDS, _FIRINGS, _LATE = "trace/records", "trace/firings", "trace/late"


class Arrival(NamedTuple):
    """A record. `late`: its timestamp was not above the watermark; `lost`: all its windows were gone."""

    at_ms: int
    timestamp: int
    key: Any
    late: bool
    lost: bool


class Firing(NamedTuple):
    """A window gave its result, of so many records."""

    at_ms: int
    key: Any
    start: int
    end: int
    records: int


@dataclass(frozen=True, slots=True)
class Trace:
    """A recorded run. `watermarks` are (time, watermark) where it moved, both in milliseconds; +∞ is left out."""

    records: tuple[Arrival, ...]
    watermarks: tuple[tuple[int, int], ...]
    firings: tuple[Firing, ...]
    lateness_ms: int
    end_ms: int

    def svg(self, title: str = "") -> str:
        """The trace as a picture: event time against processing time."""
        return draw(self, title)

    def write(self, path: str | Path, title: str = "") -> None:
        """The picture as a file."""
        Path(path).write_text(self.svg(title), encoding="utf-8")


def trace(windowed: WindowedStream | AllWindowedStream, step_ms: int = 1, start_ms: int = 0) -> Trace:
    """Run the program that these event-time windows are part of, to the end of its input, and tell what they saw.

    >>> from penstock.core.time.spans import Time
    >>> from penstock.core.windows.assigners import TumblingEventTimeWindows
    >>> from penstock.testing import At, Mark, ScriptedSource, scripted_stream
    >>> from penstock.api.environment import StreamExecutionEnvironment
    >>> source = ScriptedSource([[At(3, "a"), At(12, "b"), Mark(9), At(5, "c")]])
    >>> stream = scripted_stream(StreamExecutionEnvironment(), source)
    >>> seen = trace(stream.window_all(TumblingEventTimeWindows.of(Time.milliseconds(10))))
    >>> [(f.at_ms, f.start, f.end, f.records) for f in seen.firings]
    [(2, 0, 10, 1), (3, 10, 20, 1)]
    >>> [(r.at_ms, r.timestamp, r.lost) for r in seen.records]
    [(0, 3, False), (1, 12, False), (3, 5, True)]
    """
    spec = windowed._spec
    if not isinstance(spec.assigner, TimeWindows | SessionWindows) or not spec.assigner.is_event_time():
        raise ProgramError(f"trace() draws tumbling, sliding and session windows of event time, not {spec.assigner!r}")
    if step_ms < 1:
        raise ValueError(f"trace(): the clock must move on by at least 1 ms, got {step_ms}")
    _tap(windowed)
    clock = ManualClock(start_ms)
    job = local_job(windowed.get_execution_environment(), settings=RuntimeSettings(watermark_records=1), clock=clock)
    marks = tuple(_run(job, clock, step_ms))
    lost = Counter((at, stamp) for at, stamp in job.results.get(_LATE, ()))
    records = tuple(_arrivals(job.results.get(_RECORDS, ()), lost))
    firings = tuple(Firing(*firing) for firing in job.results.get(_FIRINGS, ()))
    return Trace(records, marks, firings, spec.lateness_ms, clock.now_ms())


def _tap(windowed: Any) -> None:
    """Listen to the windows' input, and to windows like them."""
    own = copy.copy(windowed)
    own._spec = replace(windowed._spec, late_tag=_TOO_LATE)
    fired = own._add(None, _Fired(), None)
    collect(windowed._keyed.process(_Arrived()).name("Trace"), _RECORDS)
    collect(fired, _FIRINGS)
    collect(fired.get_side_output(_TOO_LATE).process(_Lost()), _LATE)


def _run(job: LocalJob, clock: ManualClock, step_ms: int) -> Iterator[tuple[int, int]]:
    last = MIN_WATERMARK
    while not job.finished:
        job.run_batch(1)
        mark = min(m["watermark"] for m in job.metrics if "Trace" in m["name"])
        if last < mark < MAX_WATERMARK:
            yield clock.now_ms(), mark
            last = mark
        if not job.finished:
            clock.set_ms(clock.now_ms() + step_ms)


def _arrivals(seen: Iterable[Any], lost: Counter[tuple[int, int]]) -> Iterator[Arrival]:
    for at, stamp, key, mark in seen:
        gone = lost[at, stamp] > 0
        lost[at, stamp] -= gone
        yield Arrival(at, stamp, key, stamp <= mark, gone)


class _Arrived(KeyedProcessFunction):
    def process_element(self, value: Any, ctx: Any) -> Iterator[object]:
        service = ctx.timer_service()
        yield service.current_processing_time(), ctx.timestamp(), ctx.get_current_key(), service.current_watermark()


class _Lost(ProcessFunction):
    def process_element(self, value: Any, ctx: Any) -> Iterator[object]:
        yield ctx.timer_service().current_processing_time(), ctx.timestamp()


class _Fired(ProcessWindowFunction):
    def process(self, key: Any, context: Any, elements: Iterable[Any]) -> Iterator[Any]:
        window = context.window()
        yield context.current_processing_time(), key, window.start, window.end, sum(1 for _ in elements)
