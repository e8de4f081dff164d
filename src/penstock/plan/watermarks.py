"""Refuses what watermarks cannot promise."""

from __future__ import annotations

from collections.abc import Iterator

from penstock.core.config.options.job import PER_RECORD_WATERMARKS, WATERMARK_RECORDS
from penstock.core.errors import ProgramError
from penstock.core.program.job import JobPlan, Vertex
from penstock.core.program.specs import SourceSpec, TimestampsSpec
from penstock.core.time.watermarks import NoWatermarks
from penstock.plan.options import PlanOptions

__all__ = ["check_watermarks"]


def check_watermarks(plan: JobPlan, _options: PlanOptions) -> JobPlan:
    """Afterwards: with a watermark per record, every source that watermarks are made from has one split."""
    if plan.settings.per_record_watermarks:
        for vertex in plan.sources:
            if vertex.parallelism > 1 and any(_makes_watermarks(v) for v in _reached(plan, vertex)):
                raise ProgramError(
                    f"Source '{vertex.operators[0].name}' is read in {vertex.parallelism} splits, but "
                    f"{PER_RECORD_WATERMARKS.key} promises late-data results that are reproducible to the record, "
                    f"which needs one: give the source parallelism 1, or set {WATERMARK_RECORDS.key} to 1 for "
                    "frequent watermarks without that promise"
                )
    return plan


def _makes_watermarks(vertex: Vertex) -> bool:
    specs = [op.spec for op in vertex.operators]
    strategies = [s.strategy for s in specs if isinstance(s, SourceSpec | TimestampsSpec)]
    return any(s is not None and not isinstance(s.generator, NoWatermarks) for s in strategies)


def _reached(plan: JobPlan, start: Vertex) -> Iterator[Vertex]:
    """A vertex and all that is fed from it."""
    seen, todo = {start.vertex_id}, [start]
    while todo:
        vertex = todo.pop()
        yield vertex
        for target in {e.target for e in vertex.out_edges} - seen:
            seen.add(target)
            todo.append(plan.vertex(target))
