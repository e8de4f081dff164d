"""The passes, in order, in one place. A pass's docstring says what is true after it."""

from __future__ import annotations

from collections.abc import Callable

from penstock.core.program.job import JobPlan
from penstock.graph.job_graph import JobGraph
from penstock.graph.stream_graph import StreamGraph
from penstock.plan.chain import chain
from penstock.plan.check import check
from penstock.plan.clocks import warn_of_missing_watermarks
from penstock.plan.guarantees import check_guarantees
from penstock.plan.isolate import isolate_sources
from penstock.plan.lower import lower
from penstock.plan.options import PlanOptions
from penstock.plan.parallelism import assign_parallelism
from penstock.plan.uids import assign_uids
from penstock.plan.watermarks import check_watermarks

__all__ = [
    "JOB_GRAPH_PASSES",
    "JOB_PLAN_PASSES",
    "STREAM_GRAPH_PASSES",
    "PlanOptions",
    "compile_job",
    "compile_job_graph",
]

STREAM_GRAPH_PASSES: tuple[Callable[[StreamGraph, PlanOptions], StreamGraph], ...] = (
    check,
    check_guarantees,
    warn_of_missing_watermarks,
    assign_parallelism,
    assign_uids,
)
"""Then `chain` makes the JobGraph."""

JOB_GRAPH_PASSES: tuple[Callable[[JobGraph, PlanOptions], JobGraph], ...] = (isolate_sources,)
"""Then `lower` makes the JobPlan. The job graph that users are shown is the one before these passes."""

JOB_PLAN_PASSES: tuple[Callable[[JobPlan, PlanOptions], JobPlan], ...] = (check_watermarks,)


def compile_job_graph(graph: StreamGraph, options: PlanOptions) -> JobGraph:
    """The program checked and chained, as `penstock plan` shows it."""
    for stream_pass in STREAM_GRAPH_PASSES:
        graph = stream_pass(graph, options)
    return chain(graph, options)


def compile_job(graph: StreamGraph, options: PlanOptions) -> JobPlan:
    """All passes: the plan that a host runs."""
    job_graph = compile_job_graph(graph, options)
    for job_pass in JOB_GRAPH_PASSES:
        job_graph = job_pass(job_graph, options)
    plan = lower(job_graph, options)
    for plan_pass in JOB_PLAN_PASSES:
        plan = plan_pass(plan, options)
    return plan
