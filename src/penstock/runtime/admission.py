"""How much a batch may read of each source: limits, and a controller that keeps batches near a target duration.

The controller lives on the driver and looks at batches that have run. Its limits are published before a batch is
planned and stand in the offset log from then on, so that a task that is run again reads the same.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from penstock.core.config import ConfigOption, Configuration
from penstock.core.config.options.tuning import BATCH_MAX_BYTES, BATCH_MAX_RECORDS, BATCH_TARGET
from penstock.core.config.table import check_settings, check_source_settings
from penstock.core.program.job import JobPlan

__all__ = ["Admission", "SourceLimit", "admission", "read_by"]

_LEAST = 16
_BATCHES = 8
_FIRST = 20_000
_GROWTH = 8
_ALIKE = 0.05
_USEFUL = 0.25
"""The share of the target that is always left for records, however much of it a batch costs without any."""


@dataclass(frozen=True, slots=True)
class SourceLimit:
    """The most that a split of a source may bring into a batch."""

    records: int
    bytes: int


class Admission:
    """Limits of every source, in records of a split.

    The model is that a batch costs a fixed time and a time per record, both estimated from the last batches. The time
    that the target leaves for records is dealt out evenly among the splits that had more records than they were
    allowed. A job starts with small batches, and its first batch does not count: workers start in it.

    >>> held = Admission({"clicks": SourceLimit(1000, 1 << 30)}, target_ms=1000)
    >>> held.note(12_000, {("clicks", 0): (1000, 50_000)})
    >>> held.note(5000, {("clicks", 0): (1000, 50_000)})
    >>> held.limits()
    {'clicks': 200}
    """

    def __init__(self, sources: Mapping[str, SourceLimit], target_ms: int) -> None:
        # configuration
        self._sources, self._target_ms = sources, target_ms
        # of the job
        self._first = True
        self._seen: deque[tuple[int, int]] = deque(maxlen=_BATCHES)
        self._fixed_ms = 0.0
        self._record_bytes: dict[str, float] = {}
        first = _FIRST if target_ms else None
        self._limits = {uid: self._limit(uid, limit, first) for uid, limit in sources.items()}

    def limits(self) -> dict[str, int]:
        """Records that a split of each source may bring into the next batch."""
        return dict(self._limits)

    def note(self, took_ms: int, read: Mapping[tuple[str, int], tuple[int, int]]) -> None:
        """Called when a batch has run: how long it took, and how many records and bytes each split (uid, number)
        brought."""
        records = sum(count for count, _ in read.values())
        if records and not self._first:
            self._seen.append((records, took_ms))
        self._first = self._first and not records
        for (uid, _), (count, size) in read.items():
            if count:
                self._record_bytes[uid] = max(size / count, self._record_bytes.get(uid, 0) / 2)
        share = self._share(records, read)
        self._limits = {uid: self._limit(uid, limit, share) for uid, limit in self._sources.items()}

    def _share(self, records: int, read: Mapping[tuple[str, int], tuple[int, int]]) -> int | None:
        """How many records each split that is held back may bring; None if the target holds nothing back."""
        if not self._target_ms:
            return None
        if not self._seen:
            return _FIRST
        self._fixed_ms, record_ms = _costs(self._seen, self._fixed_ms)
        room_ms = max(self._target_ms - self._fixed_ms, self._target_ms * _USEFUL)
        held_back = sum(1 for (uid, _), (count, _) in read.items() if count >= self._limits.get(uid, 0))
        most = max(records, *self._limits.values()) * _GROWTH
        return int(min(room_ms / record_ms if record_ms else most, most) / max(1, held_back))

    def _limit(self, uid: str, most: SourceLimit, share: int | None) -> int:
        allowed = most.records
        if uid in self._record_bytes:
            allowed = min(allowed, int(most.bytes / max(1.0, self._record_bytes[uid])))
        if share is not None:
            allowed = min(allowed, max(share, _LEAST))
        return max(1, allowed)


def _costs(seen: Sequence[tuple[int, int]], known_ms: float) -> tuple[float, float]:
    """The time that a batch and the time that a record costs: the straight line through the last batches.

    Batches of one size give no line: a batch then costs as much as was known before, and its records the rest.
    """
    records, times = [n for n, _ in seen], [t for _, t in seen]
    middle, time = sum(records) / len(seen), sum(times) / len(seen)
    spread = sum((n - middle) ** 2 for n in records)
    if spread <= len(seen) * (middle * _ALIKE) ** 2:
        fixed = known_ms if known_ms < time else 0.0
        return fixed, (time - fixed) / middle
    slope = sum((n - middle) * (t - time) for n, t in seen) / spread
    fixed = time - slope * middle
    return (0.0, time / middle) if fixed < 0 else (fixed, max(0.0, slope))


def admission(plan: JobPlan, conf: Configuration) -> Admission:
    """The limits that a job's settings ask for."""
    uids = [vertex.uid for vertex in plan.sources]
    check_settings(conf)
    check_source_settings(conf, uids)
    return Admission({uid: _source_limit(conf, uid) for uid in uids}, conf.get(BATCH_TARGET))


def _source_limit(conf: Configuration, uid: str) -> SourceLimit:
    return SourceLimit(_limit(conf, BATCH_MAX_RECORDS, uid), _limit(conf, BATCH_MAX_BYTES, uid))


def _limit(conf: Configuration, option: ConfigOption[int], uid: str) -> int:
    return conf.get(option.of(uid), conf.get(option))


def read_by(plan: JobPlan, metrics: Sequence[Mapping[str, Any]]) -> dict[tuple[str, int], tuple[int, int]]:
    """Records and bytes that the splits of the sources brought into a batch, as it reported them."""
    uids = {vertex.vertex_id: vertex.uid for vertex in plan.sources}
    return {
        (uids[entry["vertex"]], entry["subtask"]): (entry["in"], entry["bytes"])
        for entry in metrics
        if entry["vertex"] in uids
    }
