"""The event-time jobs: windows, an interval join, three failed logins in a row; every peer's answer is compared."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from functools import cache, partial

from benchmarks import events
from benchmarks.events import AS_THEY_COME, JOIN, LOGINS, SESSIONS, SLIDING, TUMBLING
from benchmarks.model import RATE, Job, Ref, Requirement, Trial
from benchmarks.params import EventParams
from benchmarks.peers.registry import BYTEWAX, FLINK_PROCESS, FLINK_THREAD, LOOP, PATHWAY, PENSTOCK, SPARK_SQL, TWS_ROW


@dataclass(frozen=True, slots=True)
class Size:
    """So many batches of warm-up, so many that count, so many records in each."""

    warmup: int
    counted: int
    batch: int


FLINKS = (FLINK_PROCESS, FLINK_THREAD)
OTHERS = (BYTEWAX, PATHWAY)
RIVALS = {
    TUMBLING: (SPARK_SQL, *FLINKS, *OTHERS),
    SLIDING: (SPARK_SQL, FLINK_THREAD, *OTHERS),
    SESSIONS: (SPARK_SQL, FLINK_THREAD, *OTHERS),
    JOIN: (SPARK_SQL, FLINK_THREAD, *OTHERS),
    LOGINS: (FLINK_THREAD,),
    AS_THEY_COME: (TWS_ROW, BYTEWAX),
}
"""What users would take instead. Of PySpark native SQL wherever it can express the job."""

BATCH, QUICK_BATCH = 500_000, 120_000
"""Records in a micro-batch, the same for Penstock and for Spark: Penstock's own limit for a split."""

FLINK = {what: 12_000 if what == SLIDING else 30_000 for what in RIVALS}
"""A third of what PyFlink gets: the first third is its warm-up."""

OTHER = {what: 40_000 if what == SLIDING else 80_000 for what in RIVALS}
"""A third of what Bytewax and Pathway get; for Pathway, which does not show how far it is, no third is a warm-up."""

BOUNDS = {LOGINS: 1}
"""How many times PyFlink is required, where it is not ten: a pattern against a function written for the purpose."""


def _sizes(what: str, quick: bool) -> dict[str, Size]:
    ours = Size(2, 2, QUICK_BATCH) if quick else Size(2, 3, BATCH)
    theirs = Size(1, 1, FLINK[what]) if quick else Size(1, 2, FLINK[what])
    sizes = dict.fromkeys(FLINKS, theirs) | {peer: of_other(peer, OTHER[what], quick) for peer in OTHERS}
    return {peer: sizes.get(peer, ours) for peer in (PENSTOCK, *RIVALS[what], LOOP)}


def of_other(peer: str, third: int, quick: bool) -> Size:
    """How much Bytewax or Pathway gets."""
    counted = 1 if quick else 2
    return Size(0, counted + 1, third) if peer == PATHWAY else Size(1, counted, third)


def _described(what: str) -> str:
    """How many records come to peers that have no batches."""
    streams = {peer: size for peer, size in _sizes(what, quick=False).items() if peer in FLINKS + OTHERS}
    totals = [f"{peer} {(size.warmup + size.counted) * size.batch:,}" for peer, size in streams.items()]
    return f"{what} {', '.join(totals)}"


def _trials(whats: tuple[str, ...], quick: bool) -> list[Trial]:
    return [_trial(what, peer, size) for what in whats for peer, size in _sizes(what, quick).items()]


def _trial(what: str, peer: str, size: Size) -> Trial:
    params = EventParams(what, (size.warmup + size.counted) * size.batch, size.warmup * size.batch, size.batch)
    return Trial(what, peer, asdict(params), partial(_expected, what, params.records))


_expected = cache(events.expected)


def _requirements(what: str) -> list[Requirement]:
    wanted = (
        ("PyFlink (the better mode)", FLINKS, BOUNDS.get(what, 10)),
        ("the better of Bytewax and Pathway", OTHERS, 1),
    )
    return [ahead_of(whom, what, peers, bound) for whom, peers, bound in wanted if {*peers} & {*RIVALS[what]}]


def ahead_of(whom: str, case: str, peers: tuple[str, ...], bound: float) -> Requirement:
    """So many times as fast as the fastest of some peers."""
    refs = tuple(Ref(case, peer, RATE) for peer in peers)
    return Requirement(f"at least {bound:g}× {whom}: {case}", Ref(case, PENSTOCK, RATE), refs, bound, at_least=True)


def _job(name: str, title: str, whats: tuple[str, ...], *notes: str) -> Job:
    sizes = "; ".join(map(_described, whats))
    measured = (
        f"Penstock and Spark: {BATCH:,} records a batch, by the median time of a batch after warm-up batches, every "
        f"batch a durable checkpoint. The others, records in all: {sizes}. PyFlink keeps nothing durable; its rate is "
        "how far event time, as its output shows it, comes in a second, after the warm-up; over the whole run where "
        "it holds output back. The loop is the one that the answers are held against. PyFlink's process mode is run "
        "for the tumbling count alone: on the interval join it was nine times slower than thread mode. Bytewax (one "
        "worker) and Pathway (one worker, its rate includes its start) keep nothing durable either. Records are made "
        "as part of the job, Spark's in the JVM."
    )
    requirements = tuple(requirement for what in whats for requirement in _requirements(what))
    return Job(name, title, RATE, partial(_trials, whats), requirements, (measured, *notes))


WINDOWS = _job(
    "windows",
    "Event-time windows",
    (TUMBLING, SLIDING, SESSIONS),
    "Tumbling: records per key and five minutes. Sliding: of the last hour's 1,000 keys the three most frequent, every "
    "five minutes, in two stages. Sessions: per key, a pause of twice the mean ends one. PySpark is native SQL. "
    "Bytewax has a clock for each key: its second stage waits for an hour of event time for the counts of a window.",
)
INTERVAL_JOIN = _job(
    "interval-join",
    "Interval join of two streams",
    (JOIN,),
    "10,000 keys, about one partner for each event. PyFlink's Python API has no interval join: it runs what a user "
    "would write, a KeyedCoProcessFunction with map state on both sides and a timer that removes what is past. PySpark "
    "is its native stream-stream join with watermarks. Bytewax's join is a ``stateful_flat_map`` that relies on "
    "input in order.",
)
FAILED_LOGINS = _job(
    "failed-logins",
    "Three failed logins in a row",
    (LOGINS, AS_THEY_COME),
    "10,000 users. By event time: Penstock runs a CEP pattern, which puts events in order first; PyFlink, which has no "
    "CEP in Python, a KeyedProcessFunction that does the same by hand. As they come: whoever does that relies on input "
    "in order and only counts, Penstock with a KeyedProcessFunction behind a source that is one subtask, PySpark with "
    "a transformWithState that sorts the rows of a batch, Bytewax with a ``stateful_flat_map``. Pathway "
    "promises its reducers no order.",
)
