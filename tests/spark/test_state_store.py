"""Requests to Spark's state store, many under way at a time; no JVM (F3)."""

import io
import pickle
from types import SimpleNamespace
from typing import Any

import pytest

from penstock.spark.streaming.state_store import _IN_FLIGHT, SparkStore


class Api:
    """Answers every request in turn: the first with 0, the next with 1, …"""

    def __init__(self) -> None:
        self.sockfile = io.BytesIO()
        self.pickleSer = pickle
        self.answered = 0

    def _receive_proto_message(self) -> tuple[int, str, bytes]:
        self.answered += 1
        return 0, "", pickle.dumps((b"%d" % (self.answered - 1),))


@pytest.mark.parametrize("count", [0, 1, _IN_FLIGHT - 1, _IN_FLIGHT, _IN_FLIGHT + 1, 2 * _IN_FLIGHT + 1])
def test_every_request_is_answered_once(count: int) -> None:
    """F3: at the edges of the number that is under way."""
    api = Api()
    state: Any = SimpleNamespace(_mapStateClient=SimpleNamespace(_stateful_processor_api_client=api))
    store = SparkStore(state)
    keys = [b"key%d" % i for i in range(count)]
    assert store.get_many(keys) == [b"%d" % i for i in range(count)]
    store.put_many((key, b"value") for key in keys)
    store.delete_many(iter(keys))
    assert api.answered == 3 * count
