"""`penstock run --supervise`: the job in a process of its own, which is brought back when it dies.

Spark's own `--supervise` is for drivers in cluster deploy mode, which a standalone cluster refuses for Python.
"""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from types import FrameType
from typing import Any

import click

from penstock.jobs.supervisor import Supervisor, names_checkpoint, supervisor

__all__ = ["supervise_option", "supervised"]

TERMINATED = 128 + signal.SIGTERM


def supervise_option(command: Callable[..., object]) -> Callable[..., Any]:
    """The option of `penstock run`."""
    return click.option(
        "--supervise",
        is_flag=True,
        help="Run the job in a process of its own and bring it back when it dies; it goes on from its --checkpoint.",
    )(command)


def supervised(job: str, args: Sequence[str], progress: bool | None = None, plain: bool = False) -> int:
    """Run a job under a supervisor, with the settings that stand in the environment; the exit code to end with."""
    from penstock.launch import base_configuration

    shown = [] if progress is None else ["--progress" if progress else "--no-progress"]
    shown += ["--plain"] if plain else []
    drivers = _Drivers([sys.executable, "-m", "penstock.cli", "run", *shown, job, "--", *args])
    conf = base_configuration()
    if not names_checkpoint(conf):
        _say("--supervise without --checkpoint: unless the program names one, a driver that is restarted starts over")
    watch = supervisor(drivers.run, conf, job, _say)
    with _signals(watch, drivers) as seen:
        code = watch.run()
    if signal.SIGTERM in seen:
        return TERMINATED
    return 128 - code if code < 0 else code


class _Drivers:
    """Starts drivers one after the other. Each has a session of its own: a Ctrl-C reaches it through us, once."""

    def __init__(self, command: list[str]) -> None:
        self._command = command
        self._running: subprocess.Popen[bytes] | None = None

    def run(self) -> int:
        self._running = subprocess.Popen(self._command, start_new_session=True)
        return self._running.wait()

    def interrupt(self) -> None:
        """Ask the driver to stop its job."""
        if self._running is not None and self._running.poll() is None:
            self._running.send_signal(signal.SIGINT)


@contextmanager
def _signals(watch: Supervisor, drivers: _Drivers) -> Iterator[list[int]]:
    """Ctrl-C and SIGTERM stop the job cleanly, and for good."""
    seen: list[int] = []

    def stop(number: int, frame: FrameType | None) -> None:
        seen.append(number)
        watch.stop()
        drivers.interrupt()

    before = {number: signal.signal(number, stop) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield seen
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _say(text: str) -> None:
    click.echo(text, err=True)
