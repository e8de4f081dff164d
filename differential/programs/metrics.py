"""Metrics of users' functions. Their values are not compared: PyFlink's counters start anew with each bundle."""

from __future__ import annotations

from pyflink.datastream import RuntimeContext
from pyflink.datastream.functions import MapFunction

from differential.programs.kit import Program

PROGRAM = Program({"python.metric.enabled": "true"})


class Counted(MapFunction):
    def open(self, runtime_context: RuntimeContext):
        group = runtime_context.get_metrics_group()
        self.count = group.counter("records")
        self.rate = group.add_group("inner", "value").meter("rate")
        self.sizes = group.add_group("inner").distribution("sizes")
        group.gauge("last", lambda: self.last)
        self.last = 0

    def map(self, value):
        self.count.inc()
        self.count.inc(2)
        self.count.dec()
        self.rate.mark_event(2)
        self.sizes.update(value)
        self.last = value
        return value, type(self.count.get_count()).__name__, type(self.rate.get_count()).__name__


@PROGRAM.stream()
def counters_and_meters(env, draw):
    return env.from_collection([draw.randint(0, 9) for _ in range(10)]).map(Counted())
