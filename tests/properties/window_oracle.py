"""Windows by brute force: W1–W7 written down directly. Slow, and knows nothing of batches, pages or timers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from tests.properties.programs import Event

INFINITY = 2**63 - 1


class Shape(NamedTuple):
    """Which windows: `kind` is tumbling, sliding, session or dynamic."""

    kind: str
    size: int = 0
    slide: int = 0
    offset: int = 0

    @property
    def merges(self) -> bool:
        return self.kind in ("session", "dynamic")

    def windows_of(self, event: Event) -> list[tuple[int, int]]:
        """W2, W4: every window of the shape that covers the record, found by looking at all that could."""
        if self.merges:
            gap = self.size if self.kind == "session" else gap_of(event.amount)
            return [(event.ts, event.ts + gap)]
        slide = self.slide or self.size
        far = (abs(event.ts) + self.size + abs(self.offset)) // slide + 2
        starts = (self.offset + n * slide for n in range(-far, far + 1))
        return [(start, start + self.size) for start in starts if start <= event.ts < start + self.size]


def gap_of(amount: int) -> int:
    """The gap that a record brings along in dynamic sessions."""
    return 1 + amount % 7


@dataclass
class Window:
    """A window that exists: what it holds, and what its trigger remembers."""

    key: Any
    start: int
    end: int
    held: list[Event] = field(default_factory=list)
    count: int = 0
    upcoming: int | None = None
    again: bool = False

    @property
    def last(self) -> int:
        return self.end - 1


class Oracle:
    """`trigger` is (kind, number): default (or general, the same), count, purging or continuous."""

    def __init__(self, shape: Shape, trigger: tuple[str, int], lateness: int) -> None:
        self.shape, (self.trigger, self.number), self.lateness = shape, trigger, lateness
        self.watermark = -(2**63)
        self.windows: list[Window] = []
        self.fired: list[tuple[Any, int, int, tuple[Event, ...]]] = []
        self.late: list[Event] = []

    def run(self, events: Iterable[Event], delay: int) -> Oracle:
        """T3: after each record the watermark is the largest timestamp − delay − 1; T4: at the end it is +∞."""
        for event in events:
            self.record(event)
            self.advance(event.ts - delay - 1)
        self.advance(INFINITY)
        return self

    # -- records ------------------------------------------------------------------------------------

    def record(self, event: Event) -> None:
        spans = self.shape.windows_of(event)
        entered = [self._enter(event, *span) for span in spans]
        if not any(entered) and (spans or event.ts + self.lateness <= self.watermark):
            self.late.append(event)  # W7: all windows that it has, or could have, are past their cleanup time

    def _enter(self, event: Event, start: int, end: int) -> bool:
        window = self._grown(event.key, start, end) if self.shape.merges else self._there(event.key, start, end)
        if self._cleanup(window) <= self.watermark:
            return False
        if window not in self.windows:
            self.windows.append(window)
        window.held.append(event)
        self._on_record(window, event)
        return True

    def _there(self, key: Any, start: int, end: int) -> Window:
        found = [w for w in self.windows if (w.key, w.start, w.end) == (key, start, end)]
        return found[0] if found else Window(key, start, end)

    def _grown(self, key: Any, start: int, end: int) -> Window:
        """W4: sessions that overlap or touch are one; so are their records and what their triggers know."""
        touching = [w for w in self.windows if w.key == key and w.start <= end and start <= w.end]
        if not touching:
            return Window(key, start, end)
        self.windows = [w for w in self.windows if w not in touching]
        merged = Window(key, min(start, *(w.start for w in touching)), max(end, *(w.end for w in touching)))
        merged.held = [event for w in touching for event in w.held]
        merged.count = sum(w.count for w in touching)
        merged.again = any(w.again or (w.start, w.end) != (merged.start, merged.end) for w in touching)
        merged.upcoming = min((w.upcoming for w in touching if w.upcoming is not None), default=None)
        self.windows.append(merged)
        return merged

    def _on_record(self, window: Window, event: Event) -> None:
        if self.trigger in ("count", "purging"):
            window.count += 1
            if window.count >= self.number:
                window.count = 0
                self._fire(window)
        elif window.last <= self.watermark:
            self._fire(window)  # W7: again on each late record
        elif self.trigger == "continuous" and window.upcoming is None:
            window.upcoming = min(event.ts - event.ts % self.number + self.number, window.last)

    # -- time ---------------------------------------------------------------------------------------

    def advance(self, to: int) -> None:
        """T2: a watermark only grows."""
        if to <= self.watermark:
            return
        before, self.watermark = self.watermark, to
        for window in list(self.windows):
            for _ in self._moments(window, before, to):
                self._fire(window)
            if self._cleanup(window) <= to:
                self.windows.remove(window)

    def _moments(self, window: Window, before: int, to: int) -> Iterator[int]:
        """When a trigger that looks at time fires as the watermark goes on."""
        if self.trigger in ("count", "purging"):
            return
        while self.trigger == "continuous" and window.upcoming is not None and window.upcoming <= to:
            if window.upcoming == window.last:
                break
            yield window.upcoming
            window.upcoming = min(window.upcoming + self.number, window.last)
        if before < window.last <= to:
            yield window.last
        elif self.trigger == "continuous" and window.again and window.upcoming == window.last <= to:
            yield window.last  # grown after it had ended: the moment is due once more, as Flink has it
        window.again = False

    def _cleanup(self, window: Window) -> int:
        return min(window.last + self.lateness, INFINITY)

    def _fire(self, window: Window) -> None:
        if window.held:  # W3
            self.fired.append((window.key, window.start, window.end, tuple(window.held)))
        if self.trigger == "purging":
            window.held.clear()


def made(function: str, fired: Iterable[tuple[Any, int, int, tuple[Event, ...]]]) -> Counter[Any]:
    """W5: what each function makes of the windows that fired."""
    return Counter(_result(function, *firing) for firing in fired)


def _result(function: str, key: Any, start: int, end: int, held: tuple[Event, ...]) -> Any:
    amounts = [event.amount for event in held]
    folded = (key, sum(amounts), len(amounts))
    if function == "process":
        return (key, start, end, tuple(sorted(amounts)))
    return (key, start, end, folded) if function == "reduce and process" else folded
