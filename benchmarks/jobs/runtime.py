"""The runtime alone: what fused operators and paged state cost over a loop written by hand."""

from __future__ import annotations

from dataclasses import asdict

from benchmarks.inputs import Answer, Record, records
from benchmarks.model import RATE, Job, Ref, Requirement, Trial
from benchmarks.params import RuntimeParams
from benchmarks.peers.functions import chain_answer, chain_input, counter_answer
from benchmarks.peers.registry import LOOP, PENSTOCK

CHAIN, COUNTER = "map, filter, map", "keyed counter"
KEYS = 1000


def _chain_expected(count: int) -> Answer:
    made = [value + 1 for value in chain_input(count)]
    return chain_answer([value * 2 for value in made if value % 3])


def _counter_expected(count: int) -> Answer:
    counts: dict[int, int] = {}
    out: list[Record] = []
    for key, _ in records(0, count, KEYS):
        counts[key] = counts.get(key, 0) + 1
        out.append((key, counts[key]))
    return counter_answer(out)


def _trials(quick: bool) -> list[Trial]:
    count = 300_000 if quick else 1_000_000
    chain, counter = RuntimeParams("chain", count, KEYS), RuntimeParams("counter", count, KEYS)
    return [
        *(Trial(CHAIN, peer, asdict(chain), lambda: _chain_expected(count)) for peer in (PENSTOCK, LOOP)),
        *(Trial(COUNTER, peer, asdict(counter), lambda: _counter_expected(count)) for peer in (PENSTOCK, LOOP)),
    ]


def _requirement(text: str, case: str) -> Requirement:
    return Requirement(text, Ref(case, PENSTOCK, RATE), (Ref(case, LOOP, RATE),), 0.5, at_least=True)


RUNTIME = Job(
    name="runtime",
    title="The runtime without Spark",
    metric=RATE,
    trials=_trials,
    requirements=(
        _requirement("at most 2× the time of a hand-written loop", CHAIN),
        _requirement("at least half as fast as a loop with dict-backed state", COUNTER),
    ),
    notes=(
        "Loop and runtime call the same function objects. The runtime's side includes decoding the chunks and, for "
        "the counter, reading and writing the pages of state.",
    ),
)
