"""The one boundary between the runtime and user code that raises on a record.

An operator with the policy `fail` has no boundary: what its function raises fails the job. A guarded operator has one,
and every place that calls user code for a record asks it what becomes of the record: selectors and partitioners of
edges, timestamp assigners, process functions and their timers, windows, joins, patterns, asynchronous calls, sinks. The
rules are the same everywhere:

- The record is counted (metric `poisonRecords`) and left out; with a tag it goes to that side output, with the text of
  its error.
- What the failing call has yielded is dropped, so a call is run to its end before anything of it is taken. What it did
  to state stays.
- A call that has no record is stood for by a value that says what failed: `FailedTimer`, `FailedWindow`, the events of
  a match.
- A mistake in the program, which every record would meet, fails the job all the same.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from itertools import repeat
from typing import Any, Protocol

from penstock.core.errors import ConfigurationError, ProgramError
from penstock.core.program.job import ChainedOperator
from penstock.core.program.poison import PoisonPolicy
from penstock.runtime.codec import detach
from penstock.runtime.context import TaskContext
from penstock.runtime.values import Record, Records, Timestamps

__all__ = ["PoisonBoundary", "boundary_of", "run_to_end"]


class _Side(Protocol):
    """A side output."""

    def emit(self, values: Records, timestamps: Timestamps) -> None: ...


class _Guarded(Protocol):
    """The parts of an operator that its boundary uses: the metrics and the side outputs."""

    desc: ChainedOperator
    task: TaskContext

    @property
    def sides(self) -> Any: ...


class PoisonBoundary:
    """Puts aside the records on which the user code of one guarded operator raises."""

    def __init__(self, operator: _Guarded, tag: str | None) -> None:
        self._operator, self._tag = operator, tag

    def put_aside(self, record: object, timestamp: int | None, error: Exception) -> None:
        """Leave a record out because of an error, which is raised again if it is a mistake in the program."""
        if isinstance(error, (ProgramError, ConfigurationError)):
            raise error
        operator = self._operator
        operator.task.metrics_of(operator.desc).group.counter("poisonRecords").inc()
        side: _Side | None = operator.sides.get(self._tag) if self._tag is not None else None
        if side is not None:
            text = f"{type(error).__name__}: {error}"
            side.emit([(detach(record), text)], None if timestamp is None else [timestamp])

    @contextmanager
    def guard(self, record: object, timestamp: int | None) -> Iterator[None]:
        """Run a block for a record; if the block raises, the record is put aside."""
        try:
            yield
        except Exception as error:
            self.put_aside(record, timestamp, error)

    def one_by_one(self, values: Iterable[Record], timestamps: Timestamps, call: Callable[[Any, Any], None]) -> None:
        """Call for each record with its timestamp, where a call for all of them has failed or cannot be undone."""
        for value, stamp in zip(values, timestamps or repeat(None), strict=False):
            try:
                call(value, stamp)
            except Exception as error:
                self.put_aside(value, stamp, error)


def boundary_of(operator: _Guarded, policy: PoisonPolicy) -> PoisonBoundary | None:
    """The boundary that a policy asks for; None if failures fail the job."""
    return PoisonBoundary(operator, policy.tag) if policy.guarded else None


def run_to_end(result: object, reuse: bool, made: Records) -> Any:
    """Everything that a call yields, appended to `made`; with `reuse` off, each record is copied when it comes.

    A result that is not iterable is returned as it is: the operator that takes it says what is wrong with it.
    """
    if result is not None and not hasattr(result, "__iter__"):
        return result
    for record in () if result is None else result:
        made.append(record if reuse else detach(record))
    return made
