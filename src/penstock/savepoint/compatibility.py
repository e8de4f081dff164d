"""Whether a program can start from a savepoint, and the plan with which it does."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace

from penstock.core.config.options.checkpoints import ACCEPT_CHANGED, ALLOW_UNCLAIMED
from penstock.core.errors import SavepointError
from penstock.core.functions.checkpointed import checkpointed_function
from penstock.core.program.job import ChainedOperator, JobPlan, Vertex
from penstock.core.program.marks import Mark
from penstock.core.program.specs import SourceSpec
from penstock.savepoint.metadata import Metadata, OperatorNote
from penstock.savepoint.plan_notes import contents_of, form_of
from penstock.savepoint.savepoint import Savepoint

__all__ = ["DEFAULT_MAX_PARALLELISM", "another_program", "fit", "pin"]

DEFAULT_MAX_PARALLELISM = 128

_OF_TIME = frozenset({"TimestampsSpec"})
"""Kinds of operators whose state is about time alone: later records bring back what is lost with it."""


_SINKS = frozenset({"SinkSpec", "FunctionSinkSpec"})
"""Kinds of operators whose snapshot is what they have prepared: once that is committed it is not missed."""


_CONTENTS = {
    "records": "their records",
    "reduce": "what a reduce function made of their records",
    "aggregate": "the accumulator of an AggregateFunction",
}


def fit(plan: JobPlan, savepoint: Savepoint, allow_unclaimed: bool = False) -> JobPlan:
    """The plan as it runs from a savepoint; called by hosts before a job starts from one.

    Raises SavepointError with a list of all that does not fit. The numbers of key groups and of source splits stay as
    they were, for pages and positions depend on them. `allow_unclaimed` lets state that no operator claims be dropped.
    """
    metadata = savepoint.metadata
    operators = {op.uid: op for v in plan.vertices for op in v.operators}
    problems = [
        *_changed(metadata, operators),
        *another_program(plan, metadata.operators, lambda note: _keeps(note, metadata)),
        *_unpositioned(plan, metadata),
        *([] if allow_unclaimed else _unclaimed(metadata, operators)),
    ]
    if problems:
        listed = "\n".join(f"- {problem}" for problem in problems)
        raise SavepointError(f"The job '{plan.name}' cannot start from {savepoint.path}:\n{listed}")
    pinned = pin(_same_key_groups(plan, savepoint), {s.uid: len(s.splits) for s in metadata.sources})
    return replace(pinned, settings=replace(plan.settings, first_batch=metadata.batch + 1))


# -- state ----------------------------------------------------------------------------------------


def another_program(
    plan: JobPlan, notes: Iterable[OperatorNote], keeps: Callable[[OperatorNote], bool]
) -> Iterator[str]:
    """Complaints about operators without a uid of their own whose generated uid meant another operator before.

    `keeps` says whether an operator has state to lose. Nothing is yielded if the program is to be accepted as it is.
    """
    if plan.settings.accept_changed_program:
        return
    operators = {op.uid: op for v in plan.vertices for op in v.operators}
    for note in notes:
        now = operators.get(note.uid)
        if now is None or now.mark is None or not note.mark or now.mark.same(Mark.read(note.mark)):
            continue
        if isinstance(now.spec, SourceSpec) or keeps(note):
            yield _not_the_same(note, now)


def _not_the_same(note: OperatorNote, now: ChainedOperator) -> str:
    source = isinstance(now.spec, SourceSpec)
    kept, changed = ("position", "what it reads or feeds") if source else ("state", "its function or what comes before")
    return (
        f"the {kept} under {note.uid} is that of '{note.name}' in another program, or {changed} has changed since: "
        f"'{now.name}' has no uid of its own, so it cannot be told. If it is to take the {kept} over, give it this "
        f"uid, .uid({note.uid!r}), or set {ACCEPT_CHANGED.key} to true for one start"
    )


def _unclaimed(metadata: Metadata, operators: dict[str, ChainedOperator]) -> Iterator[str]:
    way_out = (
        "Give the operator that is to take it over this uid, or allow it to be dropped "
        f"(--allow-unclaimed-state, or {ALLOW_UNCLAIMED.key})"
    )
    for note in metadata.operators:
        if note.uid not in operators and _keeps(note, metadata):
            yield f"no operator claims the state of operator '{note.name}' (uid {note.uid}). {way_out}"
    for source in metadata.sources:
        if source.uid not in operators:
            yield f"no source claims the position of source '{source.name}' (uid {source.uid}). {way_out}"


def _keeps(note: OperatorNote, metadata: Metadata) -> bool:
    """Whether an operator has state that would be missed if it were dropped."""
    committed = {"operator"} if note.kind in _SINKS and metadata.committed else set()
    return note.kind not in _OF_TIME and bool(set(note.blobs) - committed)


def _changed(metadata: Metadata, operators: dict[str, ChainedOperator]) -> Iterator[str]:
    """Complaints about operators that have a uid of the savepoint but cannot hold the state that is under it."""
    for note in metadata.operators:
        now = operators.get(note.uid)
        if now is None or not _keeps(note, metadata):
            continue
        where = f"operator '{now.name}' (uid {now.uid})"
        if "page" in note.blobs and not now.spec.is_keyed:
            yield f"{where} has keyed state, but is not keyed in this program: give it another uid, or call key_by"
        if "page" in note.blobs and note.form != form_of(now.spec):
            yield (
                f"{where} kept its state as {note.form or note.kind} and would now as "
                f"{form_of(now.spec) or type(now.spec).__name__}, which cannot read it: keep the kind of windows, "
                "triggers and functions as they were, or give it another uid"
            )
        kept, keeps = note.contents, contents_of(now.spec)
        if "page" in note.blobs and note.form == form_of(now.spec) and kept and keeps and kept != keeps:
            yield (
                f"the windows of {where} kept {_CONTENTS[kept]} and would now keep {_CONTENTS[keeps]}, which cannot be "
                "made of it: keep the kind of function as it was, or give it another uid"
            )
        if "list" in note.blobs and checkpointed_function(now.spec) is None:
            yield f"{where} has operator state, but its function is not a CheckpointedFunction: give it another uid"
        if "operator" in note.blobs and note.kind != type(now.spec).__name__:
            yield f"{where} has state of a {note.kind}, but is a {type(now.spec).__name__}: give it another uid"


# -- sources --------------------------------------------------------------------------------------


def _unpositioned(plan: JobPlan, metadata: Metadata) -> Iterator[str]:
    """Complaints about sources that cannot start from the position that is under their uid."""
    for vertex in plan.sources:
        note = metadata.source(vertex.uid)
        if note is None:
            continue
        where = f"source '{vertex.operators[0].name}' (uid {vertex.uid})"
        if not vertex.source.positionable:
            yield f"{where} cannot be started from a position. Give it another uid to read it from its beginning"
        elif note.kind != type(vertex.source).__name__:
            yield (
                f"{where} was a {note.kind} and is a {type(vertex.source).__name__}, which cannot know where the other "
                "stood: give it another uid"
            )


def pin(plan: JobPlan, splits: Mapping[str, int]) -> JobPlan:
    """Sources have as many splits as there are positions for; `splits`: by uid."""
    widths = {v.vertex_id: splits.get(v.uid, v.split_count) for v in plan.sources}
    senders = {e.edge_id: widths[v.vertex_id] for v in plan.sources for e in v.out_edges}
    return replace(plan, vertices=tuple(_resized(v, widths.get(v.vertex_id), senders) for v in plan.vertices))


def _resized(vertex: Vertex, width: int | None, senders: dict[int, int]) -> Vertex:
    edges = tuple(replace(e, senders=senders.get(e.edge_id, e.senders)) for e in vertex.in_edges)
    return replace(vertex, in_edges=edges, parallelism=vertex.parallelism if width is None else width)


def _same_key_groups(plan: JobPlan, savepoint: Savepoint) -> JobPlan:
    groups = savepoint.metadata.max_parallelism
    if plan.max_parallelism not in (groups, DEFAULT_MAX_PARALLELISM):
        raise SavepointError(
            f"The job '{plan.name}' has maximum parallelism {plan.max_parallelism}, but {savepoint.path} was taken "
            f"with {groups}, which is fixed for the life of its state: set it to {groups}"
        )
    for vertex in plan.vertices:
        if not vertex.is_source and vertex.parallelism > groups:
            raise SavepointError(
                f"Operator '{vertex.name}' (uid {vertex.uid}) has parallelism {vertex.parallelism}, but "
                f"{savepoint.path} was taken with maximum parallelism {groups}: use at most that"
            )
    return replace(plan, max_parallelism=groups)
