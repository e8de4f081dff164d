"""Patterns can be looked at: states and transitions as text and as a picture."""

from typing import Any
from xml.etree import ElementTree

from penstock.cep import Pattern, WithinType
from penstock.common import Time


def any_event(value: Any) -> bool:
    return True


def _pattern() -> Pattern:
    group = Pattern.begin("c").followed_by("d").optional()
    pattern = Pattern.begin("a").one_or_more().greedy().until(any_event)
    pattern = pattern.not_followed_by("n").followed_by("b").times(1, 2)
    pattern = pattern.next(group).one_or_more().allow_combinations().not_next("m")
    return pattern.not_followed_by("k").within(Time.milliseconds(5), WithinType.PREVIOUS_AND_CURRENT)


EXPLAINED = """\
start ─▶ a
a ─(again, followed by, no n before, not past until)▶ a
a ─(followed by, no n before, a greedy loop goes first)▶ b
b ─(again, followed by)▶ b#2
b ─(next)▶ c
b#2 ─(next)▶ c
c ─(followed by)▶ d
c ─(again, followed by any, no k before)▶ c
c ─(not next m, no k until time is up, within 5 ms)▶ match
d ─(again, followed by any, no k before)▶ c
d ─(not next m, no k until time is up, within 5 ms)▶ match"""


def test_a_pattern_is_explained() -> None:
    """C3: one line for every transition, with what it heeds."""
    assert _pattern().explain() == EXPLAINED


def test_a_pattern_is_drawn() -> None:
    """C3: every state and every transition is in the picture, and no text lies outside of it."""
    picture = ElementTree.fromstring(_pattern().draw())
    space = "{http://www.w3.org/2000/svg}"
    texts = [element.text for element in picture.iter(f"{space}text")]
    assert {"start", "a", "b", "b#2", "c", "d", "match"} <= set(texts)
    assert len([p for p in picture.iter(f"{space}path") if p.get("marker-end")]) == len(EXPLAINED.splitlines())
    width, height = int(picture.get("width", 0)), int(picture.get("height", 0))
    for element in picture.iter(f"{space}text"):
        half = 3 * len(element.text or "")
        assert int(element.get("x", -1)) - half >= 0
        assert int(element.get("x", -1)) + half <= width
        assert 0 < int(element.get("y", -1)) < height


def test_the_time_that_a_match_may_take_is_shown() -> None:
    """C1: in both forms, and only where there is one."""
    pattern = Pattern.begin("a").next("b")
    lines = ["start ─▶ a", "a ─(next)▶ b", "b ─▶ match"]
    assert pattern.explain().splitlines() == lines
    limited = pattern.within(Time.seconds(10))
    assert limited.explain().splitlines() == [*lines, "from the first event to the last: within 10000 ms"]
    picture = ElementTree.fromstring(limited.draw())
    texts = list(picture.iter("{http://www.w3.org/2000/svg}text"))
    note = next(text for text in texts if text.text == "from the first event to the last: within 10000 ms")
    assert 0 < int(note.get("y", -1)) < int(picture.get("height", 0))


def test_names_are_escaped() -> None:
    """A name may hold anything."""
    assert ElementTree.fromstring(Pattern.begin("<&>").draw()) is not None
