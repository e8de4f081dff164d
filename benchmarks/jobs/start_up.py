"""From the start of a process to the first result of a bounded job."""

from __future__ import annotations

from dataclasses import asdict

from benchmarks.inputs import Answer
from benchmarks.model import FIRST_MS, Job, Ref, Requirement, Trial
from benchmarks.params import StartParams
from benchmarks.peers.registry import FLINK_PROCESS, FLINK_THREAD, PENSTOCK, SPARK_SQL

LINES = ("to be or not to be", "that is the question", "whether it is nobler to be or to seem")
CASE = "word count of three lines"
WORDS = len(" ".join(LINES).split())


def _trials(quick: bool) -> list[Trial]:
    peers = (PENSTOCK, SPARK_SQL, FLINK_PROCESS, FLINK_THREAD)
    return [Trial(CASE, peer, asdict(StartParams(LINES)), lambda: Answer(WORDS, WORDS)) for peer in peers]


START_UP = Job(
    name="start-up",
    title="From process start to the first result",
    metric=FIRST_MS,
    trials=_trials,
    requirements=(
        Requirement(
            "not later than PyFlink (the better mode)",
            Ref(CASE, PENSTOCK, FIRST_MS),
            (Ref(CASE, FLINK_PROCESS, FIRST_MS), Ref(CASE, FLINK_THREAD, FIRST_MS)),
            1,
            at_least=False,
        ),
    ),
    notes=(
        "From the moment at which the harness starts the interpreter. Penstock uses its class-data archive if an "
        "earlier job on the machine has left one, as any second job does.",
    ),
)
