"""Restart strategies at work: failures are counted; a job that fails on every try ends with the last error (F3)."""

import threading
from pathlib import Path
from typing import Any

import pytest

from penstock.common import Configuration, JobStatus
from penstock.core.errors import UserFunctionError
from penstock.datastream import StreamExecutionEnvironment

pytestmark = pytest.mark.spark

STRATEGIES = {
    "fixed-delay": {"attempts": 2, "delay": "0"},
    "failure-rate": {"max-failures-per-interval": 2, "failure-rate-interval": "1 h", "delay": "0"},
    "exponential-delay": {"attempts-before-reset-backoff": 2, "initial-backoff": "1 ms", "jitter-factor": 0},
}


class Failing:
    """Raises, naming the try, as long as there were fewer than `times` of them."""

    def __init__(self, note: Path, times: int) -> None:
        self.note, self.times = note, times

    def __call__(self, value: int) -> int:
        tries = len(self.note.read_text()) if self.note.exists() else 0
        if tries < self.times:
            self.note.write_text("x" * (tries + 1))
            raise ValueError(f"try {tries + 1}")
        return value


def client_of(kind: str, function: Failing) -> Any:
    conf = {"penstock.host": "streaming", "restart-strategy.type": kind}
    conf |= {f"restart-strategy.{kind}.{key}": value for key, value in STRATEGIES[kind].items()}
    env = StreamExecutionEnvironment(Configuration(conf)).set_parallelism(1)
    env.from_collection([1]).map(function).add_sink(lambda v: None)
    return env.execute_async()


@pytest.mark.parametrize("kind", sorted(STRATEGIES))
def test_a_job_that_fails_on_every_try_ends_with_the_last_error(kind: str, tmp_path: Path) -> None:
    """F3, P9: two restarts, three failures."""
    client = client_of(kind, Failing(tmp_path / "note", 99))
    with pytest.raises(UserFunctionError, match="ValueError: try 3"):
        client.wait()
    assert client.status is JobStatus.FAILED
    metrics = client.get_metrics()
    assert (metrics["failures"], metrics["restarts"]) == (3, 2)
    assert metrics["last_failure"].endswith("ValueError: try 3")


def test_failures_that_were_overcome_are_reported(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """F3, P9: each restart is told with its cause, also to a program that shows nothing else."""
    result = client_of("exponential-delay", Failing(tmp_path / "note", 2)).wait()
    assert (result.restarts, result.metrics["failures"]) == (2, 2)
    assert result.metrics["last_failure"].endswith("ValueError: try 2")
    told = [record for record in caplog.records if record.name == "penstock.job" and record.levelname == "WARNING"]
    assert [("failed, restart" in r.message, f"ValueError: try {i}" in r.message) for i, r in enumerate(told, 1)] == [
        (True, True),
        (True, True),
    ]


def test_a_job_that_waits_for_its_restart_can_be_stopped(tmp_path: Path) -> None:
    """F3, P8: at once, though the wait is an hour."""
    conf = {"penstock.host": "streaming", "restart-strategy.type": "fixed-delay"}
    env = StreamExecutionEnvironment(Configuration({**conf, "restart-strategy.fixed-delay.delay": "1 h"}))
    env.set_parallelism(1).from_collection([1]).map(Failing(tmp_path / "note", 99)).add_sink(lambda v: None)
    client = env.execute_async()
    while client.status is not JobStatus.RESTARTING:
        threading.Event().wait(0.05)
    client.stop()
    assert client.status is JobStatus.CANCELED
    assert client.get_metrics()["failures"] == 1
