"""Metrics that functions register, as in PyFlink's `pyflink.metrics`."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any

__all__ = ["Counter", "Distribution", "Gauge", "Meter", "Metric", "MetricGroup"]


class Metric(ABC):
    """Base of metrics."""


class Counter(Metric):
    """A number that goes up and down. The driver shows its sum over committed batches."""

    @abstractmethod
    def inc(self, n: int = 1) -> None:
        """Add to the count."""

    @abstractmethod
    def dec(self, n: int = 1) -> None:
        """Subtract from the count."""

    @abstractmethod
    def get_count(self) -> int:
        """The count since this subtask was last built in its worker."""


class Gauge(Metric):
    """A value asked for at the end of every batch."""

    @abstractmethod
    def get_value(self) -> Any:
        """The value now; asked once a batch."""


class Meter(Metric):
    """Counts events; the driver shows how many there were and how many a second over its span of time."""

    @abstractmethod
    def mark_event(self, value: int = 1) -> None:
        """Note that so many events happened."""

    @abstractmethod
    def get_count(self) -> int:
        """How many events were noted in all."""


class Distribution(Metric):
    """Number, sum, minimum, maximum and mean of what it is updated with."""

    @abstractmethod
    def update(self, value: int) -> None:
        """Note a value."""


class MetricGroup(ABC):
    """Names metrics and groups of metrics. Asking for the same name again gives the same metric."""

    @abstractmethod
    def add_group(self, name: str, extra: str | None = None) -> MetricGroup:
        """A group inside this one; with `extra`, a pair of groups that is a variable and its value."""

    @abstractmethod
    def counter(self, name: str) -> Counter:
        """Register a counter under this name, or return the one that is there."""

    @abstractmethod
    def gauge(self, name: str, obj: Callable[[], object]) -> None:
        """`obj` is called at the end of every batch."""

    @abstractmethod
    def meter(self, name: str, time_span_in_seconds: int = 60) -> Meter:
        """Register a meter under this name; it shows events per second."""

    @abstractmethod
    def distribution(self, name: str) -> Distribution:
        """Register a distribution under this name; it shows count, sum, smallest, largest and mean."""

    @abstractmethod
    def get_scope_components(self) -> list[str]:
        """Task, operator, subtask and groups, outermost first."""

    @abstractmethod
    def get_all_variables(self) -> dict[str, str]:
        """Variables by name in angle brackets: `<operator_name>`, `<subtask_index>`, … and those of `add_group`."""

    @abstractmethod
    def get_metric_identifier(self, metric_name: str) -> str:
        """The scope and the name, joined by dots."""
