"""`PythonSource`: a replayable source that a user writes, as partitions with offsets."""

from __future__ import annotations

import copy
from abc import abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Any, Generic, NamedTuple, Self

from penstock.core.contracts.source import Lag, Position, ReadBatch, Source, SourceClock
from penstock.core.contracts.starting_offsets import StartingOffsets
from penstock.core.errors import ProgramError, SourceError
from penstock.core.types.type_variables import T, T_co

__all__ = ["PythonSource", "Timestamped"]

_READ = 8192
_ALL = 1 << 40
_LOOKUPS = {"latest": "end_offset", "timestamp": "offset_for_timestamp"}


class Timestamped(NamedTuple, Generic[T]):
    """A record together with its event time, in milliseconds since the epoch."""

    value: T
    timestamp: int


class PythonSource(Source[T_co]):
    """A source made of partitions, in each of which an offset (any JSON value) says how far it has been read.

    After a failure the job reads the same stretch again, so `read_partition` must give the same records for the
    same offsets: then results are exactly-once as far as the source goes. Objects of the class are sent to
    workers: open files and connections inside the methods. `partitions`, `initial_offset`, `latest_offset` and
    `is_end` are called beside the driver, before every batch, so they should be quick.

    >>> from penstock.common import Configuration, WatermarkStrategy
    >>> from penstock.datastream import StreamExecutionEnvironment
    >>> class Tables(PythonSource):
    ...     rows = {"north": ["a", "b", "c"], "south": ["x"]}
    ...     def partitions(self):
    ...         return list(self.rows)
    ...     def latest_offset(self, partition, start, limit):
    ...         return min(start + limit, len(self.rows[partition]))
    ...     def is_end(self, partition, offset):
    ...         return offset == len(self.rows[partition])
    ...     def read_partition(self, partition, start, end):
    ...         for number in range(start, end):
    ...             yield Timestamped((partition, self.rows[partition][number]), timestamp=number)
    >>> env = StreamExecutionEnvironment(Configuration({"penstock.host": "local"})).set_parallelism(1)
    >>> stream = env.from_source(Tables(), WatermarkStrategy.for_monotonous_timestamps(), "tables")
    >>> sorted(stream.execute_and_collect())
    [('north', 'a'), ('north', 'b'), ('north', 'c'), ('south', 'x')]
    """

    _found: tuple[object, ...] | None = None
    _start = StartingOffsets.earliest()

    @abstractmethod
    def partitions(self) -> Sequence[Any]:
        """The partitions that can be read independently, as JSON values. The methods below are given one of them.

        Asked when the job is planned. A job that goes on from a checkpoint must find the same partitions.
        """

    def initial_offset(self, partition: Any) -> Any:
        """Where a new job begins unless `start_from` says otherwise: the earliest offset; 0 unless overridden."""
        return 0

    def end_offset(self, partition: Any) -> Any:
        """Behind the last record there is now; override it to let jobs start from the latest."""
        raise NotImplementedError

    def offset_for_timestamp(self, partition: Any, timestamp: int) -> Any:
        """Before the first record that is not older; override it to let jobs start from a past moment."""
        raise NotImplementedError

    def start_from(self, start: StartingOffsets) -> Self:
        """This source from another place on. Given offsets are by partition; others begin at the earliest."""
        needed = _LOOKUPS.get(start.kind)
        if needed is not None and getattr(type(self), needed) is getattr(PythonSource, needed):
            raise ProgramError(f"{type(self).__name__} cannot start from {start.kind}: override {needed}()")
        if start.kind == "offsets" and not isinstance(start.value, dict):
            raise TypeError(f"{type(self).__name__} takes offsets as a dict by partition, got {start.value!r}")
        made = copy.copy(self)
        made._start, made.moving_start = start, needed is not None
        return made

    def _first_offset(self, partition: Any) -> object:
        start = self._start
        if start.kind == "latest":
            return self.end_offset(partition)
        if start.kind == "timestamp":
            return self.offset_for_timestamp(partition, start.value)
        given = start.value if start.kind == "offsets" else {}
        return given[partition] if partition in given else self.initial_offset(partition)

    @abstractmethod
    def latest_offset(self, partition: Any, start: Any, limit: int) -> Any:
        """How far the partition can be read now, at most about `limit` records beyond `start`; `start`: nothing new."""

    def is_end(self, partition: Any, offset: Any) -> bool:
        """Whether nothing will ever follow. A source with `bounded = True` must come to it in every partition."""
        return False

    def offset_lag(self, partition: Any, offset: Any) -> Lag:
        """How far an offset is behind what there is to read: `Lag(records, ms)`, each None if it cannot be told."""
        return Lag()

    @abstractmethod
    def read_partition(self, partition: Any, start: Any, end: Any) -> Iterable[T_co | Timestamped[T_co]]:
        """The records between two offsets, each as it is or as `Timestamped`; runs in workers."""

    # -- the contract of `Source` -----------------------------------------------------------------

    def _names(self) -> tuple[object, ...]:
        if self._found is None:
            self._found = tuple(self.partitions())
            if not self._found:
                raise SourceError(f"{type(self).__name__}.partitions() gave none: a source needs at least one")
        return self._found

    def _check_given(self) -> None:
        unknown = [p for p in (self._start.value if self._start.kind == "offsets" else ()) if p not in self._names()]
        if unknown:
            raise ProgramError(
                f"{type(self).__name__} has no partition {unknown[0]!r} to start from an offset: it has "
                f"{', '.join(map(repr, self._names()))}"
            )

    def split_parallelism(self, parallelism: int) -> int:
        return min(parallelism, len(self._names()))

    def split_count(self, parallelism: int, one_batch: bool) -> int:
        return len(self._names())

    def initial(self, split: int, splits: int) -> Position:
        self._check_given()
        return self._position(split, self._first_offset(self._names()[split]))

    def _position(self, split: int, offset: Any) -> Position:
        partition = self._names()[split]
        return Position({"partition": partition, "offset": offset}, bool(self.is_end(partition, offset)))

    def advance(
        self, split: int, splits: int, start: Position, base: Position, limit: int, clock: SourceClock
    ) -> Position:
        offset = self._offset(split, start)
        return self._position(split, self.latest_offset(self._names()[split], offset, limit))

    def lag(self, split: int, splits: int, at: Position, base: Position, clock: SourceClock) -> Lag:
        return self.offset_lag(self._names()[split], self._offset(split, at))

    def _offset(self, split: int, position: Position) -> object:
        partition = self._names()[split]
        if position.at["partition"] != partition:
            raise SourceError(
                f"The partitions of {type(self).__name__} have changed since the checkpoint: number {split} was "
                f"{position.at['partition']!r}, is {partition!r}. Restore them, or start from a new checkpoint"
            )
        return position.at["offset"]

    def read(self, split: int, splits: int, start: Position, end: Position | None) -> Iterator[ReadBatch]:
        partition, offset = self._names()[split], self._offset(split, start)
        stop = self._last(partition, offset) if end is None else self._offset(split, end)
        records = iter(self.read_partition(partition, offset, stop))
        while batch := list(islice(records, _READ)):
            yield _unstamped(batch)

    def _last(self, partition: Any, offset: Any) -> object:
        """The end of a partition."""
        while not self.is_end(partition, offset):
            further = self.latest_offset(partition, offset, _ALL)
            if further == offset:
                raise SourceError(
                    f"{type(self).__name__} is bounded, but partition {partition!r} stops at offset {offset!r} without "
                    "is_end() being true: override is_end(), or set bounded = False"
                )
            offset = further
        return offset


def _unstamped(batch: list[Any]) -> ReadBatch:
    """Values and timestamps side by side."""
    if not any(record.__class__ is Timestamped for record in batch):
        return batch, None
    pairs = [(r.value, r.timestamp) if r.__class__ is Timestamped else (r, None) for r in batch]
    return [v for v, _ in pairs], [t for _, t in pairs]
