"""Keeps the JVM's own greetings away from the user's terminal."""

from __future__ import annotations

import logging
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["quiet_bridge", "quiet_start"]

_NOISE = (
    # printed by the Java launcher itself
    b"WARNING: Using incubator modules: jdk.incubator.vector",
    # printed by PySpark when a query with transformWithState starts
    b"Streaming TransformWithStateInPandas Python worker",
    b"Starting Streaming TransformWithStateInPandas Python worker",
)
"""Lines that no option and no log setting stops."""


def quiet_bridge() -> None:
    """A program that logs at INFO is not told of every connection to the JVM, unless it asked for that by name."""
    bridge = logging.getLogger("py4j")
    if bridge.level == logging.NOTSET:
        bridge.setLevel(logging.WARNING)


@contextmanager
def quiet_start() -> Iterator[None]:
    """A JVM started inside writes its standard error to ours for all its life, but for the lines we know."""
    terminal = os.dup(2)
    reading, writing = os.pipe()
    os.dup2(writing, 2)
    os.close(writing)
    threading.Thread(target=_pass_on, args=(reading, os.dup(terminal)), name="penstock-stderr", daemon=True).start()
    try:
        yield
    finally:
        os.dup2(terminal, 2)
        os.close(terminal)


def _pass_on(reading: int, terminal: int) -> None:
    """Ends when the last process that holds the pipe has ended."""
    with open(reading, "rb") as pipe, open(terminal, "wb", buffering=0) as out:
        dropped = False
        for line in pipe:
            # PySpark's messages end with an empty line of their own
            dropped = line.startswith(_NOISE) or (dropped and not line.strip())
            if not dropped:
                out.write(line)
