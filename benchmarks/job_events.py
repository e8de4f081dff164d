"""The event-time jobs: windows, an interval join, three failed logins in a row; every peer's answer is compared."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from functools import cache, partial

from benchmarks import events
from benchmarks.events import JOIN, LOGINS, SESSIONS, SLIDING, TUMBLING
from benchmarks.model import RATE, Job, Ref, Requirement, Trial
from benchmarks.params import EventParams
from benchmarks.peers import FLINK_PROCESS, FLINK_THREAD, LOOP, PENSTOCK, SPARK_SQL, TWS_ROW


@dataclass(frozen=True, slots=True)
class Size:
    """So many batches of warm-up, so many that count, so many records in each."""

    warmup: int
    counted: int
    batch: int


FLINKS = (FLINK_PROCESS, FLINK_THREAD)
NATIVE = {TUMBLING: SPARK_SQL, SLIDING: SPARK_SQL, SESSIONS: SPARK_SQL, JOIN: SPARK_SQL, LOGINS: TWS_ROW}
"""What a PySpark user would take: native SQL wherever it can express the job."""

BATCH = {TUMBLING: 240_000, SLIDING: 240_000, SESSIONS: 120_000, JOIN: 120_000, LOGINS: 120_000}
"""Records in a micro-batch: the same for Penstock and for Spark."""

FLINK = {TUMBLING: 30_000, SLIDING: 12_000, SESSIONS: 30_000, JOIN: 30_000, LOGINS: 30_000}
"""A third of what PyFlink gets: the first third is its warm-up."""


BOUNDS = {LOGINS: 1}
"""How many times PyFlink is required, where it is not ten: a pattern against a function written for the purpose."""


def _sizes(what: str, quick: bool) -> dict[str, Size]:
    ours = Size(2, 2, BATCH[what]) if quick else Size(3, 5, BATCH[what])
    theirs = Size(1, 1, FLINK[what]) if quick else Size(1, 2, FLINK[what])
    modes = FLINKS if what == TUMBLING else (FLINK_THREAD,)
    return {PENSTOCK: ours, NATIVE[what]: ours, **dict.fromkeys(modes, theirs), LOOP: ours}


def _trials(whats: tuple[str, ...], quick: bool) -> list[Trial]:
    return [_trial(what, peer, size) for what in whats for peer, size in _sizes(what, quick).items()]


def _trial(what: str, peer: str, size: Size) -> Trial:
    params = EventParams(what, (size.warmup + size.counted) * size.batch, size.warmup * size.batch, size.batch)
    return Trial(what, peer, asdict(params), partial(_expected, what, params.records))


_expected = cache(events.expected)


def _requirement(what: str) -> Requirement:
    bound = BOUNDS.get(what, 10)
    return Requirement(
        f"at least {bound}× PyFlink (the better mode): {what}",
        Ref(what, PENSTOCK, RATE),
        tuple(Ref(what, peer, RATE) for peer in FLINKS),
        bound,
        at_least=True,
    )


def _job(name: str, title: str, whats: tuple[str, ...], *notes: str) -> Job:
    sizes = "; ".join(f"{what} {BATCH[what]:,} a batch, PyFlink {3 * FLINK[what]:,} in all" for what in whats)
    measured = (
        f"Records: {sizes}. Penstock and Spark: batch size by the median time of a batch, after warm-up batches, every "
        "batch a durable checkpoint. PyFlink keeps nothing durable and reads fewer records: its rate is how far event "
        "time, as its output shows it, comes in a second, after the warm-up; over the whole run where it holds output "
        "back. The loop is the one that the answers are held against. PyFlink's process mode is run for the tumbling "
        "count alone: on the interval join it was nine times slower than thread mode."
    )
    return Job(name, title, RATE, partial(_trials, whats), tuple(map(_requirement, whats)), (measured, *notes))


WINDOWS = _job(
    "windows",
    "Event-time windows",
    (TUMBLING, SLIDING, SESSIONS),
    "Tumbling: records per key and five minutes. Sliding: of the last hour's 1,000 keys the three most frequent, every "
    "five minutes, in two stages. Sessions: per key, a pause of twice the mean ends one. PySpark is native SQL.",
)
INTERVAL_JOIN = _job(
    "interval-join",
    "Interval join of two streams",
    (JOIN,),
    "10,000 keys, about one partner for each event. PyFlink's Python API has no interval join: it runs what a user "
    "would write, a KeyedCoProcessFunction with map state on both sides and a timer that removes what is past. PySpark "
    "is its native stream-stream join with watermarks.",
)
FAILED_LOGINS = _job(
    "failed-logins",
    "Three failed logins in a row",
    (LOGINS,),
    "10,000 users. Penstock runs a CEP pattern, which puts events in order of event time first. PyFlink, which has no "
    "CEP in Python, a KeyedProcessFunction that does the same by hand. PySpark a transformWithState that sorts the "
    "rows of a batch and counts: it relies on batches that are in order among themselves, and so does less.",
)
