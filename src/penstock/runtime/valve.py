"""The clock of a subtask: the minimum over its input channels that count (T5, T6)."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from typing import Any, Generic, NamedTuple, TypeVar

from penstock.core.time import MAX_WATERMARK, MIN_WATERMARK
from penstock.runtime.chunk import ACTIVE, IDLE

__all__ = ["Valve", "ValveState"]

C = TypeVar("C", bound=Hashable)

_NOTHING: tuple[int, ...] = ()


class ValveState(NamedTuple):
    """What survives a restart."""

    marks: dict[Any, int]
    idle: frozenset[Any]
    clock: int


class Valve(Generic[C]):
    """Keeps each channel's last watermark and whether it is idle; turns marks that come in into marks that go out.

    The clock is the minimum over the channels that count, and never falls. A channel counts if it is active and not
    behind the clock: one that was idle has to catch up first. When the last active channel becomes idle, the largest
    watermark is flushed and idleness announced. A channel that has ended (+∞) takes no part any more; +∞ goes out
    when all have ended, never because the others are idle: they may still wake.

    >>> valve = Valve([1, 2])
    >>> valve.take(1, 10), valve.take(2, 7), valve.clock
    ((), (7,), 7)
    >>> valve.take(2, IDLE), valve.take(1, IDLE) == (IDLE,)
    ((10,), True)
    """

    __slots__ = ("_channels", "_idle", "clock")

    def __init__(self, channels: Iterable[C], clock: int = MIN_WATERMARK) -> None:
        self._channels: dict[C, int] = dict.fromkeys(channels, MIN_WATERMARK)
        self._idle: set[C] = set()
        self.clock = clock

    def restore(self, state: ValveState) -> None:
        """Go on from a snapshot. Channels nobody knows any more are dropped, new ones start at the clock."""
        marks, idle, self.clock = state
        self._channels = {c: marks.get(c, self.clock) for c in self._channels}
        self._idle = {c for c in idle if c in self._channels}

    def snapshot(self) -> ValveState:
        return ValveState(dict(self._channels), frozenset(self._idle), self.clock)

    def closed_unheard(self) -> bool:
        """Whether there is no channel at all, so that nothing will ever come; true once, the clock is +∞ from then on.

        >>> valve = Valve([])
        >>> valve.closed_unheard(), valve.closed_unheard()
        (True, False)
        """
        if self._channels or self.clock == MAX_WATERMARK:
            return False
        self.clock = MAX_WATERMARK
        return True

    @property
    def marks(self) -> Mapping[C, int]:
        """Each channel's last watermark."""
        return self._channels

    def is_idle(self, channel: C) -> bool:
        return channel in self._idle

    def take(self, channel: C, mark: int) -> tuple[int, ...]:
        """Note a mark of a channel; what goes out because of it, in order: watermarks, IDLE, ACTIVE."""
        if mark == IDLE:
            return self._sleep(channel)
        if mark == ACTIVE:
            return self._wake(channel)
        return self._advance(channel, mark)

    def _advance(self, channel: C, watermark: int) -> tuple[int, ...]:
        last = self._channels[channel]
        if watermark == MAX_WATERMARK:
            return self._end(channel) if last != MAX_WATERMARK else _NOTHING
        woken = self._wake(channel) if channel in self._idle else _NOTHING
        if watermark <= last:
            return woken
        self._channels[channel] = watermark
        return woken if last > self.clock else woken + self._lowest()

    def _end(self, channel: C) -> tuple[int, ...]:
        slept = self._all_idle()
        self._channels[channel] = MAX_WATERMARK
        self._idle.discard(channel)
        if all(w == MAX_WATERMARK for w in self._channels.values()):
            self.clock = MAX_WATERMARK
            return (MAX_WATERMARK,)
        return self._all_idle_now() if not slept and self._all_idle() else self._lowest()

    def _sleep(self, channel: C) -> tuple[int, ...]:
        if channel in self._idle or self._channels[channel] == MAX_WATERMARK:
            return _NOTHING
        self._idle.add(channel)
        return self._all_idle_now() if self._all_idle() else self._lowest()

    def _wake(self, channel: C) -> tuple[int, ...]:
        slept = self._all_idle()
        if channel not in self._idle:
            return _NOTHING
        self._idle.remove(channel)
        return (ACTIVE,) if slept else _NOTHING

    def _all_idle(self) -> bool:
        """Whether every channel that has not ended is idle."""
        return bool(self._idle) and all(w == MAX_WATERMARK or c in self._idle for c, w in self._channels.items())

    def _all_idle_now(self) -> tuple[int, ...]:
        largest = max(self._channels[c] for c in self._idle)
        return (*self._moved(largest), IDLE)

    def _lowest(self) -> tuple[int, ...]:
        """The minimum over the channels that count, if that moves the clock."""
        clock, idle = self.clock, self._idle
        if idle:
            counting = [w for c, w in self._channels.items() if c not in idle and clock <= w < MAX_WATERMARK]
        else:
            counting = [w for w in self._channels.values() if clock <= w < MAX_WATERMARK]
        return self._moved(min(counting)) if counting else _NOTHING

    def _moved(self, watermark: int) -> tuple[int, ...]:
        if watermark <= self.clock:
            return _NOTHING
        self.clock = watermark
        return (watermark,)
