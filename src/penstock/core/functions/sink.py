"""Sinks that are called record by record: `SinkFunction` and `RichSinkFunction`."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Generic

from penstock.core.functions.base import Function
from penstock.core.functions.rich import RichFunction
from penstock.core.time.watermarks import Watermark
from penstock.core.types.type_variables import IN

__all__ = ["RichSinkFunction", "SinkFunction"]


class SinkFunction(Function, Generic[IN]):
    """Does something with each record as it comes: at-least-once, since a batch that failed is run again.

    For exactly-once results write a `Sink` with a committer, or make what `invoke` does idempotent.

    >>> from penstock.testing import local_job
    >>> from penstock.datastream import StreamExecutionEnvironment
    >>> class Show(SinkFunction):
    ...     def invoke(self, value, context):
    ...         print(value, context.timestamp())
    >>> env = StreamExecutionEnvironment()
    >>> _ = env.from_collection(["a", "b"]).add_sink(Show())
    >>> local_job(env).run()
    a None
    b None
    """

    idempotent: bool = False
    """Whether being given a record again, after a failure, changes nothing: then the path is exactly-once."""

    class Context(ABC):
        """Given to `invoke`; valid during the call only."""

        @abstractmethod
        def current_processing_time(self) -> int:
            """Now, in milliseconds since the epoch."""

        @abstractmethod
        def current_watermark(self) -> int:
            """How far event time has come."""

        @abstractmethod
        def timestamp(self) -> int | None:
            """The record's event time, if it has one."""

    @abstractmethod
    def invoke(self, value: IN, context: SinkFunction.Context) -> None:
        """Called for every record."""

    def write_watermark(self, watermark: Watermark) -> None:
        """Called when event time has advanced."""

    def finish(self) -> None:
        """Called after the last record of a bounded input: write whatever is still held back. `close` follows."""


class RichSinkFunction(RichFunction, SinkFunction[IN]):
    """A `SinkFunction` that can ask where it runs by `get_runtime_context()`."""
