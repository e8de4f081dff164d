"""Where a job starts from: an empty checkpoint, its own, a savepoint, or its own after its shape has changed."""

from __future__ import annotations

from dataclasses import dataclass, replace

from pyspark.sql import SparkSession

from penstock._version import __version__
from penstock.core.errors import ForeignCheckpointError, SavepointError
from penstock.core.program.job import JobPlan
from penstock.core.time.clock import SystemClock
from penstock.savepoint.compatibility import DEFAULT_MAX_PARALLELISM, another_program, fit, pin
from penstock.savepoint.metadata import PlanNotes
from penstock.savepoint.plan_notes import notes_of
from penstock.savepoint.savepoint import Moment, Savepoint
from penstock.savepoint.storage import Folder
from penstock.spark.checkpoint.folder import Checkpoint, Description
from penstock.spark.checkpoint.integrity import check_logs
from penstock.spark.checkpoint.state_reader import committed_positions, savepoint_of

__all__ = ["StartPoint", "checkpoint_state", "find_start_point"]

_FORMAT = 1


@dataclass(frozen=True, slots=True)
class StartPoint:
    """The checkpoint to use, the plan fitted to it, and the savepoint that the first batch takes in, if any."""

    checkpoint: Checkpoint
    plan: JobPlan
    savepoint: Savepoint | None = None


def find_start_point(
    spark: SparkSession, checkpoint: Checkpoint, plan: JobPlan, savepoint: str = "", allow_unclaimed: bool = False
) -> StartPoint:
    """Claim a checkpoint folder for a job and find where the job starts; called once, before the first run.

    `savepoint` is what a job that has not begun in the folder starts from. `allow_unclaimed` lets state that no
    operator claims be dropped. Raises ForeignCheckpointError if the folder belongs to another job, SavepointError if
    the savepoint does not fit, DamagedCheckpointError if files are damaged. Afterwards this driver owns the folder.
    """
    given = Savepoint(savepoint) if savepoint else None
    current = checkpoint.current()
    if not current.claimed:
        start = _begin(current, plan, given, allow_unclaimed)
    else:
        found = current.description()
        _check_origin(checkpoint, found, given)
        resumed = _resumed(plan, found)
        if _differs(found, resumed):
            start = _Upgrade(spark, checkpoint, current, found).to(plan, allow_unclaimed)
        else:
            check_logs(current, plan.stage_count, plan.partitions)
            _check_identity(checkpoint, current, found, resumed)
            start = StartPoint(current, resumed, _unfinished(current, found))
    start.checkpoint.own()
    return start


def _begin(checkpoint: Checkpoint, plan: JobPlan, savepoint: Savepoint | None, allow_unclaimed: bool) -> StartPoint:
    """The start in an empty folder."""
    fitted = plan if savepoint is None else fit(plan, savepoint, allow_unclaimed)
    checkpoint.claim(_described(fitted, savepoint, savepoint.metadata.ident if savepoint is not None else None))
    return StartPoint(checkpoint, fitted, savepoint)


def _check_origin(checkpoint: Checkpoint, found: Description, given: Savepoint | None) -> None:
    """Refuse a savepoint in a folder that has progress, unless the job there was started from that very savepoint."""
    origin = found.get("start", {}).get("origin")
    if given is not None and origin != given.metadata.ident:
        began = "has progress of its own" if origin is None else "was started from another savepoint"
        raise SavepointError(
            f"The checkpoint {checkpoint.location} {began}, so the job '{found.get('name')}' cannot start from "
            f"{given.path} there. Choose an empty checkpoint folder, or start without the savepoint to go on"
        )


def _check_identity(root: Checkpoint, current: Checkpoint, found: Description, plan: JobPlan) -> None:
    """Refuse the checkpoint of a program of the same shape with other functions; note the functions of this one."""
    if "notes" not in found:
        return
    notes, now = PlanNotes.from_json(found["notes"]), notes_of(plan)
    stateful = {op.uid for v in plan.vertices for op in v.operators if not op.spec.stateless}
    problems = list(another_program(plan, notes.operators, lambda note: note.uid in stateful))
    if problems:
        raise ForeignCheckpointError(_refusal(root, "\n".join(f"- {problem}" for problem in problems)))
    known = {op.uid: op for op in now.operators}
    operators = tuple(replace(op, mark=known[op.uid].mark, contents=known[op.uid].contents) for op in notes.operators)
    if operators != notes.operators or not current.summed:
        current.claim({**found, "notes": replace(notes, operators=operators).to_json()})


def _refusal(root: Checkpoint, what: str) -> str:
    listed = f"\n{what}" if what.startswith("- ") else f" {what}"  # several problems stand on lines of their own
    return (
        f"The checkpoint {root.location} does not fit this program:{listed}\n"
        "Run the program that wrote it, or choose another checkpoint folder"
    )


def _resumed(plan: JobPlan, found: Description) -> JobPlan:
    """The plan with what was fixed when the job began: source splits, key groups, the number of its first batch."""
    start = found.get("start", {})
    pinned = pin(plan, start.get("splits", {}))
    groups = found.get("max_parallelism") if plan.max_parallelism == DEFAULT_MAX_PARALLELISM else plan.max_parallelism
    settings = replace(plan.settings, first_batch=start.get("first_batch", 0))
    return replace(pinned, settings=settings, max_parallelism=groups or plan.max_parallelism)


def _unfinished(checkpoint: Checkpoint, found: Description) -> Savepoint | None:
    """The savepoint that the job still has to take in: the one it began from, until its first batch is committed."""
    path = found.get("start", {}).get("savepoint")
    return Savepoint(path) if path and not checkpoint.batches("commits") else None


# -- what a job says of itself --------------------------------------------------------------------


def _described(plan: JobPlan, savepoint: Savepoint | None, origin: str | None) -> Description:
    """The description of a job that begins; `origin`: the savepoint with which its history began."""
    return {
        **_shape(plan),
        "version": __version__,
        "name": plan.name,
        "start": {
            "first_batch": plan.settings.first_batch,
            "savepoint": savepoint.path if savepoint is not None else None,
            "origin": origin,
            "splits": {v.uid: v.split_count for v in plan.sources},
        },
        "notes": notes_of(plan).to_json(),
    }


def _shape(plan: JobPlan) -> Description:
    """What Spark's checkpoint fixes for as long as it lasts: partitions, stages, and which operators live where."""
    return {
        "format": _FORMAT,
        "partitions": plan.partitions,
        "max_parallelism": plan.max_parallelism,
        "stages": plan.stage_count,
        "operators": {op.uid: [v.level, v.parallelism, v.first_partition] for v in plan.vertices for op in v.operators},
        "edges": [[e.edge_id, v.uid, plan.vertex(e.target).uid] for v in plan.vertices for e in v.out_edges],
    }


def _differs(found: Description, plan: JobPlan) -> bool:
    """Whether Spark's checkpoint does not fit the plan, or a uid now names another kind of operator or source."""
    if any(found.get(key) != value for key, value in _shape(plan).items()):
        return True
    if "notes" not in found:
        return False
    before, now = PlanNotes.from_json(found["notes"]), notes_of(plan)
    contents = {op.uid: op.contents for op in before.operators if op.contents}  # earlier versions did not note it
    changed = any(contents.get(op.uid, op.contents) != op.contents for op in now.operators)
    return changed or _kinds(before) != _kinds(now)


def _kinds(notes: PlanNotes) -> set[tuple[str, ...]]:
    operators = {(op.uid, op.kind, op.form) for op in notes.operators}
    return {*operators, *((s.uid, s.kind) for s in notes.sources)}


def _committed_state(spark: SparkSession, checkpoint: Checkpoint, found: Description, path: str) -> Savepoint:
    """The state of the last committed batch, as a savepoint. What sinks had prepared may not be committed yet."""
    batch = checkpoint.batches("commits")[-1]
    first = found.get("start", {}).get("first_batch", 0)
    positions = committed_positions(checkpoint, batch)
    moment = Moment(first + batch, SystemClock().now_ms(), positions, committed=False)
    notes = PlanNotes.from_json(found["notes"])
    return savepoint_of(spark, checkpoint, path, notes, found["stages"], batch, moment)


def checkpoint_state(spark: SparkSession, location: str, path: str) -> Savepoint:
    """Write the last committed state of a checkpoint folder as a savepoint to `path`; its job must not be running."""
    current = Checkpoint(spark, location).current()
    if not current.claimed or not current.batches("commits"):
        raise SavepointError(f"{location} holds no committed state of a job")
    found = current.description()
    if "notes" not in found:
        raise SavepointError(f"{location} was written by Penstock {found.get('version')}, which did not note its plan")
    check_logs(current, found["stages"], found["partitions"])
    return _committed_state(spark, current, found, path)


# -- a changed shape ------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Upgrade:
    """Takes a job whose program or parallelism has changed into a new generation of its checkpoint folder."""

    spark: SparkSession
    root: Checkpoint
    old: Checkpoint
    found: Description

    def to(self, plan: JobPlan, allow_unclaimed: bool) -> StartPoint:
        """The start in the new generation. If the program does not fit, the old one stays as it was."""
        self._refuse_foreign(plan)
        check_logs(self.old, self.found["stages"], self.found["partitions"])
        savepoint = self._savepoint()
        try:
            fitted = plan if savepoint is None else fit(plan, savepoint, allow_unclaimed)
        except SavepointError as error:
            self._give_up(savepoint)
            raise ForeignCheckpointError(_refusal(self.root, str(error).partition("\n")[2] or str(error))) from None
        made = self.root.generation(self.old.number + 1)
        made.delete()
        made.claim(_described(fitted, savepoint, self.found.get("start", {}).get("origin")))
        made.make_current()
        return StartPoint(made, fitted, savepoint)

    def _savepoint(self) -> Savepoint | None:
        """The state of the last committed batch, written inside the folder; without one, what the job began from."""
        if not self.old.batches("commits"):
            return _unfinished(self.old, self.found)
        path = f"{self.root.location}/penstock/upgrade-{self.old.number + 1}"
        Folder(path).delete()
        return _committed_state(self.spark, self.old, self.found, path)

    def _give_up(self, savepoint: Savepoint | None) -> None:
        if savepoint is not None and savepoint.path.startswith(Folder(self.root.location).location):
            savepoint.folder.delete()

    def _refuse_foreign(self, plan: JobPlan) -> None:
        uids = {op.uid for v in plan.vertices for op in v.operators}
        if uids.isdisjoint(self.found.get("operators", {})):
            what = f"it belongs to another job ({self.found.get('name')!r}, not {plan.name!r})"
            raise ForeignCheckpointError(_refusal(self.root, what))
        if "notes" not in self.found:
            what = f"the program has changed, and Penstock {self.found.get('version')} did not note how it was"
            raise ForeignCheckpointError(_refusal(self.root, what))
