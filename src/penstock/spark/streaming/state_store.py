"""Spark's state store behind the runtime's `StateStore`.

PySpark's own client waits for an answer after each call (0.1-0.5 ms). The protocol allows several
requests on their way at once, answered in order; that is all this module adds.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import pyspark.sql.streaming.proto.StateMessage_pb2 as messages
from pyspark.serializers import write_int
from pyspark.sql.streaming.stateful_processor import MapState, StatefulProcessorHandle
from pyspark.sql.types import BinaryType, StructField, StructType

from penstock.core.errors import CheckpointError

__all__ = ["STATE_NAME", "SparkStore", "open_map_state"]

STATE_NAME = "pages"
_IN_FLIGHT = 32
_IN_FLIGHT_BYTES = 8 << 20
_KEY = StructType([StructField("k", BinaryType())])
_VALUE = StructType([StructField("v", BinaryType())])


def open_map_state(handle: StatefulProcessorHandle) -> MapState:
    """The one state variable of a stage."""
    return handle.getMapState(STATE_NAME, _KEY, _VALUE)


class SparkStore:
    """Valid during one call of the processor, for one label."""

    def __init__(self, state: MapState) -> None:
        client = state._mapStateClient
        self._api = client._stateful_processor_api_client

    def get_many(self, keys: Sequence[bytes]) -> list[bytes | None]:
        calls = (messages.MapStateCall(getValue=messages.GetValue(userKey=self._pack(k))) for k in keys)
        return [self._unpack(answer) for answer in self._ask(calls, "read")]

    def put_many(self, items: Iterable[tuple[bytes, bytes]]) -> None:
        calls = (
            messages.MapStateCall(updateValue=messages.UpdateValue(userKey=self._pack(k), value=self._pack(v)))
            for k, v in items
        )
        for _ in self._ask(calls, "write"):
            pass

    def delete_many(self, keys: Iterable[bytes]) -> None:
        calls = (messages.MapStateCall(removeKey=messages.RemoveKey(userKey=self._pack(k))) for k in keys)
        for _ in self._ask(calls, "remove"):
            pass

    def _ask(self, calls: Iterable[Any], doing: str) -> Iterator[bytes]:
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
        write_int(0, file)  # type: ignore[no-untyped-call]
        write_int(len(data), file)  # type: ignore[no-untyped-call]
        file.write(data)

    def _pack(self, value: bytes) -> bytes:
        packed: bytes = self._api.pickleSer.dumps((value,))  # type: ignore[no-untyped-call]
        return packed

    def _unpack(self, answer: bytes) -> bytes | None:
        if not answer:
            return None
        return bytes(self._api.pickleSer.loads(answer)[0])  # type: ignore[no-untyped-call]


def _request(call: Any) -> bytes:
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
