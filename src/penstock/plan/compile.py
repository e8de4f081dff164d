"""The passes, in order, in one place."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from penstock.core.contracts.guarantees import Guarantee
from penstock.core.program.job import JobPlan, RuntimeSettings
from penstock.graph.job_graph import JobGraph
from penstock.graph.stream_graph import StreamGraph
from penstock.plan.chain import chain
from penstock.plan.check import check
from penstock.plan.clocks import timeless_uids, warn_of_missing_watermarks
from penstock.plan.guarantees import check_guarantees
from penstock.plan.isolate import isolate_sources
from penstock.plan.lower import lower
from penstock.plan.parallelism import assign_parallelism
from penstock.plan.uids import assign_uids
from penstock.plan.watermarks import check_watermarks

__all__ = ["PlanOptions", "compile_job", "compile_job_graph"]


@dataclass(frozen=True, slots=True)
class PlanOptions:
    """What the environment decides about a plan. `one_batch`: the whole input is read at once (bounded host).

    `asked`: the guarantee that the user asked for by the mode of checkpoints, None if nothing was said.
    """

    parallelism: int = 1
    max_parallelism: int = 128
    chaining: bool = True
    one_batch: bool = False
    settings: RuntimeSettings = field(default_factory=RuntimeSettings)
    auto_uids: bool = True
    asked: Guarantee | None = None


def compile_job_graph(graph: StreamGraph, options: PlanOptions) -> JobGraph:
    """check → check guarantees → warn of missing watermarks → parallelism → uids → chain."""
    checked = warn_of_missing_watermarks(check_guarantees(check(graph), options.asked), options.settings)
    sized = assign_parallelism(checked, options.parallelism, options.max_parallelism)
    return chain(assign_uids(sized, options.auto_uids), options.max_parallelism, options.chaining)


def compile_job(graph: StreamGraph, options: PlanOptions) -> JobPlan:
    """… → isolate sources → lower → check watermarks."""
    isolated = isolate_sources(compile_job_graph(graph, options))
    lowered = lower(isolated, options.settings, options.one_batch)
    return check_watermarks(replace(lowered, timeless=timeless_uids(isolated, options.settings)))
