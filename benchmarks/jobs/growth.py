"""State that grows: small batches over random keys must not cost more because there are more keys."""

from __future__ import annotations

from dataclasses import asdict
from functools import cache, partial

from benchmarks.inputs import WEIGHT, Answer, Record, key_of, key_sql
from benchmarks.model import BATCH_MS, Job, Ref, Requirement, Trial
from benchmarks.params import GrowthParams
from benchmarks.peers.registry import PENSTOCK, SPARK_SQL

FULL, QUICK = (10**4, 10**5, 10**6, 10**7), (10**4, 10**5)


def growth_record(index: int, state_keys: int) -> Record:
    """First every key once, then random ones; every value is 1."""
    return (index if index < state_keys else key_of(index, state_keys)), 1


def growth_sql(state_keys: int) -> tuple[str, str]:
    """`growth_record` as Spark SQL expressions over the column ``index``."""
    return f"if(index < {state_keys}, index, {key_sql('index', state_keys)}) AS key", "1L AS value"


@cache
def _per_record(params: GrowthParams) -> Answer:
    """One record emitted for each that came in."""
    drawn: dict[int, int] = {}
    checksum = sum([key * WEIGHT ^ 1 for key in range(params.state_keys)])
    for index in range(params.state_keys, params.state_keys + params.batches * params.batch_records):
        key = key_of(index, params.state_keys)
        drawn[key] = total = drawn.get(key, 1) + 1
        checksum += key * WEIGHT ^ total
    return Answer(params.state_keys + params.batches * params.batch_records, checksum)


@cache
def _per_batch(params: GrowthParams) -> Answer:
    """Each key once, then for each small batch the keys that it touched."""
    drawn: dict[int, int] = {}
    emitted, checksum = params.state_keys, sum([key * WEIGHT ^ 1 for key in range(params.state_keys)])
    for batch in range(params.batches):
        first = params.state_keys + batch * params.batch_records
        keys = [key_of(index, params.state_keys) for index in range(first, first + params.batch_records)]
        for key in keys:
            drawn[key] = drawn.get(key, 1) + 1
        emitted += len(set(keys))
        checksum += sum([key * WEIGHT ^ drawn[key] for key in set(keys)])
    return Answer(emitted, checksum)


def _case(keys: int) -> str:
    return f"state of {keys:,} keys"


def _trials(quick: bool) -> list[Trial]:
    return [trial for keys in (QUICK if quick else FULL) for trial in _trials_of(keys, quick)]


def _trials_of(keys: int, quick: bool) -> list[Trial]:
    batches, warmup = (10, 4) if quick else (30, 10)
    params = GrowthParams(keys, 500_000, 1_000, batches, warmup)
    return [
        Trial(_case(keys), PENSTOCK, asdict(params), partial(_per_record, params)),
        Trial(_case(keys), SPARK_SQL, asdict(params), partial(_per_batch, params)),
    ]


GROWTH = Job(
    name="growth",
    title="1,000 records over 1,000 random keys a batch, the larger the state",
    metric=BATCH_MS,
    trials=_trials,
    requirements=(
        Requirement(
            "a batch at 10⁷ keys takes at most 2× the time at 10⁶",
            Ref(_case(10**7), PENSTOCK, BATCH_MS),
            (Ref(_case(10**6), PENSTOCK, BATCH_MS),),
            2.0,
            at_least=False,
        ),
    ),
    notes=("Bytes per record: what the checkpoint folder grew by during the measured batches, logs included.",),
)
