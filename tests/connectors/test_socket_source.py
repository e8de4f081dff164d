"""Text from a socket: cut at delimiters, reconnecting as Flink does (X1)."""

import socket
import threading
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

import pytest

from penstock.common import Configuration
from penstock.connectors import socket_source
from penstock.core.errors import ProgramError, UserFunctionError
from penstock.datastream import StreamExecutionEnvironment

pytestmark = pytest.mark.filterwarnings("ignore:.*cannot rewind.*:RuntimeWarning")

Answer = Callable[[socket.socket], None]


class Server:
    """Answers one connection after the other, on the loopback."""

    def __init__(self, *answers: Answer) -> None:
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        self.taken = 0
        self._thread = threading.Thread(target=self._serve, args=(answers,), daemon=True)
        self._thread.start()

    def _serve(self, answers: tuple[Answer, ...]) -> None:
        for answer in answers:
            connection, _ = self._listener.accept()
            self.taken += 1
            with connection:
                answer(connection)

    def close(self) -> None:
        self._listener.close()


@pytest.fixture
def serve() -> Iterator[Callable[..., Server]]:
    servers: list[Server] = []

    def start(*answers: Answer) -> Server:
        servers.append(Server(*answers))
        return servers[-1]

    yield start
    for server in servers:
        server.close()


def sends(*parts: bytes) -> Answer:
    def answer(connection: socket.socket) -> None:
        for part in parts:
            connection.sendall(part)

    return answer


def environment() -> StreamExecutionEnvironment:
    return StreamExecutionEnvironment(Configuration({"penstock.host": "local"})).set_parallelism(1)


def lines(server: Server, *args: Any) -> list[str]:
    env = environment()
    return list(env.socket_text_stream("127.0.0.1", server.port, *args).execute_and_collect())


def test_lines(serve: Callable[..., Server]) -> None:
    """X1: cut anywhere on the way, carriage returns dropped, the last line need not end."""
    assert lines(serve(sends(b"one\r\ntw", b"o\n\nla", b"st"))) == ["one", "two", "", "last"]


def test_another_delimiter(serve: Callable[..., Server]) -> None:
    assert lines(serve(sends(b"a\r<", b">b\n<>c")), "<>") == ["a\r", "b\n", "c"]


def test_characters_may_be_cut(serve: Callable[..., Server]) -> None:
    text = "häuser\n".encode()
    assert lines(serve(sends(text[:2], text[2:], b"\xff\n"))) == ["häuser", "\ufffd"]


@pytest.mark.parametrize(("max_retry", "connections"), [(0, 1), (1, 1), (2, 2)])
def test_lost_connections(serve: Callable[..., Server], max_retry: int, connections: int) -> None:
    """X1: connects again while fewer than `max_retry` connections were lost; a cut record goes on in the next."""
    server = serve(sends(b"a\nb"), sends(b"c\n"))
    expected = ["a", "b"] if connections == 1 else ["a", "bc"]
    assert lines(server, "\n", max_retry) == expected
    assert server.taken == connections


def test_a_job_that_waits_for_text_can_be_stopped(serve: Callable[..., Server]) -> None:
    """P8: cancelling wakes the reader."""
    done = threading.Event()

    def answer(connection: socket.socket) -> None:
        connection.sendall(b"a\nb\n")
        done.wait()

    server = serve(answer)
    env = environment()
    assert env.socket_text_stream("127.0.0.1", server.port).execute_and_collect(limit=2) == ["a", "b"]
    done.set()


def test_for_ever_until_stopped(serve: Callable[..., Server]) -> None:
    server = serve(sends(b"a\n"), sends(b"b\n"))
    env = environment()
    stream = env.socket_text_stream("127.0.0.1", server.port, max_retry=-1)
    assert stream.execute_and_collect(limit=2) == ["a", "b"]


def test_nobody_listens() -> None:
    """P9"""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    env = environment()
    with pytest.raises(UserFunctionError, match=r"run\(\) of operator 'Source: Socket Stream'") as caught:
        list(env.socket_text_stream("127.0.0.1", port).execute_and_collect())
    assert "ConnectionRefusedError" in str(caught.value)


@pytest.mark.parametrize(
    ("args", "text"),
    [
        ((0,), "a port is a number from 1 to 65535, got 0"),
        ((80, ""), "the delimiter is a non-empty string, got ''"),
        ((80, "\n", -2), "max_retry is −1 .for ever., 0 or more, got -2"),
    ],
)
def test_what_makes_no_sense_is_refused(args: tuple[Any, ...], text: str) -> None:
    """P9"""
    with pytest.raises(ProgramError, match=rf"^socket_text_stream\(\): {text}"):
        StreamExecutionEnvironment().socket_text_stream("localhost", *args)


@pytest.mark.parametrize("count", [0, 1, 3, 4, 5, 9])
@pytest.mark.parametrize("room", [1, 2, 3, 15, 16, 17])
def test_what_is_received_in_pieces_is_whole(
    serve: Callable[..., Server], monkeypatch: pytest.MonkeyPatch, count: int, room: int
) -> None:
    """X1: a piece may end within a character, within a delimiter, or with one."""
    monkeypatch.setattr(socket_source, "_CHUNK", room)
    found: list[str] = []
    context = SimpleNamespace(collect=found.append)
    server = serve(sends("".join(f"ü{i}\r\n" for i in range(count)).encode()))
    socket_source.SocketTextStreamFunction("127.0.0.1", server.port).run(context)  # type: ignore[arg-type]
    assert found == [f"ü{i}" for i in range(count)]
