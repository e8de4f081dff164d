"""Results on the driver."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Self, TypeVar

T_co = TypeVar("T_co", covariant=True)

__all__ = ["CloseableIterator"]


class CloseableIterator(Iterator[T_co]):
    """Iterates over a job's results; closing it (or leaving its `with`, or Ctrl-C) stops the job."""

    def __init__(self, values: Iterator[T_co], close: Callable[[], None]) -> None:
        self._values = values
        self._close = close

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> T_co:
        try:
            return next(self._values)
        except KeyboardInterrupt:
            self.close()
            raise

    def next(self) -> T_co:
        """As `next(iterator)`."""
        return next(self)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def close(self) -> None:
        """Stop the job, if it still runs."""
        self._close()
