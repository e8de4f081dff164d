"""Windows in the runtime alone: what overlapping costs where panes are shared."""

from __future__ import annotations

from dataclasses import asdict
from functools import cache, partial

from benchmarks.inputs import WEIGHT, Answer, key_of
from benchmarks.model import RATE, Job, Ref, Requirement, Trial
from benchmarks.params import WindowParams
from benchmarks.peers.registry import PENSTOCK

HOUR_MS, MINUTE_MS = 3_600_000, 60_000
KEYS, A_KEY_AND_HOUR = 100, 10_000
TUMBLING, SLIDING = "tumbling 1 h", "sliding 1 h / 1 min, mergeable"
SLIDES = {TUMBLING: HOUR_MS, SLIDING: MINUTE_MS}


def moment(index: int, keys: int) -> int:
    """So that every key has `A_KEY_AND_HOUR` records an hour, in the mean."""
    return index * HOUR_MS // (keys * A_KEY_AND_HOUR)


def term(key: int, end_ms: int, count: int) -> int:
    return key * WEIGHT ^ end_ms + count


@cache
def expected(slide_ms: int, records: int, keys: int) -> Answer:
    """Every window that holds a record, to the end of the input."""
    panes: dict[tuple[int, int], int] = {}
    for index in range(records):
        place = key_of(index, keys), moment(index, keys) // slide_ms
        panes[place] = panes.get(place, 0) + 1
    windows: dict[tuple[int, int], int] = {}
    for (key, pane), count in panes.items():
        for later in range(HOUR_MS // slide_ms):
            place = key, (pane + 1 + later) * slide_ms
            windows[place] = windows.get(place, 0) + count
    return Answer(len(windows), sum(term(key, end, count) for (key, end), count in windows.items()))


def _trials(quick: bool) -> list[Trial]:
    records = 400_000 if quick else 2 * KEYS * A_KEY_AND_HOUR
    return [
        Trial(what, PENSTOCK, asdict(WindowParams(what, records, KEYS)), partial(expected, SLIDES[what], records, KEYS))
        for what in (TUMBLING, SLIDING)
    ]


WINDOW_RUNTIME = Job(
    name="window-runtime",
    title="Overlapping windows without Spark",
    metric=RATE,
    trials=_trials,
    requirements=(
        Requirement(
            "sliding 1 h / 1 min costs at most 3× tumbling 1 h",
            Ref(SLIDING, PENSTOCK, RATE),
            (Ref(TUMBLING, PENSTOCK, RATE),),
            1 / 3,
            at_least=True,
        ),
    ),
    notes=("100 keys, 10,000 records per key and hour, two hours; the local host, state written after each batch.",),
)
