"""Which folder a record goes to, and when a file is full."""

from __future__ import annotations

import datetime
import re
import zoneinfo
from dataclasses import dataclass
from typing import Generic

from penstock.core.config.compat import warn_once
from penstock.core.errors import ProgramError
from penstock.core.types.subscript import Subscriptable
from penstock.core.types.type_variables import IN

__all__ = [
    "BucketAssigner",
    "BucketContext",
    "DefaultRollingPolicy",
    "FileCompactStrategy",
    "FileCompactor",
    "OnCheckpointRollingPolicy",
    "RollingPolicy",
]


@dataclass(slots=True)
class BucketContext:
    """Given to a bucket assigner beside the record: the record's timestamp and the processing time of its batch.

    The time of the batch is the same for all its records and for a repeated attempt.
    """

    _processing_time_ms: int
    _timestamp: int | None = None

    def current_processing_time(self) -> int:
        return self._processing_time_ms

    def timestamp(self) -> int | None:
        return self._timestamp


class BucketAssigner(Subscriptable, Generic[IN]):
    """Chooses a folder below the sink's for each record.

    A sink that is given none uses `date_time_bucket_assigner()`: a folder for each hour.

    >>> class ByCountry(BucketAssigner):
    ...     def get_bucket_id(self, element, context):
    ...         return element["country"]
    >>> ByCountry().get_bucket_id({"country": "ch"}, BucketContext(0))
    'ch'
    """

    by_record = True
    """Whether records of one batch may go to different folders; if not, the first is asked for and all follow it."""

    def get_bucket_id(self, element: IN, context: BucketContext) -> str:
        """The folder, relative to the sink's; "" for that itself. Must depend on nothing but its arguments."""
        raise NotImplementedError(f"{type(self).__name__} must define get_bucket_id(element, context)")

    @staticmethod
    def base_path_bucket_assigner() -> BucketAssigner[object]:
        """All files in the sink's own folder."""
        return _BasePath()

    @staticmethod
    def date_time_bucket_assigner(
        format_str: str = "yyyy-MM-dd--HH", timezone_id: str | None = None
    ) -> BucketAssigner[object]:
        """A folder by processing time, which is that of the batch; in the machine's time zone unless one is given."""
        return _DateTime(format_str, timezone_id)


class _BasePath(BucketAssigner[object]):
    by_record = False

    def get_bucket_id(self, element: object, context: BucketContext) -> str:
        return ""


class _DateTime(BucketAssigner[object]):
    by_record = False

    def __init__(self, format_str: str, timezone_id: str | None) -> None:
        self._format = _strftime(format_str)
        self._zone = _zone(timezone_id) if timezone_id is not None else None
        self._last = (-1, "")

    def get_bucket_id(self, element: object, context: BucketContext) -> str:
        now_ms = context.current_processing_time()
        if self._last[0] != now_ms:
            moment = datetime.datetime.fromtimestamp(now_ms // 1000, datetime.UTC).astimezone(self._zone)
            self._last = (now_ms, moment.strftime(self._format))
        return self._last[1]


_LETTERS = {"yyyy": "%Y", "uuuu": "%Y", "yy": "%y", "MM": "%m", "dd": "%d", "HH": "%H", "mm": "%M", "ss": "%S"}
_LETTERS |= {"DDD": "%j", "hh": "%I", "a": "%p", "MMM": "%b", "MMMM": "%B", "EEE": "%a", "EEEE": "%A"}
_TOKEN = re.compile(r"'([^']*)'|(([A-Za-z])\3*)|(.)", re.DOTALL)


def _strftime(pattern: str) -> str:
    return "".join(_translated(match, pattern) for match in _TOKEN.finditer(pattern))


def _translated(match: re.Match[str], pattern: str) -> str:
    quoted, letters, _, other = match.groups()
    if letters is None:
        text = (quoted or "'") if other is None else other
        return text.replace("%", "%%")
    if letters not in _LETTERS:
        raise ProgramError(
            f"date_time_bucket_assigner({pattern!r}): {letters!r} is not known, only {', '.join(sorted(_LETTERS))}"
        )
    return _LETTERS[letters]


_OFFSET = re.compile(r"(?:GMT|UTC|UT)?([+-])(\d{1,2})(?::?(\d{2}))?")


def _zone(timezone_id: str) -> datetime.tzinfo:
    if match := _OFFSET.fullmatch(timezone_id):
        sign, hours, minutes = match.groups()
        delta = datetime.timedelta(hours=int(hours), minutes=int(minutes or 0))
        return datetime.timezone(-delta if sign == "-" else delta)
    try:
        return zoneinfo.ZoneInfo(timezone_id)
    except (zoneinfo.ZoneInfoNotFoundError, ValueError) as error:
        raise ProgramError(f"date_time_bucket_assigner: the time zone {timezone_id!r} is not known") from error


class RollingPolicy:
    """When a file is closed and another begun. All files are closed at the end of every batch, which is the checkpoint.

    >>> RollingPolicy.default_rolling_policy(part_size=1000).part_size
    1000
    """

    part_size: int | None = None

    @staticmethod
    def default_rolling_policy(
        part_size: int = 1024 * 1024 * 128, rollover_interval: int = 60 * 1000, inactivity_interval: int = 60 * 1000
    ) -> DefaultRollingPolicy:
        """Close a file by its size, its age, or the time since its last record."""
        return DefaultRollingPolicy(part_size, rollover_interval, inactivity_interval)

    @staticmethod
    def on_checkpoint_rolling_policy() -> OnCheckpointRollingPolicy:
        """Close every file at each checkpoint."""
        return OnCheckpointRollingPolicy()


class DefaultRollingPolicy(RollingPolicy):
    """Also closes a file that has grown to a size.

    >>> DefaultRollingPolicy(5).part_size
    5
    """

    def __init__(
        self, part_size: int, rollover_interval: int = 60 * 1000, inactivity_interval: int = 60 * 1000
    ) -> None:
        if part_size <= 0:
            raise ProgramError(f"A rolling policy takes a positive part_size, got {part_size}")
        self.part_size = part_size
        for name, value in (("rollover", rollover_interval), ("inactivity", inactivity_interval)):
            if value != 60 * 1000:
                warn_once(f"RollingPolicy.{name}_interval")


class OnCheckpointRollingPolicy(RollingPolicy):
    """Closes files at checkpoints only.

    >>> OnCheckpointRollingPolicy().part_size is None
    True
    """


class FileCompactStrategy:
    """Accepted for compatibility; see `FileSinkBuilder.enable_compact`.

    >>> FileCompactStrategy.builder().set_size_threshold(1024).build().size_threshold
    1024
    """

    def __init__(self, num_checkpoints: int = -1, size_threshold: int = -1, num_threads: int = 1) -> None:
        self.num_checkpoints, self.size_threshold, self.num_threads = num_checkpoints, size_threshold, num_threads

    @staticmethod
    def builder() -> FileCompactStrategy.Builder:
        """Begin a strategy."""
        return FileCompactStrategy.Builder()

    class Builder:
        """Builds a `FileCompactStrategy`."""

        def __init__(self) -> None:
            self._checkpoints = self._size = -1
            self._threads = 1

        def build(self) -> FileCompactStrategy:
            """The finished strategy."""
            if self._checkpoints < 0 and self._size < 0:
                raise ProgramError("FileCompactStrategy needs a number of checkpoints or a size threshold")
            return FileCompactStrategy(self._checkpoints, self._size, self._threads)

        def enable_compaction_on_checkpoint(
            self, num_checkpoints_before_compaction: int
        ) -> FileCompactStrategy.Builder:
            """Accepted without effect: files are not joined."""
            self._checkpoints = num_checkpoints_before_compaction
            return self

        def set_size_threshold(self, size_threshold: int) -> FileCompactStrategy.Builder:
            """Accepted without effect: files are not joined."""
            self._size = size_threshold
            return self

        def set_num_compact_threads(self, num_compact_threads: int) -> FileCompactStrategy.Builder:
            """Accepted without effect: files are not joined."""
            self._threads = num_compact_threads
            return self


class FileCompactor:
    """Accepted for compatibility; see `FileSinkBuilder.enable_compact`.

    >>> FileCompactor.concat_file_compactor(b"--").file_delimiter
    b'--'
    """

    def __init__(self, file_delimiter: bytes | None = None) -> None:
        self.file_delimiter = file_delimiter

    @staticmethod
    def concat_file_compactor(file_delimiter: bytes | None = None) -> FileCompactor:
        """Accepted without effect: files are not joined."""
        return FileCompactor(file_delimiter)

    @staticmethod
    def identical_file_compactor() -> FileCompactor:
        """Files stay as they are."""
        return FileCompactor()
