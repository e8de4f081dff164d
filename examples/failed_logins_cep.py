"""U4 with a pattern: three failed logins in a row raise an alert; after an alert counting starts anew.

The same as failed_logins.py, in a fraction of the lines: the pattern puts events in order by itself.

    penstock run examples/failed_logins_cep.py
"""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

from penstock.cep import CEP, AfterMatchSkipStrategy, Pattern
from penstock.common import Duration, WatermarkStrategy
from penstock.datastream import DataStream, StreamExecutionEnvironment


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


def generated(users: int = 5, logins: int = 120, seed: int = 4) -> list[Login]:
    """People who mistype now and then, and one account that is being tried out; up to 2 s out of order."""
    random, at_ms, made = Random(seed), 0, []
    for _ in range(logins):
        at_ms += random.randint(50, 1_500)
        number = random.randrange(users)
        made.append(Login(f"user-{number}", random.random() > (0.7 if number == 0 else 0.3), at_ms))
    return sorted(made, key=lambda login: login.at_ms + random.randint(0, 2_000))


FAILURES = (
    Pattern.begin("failed", AfterMatchSkipStrategy.skip_past_last_event())
    .where(lambda login: not login.succeeded)
    .times(3)
    .consecutive()
)


def failed_logins(logins: DataStream[Login]) -> DataStream[Alert]:
    """Alerts of a stream of logins."""
    event_time = WatermarkStrategy[Login].for_bounded_out_of_orderness(Duration.of_seconds(2))
    timed = logins.assign_timestamps_and_watermarks(event_time.with_timestamp_assigner(lambda login, _: login.at_ms))
    return CEP.pattern(timed.key_by(lambda login: login.user), FAILURES).select(_alert).name("failures in a row")


def _alert(match: dict[str, list[Login]]) -> Alert:
    failed = match["failed"]
    return Alert(failed[0].user, failed[0].at_ms, failed[-1].at_ms)


def main() -> None:
    env = StreamExecutionEnvironment.get_execution_environment()
    failed_logins(env.from_collection(generated())).print()
    env.execute("failed logins")


if __name__ == "__main__":
    main()
