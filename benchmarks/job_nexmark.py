"""Nexmark, queries 0 to 8, 11 and 12, as DataStream programs."""

from __future__ import annotations

from dataclasses import asdict
from functools import cache, partial

from benchmarks import events
from benchmarks.job_events import FLINKS, Size
from benchmarks.model import RATE, Job, Ref, Requirement, Trial
from benchmarks.nexmark.oracle import LOOPS
from benchmarks.params import EventParams
from benchmarks.peers import FLINK_THREAD, LOOP, PENSTOCK

BATCH, FLINK_PART = 100_000, 20_000
BY_THE_CLOCK = "q12"
WINDOWED = ("q5", "q7", "q8", "q11")


def _trials(quick: bool) -> list[Trial]:
    ours = Size(2, 2, BATCH) if quick else Size(2, 4, BATCH)
    theirs = Size(1, 1, FLINK_PART) if quick else Size(1, 2, FLINK_PART)
    peers = {PENSTOCK: ours, FLINK_THREAD: theirs, LOOP: ours}
    checked = [_trial(query, peer, size) for query in LOOPS for peer, size in peers.items()]
    return [*checked, _trial(BY_THE_CLOCK, PENSTOCK, ours)]


def _trial(query: str, peer: str, size: Size) -> Trial:
    params = EventParams(query, (size.warmup + size.counted) * size.batch, size.warmup * size.batch, size.batch)
    expected = partial(_expected, query, params.records) if query in LOOPS else None
    return Trial(query, peer, asdict(params), expected)


_expected = cache(events.expected)


def _requirement(query: str, bound: float) -> Requirement:
    return Requirement(
        f"at least {bound:g}× PyFlink: {query}",
        Ref(query, PENSTOCK, RATE),
        tuple(Ref(query, peer, RATE) for peer in FLINKS),
        bound,
        at_least=True,
    )


NEXMARK = Job(
    name="nexmark",
    title="Nexmark",
    metric=RATE,
    trials=_trials,
    requirements=tuple(_requirement(query, 10) for query in WINDOWED),
    notes=(
        f"Penstock: {BATCH:,} events in a micro-batch, each a durable checkpoint, events made in Python as part of the "
        f"job. PyFlink (thread mode, nothing durable): the same text of the queries, {3 * FLINK_PART:,} events in all, "
        "its rate as for the windows. The loop is the one that the answers are held against.",
        "q12 counts by processing time: no two runs agree, so its answer is not compared, and PyFlink's progress "
        "cannot be seen from its output. q4 and q6 take auctions in the order in which they closed.",
    ),
)
