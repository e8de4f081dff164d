"""The parameters that a peer gets on its command line, job by job. Standard library only: peers import it too."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class SumParams:
    """Running sum over ``records`` records, the first ``warmup`` of which do not count.

    Micro-batch peers take exactly ``batch_records`` in each batch; both other numbers are multiples of it.
    """

    keys: int
    records: int
    warmup: int
    batch_records: int

    @property
    def batches(self) -> int:
        return self.records // self.batch_records

    @property
    def warmup_batches(self) -> int:
        return self.warmup // self.batch_records


@dataclass(frozen=True, slots=True)
class EmptyBatchParams:
    """Running sum with ``batch_records`` records in each of ``batches``; the first ``warmup_batches`` do not count."""

    batch_records: int
    batches: int
    warmup_batches: int


@dataclass(frozen=True, slots=True)
class GrowthParams:
    """Running sum: first one record for each of ``state_keys`` in large batches, then small batches over random keys.

    Of the small batches the first ``warmup_batches`` do not count.
    """

    state_keys: int
    fill_records: int
    batch_records: int
    batches: int
    warmup_batches: int


@dataclass(frozen=True, slots=True)
class LongListParams:
    """One key; each of ``batches`` appends ``batch_records`` records to its list, then one more reads it whole."""

    batch_records: int
    batches: int


@dataclass(frozen=True, slots=True)
class RuntimeParams:
    """``records`` records, in memory before the clock starts, through ``what``: ``chain`` or ``counter``.

    The best of ``passes`` counts: whatever else the machine does only adds.
    """

    what: str
    records: int
    keys: int
    passes: int = 9


@dataclass(frozen=True, slots=True)
class PatternParams:
    """``records`` events of ``keys`` keys through ``what``: ``by hand``, ``pattern`` or ``loop``."""

    what: str
    records: int
    keys: int


@dataclass(frozen=True, slots=True)
class EventParams:
    """The event-time job ``what`` over ``records`` events, the first ``warmup`` of which do not count.

    Micro-batch peers take exactly ``batch_records`` in each batch; both other numbers are multiples of it. Penstock may
    be told how many ``subtasks`` to use instead of one a core, and not to be ``durable``.
    """

    what: str
    records: int
    warmup: int
    batch_records: int
    subtasks: int = 0
    durable: bool = True

    @property
    def batches(self) -> int:
        return self.records // self.batch_records

    @property
    def warmup_batches(self) -> int:
        return self.warmup // self.batch_records


@dataclass(frozen=True, slots=True)
class WindowParams:
    """``records`` records of ``keys`` keys through windows of an hour, in the runtime alone; ``what`` is the case."""

    what: str
    records: int
    keys: int


@dataclass(frozen=True, slots=True)
class StartParams:
    """Count the words of some lines; the first result ends the measurement."""

    lines: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class LatencyParams:
    """A running sum over ``rate`` records a second for ``seconds``, of which the first ``warmup_s`` do not count."""

    rate: int
    seconds: int
    warmup_s: int
    keys: int


@dataclass(frozen=True, slots=True)
class FileParams:
    """A file of ``records`` lines of a ``kind``: csv or json."""

    kind: str
    records: int
