"""One key whose list grows batch by batch: an append must not cost what is already there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from functools import cache
from statistics import median

from benchmarks.inputs import Answer, checksum_of
from benchmarks.model import LAST_MS, TENTH_MS, Job, Ref, Requirement, Trial
from benchmarks.params import LongListParams
from benchmarks.peers.registry import PENSTOCK, TWS_ROW

FULL, QUICK = LongListParams(10_000, 100), LongListParams(10_000, 20)
CASE = "one key, one list"


def key_metrics(milliseconds: Sequence[float]) -> dict[str, float]:
    """The tenth and the last batch, each as the median of three: the ninth to eleventh, the last three."""
    return {TENTH_MS: median(milliseconds[8:11]), LAST_MS: median(milliseconds[-3:])}


@cache
def _expected(records: int) -> Answer:
    return Answer(1, checksum_of([(records, records * (records - 1) // 2)]))


def _trials(quick: bool) -> list[Trial]:
    params = QUICK if quick else FULL
    records = params.batch_records * params.batches
    return [Trial(CASE, peer, asdict(params), lambda: _expected(records)) for peer in (PENSTOCK, TWS_ROW)]


LONG_LIST = Job(
    name="long-list",
    title="One key whose list grows to a million records over a hundred batches",
    metric=LAST_MS,
    trials=_trials,
    requirements=(
        Requirement(
            "the last batch costs at most 2× the tenth",
            Ref(CASE, PENSTOCK, LAST_MS),
            (Ref(CASE, PENSTOCK, TENTH_MS),),
            2.0,
            at_least=False,
        ),
    ),
)
