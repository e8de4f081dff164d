"""Results on the driver."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Generic, TypeVar

T = TypeVar("T")

__all__ = ["CloseableIterator"]


class CloseableIterator(Generic[T]):
    """Iterates over a job's results; closing it (or leaving its `with`, or Ctrl-C) stops the job."""

    def __init__(self, values: Iterator[T], close: Callable[[], None]) -> None:
        self._values = values
        self._close = close

    def __iter__(self) -> Iterator[T]:
        return self

    def __next__(self) -> T:
        try:
            return next(self._values)
        except KeyboardInterrupt:
            self.close()
            raise

    def next(self) -> T:
        """As `next(iterator)`."""
        return next(self)

    def __enter__(self) -> CloseableIterator[T]:
        return self

    def __exit__(self, *exc: Any) -> None:
        self.close()

    def close(self) -> None:
        self._close()
