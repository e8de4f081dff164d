"""How long state lives: `StateTtlConfig` with its builder, as in PyFlink."""

from __future__ import annotations

from abc import ABC
from collections.abc import Mapping
from enum import Enum

from penstock.core.config.compat import warn_once
from penstock.core.time.spans import Duration, Span, Time, duration_of, is_span

__all__ = ["StateTtlConfig"]


class _Update(Enum):
    """The accesses that prolong the life of an entry."""

    Disabled = 0
    OnCreateAndWrite = 1
    OnReadAndWrite = 2


class _Visibility(Enum):
    """Whether an entry that has expired but is still there may be returned."""

    ReturnExpiredIfNotCleanedUp = 0
    NeverReturnExpired = 1


class _Characteristic(Enum):
    """Which clock entries age by."""

    ProcessingTime = 0


class _Strategies(Enum):
    """Names of the ways to clean up."""

    FULL_STATE_SCAN_SNAPSHOT = 0
    INCREMENTAL_CLEANUP = 1
    ROCKSDB_COMPACTION_FILTER = 2


class _Strategy(ABC):
    """Base of the settings of a way to clean up."""


class _Empty(_Strategy):
    """A way to clean up without settings."""


class _Incremental(_Strategy):
    """A few at a time."""

    def __init__(self, cleanup_size: int, run_cleanup_for_every_record: bool) -> None:
        self._cleanup_size = cleanup_size
        self._run_cleanup_for_every_record = run_cleanup_for_every_record

    def get_cleanup_size(self) -> int:
        return self._cleanup_size

    def run_cleanup_for_every_record(self) -> bool:
        return self._run_cleanup_for_every_record


class _Compaction(_Strategy):
    """While Flink's RocksDB compacts; has no counterpart here."""

    def __init__(self, query_time_after_num_entries: int, periodic_compaction_time: Span | None = None) -> None:
        self._query_time_after_num_entries = query_time_after_num_entries
        given = periodic_compaction_time
        self._periodic_compaction_time = Duration.of_days(30) if given is None else duration_of(given)

    def get_query_time_after_num_entries(self) -> int:
        return self._query_time_after_num_entries

    def get_periodic_compaction_time(self) -> Duration:
        return self._periodic_compaction_time


class _Cleanup:
    """When expired entries leave the store besides on access."""

    Strategies = _Strategies
    CleanupStrategy = _Strategy
    EmptyCleanupStrategy = _Empty
    IncrementalCleanupStrategy = _Incremental
    RocksdbCompactFilterCleanupStrategy = _Compaction
    EMPTY_STRATEGY = _Empty()

    def __init__(self, strategies: Mapping[_Strategies, _Strategy], is_cleanup_in_background: bool) -> None:
        self._strategies = dict(strategies)
        self._is_cleanup_in_background = is_cleanup_in_background

    def is_cleanup_in_background(self) -> bool:
        return self._is_cleanup_in_background

    def in_full_snapshot(self) -> bool:
        return _Strategies.FULL_STATE_SCAN_SNAPSHOT in self._strategies

    def get_incremental_cleanup_strategy(self) -> _Incremental | None:
        given = self._strategies.get(_Strategies.INCREMENTAL_CLEANUP)
        assert given is None or isinstance(given, _Incremental)
        return given or (_Incremental(5, False) if self._is_cleanup_in_background else None)

    def get_rocksdb_compact_filter_cleanup_strategy(self) -> _Compaction | None:
        given = self._strategies.get(_Strategies.ROCKSDB_COMPACTION_FILTER)
        assert given is None or isinstance(given, _Compaction)
        return given or (_Compaction(1000) if self._is_cleanup_in_background else None)


class _Builder:
    """Collects the settings of a `StateTtlConfig`."""

    def __init__(self, ttl: Span) -> None:
        self._ttl = ttl
        self._update_type = _Update.OnCreateAndWrite
        self._state_visibility = _Visibility.NeverReturnExpired
        self._ttl_time_characteristic = _Characteristic.ProcessingTime
        self._is_cleanup_in_background = True
        self._strategies: dict[_Strategies, _Strategy] = {}

    def set_update_type(self, update_type: _Update) -> _Builder:
        self._update_type = update_type
        return self

    def update_ttl_on_create_and_write(self) -> _Builder:
        """Writing prolongs an entry's life."""
        return self.set_update_type(_Update.OnCreateAndWrite)

    def update_ttl_on_read_and_write(self) -> _Builder:
        """Reading and writing prolong an entry's life."""
        return self.set_update_type(_Update.OnReadAndWrite)

    def set_state_visibility(self, state_visibility: _Visibility) -> _Builder:
        self._state_visibility = state_visibility
        return self

    def return_expired_if_not_cleaned_up(self) -> _Builder:
        """An expired entry may be seen once more, by the read that removes it."""
        return self.set_state_visibility(_Visibility.ReturnExpiredIfNotCleanedUp)

    def never_return_expired(self) -> _Builder:
        """An expired entry is never seen."""
        return self.set_state_visibility(_Visibility.NeverReturnExpired)

    def set_ttl_time_characteristic(self, ttl_time_characteristic: _Characteristic) -> _Builder:
        self._ttl_time_characteristic = ttl_time_characteristic
        return self

    def use_processing_time(self) -> _Builder:
        return self.set_ttl_time_characteristic(_Characteristic.ProcessingTime)

    def cleanup_full_snapshot(self) -> _Builder:
        """Remove expired entries at the first checkpoint (batch end) after they expired, without the usual slack."""
        self._strategies[_Strategies.FULL_STATE_SCAN_SNAPSHOT] = _Cleanup.EMPTY_STRATEGY
        return self

    def cleanup_incrementally(self, cleanup_size: int, run_cleanup_for_every_record: bool) -> _Builder:
        """How many pages a sweep may load; with the second argument sweeps run after every chunk, not just batch."""
        if not isinstance(cleanup_size, int) or cleanup_size < 1:
            raise ValueError(f"cleanup_incrementally() takes a number of at least 1, got {cleanup_size!r}")
        self._strategies[_Strategies.INCREMENTAL_CLEANUP] = _Incremental(cleanup_size, run_cleanup_for_every_record)
        return self

    def cleanup_in_rocksdb_compact_filter(
        self, query_time_after_num_entries: int, periodic_compaction_time: Span | None = None
    ) -> _Builder:
        """Accepted; has no effect, since the store does not know single entries. Sweeps remove them anyway."""
        warn_once("StateTtlConfig.cleanup_in_rocksdb_compact_filter")
        self._strategies[_Strategies.ROCKSDB_COMPACTION_FILTER] = _Compaction(
            query_time_after_num_entries, periodic_compaction_time
        )
        return self

    def disable_cleanup_in_background(self) -> _Builder:
        """Remove expired entries on access only, unless a way to clean up was chosen."""
        self._is_cleanup_in_background = False
        return self

    def set_ttl(self, ttl: Span) -> _Builder:
        self._ttl = ttl
        return self

    def build(self) -> StateTtlConfig:
        return StateTtlConfig(
            self._update_type,
            self._state_visibility,
            self._ttl_time_characteristic,
            self._ttl,
            _Cleanup(self._strategies, self._is_cleanup_in_background),
        )


class StateTtlConfig:
    """How long entries of a state live, and what becomes of expired ones.

    A value, each element of a list and each entry of a map has a life of its own. It expires `ttl`
    after it was last written (or read, if so configured), by the clock of the operator. Expired
    entries leave the store when they are met and, in the background, at the end of a batch at most a
    quarter of `ttl` after they expired.

    >>> config = StateTtlConfig.new_builder(Time.hours(1)).update_ttl_on_read_and_write().build()
    >>> config.get_ttl().to_milliseconds(), config.get_update_type().name
    (3600000, 'OnReadAndWrite')
    """

    UpdateType = _Update
    StateVisibility = _Visibility
    TtlTimeCharacteristic = _Characteristic
    CleanupStrategies = _Cleanup
    Builder = _Builder

    def __init__(
        self,
        update_type: _Update,
        state_visibility: _Visibility,
        ttl_time_characteristic: _Characteristic,
        ttl: Span,
        cleanup_strategies: _Cleanup,
    ) -> None:
        if not is_span(ttl) or duration_of(ttl).to_milliseconds() <= 0:
            raise ValueError(
                "StateTtlConfig needs a time to live of at least 1 ms as a Time, a Duration or a timedelta, "
                f"got {ttl!r}"
            )
        self._update_type = update_type
        self._state_visibility = state_visibility
        self._ttl_time_characteristic = ttl_time_characteristic
        self._ttl = ttl if isinstance(ttl, Time) else Time(duration_of(ttl).to_milliseconds())
        self._cleanup_strategies = cleanup_strategies

    @staticmethod
    def new_builder(ttl: Span) -> _Builder:
        """Begin a configuration with this time to live."""
        return _Builder(ttl)

    def get_update_type(self) -> _Update:
        """What renews an entry: writing it, or reading it too."""
        return self._update_type

    def get_state_visibility(self) -> _Visibility:
        """Whether an expired entry may still be read until it is removed."""
        return self._state_visibility

    def get_ttl(self) -> Time:
        """How long an entry lives after it was last renewed."""
        return self._ttl

    def get_ttl_time_characteristic(self) -> _Characteristic:
        """Always processing time."""
        return self._ttl_time_characteristic

    def is_enabled(self) -> bool:
        """Whether state expires at all."""
        return self._update_type is not _Update.Disabled

    def get_cleanup_strategies(self) -> _Cleanup:
        """How expired entries are removed; accepted as in PyFlink, entries are swept here in any case."""
        return self._cleanup_strategies

    def __repr__(self) -> str:
        return (
            f"StateTtlConfig<update_type={self._update_type}, state_visibility={self._state_visibility}, "
            f"ttl_time_characteristic={self._ttl_time_characteristic}, ttl={self._ttl}>"
        )
