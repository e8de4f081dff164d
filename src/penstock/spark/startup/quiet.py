"""Keeps the JVM's own greetings away from the user's terminal."""

from __future__ import annotations

import logging
import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

__all__ = ["quiet_accumulators", "quiet_bridge", "quiet_start"]

_NOISE = (
    # printed by the Java launcher itself
    b"WARNING: Using incubator modules: jdk.incubator.vector",
    # printed by PySpark when a query with transformWithState starts
    b"Streaming TransformWithStateInPandas Python worker",
    b"Starting Streaming TransformWithStateInPandas Python worker",
)
"""Lines that no option and no log setting stops."""


def quiet_bridge() -> None:
    """A program that logs at INFO is not told of every connection to the JVM, unless it asked for that by name.

    That a JVM has died is told by the job, and not by each call that was on its way.
    """
    bridge = logging.getLogger("py4j")
    if bridge.level == logging.NOTSET:
        bridge.setLevel(logging.WARNING)
        for name in ("py4j.clientserver", "py4j.java_gateway"):
            logging.getLogger(name).addFilter(_without_trace)
    root = logging.getLogger()
    if _not_of_bridge not in root.filters:
        root.addFilter(_not_of_bridge)


def _without_trace(record: logging.LogRecord) -> bool:
    """A trace through the bridge is of calls that failed; the job raises what was behind them."""
    return not record.exc_info


def _not_of_bridge(record: logging.LogRecord) -> bool:
    """py4j logs broken connections with the root logger, as errors with a trace."""
    return not record.pathname.endswith(("py4j/java_gateway.py", "py4j/clientserver.py"))


def quiet_accumulators() -> None:
    """PySpark's server for accumulators prints a trace when the JVM at its other end has died."""
    from pyspark import accumulators

    for name in ("AccumulatorTCPServer", "AccumulatorUnixServer"):
        server = getattr(accumulators, name, None)
        if server is not None:
            server.handle_error = _without_broken_connections(server.handle_error)


def _without_broken_connections(handle: Any) -> Any:
    def quiet(server: Any, request: Any, client_address: Any) -> None:
        if not isinstance(sys.exc_info()[1], (EOFError, ConnectionError)):
            handle(server, request, client_address)

    return handle if getattr(handle, "__name__", "") == "quiet" else quiet


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
