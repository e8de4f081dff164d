"""The examples of FlinkCEP's documentation, to the letter."""

from typing import Any

import pytest

from penstock.cep import AfterMatchSkipStrategy, Pattern
from tests.cep.random_patterns import letters
from tests.cep.test_oracle import match

Skip = AfterMatchSkipStrategy


def found(pattern: Pattern, stream: str) -> set[str]:
    """Matches as strings; events are letters with a number and come a millisecond apart."""
    events = [(event, place) for place, event in enumerate(stream.split())]
    return {_shown(events) for timed_out, events, _ in match(pattern.freeze(), events)[0] if not timed_out}


def _shown(events: dict[str, list[str]]) -> str:
    return " ".join(event for taken in events.values() for event in taken)


def is_(letter: str) -> Any:
    return letters(letter)


def b_then_c(relation: str) -> Pattern:
    pattern: Pattern = getattr(Pattern.begin("a").where(is_("a")), relation)("b").where(is_("b"))
    return pattern


@pytest.mark.parametrize(
    ("relation", "expected"),
    [("next", set()), ("followed_by", {"a b1"}), ("followed_by_any", {"a b1", "a b2"})],
)
def test_contiguity(relation: str, expected: set[str]) -> None:
    """C1: "a b" in a, c, b1, b2."""
    assert found(b_then_c(relation), "a c b1 b2") == expected


@pytest.mark.parametrize(
    ("option", "expected"),
    [
        ("consecutive", {"a b3 c"}),
        (None, {"a b1 c", "a b1 b2 c", "a b1 b2 b3 c", "a b2 c", "a b2 b3 c", "a b3 c"}),
        (
            "allow_combinations",
            {"a b1 c", "a b1 b2 c", "a b1 b3 c", "a b1 b2 b3 c", "a b2 c", "a b2 b3 c", "a b3 c"},
        ),
    ],
)
def test_contiguity_within_loops(option: str | None, expected: set[str]) -> None:
    """C1: "a b+ c" with any relaxed contiguity around, in a, b1, d1, b2, d2, b3, c."""
    loop = Pattern.begin("a").where(is_("a")).followed_by_any("b").where(is_("b")).one_or_more()
    if option is not None:
        getattr(loop, option)()
    relation = "next" if option == "consecutive" else "followed_by"
    pattern = getattr(loop, relation)("c").where(is_("c"))
    assert found(pattern, "a b1 d1 b2 d2 b3 c") == expected


def test_a_loop_that_must_be_consecutive() -> None:
    """C1: "c a+ b" in c, d, a1, a2, a3, d, a4, b."""
    loop = Pattern.begin("c").where(is_("c")).followed_by("a").where(is_("a")).one_or_more()
    ends = {"c a1 b", "c a1 a2 b", "c a1 a2 a3 b"}
    relaxed = found(loop.followed_by("b").where(is_("b")), "c d a1 a2 a3 d a4 b")
    assert relaxed == ends | {"c a1 a2 a3 a4 b"}
    loop = Pattern.begin("c").where(is_("c")).followed_by("a").where(is_("a")).one_or_more().consecutive()
    assert found(loop.followed_by("b").where(is_("b")), "c d a1 a2 a3 d a4 b") == ends


def test_combinations_of_a_loop() -> None:
    """C1: with allow_combinations every subsequence that begins with the first is found."""
    loop = Pattern.begin("c").where(is_("c")).followed_by("a").where(is_("a")).one_or_more().allow_combinations()
    expected = {"c a1 b", "c a1 a2 b", "c a1 a3 b", "c a1 a4 b", "c a1 a2 a3 b", "c a1 a2 a4 b", "c a1 a3 a4 b"}
    assert found(loop.followed_by("b").where(is_("b")), "c d a1 a2 a3 d a4 b") == expected | {"c a1 a2 a3 a4 b"}


def test_a_loop_ends_with_until() -> None:
    """C1: "a+ until c, b" in a1, c, a2, b: only the events before c belong to a loop that begins before it."""
    loop = Pattern.begin("a").where(is_("a")).one_or_more().until(is_("c"))
    assert found(loop.followed_by("b").where(is_("b")), "a1 c a2 b") == {"a1 b", "a2 b"}


def test_times() -> None:
    """C1: times, times from–to, times or more, optional."""

    def a() -> Pattern:
        return Pattern.begin("a").where(is_("a"))

    assert found(a().times(2), "a1 a2 a3") == {"a1 a2", "a2 a3"}
    assert found(a().times(2, 3), "a1 a2 a3") == {"a1 a2", "a1 a2 a3", "a2 a3"}
    assert found(a().times_or_more(2), "a1 a2 a3") == {"a1 a2", "a1 a2 a3", "a2 a3"}
    assert found(a().optional().next("b").where(is_("b")), "a1 b1") == {"a1 b1", "b1"}


def test_greedy_takes_all_it_can() -> None:
    """C1: "c a*greedy d" gives the longest only."""

    def loop() -> Pattern:
        return Pattern.begin("c").where(is_("c")).followed_by("a").where(is_("a"))

    assert found(loop().one_or_more().greedy().followed_by("d").where(is_("d")), "c a1 a2 a3 d") == {"c a1 a2 a3 d"}
    assert found(loop().times(0, 3).greedy().followed_by("d").where(is_("d")), "c a1 a2 d") == {"c a1 a2 d"}
    assert found(loop().one_or_more().followed_by("d").where(is_("d")), "c a1 a2 d") == {"c a1 d", "c a1 a2 d"}


def test_groups() -> None:
    """C1: a sequence can be repeated and optional as a whole."""
    group = Pattern.begin("a").where(is_("a")).followed_by("b").where(is_("b"))
    pattern = Pattern.begin("x").where(is_("x")).next(group).times(2).next("y").where(is_("y"))
    assert found(pattern, "x a1 b1 a2 b2 y") == {"x a1 a2 b1 b2 y"}
    group = Pattern.begin("a").where(is_("a")).next("b").where(is_("b"))
    pattern = Pattern.begin("x").where(is_("x")).next(group).optional().next("y").where(is_("y"))
    assert found(pattern, "x y x a b y") == {"x y", "x a b y"}


def test_what_must_not_come() -> None:
    """C1: not_next looks at the event directly after, not_followed_by at all before the next one."""
    a = Pattern.begin("a").where(is_("a"))
    assert found(a.not_next("n").where(is_("n")).followed_by("c").where(is_("c")), "a1 n c1 a2 x n c2") == {"a2 c2"}
    a = Pattern.begin("a").where(is_("a"))
    pattern = a.not_followed_by("n").where(is_("n")).followed_by("c").where(is_("c"))
    assert found(pattern, "a1 x c1 a2 x n c2") == {"a1 c1"}
    optional = Pattern.begin("a").where(is_("a")).not_followed_by("b").where(is_("b"))
    optional = optional.followed_by_any("c").where(is_("c")).optional().followed_by_any("d").where(is_("d"))
    assert found(optional, "a c b d") == {"a c d"}


STRICT_LOOP = [
    (Skip.no_skip(), {"b1 b2 b3 c", "b2 b3 c", "b3 c"}),
    (Skip.skip_to_next(), {"b1 b2 b3 c", "b2 b3 c", "b3 c"}),
    (Skip.skip_past_last_event(), {"b1 b2 b3 c"}),
    (Skip.skip_to_first("b"), {"b1 b2 b3 c", "b2 b3 c", "b3 c"}),
    (Skip.skip_to_last("b"), {"b1 b2 b3 c", "b3 c"}),
]


def _named(value: Any) -> str:
    """A test's name must not depend on the order of a set: workers compare theirs."""
    return repr(sorted(value) if isinstance(value, set) else value)


@pytest.mark.parametrize(("skip", "expected"), STRICT_LOOP, ids=_named)
def test_skipping_after_b_plus_c(skip: Any, expected: set[str]) -> None:
    """C1: "b+ c" in b1, b2, b3, c with every skip strategy."""
    pattern = Pattern.begin("b", skip).where(is_("b")).one_or_more().consecutive().next("c").where(is_("c"))
    assert found(pattern, "b1 b2 b3 c") == expected


@pytest.mark.parametrize(
    ("skip", "expected"),
    [
        (Skip.no_skip(), {"a b c1 c2 c3 d", "b c1 c2 c3 d", "c1 c2 c3 d"}),
        (Skip.skip_to_first("c"), {"a b c1 c2 c3 d", "c1 c2 c3 d"}),
    ],
    ids=_named,
)
def test_skipping_to_a_greedy_loop(skip: Any, expected: set[str]) -> None:
    """C1: "(a | b | c) (b | c) c+greedy d" in a, b, c1, c2, c3, d."""
    pattern = Pattern.begin("x", skip).where(is_("abc")).followed_by("y").where(is_("bc"))
    pattern = pattern.followed_by("c").where(is_("c")).one_or_more().greedy().followed_by("d").where(is_("d"))
    assert found(pattern, "a b c1 c2 c3 d") == expected


@pytest.mark.parametrize(
    ("skip", "expected"),
    [(Skip.no_skip(), {"a b1", "a b1 b2", "a b1 b2 b3"}), (Skip.skip_to_next(), {"a b1"})],
    ids=_named,
)
def test_skipping_to_the_next(skip: Any, expected: set[str]) -> None:
    """C1: "a b+" in a, b1, b2, b3."""
    pattern = Pattern.begin("a", skip).where(is_("a")).followed_by("b").where(is_("b")).one_or_more()
    assert found(pattern, "a b1 b2 b3") == expected


def test_iterative_conditions_see_earlier_events() -> None:
    """C1: a condition may look at what the match has taken so far."""
    small_sum: Any = lambda v, ctx: sum(int(e[1:]) for e in ctx.get_events_for_pattern("a")) + int(v[1:]) < 5  # noqa: E731
    loop = Pattern.begin("a").where(is_("a")).where(small_sum).one_or_more().next("b").where(is_("b"))
    assert found(loop, "a1 a2 a4 b") == {"a4 b"}
    assert found(Pattern.begin("a").where(is_("a")).where(small_sum).one_or_more(), "a1 a2 a4") == {
        "a1",
        "a1 a2",
        "a2",
        "a4",
    }


def test_conditions_are_combined() -> None:
    """C1: where and where is and; or_where is or; subtype asks for a class."""
    pattern = Pattern.begin("a").where(is_("ab")).where(lambda v: v.endswith("1")).or_where(is_("z")).subtype(str)
    assert found(pattern, "a1 a2 b1 z9") == {"a1", "b1", "z9"}
    assert found(Pattern.begin("a").subtype(int), "a1") == set()
