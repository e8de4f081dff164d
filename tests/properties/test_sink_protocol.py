"""F1, F6: the job of `make kill` in the local host, dying in every window of the sink protocol, thousands of times."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable
from contextlib import suppress
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from penstock.datastream import StreamExecutionEnvironment
from penstock.testing import LocalJob, local_job
from tests.effort import examples
from tests.kill.job import PARALLELISM, JobOptions, build
from tests.kill.oracle import check
from tests.kill.sinks import create_tables

SINKS = 4
"""Two stages, each to files and to SQLite."""

Death = tuple[int, bool] | None
"""At which commit of a batch the driver dies, and whether that was made; None: it lives."""


class DeadError(BaseException):
    """The driver is gone; no handler of its own has run."""


@st.composite
def steps(draw: st.DrawFn) -> list[tuple[int, bool, Death]]:
    """Batches: how many records, whether Spark's commit is reached, and who dies afterwards."""
    deaths = st.none() | st.tuples(st.integers(0, SINKS - 1), st.booleans())
    return draw(st.lists(st.tuples(st.integers(0, 60), st.booleans(), deaths), max_size=10))


def run(job: LocalJob, records: int, durable: bool, death: Death) -> None:
    commit, calls = job.commits._commit, iter(range(100))

    def dying(*given: Any, **more: Any) -> None:
        assert death is not None
        number, made = death
        here = next(calls) == number
        if not here or made:
            commit(*given, **more)
        if here:
            raise DeadError

    if death is not None:
        job.commits._commit = dying  # type: ignore[method-assign]
    with suppress(DeadError):
        job.run_batch(records, commit=durable)
    if death is not None:
        job.restart()


def play(job: LocalJob, plan: Iterable[tuple[int, bool, Death]]) -> None:
    for records, durable, death in plan:
        if not job.finished:
            run(job, records, durable, death)
    job.restart()
    job.run_batch(0)
    job.run()


@settings(max_examples=examples(60))
@given(steps(), st.booleans())
def test_output_and_state_agree_whatever_dies_when(plan: list[tuple[int, bool, Death]], deterministic: bool) -> None:
    """F1, F6: nothing lost, nothing twice, in files and in a database; records carry random numbers and the time.

    A commit that dies while the last batch's work is made good, before this batch is durable, is among them.
    """
    with tempfile.TemporaryDirectory() as folder:
        options = JobOptions(folder, records=300, per_second=1e9, deterministic=deterministic)
        for url in options.databases.values():
            create_tables(url)
        env = StreamExecutionEnvironment()
        build(env, options)
        play(local_job(env, PARALLELISM), plan)
        assert check(options) == []
