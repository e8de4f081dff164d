"""The job: a running sum per key, ``KeyedProcessFunction`` + ``ValueState``, steady state.

For every record: new sum = state[key] + value; update the state; emit (key, new sum). Whatever is emitted is counted
and added to a checksum, which must be that of a plain loop over the same records.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import cache, partial

from benchmarks.inputs import Answer, expected_per_batch, expected_per_record
from benchmarks.jobs.events import BATCH
from benchmarks.model import RATE, Job, Ref, Requirement, Trial
from benchmarks.params import SumParams
from benchmarks.peers.registry import (
    APPLY_PANDAS,
    BYTEWAX,
    FLINK_PROCESS,
    FLINK_THREAD,
    LOOP,
    PATHWAY,
    PENSTOCK,
    SPARK_SQL,
    TWS_PANDAS,
    TWS_ROW,
)


@dataclass(frozen=True, slots=True)
class Case:
    """So many keys; `batch` records in a micro-batch, the same for all Spark peers; `small`: fewer than by default."""

    keys: int
    batch: int
    small: bool = False

    def __str__(self) -> str:
        return f"{self.keys:,} keys" + (f", {self.batch:,} a batch" if self.small else "")


K3, K5, K6 = Case(10**3, BATCH), Case(10**5, BATCH), Case(10**6, 1_000_000)
K3_SMALL, K5_SMALL = Case(10**3, 250_000, small=True), Case(10**5, 250_000, small=True)


@dataclass(frozen=True, slots=True)
class Size:
    """How much a peer gets: so many batches (for micro-batch peers of one size in a case), so many of them warm-up."""

    warmup: int
    counted: int
    batch: int | None = None


STREAM = 10_000
"""The unit in which the sizes of the other peers are given."""

FULL: dict[Case, dict[str, Size]] = {
    K3: {
        PENSTOCK: Size(6, 8),
        TWS_ROW: Size(1, 2),
        TWS_PANDAS: Size(1, 2),
        APPLY_PANDAS: Size(1, 2),
        SPARK_SQL: Size(8, 8),
        FLINK_PROCESS: Size(20, 30, STREAM),
        FLINK_THREAD: Size(10, 30, STREAM),
        BYTEWAX: Size(100, 200, STREAM),
        PATHWAY: Size(0, 100, STREAM),
        LOOP: Size(100, 200, STREAM),
    },
    K5: {
        PENSTOCK: Size(6, 8),
        TWS_ROW: Size(1, 1),
        SPARK_SQL: Size(6, 8),
        FLINK_THREAD: Size(20, 30, STREAM),
        BYTEWAX: Size(100, 200, STREAM),
        PATHWAY: Size(0, 100, STREAM),
        LOOP: Size(100, 200, STREAM),
    },
    K6: {
        PENSTOCK: Size(6, 6),
        SPARK_SQL: Size(5, 5),
        FLINK_THREAD: Size(20, 30, STREAM),
        BYTEWAX: Size(150, 150, STREAM),
        PATHWAY: Size(0, 150, STREAM),
        LOOP: Size(150, 150, STREAM),
    },
    K3_SMALL: {PENSTOCK: Size(10, 10), TWS_ROW: Size(1, 2), TWS_PANDAS: Size(1, 2), SPARK_SQL: Size(12, 10)},
    K5_SMALL: {PENSTOCK: Size(10, 10), TWS_ROW: Size(1, 1), SPARK_SQL: Size(10, 10)},
}

QUICK: dict[Case, dict[str, Size]] = {
    K3: {
        PENSTOCK: Size(2, 3),
        TWS_ROW: Size(1, 1),
        TWS_PANDAS: Size(1, 1),
        APPLY_PANDAS: Size(1, 1),
        SPARK_SQL: Size(2, 3),
        FLINK_PROCESS: Size(3, 7, STREAM),
        FLINK_THREAD: Size(3, 7, STREAM),
        BYTEWAX: Size(20, 40, STREAM),
        PATHWAY: Size(0, 20, STREAM),
        LOOP: Size(20, 40, STREAM),
    },
    K5: {
        PENSTOCK: Size(2, 3),
        TWS_ROW: Size(1, 1),
        SPARK_SQL: Size(2, 3),
        FLINK_THREAD: Size(3, 7, STREAM),
        BYTEWAX: Size(20, 40, STREAM),
        PATHWAY: Size(0, 20, STREAM),
        LOOP: Size(20, 40, STREAM),
    },
    K6: {
        PENSTOCK: Size(2, 2),
        SPARK_SQL: Size(2, 2),
        FLINK_THREAD: Size(3, 7, STREAM),
        BYTEWAX: Size(50, 50, STREAM),
        PATHWAY: Size(0, 50, STREAM),
        LOOP: Size(50, 50, STREAM),
    },
    K3_SMALL: {PENSTOCK: Size(2, 3), TWS_ROW: Size(1, 1), TWS_PANDAS: Size(1, 1), SPARK_SQL: Size(2, 3)},
    K5_SMALL: {PENSTOCK: Size(2, 3), TWS_ROW: Size(1, 1), SPARK_SQL: Size(2, 3)},
}


def _trials(quick: bool) -> list[Trial]:
    sizes = QUICK if quick else FULL
    return [_trial(case, peer, size) for case, peers in sizes.items() for peer, size in peers.items()]


def _trial(case: Case, peer: str, size: Size) -> Trial:
    batch = size.batch or case.batch
    params = SumParams(case.keys, (size.warmup + size.counted) * batch, size.warmup * batch, batch)
    return Trial(str(case), peer, asdict(params), _expected(peer, params))


def _expected(peer: str, params: SumParams) -> Callable[[], Answer]:
    if peer == PATHWAY:
        return partial(_per_batch, 1, params.records, params.keys)
    if peer == SPARK_SQL:
        return partial(_per_batch, params.batches, params.batch_records, params.keys)
    return partial(_per_record, params.records, params.keys)


_per_batch = cache(expected_per_batch)
_per_record = cache(expected_per_record)


def _requirements(text: str, bounds: dict[Case, float], *peers: str) -> tuple[Requirement, ...]:
    return tuple(
        Requirement(
            f"at least {bound:g}× {text} at {case}",
            Ref(str(case), PENSTOCK, RATE),
            tuple(Ref(str(case), peer, RATE) for peer in peers),
            bound,
            at_least=True,
        )
        for case, bound in bounds.items()
    )


RUNNING_SUM = Job(
    name="running-sum",
    title="Keyed running sum, steady state",
    metric=RATE,
    trials=_trials,
    requirements=(
        *_requirements("hand-written transformWithState", {K3_SMALL: 5, K5_SMALL: 30}, TWS_ROW, TWS_PANDAS),
        *_requirements("PyFlink (the better mode)", {K3: 30, K5: 30, K6: 30}, FLINK_PROCESS, FLINK_THREAD),
        *_requirements("Bytewax", {K3: 1, K5: 2, K6: 3}, BYTEWAX),
        *_requirements("Spark's native SQL", {K3_SMALL: 0.4, K5: 1, K6: 1.8}, SPARK_SQL),
    ),
    notes=(
        "Records in a micro-batch, the same for all Spark peers: "
        + ", ".join(f"{case.batch:,} at {case}" for case in (K3, K5, K6))
        + ". Spark peers and Penstock: batch size by the median time of a batch, after warm-up batches. The others: "
        "records after the warm-up by the time they took to arrive at the consumer.",
        "transformWithState pays for every key and batch, so it gains by larger batches.",
        "PyFlink's process mode is fast within its first bundle, 33,000 a second over 100,000 records at 1,000 keys, "
        "and settles at a third of that, 11,500 from the 200,000th record to the 600,000th in one run: it is measured "
        "there.",
        "Spark's native SQL emits one row for each key that a batch touched, Pathway what has changed every half "
        "second (its rate includes its start), all others one for each record.",
        "Left out for their time: transformWithState with pandas and applyInPandasWithState at 100,000 keys and all "
        "three forms at 1,000,000; "
        "PyFlink's process mode at 100,000 keys and more (one run over 100,000 records took 135 s on a busy machine).",
        "Keys are computed from indices as part of the job, for the Spark peers in the JVM; "
        "the loop finds its input in memory. Bytewax, Pathway, PyFlink and the loop keep nothing durable.",
    ),
)
