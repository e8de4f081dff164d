"""Spark's state store behind the runtime's `StateStore`.

PySpark's own client waits for an answer after each call (0.1-0.5 ms). The protocol allows several requests to be on
their way at once, which are answered in order. This module adds that and nothing else.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from io import IOBase

import pyspark.sql.streaming.proto.StateMessage_pb2 as messages
from pyspark.serializers import write_int
from pyspark.sql.streaming.stateful_processor import MapState, StatefulProcessorHandle
from pyspark.sql.types import BinaryType, StructField, StructType

from penstock.core.errors import CheckpointError

__all__ = ["STATE_NAME", "SparkStore", "open_map_state"]

STATE_NAME = "pages"
_write_int: Callable[[int, IOBase], None] = write_int
_IN_FLIGHT = 32
_IN_FLIGHT_BYTES = 8 << 20
_KEY = StructType([StructField("k", BinaryType())])
_VALUE = StructType([StructField("v", BinaryType())])


def open_map_state(handle: StatefulProcessorHandle) -> MapState:
    """The one state variable of a stage; called when the processor of a task is set up."""
    return handle.getMapState(STATE_NAME, _KEY, _VALUE)


class SparkStore:
    """The state of one partition, for one call of the processor; its socket belongs to that call."""

    def __init__(self, state: MapState) -> None:
        client = state._mapStateClient
        self._api = client._stateful_processor_api_client
        self._dumps: Callable[[tuple[bytes]], bytes] = self._api.pickleSer.dumps
        self._loads: Callable[[bytes], tuple[bytes]] = self._api.pickleSer.loads

    def get_many(self, keys: Sequence[bytes]) -> list[bytes | None]:
        """The blobs under some keys, in their order; None where there is none."""
        calls = (messages.MapStateCall(getValue=messages.GetValue(userKey=self._pack(k))) for k in keys)
        return [self._unpack(answer) for answer in self._ask(calls, "read")]

    def put_many(self, items: Iterable[tuple[bytes, bytes]]) -> None:
        """Write blobs under their keys."""
        calls = (
            messages.MapStateCall(updateValue=messages.UpdateValue(userKey=self._pack(k), value=self._pack(v)))
            for k, v in items
        )
        for _ in self._ask(calls, "write"):
            pass

    def delete_many(self, keys: Iterable[bytes]) -> None:
        """Remove the blobs under some keys."""
        calls = (messages.MapStateCall(removeKey=messages.RemoveKey(userKey=self._pack(k))) for k in keys)
        for _ in self._ask(calls, "remove"):
            pass

    def _ask(self, calls: Iterable[messages.MapStateCall], doing: str) -> Iterator[bytes]:
        """Send calls, a window of them at a time, and yield the answers in order."""
        for window in _windows(map(_request, calls)):
            for data in window:
                self._send(data)
            self._api.sockfile.flush()
            for _ in window:
                status, error, value = self._api._receive_proto_message()
                if status != 0:
                    raise CheckpointError(f"Spark's state store failed to {doing} a page: {error}")
                yield value

    def _send(self, data: bytes) -> None:
        file = self._api.sockfile
        _write_int(0, file)
        _write_int(len(data), file)
        file.write(data)

    def _pack(self, value: bytes) -> bytes:
        return self._dumps((value,))

    def _unpack(self, answer: bytes) -> bytes | None:
        if not answer:
            return None
        return bytes(self._loads(answer)[0])


def _request(call: messages.MapStateCall) -> bytes:
    call.stateName = STATE_NAME
    request = messages.StateRequest(stateVariableRequest=messages.StateVariableRequest(mapStateCall=call))
    data: bytes = request.SerializeToString()
    return data


def _windows(requests: Iterable[bytes]) -> Iterator[list[bytes]]:
    """Requests in groups bounded in number and bytes; a large one goes alone."""
    window: list[bytes] = []
    size = 0
    for data in requests:
        if window and (size + len(data) > _IN_FLIGHT_BYTES or len(window) >= _IN_FLIGHT):
            yield window
            window, size = [], 0
        window.append(data)
        size += len(data)
    if window:
        yield window
