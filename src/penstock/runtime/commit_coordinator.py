"""The commit coordinator: hands over the results of a batch and commits it once it is durable."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Iterable

from penstock.core.contracts.sink import CommitRequest, Committer, SupportsCommitter
from penstock.core.contracts.transactions import TransactionCommitter, TwoPhaseCommitSinkFunction
from penstock.core.errors import PenstockError, SinkError
from penstock.core.program.job import JobPlan
from penstock.core.program.specs import CollectSpec, FunctionSinkSpec, OperatorSpec, SinkSpec
from penstock.core.time.clock import Clock
from penstock.runtime.batch_output import BatchOutput, Lost
from penstock.runtime.chunk import Collected
from penstock.runtime.metrics_aggregator import MetricsAggregator
from penstock.runtime.values import Records

__all__ = ["CommitCoordinator"]

ORPHAN_AGE_MS = 3_600_000


class CommitCoordinator:
    """Holds the output of a batch until the batch is durable, then hands over its results and commits its committables.

    The driver calls `hold` when a batch has run, and `release` when it is durable or `drop` when it has failed.
    Committables that a restarted job found in its state belong to a batch that is durable already: `hold` commits them
    at once, again if need be.
    """

    def __init__(
        self,
        plan: JobPlan,
        deliver: Callable[[str, Records], None],
        printer: Callable[[str], None],
        metrics: MetricsAggregator | None = None,
    ) -> None:
        self._deliver = deliver
        self._printer = printer
        operators = [op for v in plan.vertices for op in v.operators]
        self._prints = {op.spec.name: op.spec for op in operators if isinstance(op.spec, CollectSpec)}
        made = ((op, _committer(op.spec)) for op in operators)
        self._committers = {op.uid: (op.name, committer) for op, committer in made if committer is not None}
        self._waiting: BatchOutput | None = None
        self.metrics = metrics or MetricsAggregator()
        self.lost_records = 0

    def hold(self, output: BatchOutput) -> None:
        """Called when a batch has run and is not durable yet: hold its output, and commit recovered committables."""
        assert self._waiting is None, "the batch before has not been released"
        for uid, requests in _requests(output.pending).items():
            self._commit(uid, requests, recovered=True)
        self._waiting = output

    @property
    def holding(self) -> bool:
        """Whether a batch waits to become durable."""
        return self._waiting is not None

    def release(self) -> None:
        """Called when the batch is durable: hand over its results and commit it."""
        output, self._waiting = self._waiting, None
        if output is None:
            return
        self.metrics.add(output.metrics, output.batch_ms)
        # results first: a commit that fails is repeated after the restart, from state, but results would be lost
        for collected in output.collected:
            self._hand_over(collected)
        self.note_lost(output.lost)
        for source, uid, text in output.notices:
            warnings.warn(f"Source '{source}' (uid {uid}): {text}", RuntimeWarning, stacklevel=2)
        for uid, requests in _requests(output.committables).items():
            self._commit(uid, requests, recovered=False)

    def note_lost(self, entries: Iterable[Lost]) -> None:
        """Count the records that a failure took from sources that cannot rewind, and warn of them."""
        for source, uid, split, count in entries:
            self.lost_records += count
            warnings.warn(
                f"Source '{source}' (uid {uid}, split {split}) lost {count} record(s) in a restart: it cannot rewind, "
                "so delivery is at-most-once",
                RuntimeWarning,
                stacklevel=2,
            )

    def drop(self) -> None:
        """The batch failed: forget its output."""
        self._waiting = None

    def clean(self, clock: Clock) -> None:
        """Remove what failed attempts left behind long ago, such as temporary files."""
        for _, committer in self._committers.values():
            committer.abandon_older_than(ORPHAN_AGE_MS, clock.now_ms())

    def close(self) -> None:
        """Close the committers: called once, when the job has ended."""
        for _, committer in self._committers.values():
            committer.close()

    def _commit(self, uid: str, requests: list[CommitRequest], recovered: bool) -> None:
        if uid not in self._committers:
            return
        name, committer = self._committers[uid]
        try:
            (committer.recover if recovered else committer.commit)(requests)
        except PenstockError:
            raise
        except Exception as error:
            raise SinkError(f"Sink '{name}' (uid {uid}) could not commit: {type(error).__name__}: {error}") from error

    def _hand_over(self, collected: Collected) -> None:
        spec = self._prints[collected.name]
        if not spec.printing:
            self._deliver(collected.name, collected.values)
            return
        prefix = _print_prefix(spec.prefix, collected.subtask, collected.parallelism)
        printer = _print_to_err if spec.to_err else self._printer
        for value in collected.values:
            printer(f"{prefix}{value}")


def _committer(spec: OperatorSpec) -> Committer | None:
    """The committer of a sink; None for a sink that does not commit in two phases."""
    if isinstance(spec, SinkSpec) and isinstance(spec.sink, SupportsCommitter):
        return spec.sink.create_committer()
    if isinstance(spec, FunctionSinkSpec) and isinstance(spec.function, TwoPhaseCommitSinkFunction):
        return TransactionCommitter(spec.function)
    return None


def _requests(prepared: Iterable[tuple[str, Records]]) -> dict[str, list[CommitRequest]]:
    """The committables of all subtasks by sink: a committer gets those of a batch at once."""
    found: dict[str, list[CommitRequest]] = {}
    for uid, items in prepared:
        found.setdefault(uid, []).extend(map(CommitRequest, items))
    return found


def _print_to_err(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def _print_prefix(identifier: str, subtask: int, parallelism: int) -> str:
    """The prefix of a printed record as Flink has it: `id:subtask> `, the subtask only if there are several."""
    where = str(subtask + 1) if parallelism > 1 else ""
    joined = ":".join(part for part in (identifier, where) if part)
    return f"{joined}> " if joined else ""
