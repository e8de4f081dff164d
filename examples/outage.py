"""U18: events per second on processing time, to notice an outage.

What matters here is when events come, not when they happened: if nothing has come for three seconds, something upstream
is down. A window without records does not fire, so silence has to be noticed by a timer. The events come from a source
that runs by itself, for some ten seconds, with a pause in between.

    penstock run examples/outage.py
"""

from __future__ import annotations

import time
from typing import NamedTuple

from penstock.common import Time, Types
from penstock.datastream import (
    DataStream,
    KeyedProcessFunction,
    ProcessWindowFunction,
    SourceFunction,
    StreamExecutionEnvironment,
)
from penstock.datastream.state import ValueStateDescriptor
from penstock.datastream.window import TumblingProcessingTimeWindows

SILENCE_MS = 3_000


class PerSecond(NamedTuple):
    service: str
    second: int
    events: int


class Outage(NamedTuple):
    service: str
    last_event_ms: int


class Events(SourceFunction):
    """Twenty events a second, for so many seconds, with a pause after each stretch but the last."""

    def __init__(self, stretches: tuple[int, ...] = (3, 2), pause_s: int = 6) -> None:
        self._stretches, self._pause_s, self._running = stretches, pause_s, True

    def run(self, ctx):
        for number, seconds in enumerate(self._stretches):
            self._wait(self._pause_s if number else 0)
            for _ in range(20 * seconds):
                ctx.collect("payments")
                self._wait(0.05)

    def _wait(self, seconds):
        until = time.monotonic() + seconds
        while self._running and time.monotonic() < until:
            time.sleep(0.01)

    def cancel(self):
        self._running = False


class Count(ProcessWindowFunction):
    def process(self, key, context, elements):
        yield PerSecond(key, context.window().start // 1_000, sum(1 for _ in elements))


class Watchdog(KeyedProcessFunction):
    """By service: every event puts the alarm off."""

    def open(self, runtime_context):
        self.alarm = runtime_context.get_state(ValueStateDescriptor("alarm", Types.LONG()))

    def process_element(self, value, ctx):
        timers = ctx.timer_service()
        if self.alarm.value() is not None:
            timers.delete_processing_time_timer(self.alarm.value())
        self.alarm.update(timers.current_processing_time() + SILENCE_MS)
        timers.register_processing_time_timer(self.alarm.value())

    def on_timer(self, timestamp, ctx):
        self.alarm.clear()
        yield Outage(ctx.get_current_key(), timestamp - SILENCE_MS)


def per_second(events: DataStream) -> DataStream:
    """How many events of a service came in a second."""
    return events.key_by(str).window(TumblingProcessingTimeWindows.of(Time.seconds(1))).process(Count())


def outages(events: DataStream) -> DataStream:
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
