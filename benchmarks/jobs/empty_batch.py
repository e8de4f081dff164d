"""The price of a nearly empty micro-batch: what Penstock adds to a plain PySpark query with one stateful stage."""

from __future__ import annotations

from dataclasses import asdict
from functools import partial

from benchmarks.inputs import expected_per_record
from benchmarks.model import BATCH_MS, Job, Ref, Requirement, Trial
from benchmarks.params import EmptyBatchParams
from benchmarks.peers.registry import PENSTOCK, PYSPARK_RATE, PYSPARK_SOURCE

FULL, QUICK = EmptyBatchParams(10, 40, 10), EmptyBatchParams(10, 15, 5)
KEYS = 1000
CASE = "10 records a batch"


def _trials(quick: bool) -> list[Trial]:
    params = QUICK if quick else FULL
    expected = partial(expected_per_record, params.batch_records * params.batches, KEYS)
    return [Trial(CASE, peer, asdict(params), expected) for peer in (PENSTOCK, PYSPARK_SOURCE, PYSPARK_RATE)]


EMPTY_BATCH = Job(
    name="empty-batch",
    title="A nearly empty micro-batch",
    metric=BATCH_MS,
    trials=_trials,
    requirements=(
        Requirement(
            "at most 1.2× a plain PySpark query with as many stages, source in Python",
            Ref(CASE, PENSTOCK, BATCH_MS),
            (Ref(CASE, PYSPARK_SOURCE, BATCH_MS),),
            1.2,
            at_least=False,
        ),
    ),
    notes=(
        "Like with like: Penstock's sources run in Python, so the requirement is held against the PySpark query with "
        "a data source in Python; the one with Spark's own generator is shown beside it.",
    ),
)
