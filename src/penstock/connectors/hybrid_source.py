"""Sources one after the other."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Generic

from penstock.core.contracts.source import Lag, Notice, Position, ReadBatch, Source, SourceClock
from penstock.core.errors import ProgramError
from penstock.core.types.type_variables import T, T_co

__all__ = ["HybridSource", "HybridSourceBuilder"]


class HybridSourceBuilder(Generic[T]):
    """Builds a `HybridSource`."""

    def __init__(self, first_source: Source[T]) -> None:
        self._sources = [_checked(first_source)]

    def add_source(self, source: Source[T]) -> HybridSourceBuilder[T]:
        """Add the source that is read when all sources before it have ended."""
        if not self._sources[-1].bounded:
            raise ProgramError(
                f"HybridSource: {type(self._sources[-1]).__name__} has no end, so nothing can come after it"
            )
        self._sources.append(_checked(source))
        return self

    def build(self) -> HybridSource[T]:
        """The finished source."""
        return HybridSource(self._sources)


def _checked(source: Source[T]) -> Source[T]:
    if not isinstance(source, Source):
        raise TypeError(f"HybridSource takes a Source, got {type(source).__name__}")
    if source.moving_start:
        raise ProgramError(
            f"HybridSource: {type(source).__name__} starts at a place that depends on the moment, which would move "
            "when the job goes on from a checkpoint: give it offsets, or let it start from the earliest"
        )
    return source


class HybridSource(Source[T_co]):
    """Bounded sources in sequence, the last of which may be without end: history first, then the live stream.

    A position is (number of the source, its own position, whether that has ended). No split goes on to the next
    source before all splits have read the one before to its end. Read at once, each split goes through the
    sources for itself.

    >>> from penstock.connectors.sequences import NumberSequenceSource
    >>> HybridSource.builder(NumberSequenceSource(1, 3)).add_source(NumberSequenceSource(7, 9)).build().bounded
    True
    """

    def __init__(self, sources: list[Source[T_co]]) -> None:
        self._sources = sources
        self.bounded = sources[-1].bounded
        self.replayable = all(source.replayable for source in sources)
        # settled when the job is planned
        self._counts: list[int] = []
        # only on the driver: for each split the source it was in when last asked, and whether that had ended
        self._known: dict[int, tuple[int, bool]] = {}
        self._round: set[int] = set()
        self._switched_ms: dict[int, int] = {}

    @staticmethod
    def builder(first_source: Source[T]) -> HybridSourceBuilder[T]:
        """Begin with the source that is read first."""
        return HybridSourceBuilder(first_source)

    def split_parallelism(self, parallelism: int) -> int:
        return max(source.split_parallelism(parallelism) for source in self._sources)

    def split_count(self, parallelism: int, one_batch: bool) -> int:
        self._counts = [s.split_count(s.split_parallelism(parallelism), one_batch) for s in self._sources]
        return max(self._counts)

    def initial(self, split: int, splits: int) -> Position:
        return self._begin(0, split)

    def _begin(self, index: int, split: int) -> Position:
        if split >= self._counts[index]:
            return Position([index, None, True])
        begin = self._sources[index].initial(split, self._counts[index])
        return Position([index, begin.at, begin.ended])

    # -- going on -----------------------------------------------------------------------------------

    def advance(
        self, split: int, splits: int, start: Position, base: Position, limit: int, clock: SourceClock
    ) -> Position:
        index, _, ended = start.at
        self._note(split, splits, index, ended)
        if ended and index < len(self._sources) - 1 and self._over(index, splits):
            start = self._begin(index + 1, split)
            self._switched_ms[split] = clock.now_ms
        if not start.at[2]:
            start = self._further(split, start, base, limit, clock)
        last = len(self._sources) - 1
        # a split that has ended is not asked again: it may say so only when nobody waits for its answer
        done = start.at[2] and all(self._known.get(s, (-1,))[0] == last for s in range(splits))
        return Position(start.at, done)

    def _note(self, split: int, splits: int, index: int, ended: bool) -> None:
        """Splits are asked in rounds; one that was left out of a round has ended, as the whole source."""
        if split in self._round:
            self._known |= {s: (len(self._sources) - 1, True) for s in range(splits) if s not in self._round}
            self._round = set()
        self._round.add(split)
        self._known[split] = (index, ended)

    def _over(self, index: int, splits: int) -> bool:
        """Whether all splits have read a source to its end; one that is further on proves it."""
        known = [self._known.get(s, (-1, False)) for s in range(splits)]
        return any(i > index for i, _ in known) or all(i == index and ended for i, ended in known)

    def _further(self, split: int, start: Position, base: Position, limit: int, clock: SourceClock) -> Position:
        index, at, _ = start.at
        origin = Position(base.at[1]) if base.at[0] == index else Position(self._begin(index, split).at[1])
        began = SourceClock(clock.now_ms, self._switched_ms.get(split, clock.started_ms))
        end = self._sources[index].advance(split, self._counts[index], Position(at), origin, limit, began)
        return Position([index, end.at, end.ended])

    def lag(self, split: int, splits: int, at: Position, base: Position, clock: SourceClock) -> Lag:
        """Of the last source, which goes on; while history is read it is not known what waits behind it."""
        index, own, _ = at.at
        if index < len(self._sources) - 1 or split >= self._counts[index]:
            return Lag()
        origin = Position(base.at[1]) if base.at[0] == index else Position(self._begin(index, split).at[1])
        began = SourceClock(clock.now_ms, self._switched_ms.get(split, clock.started_ms))
        lag: Lag = self._sources[index].lag(split, self._counts[index], Position(own), origin, began)
        return lag

    def notices(self, end: Position) -> list[Notice]:
        """Of the source that is being read."""
        index, at, ended = end.at
        found: list[Notice] = [] if at is None else self._sources[index].notices(Position(at, ended))
        return found

    # -- reading ------------------------------------------------------------------------------------

    def read(self, split: int, splits: int, start: Position, end: Position | None) -> Iterator[ReadBatch]:
        if end is None:
            for index in range(len(self._sources)):
                yield from self._read_all(index, split)
            return
        index, at, ended = end.at
        begin = start if start.at[0] == index else self._begin(index, split)
        if not begin.at[2]:
            yield from self._sources[index].read(split, self._counts[index], Position(begin.at[1]), Position(at, ended))

    def _read_all(self, index: int, split: int) -> Iterator[ReadBatch]:
        if split < self._counts[index]:
            source = self._sources[index]
            yield from source.read(split, self._counts[index], source.initial(split, self._counts[index]), None)
