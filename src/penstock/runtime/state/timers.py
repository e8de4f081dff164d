"""The timer queues of a keyed operator: timers of loaded pages, and unloaded pages that have timers."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from itertools import count

from penstock.runtime.state.heap import SweptHeap
from penstock.runtime.state.page import NO_TIMER, Earliest, Page, Timer
from penstock.runtime.state.store_keys import PageId
from penstock.runtime.values import Key

__all__ = ["EVENT", "PROCESSING", "SWEEP", "TimerQueues"]

EVENT, PROCESSING, SWEEP = 0, 1, 2
"""The two time domains of timers, and the queue of pages that hold state to be swept."""

StillFar = Callable[[int, Iterable[tuple[int, PageId]]], set[tuple[int, PageId]]]
"""Given a domain and entries of a far queue: those that are still right."""


class TimerQueues:
    """Two queues for each domain. `near`: timers of loaded pages, as (timestamp, order, page, key, namespace). `far`:
    when a page that is not loaded has something due, as (timestamp, page id); depth -1 stands for a whole key group.

    Entries become stale when timers are deleted and pages are loaded; queues sweep them out when they have grown.
    `order` numbers entries, so that timers of the same moment fire in the order in which they were set.
    """

    def __init__(self, still_far: StillFar) -> None:
        domains = (EVENT, PROCESSING, SWEEP)
        self.order = count(1)
        self.near = tuple(SweptHeap(partial(_pending, domain)) for domain in domains)
        self.far = tuple(SweptHeap(partial(still_far, domain)) for domain in domains)

    def push(self, domain: int, timer: Timer, page: Page) -> None:
        """Queue a timer of a loaded page."""
        self.near[domain].push((timer[0], next(self.order), page, timer[1], timer[2]))

    def note_far(self, ident: PageId, earliest: Earliest) -> None:
        """Remember when a page that is not loaded has something due."""
        for domain, timestamp in enumerate(earliest):
            if timestamp != NO_TIMER:
                self.far[domain].push((timestamp, ident))

    def earliest(self, domain: int) -> int:
        """The earliest timer of all, or one that is a little too early (a deleted one, or a page's old minimum)."""
        near, far = self.near[domain], self.far[domain]
        return min(near[0][0] if near else NO_TIMER, far[0][0] if far else NO_TIMER)

    def sweep(self) -> None:
        """Drop stale entries of loaded pages: called when pages have left memory."""
        for heap in self.near:
            heap.sweep()


def _pending(domain: int, entries: Iterable[Key]) -> Iterable[Key]:
    """The entries of a queue that will fire: not deleted, fired or set twice, and not of a page that left memory."""
    found = [e for e in entries if e[2].live and (e[0], e[3], e[4]) in e[2].timers[domain]]
    if len(found) <= sum(len(page.timers[domain]) for page in {e[2] for e in found}):
        return found  # as many entries as timers, and every timer has one: none is queued twice
    return {(id(e[2]), e[0], e[3], e[4]): e for e in found}.values()
