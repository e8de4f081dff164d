"""The clock of a subtask is the minimum over its channels and never falls (T2, T5)."""

from hypothesis import given
from hypothesis import strategies as st

from penstock.core.time import MAX_WATERMARK, MIN_WATERMARK
from penstock.runtime.valve import Valve


def test_the_clock_starts_at_minus_infinity_and_waits_for_every_channel() -> None:
    """T4, T5"""
    valve = Valve([1, 2, 3])
    assert valve.clock == MIN_WATERMARK
    assert valve.advance(1, 10) is None
    assert valve.advance(2, 5) is None
    assert valve.advance(3, 7) == 5


def test_a_watermark_that_falls_is_ignored() -> None:
    """T2"""
    valve = Valve([1])
    assert valve.advance(1, 10) == 10
    assert valve.advance(1, 9) is None
    assert valve.advance(1, 10) is None
    assert valve.clock == 10


def test_a_channel_that_ended_holds_nothing_back() -> None:
    """T4, T5"""
    valve = Valve([1, 2])
    valve.advance(1, MAX_WATERMARK)
    assert valve.advance(2, 3) == 3
    assert valve.advance(2, MAX_WATERMARK) == MAX_WATERMARK


def test_a_restored_valve_goes_on_from_the_old_marks() -> None:
    """S4, T5: a channel nobody knows any more is dropped, a new one starts at minus infinity."""
    old = Valve([1, 2])
    old.advance(1, 10)
    old.advance(2, 20)
    new = Valve([2, 3])
    new.restore(old.snapshot(), old.clock)
    assert new.clock == 10
    assert new.advance(3, 5) is None
    assert new.clock == 10
    assert new.advance(3, 15) == 15


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(-50, 50)), max_size=60))
def test_the_clock_is_the_minimum_of_the_largest_marks(marks: list[tuple[int, int]]) -> None:
    """T5"""
    valve = Valve(range(4))
    best = dict.fromkeys(range(4), MIN_WATERMARK)
    for channel, mark in marks:
        before = valve.clock
        best[channel] = max(best[channel], mark)
        moved = valve.advance(channel, mark)
        assert valve.clock == min(best.values())
        assert moved == (valve.clock if valve.clock > before else None)
