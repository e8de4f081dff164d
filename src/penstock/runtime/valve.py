"""The clock of a subtask: the minimum over its input channels that count."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import Any, Generic, NamedTuple, TypeVar

from penstock.core.time.spans import MAX_WATERMARK, MIN_WATERMARK
from penstock.runtime.chunk import ACTIVE, IDLE

__all__ = ["Valve", "ValveState"]

C = TypeVar("C", bound=Hashable)

_NOTHING: tuple[int, ...] = ()


class ValveState(NamedTuple):
    """The state of a valve that survives a restart."""

    marks: dict[Any, int]
    idle: frozenset[Any]
    ended: frozenset[Any]
    clock: int


class Valve(Generic[C]):
    """Keeps the last watermark and the idleness of each channel; turns incoming marks into outgoing ones.

    The clock is the minimum over the channels that count, and never falls. A channel counts if it is active and not
    behind the clock: one that was idle has to catch up first. When the last active channel becomes idle, the largest
    watermark is flushed and idleness announced. A channel that has ended (+∞) holds nothing back any more; +∞ goes
    out when all have ended, never because the others are idle: they may still wake.

    >>> valve = Valve([1, 2])
    >>> valve.take(1, 10), valve.take(2, 7), valve.clock
    ((), (7,), 7)
    >>> valve.take(2, IDLE), valve.take(1, IDLE) == (IDLE,)
    ((10,), True)
    """

    __slots__ = ("_channels", "_ended", "_idle", "clock")

    def __init__(self, channels: Iterable[C], clock: int = MIN_WATERMARK) -> None:
        self._channels: dict[C, int] = dict.fromkeys(channels, MIN_WATERMARK)
        self._idle: set[C] = set()
        self._ended: set[C] = set()
        self.clock = clock

    def restore(self, state: ValveState) -> None:
        """Go on from a snapshot. Channels that are gone are dropped, new ones start at the clock."""
        marks, idle, ended, self.clock = state
        self._channels = {c: marks.get(c, self.clock) for c in self._channels}
        self._idle = {c for c in idle if c in self._channels}
        self._ended = {c for c in ended if c in self._channels}

    def snapshot(self) -> ValveState:
        """The state for `restore`."""
        return ValveState(dict(self._channels), frozenset(self._idle), frozenset(self._ended), self.clock)

    def settle(self) -> tuple[int, ...]:
        """The marks to send after `restore`: channels may have been dealt out to other subtasks, so the clock may move.

        >>> valve = Valve([1])
        >>> valve.restore(ValveState({1: 9, 2: 4}, frozenset(), frozenset(), 4))
        >>> valve.settle(), valve.clock
        ((9,), 9)
        """
        if not self._channels or self.clock == MAX_WATERMARK:
            return _NOTHING
        if len(self._ended) == len(self._channels):
            self.clock = MAX_WATERMARK
            return (MAX_WATERMARK,)
        return self._moved(max(self._channels.values())) if self._all_sleep() else self._lowest()

    @property
    def asleep(self) -> bool:
        """Whether idleness has been announced."""
        return self._all_sleep()

    def closed_without_input(self) -> bool:
        """Whether there is no channel at all, so that nothing will ever come; true once, the clock is +∞ from then on.

        >>> valve = Valve([])
        >>> valve.closed_without_input(), valve.closed_without_input()
        (True, False)
        """
        if self._channels or self.clock == MAX_WATERMARK:
            return False
        self.clock = MAX_WATERMARK
        return True

    def is_idle(self, channel: C) -> bool:
        """Whether a channel is idle."""
        return channel in self._idle

    def has_ended(self, channel: C) -> bool:
        """Whether a channel has ended."""
        return channel in self._ended

    def take(self, channel: C, mark: int) -> tuple[int, ...]:
        """Take a mark of a channel; returns the marks to send because of it, in order: watermarks, IDLE, ACTIVE."""
        if channel in self._ended:
            return _NOTHING
        if mark < MAX_WATERMARK:
            return self._advance(channel, mark)
        if mark == MAX_WATERMARK:
            return self._end(channel)
        return self._sleep(channel) if mark == IDLE else self._wake(channel)

    def _advance(self, channel: C, watermark: int) -> tuple[int, ...]:
        woken = self._wake(channel) if channel in self._idle else _NOTHING
        last = self._channels[channel]
        if watermark <= last:
            return woken
        self._channels[channel] = watermark
        return woken if last > self.clock else woken + self._lowest()

    def _end(self, channel: C) -> tuple[int, ...]:
        slept = self._all_sleep()
        self._idle.discard(channel)
        self._ended.add(channel)
        if len(self._ended) == len(self._channels):
            self.clock = MAX_WATERMARK
            return (MAX_WATERMARK,)
        return self._fall_asleep() if not slept and self._all_sleep() else self._lowest()

    def _sleep(self, channel: C) -> tuple[int, ...]:
        if channel in self._idle:
            return _NOTHING
        self._idle.add(channel)
        return self._fall_asleep() if self._all_sleep() else self._lowest()

    def _wake(self, channel: C) -> tuple[int, ...]:
        slept = self._all_sleep()
        self._idle.discard(channel)
        return (ACTIVE,) if slept else _NOTHING

    def _all_sleep(self) -> bool:
        """Whether every channel that has not ended is idle."""
        return bool(self._idle) and len(self._idle) + len(self._ended) == len(self._channels)

    def _fall_asleep(self) -> tuple[int, ...]:
        return (*self._moved(max(self._channels.values())), IDLE)

    def _lowest(self) -> tuple[int, ...]:
        """The minimum over the channels that count, if that moves the clock."""
        clock, out = self.clock, self._idle | self._ended
        counting = [w for c, w in self._channels.items() if w >= clock and c not in out]
        return self._moved(min(counting)) if counting else _NOTHING

    def _moved(self, watermark: int) -> tuple[int, ...]:
        if watermark <= self.clock:
            return _NOTHING
        self.clock = watermark
        return (watermark,)
