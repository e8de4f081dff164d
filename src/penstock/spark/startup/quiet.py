"""Keeps lines that the JVM and PySpark print about themselves away from the user's terminal."""

from __future__ import annotations

import logging
import os
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from socketserver import BaseServer

__all__ = ["quiet_accumulators", "quiet_bridge", "quiet_start"]

_NOISE = (
    # printed by the Java launcher itself
    b"WARNING: Using incubator modules: jdk.incubator.vector",
    # printed by PySpark when a query with transformWithState starts
    b"Streaming TransformWithStateInPandas Python worker",
    b"Starting Streaming TransformWithStateInPandas Python worker",
)
"""How lines begin that no option and no log setting stops."""


def quiet_bridge() -> None:
    """Silence py4j's logger, called when a session is made.

    A program that logs at INFO would see every connection to the JVM; one that sets the level of `py4j` itself is left
    alone. When a JVM dies the job says so, once; py4j would log a trace for each call that was on its way.
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
    """Drop py4j's traces of failed calls: the job raises the error behind them."""
    return not record.exc_info


def _not_of_bridge(record: logging.LogRecord) -> bool:
    """Drop what py4j logs with the root logger: broken connections, as errors with a trace."""
    return not record.pathname.endswith(("py4j/java_gateway.py", "py4j/clientserver.py"))


def quiet_accumulators() -> None:
    """Keep PySpark's server for accumulators from printing a trace when its JVM has died; called for each session."""
    from pyspark import accumulators

    for name in ("AccumulatorTCPServer", "AccumulatorUnixServer"):
        server = getattr(accumulators, name, None)
        if server is not None:
            server.handle_error = _without_broken_connections(server.handle_error)


_ErrorHandler = Callable[[BaseServer, object, object], None]


def _without_broken_connections(handle: _ErrorHandler) -> _ErrorHandler:
    """The server's error handler, without errors of the connection; one that is wrapped already stays as it is."""

    def quiet(server: BaseServer, request: object, client_address: object) -> None:
        if not isinstance(sys.exc_info()[1], (EOFError, ConnectionError)):
            handle(server, request, client_address)

    return handle if getattr(handle, "__name__", "") == "quiet" else quiet


@contextmanager
def quiet_start() -> Iterator[None]:
    """Inside, a JVM may be started: for all its life its standard error comes out of ours, without the known noise.

    While the block runs, this process's own standard error takes the same way.
    """
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
    """Copy lines from the pipe to the terminal; ends when the last process that holds the pipe has ended."""
    with open(reading, "rb") as pipe, open(terminal, "wb", buffering=0) as out:
        dropped = False
        for line in pipe:
            # PySpark's messages end with an empty line of their own
            dropped = line.startswith(_NOISE) or (dropped and not line.strip())
            if not dropped:
                out.write(line)
