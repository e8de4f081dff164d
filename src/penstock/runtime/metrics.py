"""Metrics and accumulators of one operator in one subtask; what a batch adds to them travels to the driver with it."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from penstock.core.accumulators import Accumulator
from penstock.core.errors import ProgramError
from penstock.core.metrics import Counter, Distribution, Gauge, Meter, MetricGroup
from penstock.core.program.job import ChainedOperator

__all__ = ["OperatorMetrics", "Report"]

Report = dict[str, Any]
"""Figures by name: what a subtask or an operator reports of a batch, or what the driver has added up."""


class _Counter(Counter, Meter):
    """A counter, or with a span of time a meter."""

    def __init__(self, span_seconds: int | None = None) -> None:
        self._span_seconds = span_seconds
        self._count = self._sent = 0

    def inc(self, n: int = 1) -> None:
        self._count += n

    def mark_event(self, value: int = 1) -> None:
        self._count += value

    def dec(self, n: int = 1) -> None:
        self._count -= n

    def get_count(self) -> int:
        return self._count

    def drain(self) -> tuple[object, ...] | None:
        """The count since the last call."""
        added, self._sent = self._count - self._sent, self._count
        if self._span_seconds is not None:
            return ("meter", added, self._span_seconds)
        return ("counter", added)


class _Gauge(Gauge):
    def __init__(self, ask: Callable[[], Any]) -> None:
        self.ask = ask

    def get_value(self) -> object:
        return self.ask()

    def drain(self) -> tuple[object, ...]:
        """The present value, or the text of the error if the user's function raises: a gauge must not fail the job."""
        try:
            return ("gauge", self.get_value())
        except Exception as error:
            return ("gauge", f"<{type(error).__name__}: {error}>")


class _Distribution(Distribution):
    def __init__(self) -> None:
        self._stats: tuple[int, Any, Any, Any] | None = None

    def update(self, value: object) -> None:
        if self._stats is None:
            self._stats = (1, value, value, value)
            return
        count, total, least, most = self._stats
        self._stats = (count + 1, total + value, min(least, value), max(most, value))

    def drain(self) -> tuple[object, ...] | None:
        """Number, sum, minimum and maximum since the last call."""
        stats, self._stats = self._stats, None
        return ("distribution", *stats) if stats is not None else None


class _Group(MetricGroup):
    """A group of an operator's metrics; all of them are kept in one table by path."""

    def __init__(self, owner: OperatorMetrics, path: tuple[str, ...], variables: dict[str, str]) -> None:
        self._owner, self._path, self._variables = owner, path, variables

    def add_group(self, name: str, extra: str | None = None) -> MetricGroup:
        if extra is None:
            return _Group(self._owner, (*self._path, name), self._variables)
        return _Group(self._owner, (*self._path, name, extra), {**self._variables, f"<{name}>": extra})

    def counter(self, name: str) -> Counter:
        counter: Counter = self._owner.register((*self._path, name), "counter", _Counter)
        return counter

    def gauge(self, name: str, obj: Callable[[], Any]) -> None:
        self._owner.register((*self._path, name), "gauge", lambda: _Gauge(obj)).ask = obj

    def meter(self, name: str, time_span_in_seconds: int = 60) -> Meter:
        make = partial(_Counter, time_span_in_seconds)
        meter: Meter = self._owner.register((*self._path, name), "meter", make)
        return meter

    def distribution(self, name: str) -> Distribution:
        distribution: Distribution = self._owner.register((*self._path, name), "distribution", _Distribution)
        return distribution

    def get_scope_components(self) -> list[str]:
        return [*self._owner.scope, *self._path]

    def get_all_variables(self) -> dict[str, str]:
        return dict(self._variables)

    def get_metric_identifier(self, metric_name: str) -> str:
        return ".".join([*self.get_scope_components(), metric_name])


class OperatorMetrics:
    """Metrics and accumulators of one operator in one subtask."""

    def __init__(self, operator: ChainedOperator, task_name: str, subtask: int) -> None:
        self._operator = operator
        self.scope = [task_name, operator.name, str(subtask)]
        self._metrics: dict[tuple[str, ...], tuple[str, Any]] = {}
        self._accumulators: dict[str, Accumulator[Any, Any]] = {}
        variables = {
            "<task_name>": task_name,
            "<operator_name>": operator.name,
            "<operator_id>": operator.uid,
            "<subtask_index>": str(subtask),
        }
        self.group: MetricGroup = _Group(self, (), variables)

    def register(self, path: tuple[str, ...], kind: str, make: Callable[[], Any]) -> Any:
        """The metric of a path, made if it is new; refuses a path that is in use for another kind of metric."""
        if path not in self._metrics:
            self._metrics[path] = (kind, make())
        known, metric = self._metrics[path]
        if known != kind:
            raise self._refused(f"uses the metric name {'.'.join(path)!r} for a {known} and for a {kind}")
        return metric

    def add_accumulator(self, name: str, accumulator: object) -> None:
        """Register an accumulator; refuses a name that is taken."""
        if not isinstance(accumulator, Accumulator):
            raise self._refused(f"adds {accumulator!r:.100} as accumulator {name!r}, which is not an Accumulator")
        if name in self._accumulators:
            raise self._refused(f"adds the accumulator {name!r} twice")
        self._accumulators[name] = accumulator

    def accumulator(self, name: str) -> Any:
        """The accumulator of a name; refuses one that was not added."""
        if name not in self._accumulators:
            raise self._refused(f"asks for the accumulator {name!r}, which it has not added")
        return self._accumulators[name]

    def _refused(self, what: str) -> ProgramError:
        return ProgramError(f"Operator '{self._operator.name}' (uid {self._operator.uid}) {what}: choose another name")

    def drain(self) -> Report:
        """The metrics and accumulators of the batch. Called once, at its end: accumulators start from 0 again."""
        found = {".".join(path): metric.drain() for path, (_, metric) in self._metrics.items()}
        accumulators = {name: one.clone() for name, one in self._accumulators.items()}
        for one in self._accumulators.values():
            one.reset_local()
        return {
            "uid": self._operator.uid,
            "name": self._operator.name,
            "metrics": {name: drained for name, drained in found.items() if drained is not None},
            "accumulators": accumulators,
        }
