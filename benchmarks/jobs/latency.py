"""End-to-end latency at fixed rates: from the moment at which a record is due to when its result is out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from functools import partial

from benchmarks.inputs import expected_per_record
from benchmarks.model import Job, Trial
from benchmarks.params import LatencyParams
from benchmarks.peers.registry import FLINK_THREAD, PENSTOCK

RATES = (1_000, 10_000, 50_000)
KEYS = 1_000
SAMPLE = 10
"""Of so many records one is looked at."""

P50, P90, P99 = "p50_ms", "p90_ms", "p99_ms"


def percentiles(latencies_ms: Sequence[float]) -> dict[str, float]:
    """
    >>> percentiles([float(n) for n in range(101)])
    {'p50_ms': 50.0, 'p90_ms': 90.0, 'p99_ms': 99.0}
    """
    ordered = sorted(latencies_ms)
    return {name: ordered[round(part * (len(ordered) - 1))] for name, part in ((P50, 0.5), (P90, 0.9), (P99, 0.99))}


def _trials(quick: bool) -> list[Trial]:
    return [_trial(rate, peer, quick) for rate in RATES for peer in _peers(rate)]


def _peers(rate: int) -> tuple[str, ...]:
    return (PENSTOCK, FLINK_THREAD) if rate == RATES[0] else (PENSTOCK,)


def _trial(rate: int, peer: str, quick: bool) -> Trial:
    seconds, warmup = (20, 12) if quick else (35, 20)
    params = LatencyParams(rate, seconds, warmup, KEYS)
    return Trial(f"{rate:,} records/s", peer, asdict(params), partial(expected_per_record, rate * seconds, KEYS))


LATENCY = Job(
    name="latency",
    title="End-to-end latency of a running sum per key",
    metric=P50,
    trials=_trials,
    requirements=(),
    notes=(
        "Record i is due i ÷ rate after the start; its latency ends when its result is committed (Penstock: sink in "
        "two phases, every batch durable, the next batch begins when the one before has ended) or reaches the consumer "
        "(PyFlink, thread mode, no checkpoints, no transactions). The first seconds, in which a backlog from starting "
        "up is worked off, do not count.",
        "PyFlink handles records one by one and is ahead here by design; a micro-batch engine's latency is the time of "
        "a batch. At 10,000 records/s and more PyFlink does not keep up, see the running sum.",
    ),
)
