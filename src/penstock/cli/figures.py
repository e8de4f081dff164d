"""Figures of a running job, from its metrics alone: the caller has the terminal and the clock."""

from __future__ import annotations

import statistics
from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

__all__ = ["Figures", "Meter", "VertexFigures", "count", "failure", "line", "seconds", "summary"]

RATE_MS = 10_000
_TEN_YEARS_MS = 3_650 * 86_400_000  # a watermark farther off does not follow the clock, or says nothing yet


@dataclass(frozen=True, slots=True)
class VertexFigures:
    """One vertex, its subtasks added up. `lag_ms`: how far its watermark is behind the clock, if it has one.

    `waiting`: records that a source has and that were not yet read, if it knows.
    """

    name: str
    parallelism: int
    records_in: int
    records_out: int
    rate: float
    lag_ms: int | None
    late: int
    waiting: int | None = None


@dataclass(frozen=True, slots=True)
class Figures:
    """A job at a moment."""

    name: str
    status: str
    elapsed_ms: int
    batches: int
    batch_ms: int | None
    median_ms: int | None
    restarts: int
    checkpoint_age_ms: int | None
    vertices: tuple[VertexFigures, ...]
    tasks: tuple[int, int] | None = None
    last_failure: str | None = None


class Meter:
    """Turns what a job's client says, now and then, into figures with rates."""

    def __init__(self, client: Any, plan: Any, now_ms: int) -> None:
        self._client, self._plan, self._started_ms = client, plan, now_ms
        self._seen: deque[tuple[int, dict[int, int]]] = deque([(now_ms, {})])

    @property
    def ended(self) -> bool:
        return bool(self._client.status.is_globally_terminal_state())

    def read(self, now_ms: int) -> Figures:
        """The figures now; called about once a second."""
        metrics = self._client.get_metrics()
        subtasks = metrics["subtasks"]
        totals = {v.vertex_id: _total(subtasks, v.vertex_id, "in") for v in self._plan.vertices}
        vertices = tuple(self._vertex(v, subtasks, totals, now_ms) for v in self._plan.vertices)
        self._remember(now_ms, totals)
        times = metrics.get("batch_ms") or []
        last_ms = max((entry.get("time_ms", 0) for entry in subtasks), default=0)
        return Figures(
            self._plan.name,
            self._client.status.name,
            now_ms - self._started_ms,
            getattr(self._client, "batches", 0),
            times[-1] if times else None,
            round(statistics.median(times)) if times else None,
            getattr(self._client, "restarts", 0),
            max(0, now_ms - last_ms) if last_ms and hasattr(self._client, "batches") else None,
            vertices,
            metrics.get("tasks"),
            metrics.get("last_failure"),
        )

    def _vertex(
        self, vertex: Any, subtasks: list[dict[str, Any]], totals: dict[int, int], now_ms: int
    ) -> VertexFigures:
        mine = [entry for entry in subtasks if entry["vertex"] == vertex.vertex_id]
        marks = [entry["watermark"] for entry in mine if "watermark" in entry]
        at_ms, before = self._seen[0]
        gained = totals[vertex.vertex_id] - before.get(vertex.vertex_id, 0)
        return VertexFigures(
            vertex.name,
            vertex.parallelism,
            totals[vertex.vertex_id],
            _total(subtasks, vertex.vertex_id, "out"),
            gained * 1000 / max(1, now_ms - at_ms),
            _lag(now_ms, marks),
            sum(_late(entry) for entry in mine),
            _waiting(mine),
        )

    def _remember(self, now_ms: int, totals: dict[int, int]) -> None:
        self._seen.append((now_ms, totals))
        while len(self._seen) > 2 and self._seen[1][0] <= now_ms - RATE_MS:
            self._seen.popleft()


def _lag(now_ms: int, marks: list[int]) -> int | None:
    """How far the last subtask's watermark is behind; None where event time is not the time of day."""
    lag_ms = now_ms - min(marks) if marks else _TEN_YEARS_MS
    return lag_ms if abs(lag_ms) < _TEN_YEARS_MS else None


def _waiting(mine: list[dict[str, Any]]) -> int | None:
    known = [entry["lag_records"] for entry in mine if entry.get("lag_records") is not None]
    return sum(known) if known else None


def _total(subtasks: Iterable[dict[str, Any]], vertex_id: int, name: str) -> int:
    return sum(entry.get(name, 0) for entry in subtasks if entry["vertex"] == vertex_id)


def _late(entry: dict[str, Any]) -> int:
    """Late records: all of them if they are counted, else those that came too late for their windows."""
    too_late = sum(book.get("numLateRecords", 0) for book in entry.get("operators", {}).values())
    return int(max(entry.get("late", 0), too_late))


# -- as text --------------------------------------------------------------------------------------------------


def count(number: float) -> str:
    """
    >>> count(999), count(12_345), count(1_234_567)
    ('999', '12,345', '1.23 M')
    """
    return f"{number:,.0f}" if number < 1_000_000 else f"{number / 1e6:,.2f} M"


def seconds(length_ms: int | None) -> str:
    """
    >>> seconds(None), seconds(840), seconds(75_000), seconds(9_000_000)
    ('-', '0.8 s', '1:15 min', '2:30 h')
    """
    if length_ms is None:
        return "-"
    if length_ms < 60_000:
        return f"{length_ms / 1000:.1f} s"
    minutes = length_ms // 60_000
    if minutes < 60:
        return f"{minutes}:{length_ms // 1000 % 60:02} min"
    return f"{minutes // 60}:{minutes % 60:02} h" if minutes < 48 * 60 else f"{minutes // 1440:,} d"


def line(now: Figures) -> str:
    """The job in one line, for logs."""
    parts = [f"{now.name}: {now.status} for {seconds(now.elapsed_ms)}"]
    if now.batches:
        parts.append(f"{now.batches} batches, last {seconds(now.batch_ms)}")
    if now.tasks:
        parts.append(f"{now.tasks[0]} of {now.tasks[1]} tasks")
    parts += [_brief(vertex) for vertex in now.vertices if vertex.records_in or vertex.records_out]
    if now.checkpoint_age_ms is not None:
        parts.append(f"checkpoint {seconds(now.checkpoint_age_ms)} ago")
    if now.restarts:
        parts.append(f"{now.restarts} restart(s){f': {failure(now)}' if now.last_failure else ''}")
    return " | ".join(parts)


def failure(now: Figures) -> str:
    """The first line of what last made the job start again."""
    return (now.last_failure or "").strip().partition("\n")[0]


def _brief(vertex: VertexFigures) -> str:
    lag = f", {seconds(vertex.lag_ms)} behind" if vertex.lag_ms is not None else ""
    late = f", {count(vertex.late)} late" if vertex.late else ""
    late += f", {count(vertex.waiting)} waiting" if vertex.waiting else ""
    read = f"{count(vertex.records_in)} in ({count(vertex.rate)}/s)"
    return f"{vertex.name}: {read}, {count(vertex.records_out)} out{lag}{late}"


def summary(end: Figures) -> list[str]:
    """The summary printed when a job has ended: one line for the job and one for each vertex."""
    batches = f", {end.batches} batches (median {seconds(end.median_ms)})" if end.batches else ""
    restarts = f", {end.restarts} restart(s)" if end.restarts else ""
    head = f"{end.name}: {end.status} after {seconds(end.elapsed_ms)}{batches}{restarts}"
    width = max((len(vertex.name) for vertex in end.vertices), default=0)
    return [head, *(_row(vertex, min(width, 60), end.elapsed_ms) for vertex in end.vertices)]


def _row(vertex: VertexFigures, width: int, elapsed_ms: int) -> str:
    name = vertex.name if len(vertex.name) <= width else vertex.name[: width - 1] + "…"
    rate = vertex.records_in * 1000 / max(1, elapsed_ms)
    late = f"   {count(vertex.late)} late" if vertex.late else ""
    read, sent = count(vertex.records_in), count(vertex.records_out)
    return f"  {name:<{width}} x{vertex.parallelism:<3} {read:>10} in {sent:>10} out {count(rate):>9}/s{late}"
