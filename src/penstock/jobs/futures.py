"""Futures: results that a job's client answers with before they are there."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import Generic, TypeVar

T = TypeVar("T")

__all__ = ["CompletableFuture"]


class CompletableFuture(Generic[T]):
    """A result that may still be to come; `JobClient` answers with it.

    >>> CompletableFuture.completed(5).result()
    5
    """

    def __init__(self, future: Future[T]) -> None:
        self._future = future

    @staticmethod
    def completed(value: T) -> CompletableFuture[T]:
        """A future whose result is there already."""
        future: Future[T] = Future()
        future.set_result(value)
        return CompletableFuture(future)

    @staticmethod
    def run(call: Callable[[], T]) -> CompletableFuture[T]:
        """A future for the result of a call, which is made in a thread of its own."""
        future: Future[T] = Future()
        future.set_running_or_notify_cancel()
        threading.Thread(target=_complete, args=(future, call), name="penstock-future", daemon=True).start()
        return CompletableFuture(future)

    def cancel(self) -> bool:
        """Give up the result if no thread works on it yet; returns whether it was given up."""
        return self._future.cancel()

    def cancelled(self) -> bool:
        """Whether the result was given up."""
        return self._future.cancelled()

    def done(self) -> bool:
        """Whether there is a result or an error."""
        return self._future.done()

    def result(self) -> T:
        """Wait for the result; raises the error if there is one instead."""
        return self._future.result()

    def exception(self) -> BaseException | None:
        """The error; None if there is none, or the result is still to come."""
        return self._future.exception() if self._future.done() else None

    def __repr__(self) -> str:
        return f"CompletableFuture({'done' if self.done() else 'pending'})"


def _complete(future: Future[T], call: Callable[[], T]) -> None:
    try:
        future.set_result(call())
    except BaseException as error:
        future.set_exception(error)
