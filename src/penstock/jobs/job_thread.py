"""The thread that a job runs in. Waiting for it can be interrupted by Ctrl-C without losing the job."""

from __future__ import annotations

import threading
from collections.abc import Callable

__all__ = ["JobThread"]

_LOOK_MS = 200


class JobThread:
    """Runs a job beside the program; the job has ended when `target` has returned.

    `Thread.join` will not do: interrupted by Ctrl-C it takes a thread that still runs for one that has ended (CPython
    up to 3.12), and the job would be left while it is being stopped.
    """

    def __init__(self, target: Callable[[], None], name: str) -> None:
        self._target = target
        self._ended = threading.Event()
        threading.Thread(target=self._run, name=name, daemon=True).start()

    def _run(self) -> None:
        try:
            self._target()
        finally:
            self._ended.set()

    def join(self) -> None:
        """Wait for the end of the job."""
        while not self._ended.wait(_LOOK_MS / 1000):
            pass  # woken now and then, so that a signal is noticed on every platform

    def join_or_stop(self, stop: Callable[[], None]) -> None:
        """Wait for the end of the job; Ctrl-C calls `stop` first. A second Ctrl-C gives up waiting."""
        try:
            self.join()
        except KeyboardInterrupt:
            stop()
            self.join()
