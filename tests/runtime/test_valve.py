"""The clock of a subtask is the minimum over the channels that count, and never falls (T2, T5, T6)."""

from dataclasses import dataclass

from hypothesis import given, settings
from hypothesis import strategies as st

from penstock.core.time.spans import MAX_WATERMARK, MIN_WATERMARK
from penstock.runtime.chunk import ACTIVE, IDLE
from penstock.runtime.valve import Valve
from tests.effort import examples


def test_the_clock_starts_at_minus_infinity_and_waits_for_every_channel() -> None:
    """T4, T5"""
    valve = Valve([1, 2, 3])
    assert valve.clock == MIN_WATERMARK
    assert valve.take(1, 10) == ()
    assert valve.take(2, 5) == ()
    assert valve.take(3, 7) == (5,)


def test_a_watermark_that_falls_is_ignored() -> None:
    """T2"""
    valve = Valve([1])
    assert valve.take(1, 10) == (10,)
    assert valve.take(1, 9) == ()
    assert valve.take(1, 10) == ()
    assert valve.clock == 10


def test_a_channel_that_ended_holds_nothing_back() -> None:
    """T4, T5"""
    valve = Valve([1, 2])
    assert valve.take(1, MAX_WATERMARK) == ()
    assert valve.take(2, 3) == (3,)
    assert valve.take(2, MAX_WATERMARK) == (MAX_WATERMARK,)
    assert valve.take(2, MAX_WATERMARK) == ()


def test_an_idle_channel_does_not_hold_the_clock() -> None:
    """T6"""
    valve = Valve([1, 2])
    valve.take(1, 10)
    assert valve.take(2, IDLE) == (10,)
    assert valve.take(1, 20) == (20,)
    assert valve.take(2, IDLE) == ()


def test_when_all_are_idle_the_largest_watermark_is_flushed() -> None:
    """T6"""
    valve = Valve([1, 2, 3])
    assert valve.take(1, 10) + valve.take(2, 30) + valve.take(3, 20) == (10,)
    assert valve.take(2, IDLE) == ()
    assert valve.take(1, IDLE) == (20,)
    assert valve.take(3, IDLE) == (30, IDLE)


def test_the_largest_is_flushed_even_if_the_last_to_fall_asleep_lags_behind() -> None:
    """T6"""
    valve = Valve([1, 2, 3])
    assert valve.take(1, 5) + valve.take(2, 10) + valve.take(3, 20) == (5,)
    assert valve.take(3, IDLE) + valve.take(2, IDLE) == ()
    assert valve.take(1, 15) == (15,)
    assert valve.take(2, ACTIVE) == ()
    assert valve.take(1, IDLE) == ()
    assert valve.take(2, IDLE) == (20, IDLE)


def test_a_channel_that_wakes_counts_again_only_once_it_has_caught_up() -> None:
    """T6"""
    valve = Valve([1, 2])
    assert valve.take(1, 5) + valve.take(2, IDLE) + valve.take(1, 10) == (5, 10)
    assert valve.take(2, ACTIVE) == ()
    assert valve.take(2, 3) == ()
    assert valve.take(1, 12) == (12,)
    assert valve.take(2, 12) == ()
    assert valve.take(1, 20) == ()
    assert valve.take(2, 15) == (15,)


def test_waking_from_general_sleep_is_announced_once() -> None:
    """T6"""
    valve = Valve([1, 2])
    assert valve.take(1, IDLE) == ()
    assert valve.take(2, IDLE) == (IDLE,)
    assert valve.take(2, ACTIVE) == (ACTIVE,)
    assert valve.take(1, ACTIVE) == ()


def test_a_watermark_wakes_its_channel() -> None:
    """T6"""
    valve = Valve([1])
    assert valve.take(1, IDLE) == (IDLE,)
    assert valve.take(1, 7) == (ACTIVE, 7)


def test_the_end_of_one_channel_is_not_the_end_of_time_while_others_only_sleep() -> None:
    """T4, T6: an idle channel may still wake, and its records must not all be late."""
    valve = Valve([1, 2])
    assert valve.take(1, 10) + valve.take(2, 5) + valve.take(2, IDLE) == (5, 10)
    assert valve.take(1, MAX_WATERMARK) == (IDLE,)
    assert valve.take(2, 11) == (ACTIVE, 11)
    assert valve.take(2, IDLE) == (IDLE,)
    assert valve.take(2, MAX_WATERMARK) == (MAX_WATERMARK,)


def test_what_a_channel_said_before_it_ended_is_flushed_too() -> None:
    """T4, T6: whether it ended before or after the others fell asleep."""
    valve = Valve([1, 2])
    assert valve.take(1, 100) + valve.take(2, 7) + valve.take(1, MAX_WATERMARK) == (7,)
    assert valve.take(2, IDLE) == (100, IDLE)


def test_a_restored_valve_goes_on_from_the_old_marks() -> None:
    """S4, T5, T6: a channel nobody knows any more is dropped, a new one starts at the clock, sleepers sleep on."""
    old = Valve([1, 2, 4])
    assert old.take(1, 10) + old.take(2, 20) + old.take(4, IDLE) == (10,)
    new = Valve([2, 3, 4])
    new.restore(old.snapshot())
    assert new.clock == 10
    assert new.take(3, 5) == ()
    assert new.take(3, 15) == (15,)
    assert new.take(4, ACTIVE) == ()
    assert new.take(2, 30) + new.take(3, 30) == (30,)


@dataclass
class Channel:
    """What the rules say of one channel, spelled out."""

    mark: int = MIN_WATERMARK
    idle: bool = False
    counts: bool = True
    ended: bool = False


class Oracle:
    """T5 and T6 word by word, everything computed anew after every mark."""

    def __init__(self, size: int) -> None:
        self.channels = [Channel() for _ in range(size)]
        self.sent = MIN_WATERMARK
        self.idle = False

    def take(self, number: int, mark: int) -> tuple[int, ...]:
        if self.channels[number].ended:
            return ()
        self._note(self.channels[number], mark)
        return self._out()

    def _note(self, channel: Channel, mark: int) -> None:
        if mark == IDLE:
            channel.idle, channel.counts = True, False
            return
        if mark == MAX_WATERMARK:
            channel.ended = True
            return
        if mark != ACTIVE:
            channel.mark = max(channel.mark, mark)
        channel.idle = False
        channel.counts = channel.counts or channel.mark >= self.sent

    def _out(self) -> tuple[int, ...]:
        left = [c for c in self.channels if not c.ended]
        was_idle, self.idle = self.idle, bool(left) and all(c.idle for c in left)
        if not left:
            return self._send(MAX_WATERMARK)
        if self.idle:
            return self._send(max(c.mark for c in self.channels)) + (() if was_idle else (IDLE,))
        counting = [c.mark for c in left if c.counts]
        woken = (ACTIVE,) if was_idle else ()
        return woken + (self._send(min(counting)) if counting else ())

    def _send(self, mark: int) -> tuple[int, ...]:
        if mark <= self.sent:
            return ()
        self.sent = mark
        return (mark,)


MARKS = st.one_of(st.integers(0, 12), st.sampled_from([IDLE, IDLE, ACTIVE, MAX_WATERMARK]))


@settings(max_examples=examples(500))
@given(
    st.integers(1, 4).flatmap(
        lambda size: st.tuples(
            st.just(size), st.lists(st.tuples(st.integers(0, size - 1), MARKS, st.booleans()), max_size=40)
        )
    )
)
def test_every_sequence_of_marks_against_the_rules_spelled_out(case: tuple[int, list[tuple[int, int, bool]]]) -> None:
    """T2, T4, T5, T6: with restarts in between; nothing sent ever falls."""
    size, events = case
    valve, oracle, sent = Valve(range(size)), Oracle(size), MIN_WATERMARK
    for channel, mark, restart in events:
        found = valve.take(channel, mark)
        assert found == oracle.take(channel, mark)
        for out in found:
            assert out > MAX_WATERMARK or out > sent
            sent = max(sent, out) if out <= MAX_WATERMARK else sent
        assert valve.clock == sent
        if restart:
            state, valve = valve.snapshot(), Valve(range(size))
            valve.restore(state)
