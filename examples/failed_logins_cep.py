"""U4 with a pattern: three failed logins in a row raise an alert; after an alert counting starts anew.

The same as examples/failed_logins.py, in a tenth of the lines: the pattern puts events in order by itself.

    penstock run examples/failed_logins_cep.py
"""

from __future__ import annotations

from examples.failed_logins import IN_A_ROW, LOGINS, Alert
from penstock.cep import CEP, AfterMatchSkipStrategy, Pattern
from penstock.common import Duration, WatermarkStrategy
from penstock.datastream import DataStream, StreamExecutionEnvironment

FAILURES = (
    Pattern.begin("failed", AfterMatchSkipStrategy.skip_past_last_event())
    .where(lambda login: not login.succeeded)
    .times(IN_A_ROW)
    .consecutive()
)


def by_outcome(one, other) -> int:
    """Of two logins at the same moment the failed one counts as the earlier."""
    return one.succeeded - other.succeeded


def failed_logins(logins: DataStream) -> DataStream:
    """Alerts of a stream of logins."""
    event_time = WatermarkStrategy.for_bounded_out_of_orderness(Duration.of_seconds(2))
    timed = logins.assign_timestamps_and_watermarks(event_time.with_timestamp_assigner(lambda login, _: login.at_ms))
    by_user = timed.key_by(lambda login: login.user)
    return CEP.pattern(by_user, FAILURES, by_outcome).select(_alert).name("failures in a row")


def _alert(match) -> Alert:
    failed = match["failed"]
    return Alert(failed[0].user, failed[0].at_ms, failed[-1].at_ms)


def main() -> None:
    env = StreamExecutionEnvironment.get_execution_environment()
    failed_logins(env.from_collection(LOGINS)).print()
    env.execute("failed logins")


if __name__ == "__main__":
    main()
