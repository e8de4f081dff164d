"""Shows how a running job gets on: a live table on a terminal, else a line every few seconds."""

from __future__ import annotations

import contextlib
import logging
import os
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any, Protocol, TextIO

import click

from penstock.cli.figures import Figures, Meter, line, summary
from penstock.core.time.clock import SystemClock

__all__ = ["progress_of", "progress_options"]

_PLAIN_MS, _LIVE_MS = 5_000, 500


def progress_options(command: Any) -> Any:
    """--progress, --no-progress, --plain."""
    command = click.option(
        "--plain", is_flag=True, help="Show progress as a line every five seconds, also on a terminal."
    )(command)
    return click.option(
        "--progress/--no-progress", default=None, help="Show progress; default: if standard error is a terminal."
    )(command)


class Display(Protocol):
    """Where progress is shown; called by one thread."""

    every_ms: int

    def update(self, jobs: list[Figures]) -> None:
        """The jobs that run."""

    def end(self, job: Figures) -> None:
        """A job has ended."""

    def close(self) -> None:
        """Nothing runs any more, for now."""


class PlainDisplay:
    """Lines on standard error."""

    every_ms = _PLAIN_MS

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def update(self, jobs: list[Figures]) -> None:
        for job in jobs:
            self._say(line(job))

    def end(self, job: Figures) -> None:
        for text in summary(job):
            self._say(text)

    def close(self) -> None: ...

    def _say(self, text: str) -> None:
        print(text, file=self._stream, flush=True)


@contextmanager
def progress_of(wanted: bool | None, plain: bool) -> Iterator[None]:
    """Show the progress of every job that is started inside."""
    display = _display(wanted, plain)
    if display is None:
        yield
        return
    from penstock.launch import WATCHERS

    observer = Observer(display)
    WATCHERS.append(observer.watch)
    try:
        with _start_shown():
            yield
    finally:
        WATCHERS.remove(observer.watch)
        observer.close()


@contextmanager
def _start_shown() -> Iterator[None]:
    """Shows what is logged about the job when it starts: the guarantee of each path."""
    logger, handler = logging.getLogger("penstock.job"), logging.StreamHandler()
    before = logger.level
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)
    try:
        yield
    finally:
        logger.removeHandler(handler)
        logger.setLevel(before)


def _display(wanted: bool | None, plain: bool) -> Display | None:
    terminal = sys.stderr.isatty() and os.environ.get("TERM") != "dumb"
    if wanted is False or (wanted is None and not plain and not terminal):
        return None
    if plain or not terminal:
        return PlainDisplay(sys.stderr)
    from penstock.cli.live import LiveDisplay

    return LiveDisplay()


class Observer:
    """A thread that asks the running jobs how they get on, and tells the display."""

    def __init__(self, display: Display, clock: SystemClock | None = None) -> None:
        self._display, self._clock = display, clock or SystemClock()
        self._lock = threading.Lock()
        self._meters: list[Meter] = []
        self._wake = threading.Event()
        self._closing = False
        self._thread: threading.Thread | None = None

    def watch(self, client: object, plan: object) -> None:
        """A job has started."""
        with self._lock:
            self._meters.append(Meter(client, plan, self._clock.now_ms()))
            if self._thread is None or not self._thread.is_alive():
                self._thread = threading.Thread(target=self._observe, name="penstock-progress", daemon=True)
                self._thread.start()

    def close(self) -> None:
        """The program has ended: show what its jobs came to. A job that still runs is no longer watched."""
        self._closing = True
        self._wake.set()
        if self._thread is not None:
            self._thread.join()

    def _observe(self) -> None:
        while self._tick():
            if self._closing:
                break
            self._rest()
        with contextlib.suppress(Exception):
            self._display.close()

    def _tick(self) -> bool:
        """Show the jobs; False when none is left."""
        now_ms = self._clock.now_ms()
        with self._lock:
            meters = list(self._meters)
        ended = [meter for meter in meters if meter.ended]
        running = [meter for meter in meters if meter not in ended]
        if running:
            self._show(lambda: self._display.update([meter.read(now_ms) for meter in running]))
        if ended and not running:
            self._show(self._display.close)
        for meter in ended:
            self._show(partial(self._end, meter, now_ms))
        with self._lock:
            self._meters = [meter for meter in self._meters if meter not in ended]
            return bool(self._meters)

    def _end(self, meter: Meter, now_ms: int) -> None:
        self._display.end(meter.read(now_ms))

    def _rest(self) -> None:
        """Until the next look; woken early when a job has ended."""
        waited_ms = 0
        while waited_ms < self._display.every_ms and not self._wake.wait(0.1):
            waited_ms += 100
            if any(meter.ended for meter in self._meters):
                return

    def _show(self, shown: Callable[[], None]) -> None:
        """Progress never harms the job: what cannot be shown now (figures change while they are read) is left out."""
        with contextlib.suppress(Exception):
            shown()
