"""Word count: the count so far of every word, as it comes; durability on and off, one subtask and two."""

from __future__ import annotations

from dataclasses import asdict
from functools import cache, partial

from benchmarks import events
from benchmarks.events import WORDS
from benchmarks.jobs.events import FLINKS, OTHERS, Size, ahead_of, of_other
from benchmarks.model import RATE, Job, Ref, Requirement, Trial
from benchmarks.params import EventParams
from benchmarks.peers.registry import LOOP, PATHWAY, PENSTOCK, SPARK_SQL

BATCH, FLINK_PART, OTHER_PART = 40_000, 3_000, 20_000
STEADY, ONE, BOUNDED = "durable, 2 subtasks", "durable, 1 subtask", "nothing durable, 2 subtasks"


def _trials(quick: bool) -> list[Trial]:
    ours = Size(2, 2, BATCH) if quick else Size(3, 5, BATCH)
    theirs = Size(1, 1, FLINK_PART) if quick else Size(1, 2, FLINK_PART)
    others = {peer: of_other(peer, OTHER_PART, quick) for peer in OTHERS}
    peers = {PENSTOCK: ours, SPARK_SQL: ours, **dict.fromkeys(FLINKS, theirs), **others, LOOP: ours}
    return [
        *(_trial(STEADY, peer, size) for peer, size in peers.items()),
        _trial(ONE, PENSTOCK, ours, subtasks=1),
        _trial(BOUNDED, PENSTOCK, ours, durable=False),
    ]


def _trial(case: str, peer: str, size: Size, subtasks: int = 0, durable: bool = True) -> Trial:
    records, warmup = (size.warmup + size.counted) * size.batch, size.warmup * size.batch
    params = EventParams(WORDS, records, warmup, size.batch, subtasks, durable)
    batch = {SPARK_SQL: size.batch, PATHWAY: records}.get(peer)
    expected = partial(_per_batch, records, batch) if batch else partial(_expected, WORDS, records)
    return Trial(case, peer, asdict(params), expected)


_expected = cache(events.expected)
_per_batch = cache(events.words_per_batch)


def _bound(text: str, top: Ref, bottoms: tuple[Ref, ...], bound: float) -> Requirement:
    return Requirement(text, top, bottoms, bound, at_least=True)


_OURS = Ref(STEADY, PENSTOCK, RATE)
WORD_COUNT = Job(
    name="word-count",
    title="Word count",
    metric=RATE,
    trials=_trials,
    requirements=(
        ahead_of("PyFlink (the better mode)", STEADY, FLINKS, 10),
        ahead_of("the better of Bytewax and Pathway", STEADY, OTHERS, 1),
        _bound("a second subtask is worth at least half a first", _OURS, (Ref(ONE, PENSTOCK, RATE),), 1.5),
        _bound("durability costs at most half of the speed", _OURS, (Ref(BOUNDED, PENSTOCK, RATE),), 0.5),
    ),
    notes=(
        f"A record is a line of {events.LINE_WORDS} words out of {events.VOCABULARY:,}; {BATCH:,} lines in a batch, "
        f"{3 * FLINK_PART:,} in all for PyFlink, {3 * OTHER_PART:,} for Bytewax and Pathway, which keep nothing "
        "durable. Lines are made as part of the job, for Spark's SQL in the JVM. Everyone emits one count for each "
        "word, Spark's SQL one for each word that a batch touched, Pathway what has changed every half second. Nothing "
        "durable: Penstock's bounded host, one job over all lines, its whole running time after a first job over a "
        "tenth of them.",
    ),
)
