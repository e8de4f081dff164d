"""The clock of a subtask: the minimum over its input channels (T5)."""

from __future__ import annotations

from collections.abc import Iterable

from penstock.core.time import MAX_WATERMARK, MIN_WATERMARK

__all__ = ["Valve"]


class Valve:
    """Keeps each channel's last watermark; the clock is their minimum and never falls.

    >>> valve = Valve([1, 2])
    >>> valve.advance(1, 10), valve.advance(2, 7), valve.clock
    (None, 7, 7)
    """

    __slots__ = ("_channels", "clock")

    def __init__(self, channels: Iterable[int], clock: int = MIN_WATERMARK) -> None:
        self._channels = dict.fromkeys(channels, MIN_WATERMARK)
        self.clock = clock

    def restore(self, marks: dict[int, int], clock: int) -> None:
        """Take over saved channel watermarks; channels nobody knows any more are dropped."""
        self._channels.update({c: w for c, w in marks.items() if c in self._channels})
        self.clock = clock

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

    def snapshot(self) -> dict[int, int]:
        return dict(self._channels)

    def advance(self, channel: int, watermark: int) -> int | None:
        """Record a channel's watermark; the new clock if that moved it."""
        last = self._channels[channel]
        if watermark <= last:
            return None
        self._channels[channel] = watermark
        if last > self.clock:
            return None
        lowest = min(self._channels.values())
        if lowest <= self.clock:
            return None
        self.clock = lowest
        return lowest
