"""A source that follows a script: records and watermarks exactly where they are written."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from penstock.api.data_stream import DataStream
from penstock.api.environment import StreamExecutionEnvironment
from penstock.core.config.options.job import PER_RECORD_WATERMARKS, WATERMARK_RECORDS
from penstock.core.contracts.source import Position, ReadBatch, Source, SourceClock
from penstock.core.time.spans import Duration
from penstock.core.time.watermarks import WatermarkStrategy

__all__ = ["EVERY_RECORD", "PER_RECORD", "At", "Mark", "ScriptedSource", "Tick", "scripted_stream"]

PER_RECORD = PER_RECORD_WATERMARKS.key
"""Must be set to true for a job with scripted watermarks of one channel: each must leave where it stands."""

EVERY_RECORD = WATERMARK_RECORDS.key
"""Set to 1 it does the same for any number of channels, whose records may then be interleaved differently."""

_FAR_MS = 1 << 50


@dataclass(frozen=True, slots=True)
class At:
    """A record with its timestamp."""

    timestamp: int | None
    value: Any


@dataclass(frozen=True, slots=True)
class Mark:
    """A watermark."""

    timestamp: int


@dataclass(frozen=True, slots=True)
class Tick:
    """What follows in the channel, be it its end, comes when the clock says this time."""

    now_ms: int


Event = At | Mark | Tick


class ScriptedSource(Source):
    """Each channel is a list of records, watermarks and ticks; a position is a number of events.

    It is read by as many subtasks as there are channels, or by `parallelism`.

    >>> source = ScriptedSource([[At(1, "a"), Mark(5), At(6, "b")]])
    >>> source.split_count(1, one_batch=True)
    1
    """

    def __init__(
        self, channels: Sequence[Sequence[Event]], bounded: bool = True, parallelism: int | None = None
    ) -> None:
        self._channels = [tuple(events) for events in channels]
        self._parallelism = parallelism or len(self._channels)
        self.bounded = bounded

    def split_count(self, parallelism: int, one_batch: bool) -> int:
        return len(self._channels)

    def split_parallelism(self, parallelism: int) -> int:
        return self._parallelism

    def ticks(self) -> set[int]:
        """When something may come that was not there before."""
        return {e.now_ms for events in self._channels for e in events if isinstance(e, Tick)}

    def initial(self, split: int, splits: int) -> Position:
        return Position(0, self.bounded and not self._channels[split])

    def advance(
        self, split: int, splits: int, start: Position, base: Position, limit: int, clock: SourceClock
    ) -> Position:
        events = self._channels[split]
        stop = start.at
        while stop < min(len(events), start.at + limit) and _has_come(events[stop], clock.now_ms):
            stop += 1
        return Position(stop, self.bounded and stop == len(events))

    def read(self, split: int, splits: int, start: Position, end: Position | None) -> Iterator[ReadBatch]:
        part = self._channels[split][start.at : None if end is None else end.at]
        events = [e for e in part if not isinstance(e, Tick)]
        if events:
            stamps = [e.timestamp + 1 + _FAR_MS if isinstance(e, Mark) else e.timestamp for e in events]
            values = [e if isinstance(e, Mark) else e.value for e in events]
            yield values, None if all(s is None for s in stamps) else stamps


def scripted_stream(
    env: StreamExecutionEnvironment, source: ScriptedSource, name: str = "script"
) -> DataStream[object]:
    """The records of a script, with its watermarks between them; `PER_RECORD` or `EVERY_RECORD` must be set.

    A watermark travels as a record whose timestamp is so far ahead that it alone moves a watermark that lags
    by as much; the record itself is dropped.
    """
    lagging = WatermarkStrategy.for_bounded_out_of_orderness(Duration.of_millis(_FAR_MS))
    stream = env.from_source(source, lagging, name)
    return stream.filter(_is_record).set_parallelism(source.split_parallelism(1))


def _has_come(event: Event, now_ms: int) -> bool:
    return not isinstance(event, Tick) or event.now_ms <= now_ms


def _is_record(value: object) -> bool:
    return not isinstance(value, Mark)
