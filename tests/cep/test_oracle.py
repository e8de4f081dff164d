"""The automaton finds what the brute-force matcher finds."""

from random import Random
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from penstock.cep import Pattern
from penstock.core.cep.patterns import PatternSpec
from penstock.runtime.cep.nfa import Matching, Nfa
from tests.cep.oracle import Oracle
from tests.cep.random_patterns import letters, random_pattern, random_stream
from tests.effort import examples

END_MS = 1_000
MANY, STREAMS = examples(1_000), 3


class Events(dict[int, Any]):
    """An event store that complains of what is not there."""

    def add(self, number: int, value: Any) -> None:
        assert number not in self
        self[number] = value

    def get(self, number: int) -> Any:  # type: ignore[override]
        return self[number]

    def remove(self, number: int) -> None:
        del self[number]


def match(spec: PatternSpec, events: list[tuple[Any, int]]) -> tuple[list[Any], Matching, Events]:
    nfa, store = Nfa(spec), Events()
    matching, found = Matching.new(store), []
    for value, stamp in events:
        found += [tuple(f) for f in nfa.advance(matching, stamp)]
        found += [tuple(f) for f in nfa.process(matching, value, stamp)]
    found += [tuple(f) for f in nfa.advance(matching, END_MS)]
    return found, matching, store


def check_references(matching: Matching, store: Events) -> None:
    """Every node is counted exactly, and nothing is kept that nobody refers to."""
    counts: dict[int, int] = {}
    for holder in (*matching.partials, *matching.finished):
        counts[holder.node] = counts.get(holder.node, 0) + 1
    for _, _, parent, _ in matching.buffer.nodes.values():
        if parent >= 0:
            counts[parent] = counts.get(parent, 0) + 1
    assert counts == {number: node[3] for number, node in matching.buffer.nodes.items()}
    assert set(store) == {node[1] for node in matching.buffer.nodes.values()}


def ordered(found: list[Any]) -> list[Any]:
    """Partial matches that run out of time at the same moment come in any order."""
    return sorted((f for f in found if f[0]), key=lambda f: (f[2], repr(f[1]))) + [f for f in found if not f[0]]


def check(random: Random) -> None:
    """One random pattern on a few random streams."""
    pattern = random_pattern(random)
    spec = pattern.freeze()
    for _ in range(STREAMS):
        events = random_stream(random)
        found, matching, store = match(spec, events)
        expected = Oracle(spec, events).run(END_MS)
        assert ordered(found) == ordered(expected), f"{events}\n{pattern.explain()}\n{spec}"
        check_references(matching, store)
        if spec.within_ms is not None:
            assert matching.frozen() is None
            assert not store


def test_the_automaton_agrees_with_brute_force() -> None:
    """C1, C3: every contiguity, quantifier, group, not, until, limit and skip strategy, against plain enumeration."""
    for seed in range(MANY):
        check(Random(seed))


@settings(max_examples=examples(50), suppress_health_check=list(HealthCheck))
@given(st.randoms(use_true_random=False))
def test_it_agrees_on_the_smallest_pattern_too(random: Random) -> None:
    """C1, C3: the same with other patterns each time; a failure is shrunk."""
    check(random)


@pytest.mark.parametrize("events", [4, 8, 11])
def test_what_is_kept_grows_as_what_is_reported(events: int) -> None:
    """C3: every subsequence is a match of a+ with allow_combinations; there is one node for each, and no more."""
    spec = Pattern.begin("a").one_or_more().allow_combinations().freeze()
    found, matching, store = match(spec, [("a", moment) for moment in range(events)])
    assert len(found) == 2**events - 1
    assert len(matching.buffer.nodes) == len(matching.partials) == 2**events - 1
    assert len(store) == events


def test_events_are_kept_once_and_only_while_somebody_waits() -> None:
    """C3: a strict pattern keeps what its partial matches need, however long the stream."""
    spec = Pattern.begin("a").where(letters("a")).times(3).consecutive().freeze()
    found, matching, store = match(spec, [("a", moment) for moment in range(1_000)])
    assert len(found) == 998
    assert (len(store), len(matching.partials), len(matching.buffer.nodes)) == (2, 2, 3)
