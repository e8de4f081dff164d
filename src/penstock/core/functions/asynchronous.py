"""Asynchronous functions and when to try them again."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, Generic

from penstock.core.functions.base import Function
from penstock.core.types.subscript import Subscriptable
from penstock.core.types.type_variables import IN, OUT

__all__ = [
    "NO_RETRY_STRATEGY",
    "AsyncFunction",
    "AsyncRetryPredicate",
    "AsyncRetryStrategy",
    "ExponentialBackoffDelayRetryStrategy",
    "FixedDelayRetryStrategy",
    "NoRetryStrategy",
    "RetryPredicate",
    "empty_result_predicate",
    "exception_type_predicate",
    "has_exception_predicate",
]

ResultPredicate = Callable[[list[Any]], bool] | None
ExceptionPredicate = Callable[[Exception], bool] | None


class AsyncFunction(Function, Generic[IN, OUT]):
    """Calls that wait for something else: many are under way at a time, in one event loop of the subtask.

    Every call of a batch has ended before the batch is durable; after a failure the batch is called again.

    >>> import asyncio
    >>> class Look(AsyncFunction):
    ...     async def async_invoke(self, value): return [value * 2]
    >>> asyncio.run(Look().async_invoke(4))
    [8]
    """

    @abstractmethod
    async def async_invoke(self, value: IN) -> list[OUT]:
        """Called for each record, on the event loop of the subtask.

        Returns the list of results, which may be empty; an exception fails the record, or is tried again if the stream
        has a retry strategy.
        """

    def timeout(self, value: IN) -> list[OUT]:
        """Called for a record whose call took too long; returns the results in its place. By default the job fails."""
        raise TimeoutError(f"the call for {value!r:.200} took longer than its time-out")


class AsyncRetryPredicate(Subscriptable, ABC):
    """When a call is to be made again."""

    @abstractmethod
    def result_predicate(self) -> ResultPredicate:
        """The function that is given the list of results and says whether to try again; None never does."""

    @abstractmethod
    def exception_predicate(self) -> ExceptionPredicate:
        """The function that is given the exception and says whether to try again; None never does."""


class AsyncRetryStrategy(Subscriptable, ABC):
    """How often and after what pause a call is made again; `current_attempts` counts from 1."""

    @abstractmethod
    def can_retry(self, current_attempts: int) -> bool:
        """Called before each further attempt with its number; False gives up."""

    @abstractmethod
    def get_backoff_time_millis(self, current_attempts: int) -> int:
        """How long to wait before this attempt, in milliseconds."""

    @abstractmethod
    def get_retry_predicate(self) -> AsyncRetryPredicate:
        """What decides whether a result or an exception is worth another attempt."""

    @staticmethod
    def no_restart() -> AsyncRetryStrategy:
        """Never try again."""
        return NO_RETRY_STRATEGY

    @staticmethod
    def fixed_delay(
        max_attempts: int,
        backoff_time_millis: int,
        result_predicate: ResultPredicate,
        exception_predicate: ExceptionPredicate,
    ) -> AsyncRetryStrategy:
        """Try again up to `max_attempts` times, always after the same pause."""
        return FixedDelayRetryStrategy(max_attempts, backoff_time_millis, result_predicate, exception_predicate)

    @staticmethod
    def exponential_backoff(
        max_attempts: int,
        initial_delay: int,
        max_retry_delay: int,
        multiplier: float,
        result_predicate: ResultPredicate,
        exception_predicate: ExceptionPredicate,
    ) -> AsyncRetryStrategy:
        """Try again up to `max_attempts` times, after pauses that grow by `multiplier` up to `max_retry_delay`."""
        return ExponentialBackoffDelayRetryStrategy(
            max_attempts, initial_delay, max_retry_delay, multiplier, result_predicate, exception_predicate
        )


class RetryPredicate(AsyncRetryPredicate):
    """Two predicates, either of which may be missing."""

    def __init__(self, result_predicate: ResultPredicate, exception_predicate: ExceptionPredicate) -> None:
        self._result, self._exception = result_predicate, exception_predicate

    def result_predicate(self) -> ResultPredicate:
        return self._result

    def exception_predicate(self) -> ExceptionPredicate:
        return self._exception


class NoRetryStrategy(AsyncRetryStrategy):
    """Once is enough."""

    def can_retry(self, current_attempts: int) -> bool:
        return False

    def get_backoff_time_millis(self, current_attempts: int) -> int:
        return -1

    def get_retry_predicate(self) -> AsyncRetryPredicate:
        return RetryPredicate(None, None)


def _positive(**given: float) -> None:
    for name, value in given.items():
        if value <= 0:
            raise ValueError(f"{name} must be greater than zero, got {value}")


class FixedDelayRetryStrategy(AsyncRetryStrategy):
    """Up to `max_attempts` times more, with the same pause before each."""

    def __init__(
        self,
        max_attempts: int,
        backoff_time_millis: int,
        result_predicate: ResultPredicate,
        exception_predicate: ExceptionPredicate,
    ) -> None:
        _positive(max_attempts=max_attempts, backoff_time_millis=backoff_time_millis)
        self._attempts, self._backoff_ms = max_attempts, backoff_time_millis
        self._predicate = RetryPredicate(result_predicate, exception_predicate)

    def can_retry(self, current_attempts: int) -> bool:
        return current_attempts <= self._attempts

    def get_backoff_time_millis(self, current_attempts: int) -> int:
        return self._backoff_ms

    def get_retry_predicate(self) -> AsyncRetryPredicate:
        return self._predicate


class ExponentialBackoffDelayRetryStrategy(AsyncRetryStrategy):
    """Up to `max_attempts` times more, each pause `multiplier` times the one before, up to a largest.

    >>> strategy = ExponentialBackoffDelayRetryStrategy(5, 10, 50, 2.0, None, None)
    >>> [strategy.get_backoff_time_millis(n) for n in (1, 2, 3, 4)]
    [10, 20, 40, 50]
    """

    def __init__(
        self,
        max_attempts: int,
        initial_delay: int,
        max_retry_delay: int,
        multiplier: float,
        result_predicate: ResultPredicate,
        exception_predicate: ExceptionPredicate,
    ) -> None:
        _positive(
            max_attempts=max_attempts,
            initial_delay=initial_delay,
            max_retry_delay=max_retry_delay,
            multiplier=multiplier,
        )
        self._attempts = max_attempts
        self._first_ms, self._most_ms, self._multiplier = initial_delay, max_retry_delay, multiplier
        self._predicate = RetryPredicate(result_predicate, exception_predicate)

    def can_retry(self, current_attempts: int) -> bool:
        return current_attempts <= self._attempts

    def get_backoff_time_millis(self, current_attempts: int) -> int:
        return int(min(self._first_ms * self._multiplier ** (max(current_attempts, 1) - 1), self._most_ms))

    def get_retry_predicate(self) -> AsyncRetryPredicate:
        return self._predicate


NO_RETRY_STRATEGY: AsyncRetryStrategy = NoRetryStrategy()


def empty_result_predicate(result: list[object] | None) -> bool:
    """The call brought nothing."""
    return not result


def has_exception_predicate(error: Exception | None) -> bool:
    """The call raised, whatever it was."""
    return error is not None


def exception_type_predicate(error: Exception, expected_error_type: type[Exception]) -> bool:
    """The call raised something of a type."""
    return isinstance(error, expected_error_type)
