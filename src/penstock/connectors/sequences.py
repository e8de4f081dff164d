"""Sources that are a function of an index: collections, number ranges, generators."""

from __future__ import annotations

import copy
from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import takewhile
from typing import Self

from penstock.core.contracts.source import Lag, Position, ReadBatch, Source, SourceClock
from penstock.core.contracts.starting_offsets import StartingOffsets, refuse_start
from penstock.core.types.type_variables import T_co

__all__ = ["CollectionSource", "DataGeneratorSource", "NumberSequenceSource", "RateLimiterStrategy"]

_READ = 8192
_PLAIN = frozenset({type(None), bool, int, float, str, bytes})
_TELLING = 100
"""How many of a collection's values are looked at to tell it from another."""


def _is_plain(value: object) -> bool:
    """Whether the text of a value is the same in every process."""
    if type(value) is tuple or type(value) is list:
        return all(map(_is_plain, value))
    return type(value) in _PLAIN


class _IndexedSource(Source[T_co]):
    """A position is the number of records of the split already read."""

    _skipped: int = 0
    emits_watermarks = False

    def start_from(self, start: StartingOffsets) -> Self:
        """This source from a record on: `StartingOffsets.offsets(n)` leaves out the first `n` of all."""
        if start.kind not in ("earliest", "offsets"):
            raise refuse_start(type(self).__name__, start, "earliest, or from offsets: the number of a record")
        if start.kind == "offsets" and (type(start.value) is not int or start.value < 0):
            raise TypeError(f"{type(self).__name__} takes the number of a record as offset, got {start.value!r}")
        made = copy.copy(self)
        made._skipped = start.value or 0
        return made

    def _before(self, split: int, splits: int) -> int:
        """How many records of a split are among the first `_skipped` of all."""
        return self._skipped

    def split_count(self, parallelism: int, one_batch: bool) -> int:
        return self.split_parallelism(parallelism)

    def initial(self, split: int, splits: int) -> Position:
        size, first = self._size(split, splits), self._before(split, splits)
        first = first if size is None else min(size, first)
        return Position(first, first == size)

    def advance(
        self, split: int, splits: int, start: Position, base: Position, limit: int, clock: SourceClock
    ) -> Position:
        size = self._size(split, splits)
        stop = start.at + limit if size is None else min(size, start.at + limit)
        allowed = self._allowed(splits, clock)
        if allowed is not None:
            stop = max(start.at, min(stop, base.at + allowed))
        return Position(stop, stop == size)

    def read(self, split: int, splits: int, start: Position, end: Position | None) -> Iterator[ReadBatch]:
        stop = self._size(split, splits) if end is None else end.at
        assert stop is not None, "a source without end cannot be read to its end"
        for first in range(start.at, stop, _READ):
            yield self._values(split, splits, first, min(stop, first + _READ)), None

    def lag(self, split: int, splits: int, at: Position, base: Position, clock: SourceClock) -> Lag:
        """Records that are there, or that a rate limit has let through, and are not read."""
        size, allowed, rate = self._size(split, splits), self._allowed(splits, clock), self._per_ms(splits)
        ends = [end for end in (size, None if allowed is None else base.at + allowed) if end is not None]
        if not ends:
            return Lag()
        records = max(0, min(ends) - at.at)
        return Lag(records, None if rate is None else int(records / rate))

    def _per_ms(self, splits: int) -> float | None:
        """Records of a split that a rate limit lets through in a millisecond."""
        return None

    def _allowed(self, splits: int, clock: SourceClock) -> int | None:
        """How many records of a split a rate limit has let through since this run began."""
        return None

    @abstractmethod
    def _size(self, split: int, splits: int) -> int | None:
        """Records of a split; None without end."""

    @abstractmethod
    def _values(self, split: int, splits: int, start: int, stop: int) -> list[T_co]:
        """Records of a split by number."""


class CollectionSource(_IndexedSource[T_co]):
    """A list in the program. Not parallel, as in Flink."""

    def __init__(self, collection: Iterable[T_co]) -> None:
        self._collection = list(collection)

    def identity(self) -> str:
        """Told apart from another collection in a checkpoint by its first values, as far as they are plain."""
        return repr(list(takewhile(_is_plain, self._collection[:_TELLING])))

    def split_parallelism(self, parallelism: int) -> int:
        return 1

    def _size(self, split: int, splits: int) -> int:
        return len(self._collection)

    def _values(self, split: int, splits: int, start: int, stop: int) -> list[T_co]:
        return [v if type(v) in _PLAIN else copy.deepcopy(v) for v in self._collection[start:stop]]


class NumberSequenceSource(_IndexedSource[int]):
    """The numbers from `start` to `end`, both included, in as many ranges as there are subtasks."""

    def __init__(self, start: int, end: int) -> None:
        if end < start:
            raise ValueError(f"NumberSequenceSource: the end {end} is before the start {start}")
        self._start, self._end = start, end

    def split_parallelism(self, parallelism: int) -> int:
        return min(parallelism, self._end - self._start + 1)

    def _bounds(self, split: int, splits: int) -> tuple[int, int]:
        count = self._end - self._start + 1
        return self._start + count * split // splits, self._start + count * (split + 1) // splits

    def _size(self, split: int, splits: int) -> int:
        first, stop = self._bounds(split, splits)
        return stop - first

    def _before(self, split: int, splits: int) -> int:
        first, _ = self._bounds(split, splits)
        return max(0, self._start + self._skipped - first)

    def _values(self, split: int, splits: int, start: int, stop: int) -> list[int]:
        first, _ = self._bounds(split, splits)
        return list(range(first + start, first + stop))


@dataclass(frozen=True, slots=True)
class RateLimiterStrategy:
    """How fast a generator may go; `records_per_second` None: as fast as the job."""

    records_per_second: float | None = None

    @staticmethod
    def per_second(records_per_second: float) -> RateLimiterStrategy:
        """So many records a second, over all subtasks."""
        if records_per_second <= 0:
            raise ValueError(f"A rate must be positive, got {records_per_second}")
        return RateLimiterStrategy(records_per_second)

    @staticmethod
    def no_op() -> RateLimiterStrategy:
        """As fast as records can be made."""
        return RateLimiterStrategy()


class DataGeneratorSource(_IndexedSource[T_co]):
    """Record `i` is `generator_function(i)`: replayable, since it depends on the index alone.

    Subtask s of n makes the records s, s + n, s + 2n, …
    `count` None: without end.

    >>> DataGeneratorSource(lambda i: i * i, 3).bounded
    True
    """

    def __init__(
        self,
        generator_function: Callable[[int], T_co],
        count: int | None = None,
        rate_limiter_strategy: RateLimiterStrategy | None = None,
    ) -> None:
        self._generate = generator_function
        self._count = count
        self._rate = (rate_limiter_strategy or RateLimiterStrategy()).records_per_second
        self.bounded = count is not None

    def _size(self, split: int, splits: int) -> int | None:
        return None if self._count is None else (self._count - split + splits - 1) // splits

    def _before(self, split: int, splits: int) -> int:
        return max(0, (self._skipped - split + splits - 1) // splits)

    def _values(self, split: int, splits: int, start: int, stop: int) -> list[T_co]:
        return list(map(self._generate, range(start * splits + split, stop * splits + split, splits)))

    def _allowed(self, splits: int, clock: SourceClock) -> int | None:
        rate = self._per_ms(splits)
        return None if rate is None else int((clock.now_ms - clock.started_ms) * rate)

    def _per_ms(self, splits: int) -> float | None:
        return None if self._rate is None else self._rate / splits / 1000
