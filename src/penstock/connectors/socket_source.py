"""Text from a socket."""

from __future__ import annotations

import codecs
import socket
import threading
from collections.abc import Iterator
from typing import Any

from penstock.core.errors import ProgramError
from penstock.core.functions.source import SourceContext, SourceFunction

__all__ = ["SocketTextStreamFunction"]

_RETRY_MS = 500
_CHUNK = 8192


class SocketTextStreamFunction(SourceFunction[str]):
    """Connects to a server and emits what it sends, cut at a delimiter.

    >>> SocketTextStreamFunction("localhost", 70000, "\\n", 0)
    Traceback (most recent call last):
    penstock.core.errors.ProgramError: socket_text_stream(): a port is a number from 1 to 65535, got 70000
    """

    emits_watermarks = False

    def __init__(self, hostname: str, port: int, delimiter: str = "\n", max_retry: int = 0) -> None:
        if not isinstance(port, int) or not 0 < port < 65536:
            raise ProgramError(f"socket_text_stream(): a port is a number from 1 to 65535, got {port!r}")
        if not isinstance(delimiter, str) or not delimiter:
            raise ProgramError(f"socket_text_stream(): the delimiter is a non-empty string, got {delimiter!r}")
        if not isinstance(max_retry, int) or max_retry < -1:
            raise ProgramError(f"socket_text_stream(): max_retry is −1 (for ever), 0 or more, got {max_retry!r}")
        # configuration
        self._address = (hostname, port)
        self._delimiter, self._max_retry = delimiter, max_retry
        # of the run
        self._running = True
        self._stopped: threading.Event | None = None
        self._connection: socket.socket | None = None

    def run(self, ctx: SourceContext) -> None:
        self._stopped = threading.Event()
        rest, lost = "", 0
        while self._running:
            for text in self._received():
                *records, rest = (rest + text).split(self._delimiter)
                for record in records:
                    ctx.collect(self._trimmed(record))
            lost += 1
            if not self._again(lost):
                break
        if rest and self._running:
            ctx.collect(rest)

    def _again(self, lost: int) -> bool:
        """Whether to connect once more after `lost` connections, having waited a little."""
        if not self._running or not (self._max_retry == -1 or lost < self._max_retry):
            return False
        assert self._stopped is not None
        return not self._stopped.wait(_RETRY_MS / 1000)

    def _received(self) -> Iterator[str]:
        decode = codecs.getincrementaldecoder("utf-8")("replace").decode
        with socket.create_connection(self._address) as self._connection:
            while self._running and (data := self._receive(self._connection)):
                yield decode(data)
        if self._running:
            yield decode(b"", True)

    def _receive(self, connection: socket.socket) -> bytes:
        try:
            return connection.recv(_CHUNK)
        except OSError:
            if self._running:
                raise
            return b""  # cancel() closed it

    def _trimmed(self, record: str) -> str:
        """Without the carriage return that some senders put before a line feed."""
        return record.removesuffix("\r") if self._delimiter == "\n" else record

    def cancel(self) -> None:
        self._running = False
        if self._stopped is not None:
            self._stopped.set()
        connection: Any = self._connection
        if connection is not None:
            try:
                connection.shutdown(socket.SHUT_RDWR)
            except OSError:
                return  # it was closed already
