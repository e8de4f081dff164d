"""Records that a job collects, on their way to the program that reads them."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Iterable, Iterator

__all__ = ["CollectedResults"]

_END = object()


class CollectedResults:
    """A queue for each collected stream, filled when a batch is durable and read by the client.

    >>> results = CollectedResults(["out"], threading.RLock())
    >>> results.deliver("out", [1, 2])
    >>> results.end()
    >>> list(results.read("out", on_interrupt=lambda: None))
    [1, 2]
    """

    def __init__(self, names: Iterable[str], lock: threading.RLock) -> None:
        self._lock = lock
        self._queues: dict[str, queue.Queue[object]] = {name: queue.Queue() for name in names}

    def deliver(self, name: str, values: Iterable[object]) -> None:
        """Called with the records of a batch that is durable."""
        waiting = self._queue(name)
        for value in values:
            waiting.put(value)

    def end(self) -> None:
        """Called once, when the job has ended: readers get what is there, and then come to their end."""
        for waiting in self._queues.values():
            waiting.put(_END)

    def read(self, name: str, on_interrupt: Callable[[], None]) -> Iterator[object]:
        """The records of a stream, each of them once, as they come; blocks until the job has ended.

        `on_interrupt` is called before Ctrl-C is raised in the program that reads.
        """
        waiting = self._queue(name)
        while (value := _next(waiting, on_interrupt)) is not _END:
            yield value
        waiting.put(_END)  # a second reader comes to the end at once

    def _queue(self, name: str) -> queue.Queue[object]:
        with self._lock:
            return self._queues.setdefault(name, queue.Queue())


def _next(waiting: queue.Queue[object], on_interrupt: Callable[[], None]) -> object:
    try:
        return waiting.get()
    except KeyboardInterrupt:  # Ctrl-C stops the job, also for a program that reads its results
        on_interrupt()
        raise
