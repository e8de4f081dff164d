"""Patterns in Penstock's runtime alone: chunk rows with watermarks into one subtask."""

from __future__ import annotations

from operator import itemgetter
from time import perf_counter
from typing import Any

from benchmarks.inputs import Answer
from benchmarks.jobs.patterns import IN_A_ROW, combinations, logins
from benchmarks.model import RATE, Outcome
from benchmarks.params import PatternParams
from penstock.cep import CEP, AfterMatchSkipStrategy, Pattern
from penstock.common import Types, WatermarkStrategy
from penstock.datastream import DataStream, KeyedProcessFunction, StreamExecutionEnvironment
from penstock.datastream.state import MapStateDescriptor, ValueStateDescriptor
from penstock.testing import PatternHarness, collect, local_job

BATCH = 50_000


class ByHand(KeyedProcessFunction):
    """Logins wait for the watermark, then are counted."""

    def open(self, runtime_context: Any) -> None:
        self.waiting = runtime_context.get_map_state(
            MapStateDescriptor("waiting", Types.LONG(), Types.PICKLED_BYTE_ARRAY())
        )
        self.failures = runtime_context.get_state(ValueStateDescriptor("failures", Types.LONG()))

    def process_element(self, value: Any, ctx: Any) -> None:
        self.waiting.put(ctx.timestamp(), value)
        ctx.timer_service().register_event_time_timer(ctx.timestamp())

    def on_timer(self, timestamp: int, ctx: Any) -> Any:
        login = self.waiting.get(timestamp)
        self.waiting.remove(timestamp)
        failures = 0 if login[1] else (self.failures.value() or 0) + 1
        if failures == IN_A_ROW:
            failures = 0
            yield login[2]
        self.failures.update(failures)


def _by_hand(stream: DataStream[Any]) -> DataStream[Any]:
    return stream.key_by(itemgetter(0)).process(ByHand())


def _pattern(stream: DataStream[Any]) -> DataStream[Any]:
    failed = Pattern.begin("failed", AfterMatchSkipStrategy.skip_past_last_event()).where(lambda login: not login[1])
    in_a_row = failed.times(IN_A_ROW).consecutive()
    return CEP.pattern(stream.key_by(itemgetter(0)), in_a_row).select(lambda match: match["failed"][-1][2])


def patterns(params: PatternParams) -> Outcome:
    """Three passes; the best counts."""
    measure = _loop if params.what == "loop" else _logins
    passes = [measure(params) for _ in range(3)]
    seconds = min(seconds for seconds, _ in passes)
    units = combinations(params.records) if params.what == "loop" else params.records
    return Outcome({RATE: units / seconds}, passes[0][1], [seconds for seconds, _ in passes])


def _logins(params: PatternParams) -> tuple[float, Answer]:
    env = StreamExecutionEnvironment()
    in_order = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(lambda login, _: login[2])
    stream = env.from_collection(logins(params.records, params.keys)).assign_timestamps_and_watermarks(in_order)
    collect((_by_hand if params.what == "by hand" else _pattern)(stream), "found")
    job = local_job(env)
    started = perf_counter()
    job.run([BATCH] * (params.records // BATCH))
    seconds = perf_counter() - started
    return seconds, Answer(len(job.results["found"]), sum(job.results["found"]))


def _loop(params: PatternParams) -> tuple[float, Answer]:
    harness = PatternHarness(
        Pattern.begin("a").one_or_more().allow_combinations(), lambda found: found.select(lambda match: 0)
    )
    harness.push_all([("a", moment) for moment in range(params.records)])
    started = perf_counter()
    harness.push_watermark(params.records)
    return perf_counter() - started, Answer(len(harness.output()), 0)
