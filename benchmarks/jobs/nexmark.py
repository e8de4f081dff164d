"""Nexmark, queries 0 to 8, 11 and 12, as DataStream programs."""

from __future__ import annotations

from dataclasses import asdict
from functools import cache, partial

from benchmarks import events
from benchmarks.jobs.events import BATCH, FLINKS, OTHERS, QUICK_BATCH, Size, ahead_of, of_other
from benchmarks.model import RATE, Job, Requirement, Trial
from benchmarks.nexmark.oracle import LOOPS
from benchmarks.params import EventParams
from benchmarks.peers.registry import BYTEWAX, FLINK_THREAD, LOOP, PATHWAY, PENSTOCK, SPARK_SQL

FLINK_PART = 20_000
OTHER_PARTS = {BYTEWAX: 50_000, PATHWAY: 20_000}
BY_THE_CLOCK = "q12"
WINDOWED = ("q5", "q7", "q8", "q11")
STATEFUL = ("q3", *WINDOWED)
DATASTREAM_ONLY = ("q4", "q6")
"""A running average in the order in which auctions closed: for those who have event-time timers."""


def _trials(quick: bool) -> list[Trial]:
    ours = Size(2, 2, QUICK_BATCH) if quick else Size(1, 2, BATCH)
    theirs = Size(1, 1, FLINK_PART) if quick else Size(1, 2, FLINK_PART)
    peers = {PENSTOCK: ours, FLINK_THREAD: theirs, LOOP: ours}
    more = {SPARK_SQL: ours, **{peer: of_other(peer, part, quick) for peer, part in OTHER_PARTS.items()}}
    checked = [
        _trial(query, peer, size)
        for query in LOOPS
        for peer, size in (peers if query in DATASTREAM_ONLY else peers | more).items()
    ]
    return [*checked, _trial(BY_THE_CLOCK, PENSTOCK, ours)]


def _trial(query: str, peer: str, size: Size) -> Trial:
    params = EventParams(query, (size.warmup + size.counted) * size.batch, size.warmup * size.batch, size.batch)
    expected = partial(_expected, query, params.records) if query in LOOPS else None
    return Trial(query, peer, asdict(params), expected)


_expected = cache(events.expected)


def _requirements() -> tuple[Requirement, ...]:
    flink = [ahead_of("PyFlink", query, FLINKS, 10) for query in WINDOWED]
    others = [ahead_of("the better of Bytewax and Pathway", query, OTHERS, 1) for query in STATEFUL]
    return (*flink, *others)


NEXMARK = Job(
    name="nexmark",
    title="Nexmark",
    metric=RATE,
    trials=_trials,
    requirements=_requirements(),
    notes=(
        f"Penstock: {BATCH:,} events in a micro-batch, each a durable checkpoint, events made in Python as part of the "
        f"job. PyFlink (thread mode, nothing durable): the same text of the queries, {3 * FLINK_PART:,} events in all, "
        f"its rate as for the windows. Bytewax and Pathway (one worker, nothing durable): {3 * OTHER_PARTS[BYTEWAX]:,} "
        f"and {3 * OTHER_PARTS[PATHWAY]:,} events, made as part of the job, too; Pathway is handed those of the "
        "kinds that a query asks for. Spark: native SQL, the same batches, events made in the JVM. The loop is the one "
        "that the answers are held against.",
        "q12 counts by processing time: no two runs agree, so its answer is not compared, and PyFlink's progress "
        "cannot be seen from its output. q4 and q6 take auctions in the order in which they closed: Spark's SQL and "
        "Pathway's reducers have no order, and Bytewax tells no key that event time has passed.",
    ),
)
