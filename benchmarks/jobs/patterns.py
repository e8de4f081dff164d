"""Three failed logins in a row: as a pattern, and written by hand as a process function; and a loop that explodes."""

from __future__ import annotations

from dataclasses import asdict
from functools import partial

from benchmarks.inputs import Answer, key_of
from benchmarks.model import RATE, Job, Ref, Requirement, Trial
from benchmarks.params import PatternParams
from benchmarks.peers.registry import PENSTOCK

BY_HAND, PATTERN = "three failed logins, by hand", "three failed logins, a pattern"
USERS, IN_A_ROW = 10_000, 3
Login = tuple[int, bool, int]


def logins(count: int, users: int) -> list[Login]:
    """(user, succeeded, moment): half of them fail; the moments rise."""
    return [(key_of(index, users), key_of(index + count, 2) == 1, index) for index in range(count)]


def combinations(events: int) -> int:
    """How many matches a+ with allow_combinations has in a row of a's."""
    return 2**events - 1


def _alerts(count: int) -> Answer:
    """Sums of the moments of the third failures."""
    failures: dict[int, int] = {}
    found = []
    for user, succeeded, moment in logins(count, USERS):
        failures[user] = 0 if succeeded else failures.get(user, 0) + 1
        if failures[user] == IN_A_ROW:
            failures[user] = 0
            found.append(moment)
    return Answer(len(found), sum(found))


def _loop_case(events: int) -> str:
    return f"a+ with combinations, {events} events"


LOOPS = (10, 13)


def _trials(quick: bool) -> list[Trial]:
    count = 100_000 if quick else 1_000_000
    expected = partial(_alerts, count)
    loops = [
        Trial(_loop_case(n), PENSTOCK, asdict(PatternParams("loop", n, 1)), lambda n=n: Answer(combinations(n), 0))
        for n in LOOPS
    ]
    return [
        Trial(BY_HAND, PENSTOCK, asdict(PatternParams("by hand", count, USERS)), expected),
        Trial(PATTERN, PENSTOCK, asdict(PatternParams("pattern", count, USERS)), expected),
        *loops,
    ]


PATTERNS = Job(
    name="patterns",
    title="Complex event processing without Spark",
    metric=RATE,
    trials=_trials,
    requirements=(
        Requirement(
            "a pattern is at most 5× slower than the same logic by hand",
            Ref(PATTERN, PENSTOCK, RATE),
            (Ref(BY_HAND, PENSTOCK, RATE),),
            0.2,
            at_least=True,
        ),
        Requirement(
            "a match of a pathological pattern costs at most twice as much where there are eight times as many",
            Ref(_loop_case(LOOPS[1]), PENSTOCK, RATE),
            (Ref(_loop_case(LOOPS[0]), PENSTOCK, RATE),),
            0.5,
            at_least=True,
        ),
    ),
    notes=("Both put logins in order of event time first, in keyed state. For the loops the rate counts matches.",),
)
