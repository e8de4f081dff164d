"""The metrics aggregator of the driver: adds up the reports of durable batches."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from typing import Any

from penstock.core.accumulators import Accumulator
from penstock.core.errors import ProgramError
from penstock.runtime.heavy_keys import HeavyKeys
from penstock.runtime.metrics import Report
from penstock.runtime.state.page import NO_TIMER

__all__ = ["MetricsAggregator"]

_SUMMED = ("in", "out", "late", "busy_ms")


class _Meter:
    """The number of events, and how many came per second within the last span of time."""

    def __init__(self, span_seconds: int) -> None:
        self._span_ms = span_seconds * 1000
        self._total = 0
        self._recent: deque[tuple[int, int]] = deque()

    def add(self, count: int, time_ms: int) -> None:
        self._total += count
        self._recent.append((time_ms, count))
        while self._recent[0][0] <= time_ms - self._span_ms:
            self._recent.popleft()

    def value(self) -> Report:
        return {"count": self._total, "rate": sum(n for _, n in self._recent) * 1000 / self._span_ms}


class _Latest:
    """The last value of a gauge."""

    def __init__(self, shown: object) -> None:
        self._shown = shown

    def value(self) -> Any:
        return self._shown


class MetricsAggregator:
    """Adds up reports by vertex and subtask. The commit coordinator adds the reports of a batch once, when it is
    durable."""

    def __init__(self) -> None:
        self._subtasks: dict[tuple[int, int], Report] = {}
        self._operators: dict[tuple[int, int], dict[str, Report]] = {}
        self._heavy: dict[tuple[int, int], tuple[HeavyKeys, int]] = {}
        self._accumulators: dict[str, Accumulator[Any, Any]] = {}

    def add(self, entries: Iterable[Report], batch_ms: int | None = None) -> None:
        """Add the reports of a batch. `batch_ms` is how long the batch took: with it, the busy share of each subtask is
        known."""
        for entry in entries:
            place = (entry["vertex"], entry["subtask"])
            before = self._subtasks.get(place, {})
            sums = {name: before.get(name, 0) + entry.get(name, 0) for name in _SUMMED}
            self._subtasks[place] = {k: v for k, v in entry.items() if k not in ("operators", "heavy_keys")} | sums
            if batch_ms is not None:
                self._subtasks[place]["busy_share"] = min(1.0, entry.get("busy_ms", 0) / max(1, batch_ms))
            for operator in entry.get("operators", ()):
                self._enter(place, operator, entry.get("time_ms", 0))
            if "heavy_keys" in entry:
                self._weigh(place, *entry["heavy_keys"])

    def _enter(self, place: tuple[int, int], operator: Report, time_ms: int) -> None:
        figures = self._operators.setdefault(place, {}).setdefault(operator["uid"], {"name": operator["name"]})
        for name, drained in operator["metrics"].items():
            figures[name] = _added(figures.get(name), drained, time_ms)
        for name, accumulator in operator["accumulators"].items():
            self._merge(name, accumulator)

    def _merge(self, name: str, accumulator: Accumulator[Any, Any]) -> None:
        known = self._accumulators.setdefault(name, accumulator)
        if type(known) is not type(accumulator):
            raise ProgramError(
                f"The accumulator {name!r} is a {type(known).__name__} in one operator and a "
                f"{type(accumulator).__name__} in another: choose another name"
            )
        if known is not accumulator:
            known.merge(accumulator)

    def _weigh(self, place: tuple[int, int], number: int, capacity: int, counts: dict[object, int], error: int) -> None:
        heavy, _ = self._heavy.setdefault(place, (HeavyKeys(capacity), number))
        heavy.merge(counts, error)

    # -- reading ------------------------------------------------------------------------------------

    def subtasks(self) -> list[Report]:
        """One entry for each subtask: totals, latest values, and the metrics of its operators by name."""
        return [self._shown(place) for place in sorted(self._subtasks)]

    def _shown(self, place: tuple[int, int]) -> Report:
        shown = dict(self._subtasks[place])
        if shown.get("next_timer_ms") == NO_TIMER:
            shown["next_timer_ms"] = None
        shown["operators"] = {
            uid: {name: v.value() if isinstance(v, (_Meter, _Latest)) else v for name, v in figures.items()}
            for uid, figures in self._operators.get(place, {}).items()
        }
        if place in self._heavy:
            heavy, number = self._heavy[place]
            shown["heavy_keys"] = heavy.top(number)
        return shown

    def totals(self) -> dict[str, Report]:
        """Counters of each operator (by uid) summed over its subtasks."""
        found: dict[str, Report] = {}
        for figures_of_uids in self._operators.values():
            for uid, figures in figures_of_uids.items():
                into = found.setdefault(uid, {"name": figures["name"]})
                for name, value in figures.items():
                    if isinstance(value, int):
                        into[name] = into.get(name, 0) + value
        return found

    def accumulators(self) -> Report:
        """The results of all accumulators by name."""
        return {name: one.get_local_value() for name, one in self._accumulators.items()}


def _added(before: Any, drained: tuple[Any, ...], time_ms: int) -> object:
    """The value of a metric after the report of a batch."""
    kind, *values = drained
    if kind == "gauge":
        return _Latest(values[0])
    if kind == "counter":
        return (before or 0) + values[0]
    if kind == "meter":
        meter = before or _Meter(values[1])
        meter.add(values[0], time_ms)
        return meter
    count, total, least, most = values
    if before is not None:
        count, total = count + before["count"], total + before["sum"]
        least, most = min(least, before["min"]), max(most, before["max"])
    return {"count": count, "sum": total, "min": least, "max": most, "mean": total / count}
