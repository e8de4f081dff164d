"""Windows in Penstock's runtime alone: the local host, batch by batch."""

from __future__ import annotations

from operator import itemgetter
from time import perf_counter
from typing import Any

from benchmarks.inputs import Answer, key_of
from benchmarks.jobs.window_runtime import HOUR_MS, SLIDES, moment, term
from benchmarks.model import RATE, Outcome
from benchmarks.params import WindowParams
from benchmarks.peers.penstock_events import Count, WithEnd
from penstock.common import Time, WatermarkStrategy
from penstock.datastream import StreamExecutionEnvironment
from penstock.datastream.connectors.datagen import DataGeneratorSource
from penstock.datastream.window import SlidingEventTimeWindows, TumblingEventTimeWindows
from penstock.testing import collect, local_job

BATCH = 50_000


def windows(params: WindowParams) -> Outcome:
    """Three passes; the best counts."""
    passes = [_pass(params) for _ in range(3)]
    seconds = min(seconds for seconds, _ in passes)
    return Outcome({RATE: params.records / seconds}, passes[0][1], [seconds for seconds, _ in passes])


def _pass(params: WindowParams) -> tuple[float, Answer]:
    given = [(key_of(index, params.keys), moment(index, params.keys)) for index in range(params.records)]
    env = StreamExecutionEnvironment()
    in_order = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(lambda event, _: event[1])
    source = DataGeneratorSource(given.__getitem__, params.records)
    keyed = env.from_source(source, in_order, "given").key_by(itemgetter(0))
    collect(keyed.window(_assigner(SLIDES[params.what])).aggregate(Count(), WithEnd()), "found")
    job = local_job(env)
    started = perf_counter()
    job.run([BATCH] * (params.records // BATCH))
    seconds = perf_counter() - started
    found = job.results["found"]
    return seconds, Answer(len(found), sum(term(key, end, count) for key, count, end in found))


def _assigner(slide_ms: int) -> Any:
    if slide_ms == HOUR_MS:
        return TumblingEventTimeWindows.of(Time.hours(1))
    return SlidingEventTimeWindows.of(Time.hours(1), Time.milliseconds(slide_ms))
