"""U4: three failed logins in a row."""

from itertools import groupby

import pytest
from hypothesis import given
from hypothesis import strategies as st

from examples.failed_logins import IN_A_ROW, LOGINS, Alert, Login, failed_logins
from penstock.datastream import StreamExecutionEnvironment
from penstock.testing import LocalJob, collect, local_job


def _job(logins: list[Login], parallelism: int) -> LocalJob:
    env = StreamExecutionEnvironment.get_execution_environment()
    collect(failed_logins(env.from_collection(logins)), "alerts")
    return local_job(env, parallelism)


def _oracle(logins: list[Login]) -> list[Alert]:
    """Sort, then look at each user's logins one after the other."""
    alerts = []
    ordered = sorted(logins, key=lambda login: (login.user, login.at_ms, login.succeeded))
    for user, history in groupby(ordered, key=lambda login: login.user):
        failures: list[int] = []
        for login in history:
            failures = [] if login.succeeded else [*failures, login.at_ms]
            if len(failures) == IN_A_ROW:
                alerts.append(Alert(user, failures[0], failures[-1]))
                failures = []
    return alerts


def test_the_third_failure_in_a_row_raises_an_alert() -> None:
    """Out-of-order logins are put in order first; a success in between starts anew (U4)."""
    job = _job(LOGINS, 1)
    job.run()
    assert set(job.results["alerts"]) == {Alert("ada", 1_000, 4_000), Alert("bob", 5_000, 9_500)}


_HISTORY = st.lists(
    st.tuples(st.sampled_from("abc"), st.booleans(), st.integers(0, 2_000)),
    max_size=40,
)


@pytest.mark.parametrize("parallelism", [1, 2, 4])
@given(_HISTORY, st.lists(st.integers(1, 10), max_size=8))
def test_alerts_depend_on_event_time_alone(
    parallelism: int, history: list[tuple[str, bool, int]], batches: list[int]
) -> None:
    """U4, P11: however the input is cut and wherever it runs, the alerts are those of the sorted history."""
    # every record is at most two seconds behind the newest, so none is late
    logins = [Login(user, ok, 100 * place + 2_000 - behind) for place, (user, ok, behind) in enumerate(history)]
    job = _job(logins, parallelism)
    job.run(batches)
    assert sorted(job.results.get("alerts", []), key=repr) == sorted(_oracle(logins), key=repr)
    assert not any(b"waiting" in blob for blob in job.state_blobs().values())
