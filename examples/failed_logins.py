"""U4: three failed logins in a row raise an alert.

"In a row" is meant in event time: logins arrive out of order, wait in state until the watermark has
passed them, and are then looked at in the order in which they happened.

    penstock run examples/failed_logins.py
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from penstock.common import Duration, Types, WatermarkStrategy
from penstock.datastream import DataStream, KeyedProcessFunction, RuntimeContext, StreamExecutionEnvironment
from penstock.datastream.state import MapStateDescriptor, ValueStateDescriptor

IN_A_ROW = 3


@dataclass(frozen=True)
class Login:
    user: str
    succeeded: bool
    at_ms: int


@dataclass(frozen=True)
class Alert:
    user: str
    first_ms: int
    last_ms: int


LOGINS = [
    Login("ada", False, 1_000),
    Login("bob", False, 1_500),
    Login("ada", False, 4_000),
    Login("bob", True, 2_500),
    Login("ada", False, 3_000),  # late by a second: the second in a row, not the third
    Login("bob", False, 5_000),
    Login("bob", False, 6_000),
    Login("ada", True, 9_000),
    Login("bob", False, 9_500),
]


class FailuresInARow(KeyedProcessFunction[str, Login, Alert]):
    """By user. After an alert counting starts anew."""

    def open(self, runtime_context: RuntimeContext) -> None:
        # a moment -> outcomes at that moment, until the watermark is there
        self.waiting = runtime_context.get_map_state(
            MapStateDescriptor("waiting", Types.LONG(), Types.LIST(Types.BOOLEAN()))
        )
        self.failures = runtime_context.get_state(ValueStateDescriptor("failures", Types.LIST(Types.LONG())))

    def process_element(self, login: Login, ctx: KeyedProcessFunction.Context[str]) -> None:
        at_ms = login.at_ms
        self.waiting.put(at_ms, sorted([*(self.waiting.get(at_ms) or []), login.succeeded]))
        ctx.timer_service().register_event_time_timer(at_ms)

    def on_timer(self, timestamp: int, ctx: KeyedProcessFunction.OnTimerContext[str]) -> Iterator[Alert]:
        failures = self.failures.value() or []
        for succeeded in self.waiting.get(timestamp) or []:
            failures = [] if succeeded else [*failures, timestamp]
            if len(failures) == IN_A_ROW:
                yield Alert(ctx.get_current_key(), failures[0], failures[-1])
                failures = []
        self.waiting.remove(timestamp)
        self.failures.update(failures) if failures else self.failures.clear()


def failed_logins(logins: DataStream[Login]) -> DataStream[Alert]:
    """Alerts of a stream of logins."""
    event_time = WatermarkStrategy[Login].for_bounded_out_of_orderness(Duration.of_seconds(2))
    event_time = event_time.with_timestamp_assigner(lambda login, _: login.at_ms)
    timed = logins.assign_timestamps_and_watermarks(event_time)
    return timed.key_by(lambda login: login.user).process(FailuresInARow()).name("failures in a row")


def main() -> None:
    env = StreamExecutionEnvironment.get_execution_environment()
    failed_logins(env.from_collection(LOGINS)).print()
    env.execute("failed logins")


if __name__ == "__main__":
    main()
