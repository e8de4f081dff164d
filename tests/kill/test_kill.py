"""Whatever is killed, and however often, every record has been applied to state, and published, exactly once (F1).

One job: both kinds of driver kill and a Python worker's, functions that fail at random and are not
deterministic; what it wrote to files, SQLite and PostgreSQL agrees with its state. `make kill` does the same fifty
times and more.
"""

from __future__ import annotations

import random
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.kill.found import Class
from tests.kill.job import JobOptions
from tests.kill.moments import Moment
from tests.kill.oracle import check, partial_matches
from tests.kill.processes import send
from tests.kill.run import KilledJob, pause_for
from tests.postgres.server import USER, postgres_server

pytestmark = pytest.mark.kill


@pytest.fixture
def chance() -> random.Random:
    seed = random.SystemRandom().randrange(1 << 32)
    print(f"seed {seed}")
    return random.Random(seed)


@pytest.fixture
def job(tmp_path: Path) -> Iterator[KilledJob]:
    with postgres_server() as server:
        options = JobOptions(
            str(tmp_path),
            records=3_000,
            deterministic=False,
            failures_per_million=300,
            postgres=f"{server.jdbc_url}?user={USER}",
        )
        job = KilledJob(options)
        yield job
        job.close()


def test_dead_drivers_dead_workers_and_functions_that_fail(job: KilledJob, chance: random.Random) -> None:
    """F1, F2, F6, F10, X2: in a transaction of a database, prepared, and anywhere."""
    job.start(Moment.ROWS_WRITTEN)
    kills = [job.kill_driver(chance, together=True, then=Moment.PREPARED), job.kill_worker(chance)]
    job.aim(Moment.STATE_WRITTEN)
    kills.append(job.kill_worker(chance))
    job.aim(Moment.COMMITTED)
    kills.append(job.kill_driver(chance, together=False, then=None))
    job.finish()
    assert check(job.options) == []
    assert all(kill is not None and kill.counts for kill in kills)


def test_a_driver_thought_dead_that_wakes_up_changes_nothing(tmp_path: Path) -> None:
    """F1, F10: it is stopped with a batch done but not committed, and wakes up after its successor has gone on."""
    options = JobOptions(str(tmp_path), records=1_200, deterministic=False)
    first, successor = KilledJob(options), KilledJob(options)
    try:
        first.start(pause_for(Class.C))
        assert first.wait_for_batches(1)
        found, sleepers = first.freeze(Class.C)
        successor.start()
        successor.wait_for_batches(1)
        send(sleepers, signal.SIGCONT)
        successor.finish()
        said = first.give_up()
    finally:
        first.close()
        successor.close()
    assert found.remaining > 0
    assert check(options) == []
    assert "Another driver has taken over the checkpoint" in said


def test_asynchronous_calls_under_kills(tmp_path: Path, chance: random.Random) -> None:
    """O5, F1: ordered and unordered, with calls that fail, are made again, or take too long."""
    job = KilledJob(JobOptions(str(tmp_path), records=1_200, asynchronous=True))
    try:
        job.start()
        kills = [job.kill_driver(chance, together=True, then=None), job.kill_worker(chance)]
        job.finish()
    finally:
        job.close()
    assert check(job.options) == []
    assert all(kill is not None and kill.counts for kill in kills)


def test_partial_matches_under_kills(tmp_path: Path, chance: random.Random) -> None:
    """C3, F1: killed with matches under way, it finds what an uninterrupted run finds, and keeps nothing at the end."""
    job = KilledJob(JobOptions(str(tmp_path), records=1_200, patterns=True))
    try:
        job.start(pause_for(Class.C))
        kills = [job.kill_driver(chance, together=True, then=None), job.kill_worker(chance)]
        job.finish()
    finally:
        job.close()
    assert check(job.options) == []
    for kill in kills:
        assert kill is not None
        assert kill.counts
        assert partial_matches(job.options, job.options.records - kill.found.remaining) > 0
    assert "state of patterns: 0 pages" in job.log()
