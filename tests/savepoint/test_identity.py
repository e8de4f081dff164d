"""F4: a savepoint knows whose it is: generated uids that coincide do not make two operators one."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from penstock.common import Configuration
from penstock.core.errors import SavepointError
from penstock.core.program.job import JobPlan
from penstock.core.program.marks import Mark
from penstock.datastream import KeyedProcessFunction, MapFunction, StreamExecutionEnvironment
from penstock.datastream.state import ValueStateDescriptor
from penstock.savepoint.plan_notes import notes_of
from penstock.state import open_state
from penstock.testing import LocalJob, collect, local_job
from tests.golden.test_golden_savepoints import SAVEPOINTS
from tests.savepoint.test_refusals import changed_metadata


class Count(KeyedProcessFunction):
    def __init__(self, step: int = 1) -> None:
        self.step = step

    def open(self, runtime_context: Any) -> None:
        self.seen = runtime_context.get_state(ValueStateDescriptor("seen"))

    def process_element(self, value: Any, ctx: Any) -> Any:
        self.seen.update((self.seen.value() or 0) + self.step)
        yield self.seen.value()


def other_count() -> type:
    """A class of the same name that does something else."""

    class Count(KeyedProcessFunction):
        def process_element(self, value: Any, ctx: Any) -> Any:
            yield -1

    return Count


class Twice(MapFunction):
    def map(self, value: int) -> int:
        return 2 * value


Build = Callable[[StreamExecutionEnvironment], Any]


def counted(env: StreamExecutionEnvironment) -> Any:
    return env.from_collection(list(range(20))).map(lambda v: v + 1).key_by(lambda v: v % 3).process(Count())


def job(build: Build, savepoint: str | None = None, parallelism: int = 2, **conf: Any) -> LocalJob:
    env = StreamExecutionEnvironment.get_execution_environment(Configuration(conf))
    collect(build(env), "out")
    return local_job(env, parallelism, savepoint=savepoint)


@pytest.fixture
def saved(tmp_path: Path) -> str:
    first = job(counted)
    first.run_batch(12)
    return first.savepoint(str(tmp_path / "saved")).path


# -- the same job ---------------------------------------------------------------------------------


def goes_on(build: Build, saved: str, **more: Any) -> None:
    second = job(build, saved, **more)
    second.run()
    assert sorted(second.results["out"]) == sorted([5, 6, 7, 5, 6, 7, 5, 6])


def test_the_same_program_goes_on(saved: str) -> None:
    goes_on(counted, saved)


def test_a_job_that_is_renamed_or_rescaled_goes_on(saved: str) -> None:
    goes_on(counted, saved, parallelism=3, **{"pipeline.name": "another name"})


def test_data_in_functions_does_not_count(saved: str) -> None:
    """A program may be started with other arguments."""

    def shifted(by: int) -> Build:
        return lambda env: (
            env.from_collection(list(range(20))).map(lambda v: v + by).key_by(lambda v: v % 3).process(Count(by))
        )

    first, second = job(shifted(1)).plan, job(shifted(7)).plan
    assert marks(first) == marks(second)
    assert marks(first) != {}


def test_comments_docstrings_and_places_do_not_count() -> None:
    def one(v: int) -> int:
        return v + 1

    plain = one

    def one(v: int) -> int:
        """Adds one."""
        # as before
        return v + 1

    assert marks(job(mapped(plain)).plan) == marks(job(mapped(one)).plan)


# -- another one ----------------------------------------------------------------------------------


OTHERS: dict[str, Build] = {
    "another lambda": lambda env: (
        env.from_collection(list(range(20))).map(lambda v: v + 2).key_by(lambda v: v % 3).process(Count())
    ),
    "another constant in a set": lambda env: (
        env.from_collection(list(range(20))).map(lambda v: v in {1, 2}).key_by(lambda v: v % 3).process(Count())
    ),
    "another key": lambda env: (
        env.from_collection(list(range(20))).map(lambda v: v + 1).key_by(lambda v: v % 4).process(Count())
    ),
    "a class of the same name": lambda env: (
        env.from_collection(list(range(20))).map(lambda v: v + 1).key_by(lambda v: v % 3).process(other_count()())
    ),
    "a class for a lambda": lambda env: (
        env.from_collection(list(range(20))).map(Twice()).key_by(lambda v: v % 3).process(Count())
    ),
    "another collection": lambda env: (
        env.from_collection(list("abcdefghijklmnopqrst")).map(lambda v: v + 1).key_by(lambda v: v % 3).process(Count())
    ),
}


@pytest.mark.parametrize("name", OTHERS)
def test_another_program_of_the_same_form_is_refused(name: str, saved: str) -> None:
    """F4: its generated uids coincide, so it would begin where the other has ended, and give nothing."""
    assert [op.uid for v in job(OTHERS[name]).plan.vertices for op in v.operators] == [
        op.uid for v in job(counted).plan.vertices for op in v.operators
    ]
    with pytest.raises(SavepointError, match=r"is that of '.*' in another program, or .* has changed since"):
        job(OTHERS[name], saved)


def test_a_refusal_says_what_was_found_and_what_to_do(saved: str) -> None:
    with pytest.raises(SavepointError) as caught:
        job(OTHERS["another lambda"], saved)
    assert str(caught.value) == (
        f"The job 'Penstock Job' cannot start from {saved}:\n"
        "- the position under auto-1-Source: Collection is that of 'Source: Collection' in another program, or what it "
        "reads or feeds has changed since: 'Source: Collection' has no uid of its own, so it cannot be told. If it is "
        "to take the position over, give it this uid, .uid('auto-1-Source: Collection'), or set "
        "penstock.state.accept-changed-program to true for one start\n"
        "- the state under auto-3-KeyedProcess is that of 'KeyedProcess' in another program, or its function or what "
        "comes before has changed since: 'KeyedProcess' has no uid of its own, so it cannot be told. If it is to take "
        "the state over, give it this uid, .uid('auto-3-KeyedProcess'), or set penstock.state.accept-changed-program "
        "to true for one start"
    )


def test_the_change_may_be_accepted(saved: str) -> None:
    second = job(OTHERS["another lambda"], saved, **{"penstock.state.accept-changed-program": "true"})
    second.run()
    assert len(second.results["out"]) == 8


def test_the_generated_uid_may_be_given(saved: str) -> None:
    def given(env: StreamExecutionEnvironment) -> Any:
        numbers = env.from_collection(list(range(20))).uid("auto-1-Source: Collection").map(lambda v: v + 100)
        return numbers.key_by(lambda v: v % 3).process(Count()).uid("auto-3-KeyedProcess")

    second = job(given, saved)
    second.run()
    assert len(second.results["out"]) == 8


def test_operators_with_uids_may_change_as_they_like(tmp_path: Path) -> None:
    """F4: an upgrade."""

    def built(add: Callable[[int], int], function: Any) -> Build:
        return lambda env: (
            env.from_collection(list(range(20)))
            .uid("numbers")
            .map(add)
            .key_by(lambda v: v % 3)
            .process(function)
            .uid("count")
        )

    first = job(built(lambda v: v + 1, Count()))
    first.run_batch(12)
    path = first.savepoint(str(tmp_path / "one")).path
    job(built(lambda v: v + 3, other_count()()), path).run()


def test_operators_without_state_may_change(tmp_path: Path) -> None:
    """A generated uid is of no account where nothing is kept under it."""

    def built(add: Callable[[int], int]) -> Build:
        return lambda env: (
            env.from_collection(list(range(20)))
            .uid("numbers")
            .key_by(lambda v: v % 3)
            .process(Count())
            .uid("count")
            .map(add)
        )

    first = job(built(lambda v: v + 1))
    first.run_batch(12)
    job(built(lambda v: v + 3), first.savepoint(str(tmp_path / "one")).path).run()


# -- marks ----------------------------------------------------------------------------------------


def mapped(function: Any) -> Build:
    return lambda env: env.from_collection([1, 2]).map(function)


def marks(plan: JobPlan) -> dict[str, Mark]:
    return {op.uid: op.mark for v in plan.vertices for op in v.operators if op.mark is not None}


def test_operators_of_one_program_have_marks_of_their_own() -> None:
    plan = job(lambda env: env.from_collection([1]).map(lambda v: v + 1).map(lambda v: v + 2)).plan
    found = marks(plan)
    assert len({mark.code for mark in found.values()}) == len(found) == 4


def test_an_operator_with_a_uid_has_no_mark() -> None:
    notes = notes_of(job(lambda env: env.from_collection([1]).uid("ones").map(lambda v: v).uid("same")).plan)
    assert {op.uid: op.mark for op in notes.operators if not op.uid.startswith("auto-")} == {"ones": "", "same": ""}


def test_under_another_version_of_python_names_decide(saved: str) -> None:
    """It compiles the same source to other code."""
    metadata = open_state(saved).metadata
    older = [
        {**asdict(op), "mark": op.mark.replace(f"{Mark.read(op.mark).python}/", "3.9/")}
        for op in metadata.operators
        if op.mark
    ]
    kept = [asdict(op) for op in metadata.operators if not op.mark]
    changed_metadata(saved, operators=older + kept)
    goes_on(counted, saved)
    with pytest.raises(SavepointError, match="another program"):
        job(OTHERS["a class for a lambda"], saved)


PRINTED = """
from penstock.datastream import StreamExecutionEnvironment
from penstock.testing import collect, local_job
env = StreamExecutionEnvironment()
words = env.from_collection(["a", "b"]).map(lambda v: v in {"x", "y", "z", "zz"})
collect(words.key_by(lambda v: v).reduce(min), "out")
print([str(op.mark) for v in local_job(env).plan.vertices for op in v.operators])
"""


@pytest.mark.process
def test_marks_are_the_same_in_every_process() -> None:
    """F1: a job that is started again finds its state."""
    runs = [
        subprocess.run([sys.executable, "-c", PRINTED], capture_output=True, text=True, env={"PYTHONHASHSEED": seed})
        for seed in ("1", "2")
    ]
    assert runs[0].stdout == runs[1].stdout, runs[0].stderr
    assert runs[0].stdout.count("/") == 8


@pytest.mark.parametrize("path", SAVEPOINTS[:1], ids=lambda path: path.name)
def test_savepoints_without_marks_are_taken_as_before(path: Path) -> None:
    assert all(op.mark == "" for op in open_state(str(path)).metadata.operators)
