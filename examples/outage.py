"""U18: events per second on processing time, to notice an outage.

What matters here is when events come, not when they happened: if nothing has come for three seconds, something upstream
is down. A window without records does not fire, so silence has to be noticed by a timer. The events come from a source
that runs by itself, for some ten seconds, with a pause in between.

    penstock run examples/outage.py
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from penstock.common import Time, Types
from penstock.datastream import DataStream, KeyedProcessFunction, StreamExecutionEnvironment
from penstock.datastream.functions import ProcessWindowFunction, RuntimeContext, SourceContext, SourceFunction
from penstock.datastream.state import ValueStateDescriptor
from penstock.datastream.window import TimeWindow, TumblingProcessingTimeWindows

SILENCE_MS = 3_000


class PerSecond(NamedTuple):
    service: str
    second: int
    events: int


class Outage(NamedTuple):
    service: str
    last_event_ms: int


class Events(SourceFunction[str]):
    """Twenty events a second, for so many seconds, with a pause after each stretch but the last."""

    def __init__(self, stretches: tuple[int, ...] = (3, 2), pause_s: int = 6) -> None:
        self._stretches, self._pause_s, self._running = stretches, pause_s, True

    def run(self, ctx: SourceContext[str]) -> None:
        for number, seconds in enumerate(self._stretches):
            self._wait(self._pause_s if number else 0)
            for _ in range(20 * seconds):
                ctx.collect("payments")
                self._wait(0.05)

    def _wait(self, seconds: float) -> None:
        until = time.monotonic() + seconds
        while self._running and time.monotonic() < until:
            time.sleep(0.01)

    def cancel(self) -> None:
        self._running = False


class Count(ProcessWindowFunction[str, PerSecond, str, TimeWindow]):
    def process(
        self, key: str, context: ProcessWindowFunction.Context[TimeWindow], elements: Iterable[str]
    ) -> Iterator[PerSecond]:
        yield PerSecond(key, context.window().start // 1_000, sum(1 for _ in elements))


class Watchdog(KeyedProcessFunction[str, str, Outage]):
    """By service: every event puts the alarm off."""

    def open(self, runtime_context: RuntimeContext) -> None:
        self.alarm = runtime_context.get_state(ValueStateDescriptor("alarm", Types.LONG()))

    def process_element(self, value: str, ctx: KeyedProcessFunction.Context[str]) -> None:
        timers, planned_ms = ctx.timer_service(), self.alarm.value()
        if planned_ms is not None:
            timers.delete_processing_time_timer(planned_ms)
        alarm_ms = timers.current_processing_time() + SILENCE_MS
        self.alarm.update(alarm_ms)
        timers.register_processing_time_timer(alarm_ms)

    def on_timer(self, timestamp: int, ctx: KeyedProcessFunction.OnTimerContext[str]) -> Iterator[Outage]:
        self.alarm.clear()
        yield Outage(ctx.get_current_key(), timestamp - SILENCE_MS)


def per_second(events: DataStream[str]) -> DataStream[PerSecond]:
    """How many events of a service came in a second."""
    return events.key_by(str).window(TumblingProcessingTimeWindows.of(Time.seconds(1))).process(Count())


def outages(events: DataStream[str]) -> DataStream[Outage]:
    """Services that have been silent for three seconds."""
    return events.key_by(str).process(Watchdog()).name("watchdog")


def main() -> None:
    env = StreamExecutionEnvironment.get_execution_environment()
    events = env.add_source(Events(), "events")
    per_second(events).print()
    outages(events).print()
    env.execute("outage")


if __name__ == "__main__":
    main()
