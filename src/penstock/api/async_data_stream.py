"""Asynchronous functions on a stream."""

from __future__ import annotations

import inspect

from penstock.api.data_stream import DataStream
from penstock.core.errors import ProgramError
from penstock.core.functions.asynchronous import NO_RETRY_STRATEGY, AsyncFunction, AsyncRetryStrategy, NoRetryStrategy
from penstock.core.given import described
from penstock.core.program.specs import AsyncSpec
from penstock.core.time.spans import Span
from penstock.core.types.type_info import TypeInformation
from penstock.core.types.type_variables import R, T
from penstock.core.windows.window import span_ms

__all__ = ["AsyncDataStream"]


class AsyncDataStream:
    """Applies an `AsyncFunction`: up to `capacity` calls are under way at a time.

    Ordered: results leave in the order of their records. Unordered: as calls end, though never past a watermark.
    """

    @staticmethod
    def unordered_wait(
        data_stream: DataStream[T],
        async_function: AsyncFunction[T, R],
        timeout: Span,
        capacity: int = 100,
        output_type: TypeInformation[object] | None = None,
    ) -> DataStream[R]:
        """Results leave as calls end; a call that fails is not repeated."""
        return _wait(data_stream, async_function, timeout, capacity, False, NO_RETRY_STRATEGY)._typed(output_type)

    @staticmethod
    def unordered_wait_with_retry(
        data_stream: DataStream[T],
        async_function: AsyncFunction[T, R],
        timeout: Span,
        async_retry_strategy: AsyncRetryStrategy,
        capacity: int = 100,
        output_type: TypeInformation[object] | None = None,
    ) -> DataStream[R]:
        """Results leave as calls end; a call that fails is repeated as the strategy says."""
        return _wait(data_stream, async_function, timeout, capacity, False, async_retry_strategy)._typed(output_type)

    @staticmethod
    def ordered_wait(
        data_stream: DataStream[T],
        async_function: AsyncFunction[T, R],
        timeout: Span,
        capacity: int = 100,
        output_type: TypeInformation[object] | None = None,
    ) -> DataStream[R]:
        """Results leave in the order of their records; a call that fails is not repeated."""
        return _wait(data_stream, async_function, timeout, capacity, True, NO_RETRY_STRATEGY)._typed(output_type)

    @staticmethod
    def ordered_wait_with_retry(
        data_stream: DataStream[T],
        async_function: AsyncFunction[T, R],
        timeout: Span,
        async_retry_strategy: AsyncRetryStrategy,
        capacity: int = 100,
        output_type: TypeInformation[object] | None = None,
    ) -> DataStream[R]:
        """Results leave in the order of their records; a call that fails is repeated as the strategy says."""
        return _wait(data_stream, async_function, timeout, capacity, True, async_retry_strategy)._typed(output_type)


def _wait(
    stream: DataStream[T],
    function: AsyncFunction[T, R],
    timeout: Span,
    capacity: int,
    ordered: bool,
    retry: AsyncRetryStrategy,
) -> DataStream[R]:
    timeout_ms = span_ms(timeout, f"{type(function).__name__}: the time-out", positive=False)
    _check(function, timeout_ms, capacity, retry)
    return stream._add("Async Wait", AsyncSpec(function, timeout_ms, capacity, ordered, retry))


def _check(function: AsyncFunction[T, R], timeout_ms: int, capacity: int, retry: AsyncRetryStrategy) -> None:
    if isinstance(function, type):
        raise ProgramError(f"an AsyncFunction is needed, got {described(function)}")
    name = type(function).__name__
    if not isinstance(function, AsyncFunction) or not inspect.iscoroutinefunction(function.async_invoke):
        raise ProgramError(f"{name}: an AsyncFunction is needed whose async_invoke is declared with 'async def'")
    if not isinstance(retry, AsyncRetryStrategy) or retry.get_retry_predicate() is None:
        raise ProgramError(
            f"{name}: an AsyncRetryStrategy with a retry predicate is needed, got {type(retry).__name__}"
        )
    if not isinstance(retry, NoRetryStrategy) and timeout_ms <= 0:
        raise ProgramError(f"{name}: retries need a time-out greater than zero, got {timeout_ms} ms")
    if not isinstance(capacity, int) or capacity < 1:
        raise ProgramError(f"{name}: the capacity must be a whole number of at least 1, got {capacity!r}")
