"""Programs whose plan is wanted, and not their run."""

from __future__ import annotations

from penstock.core.config import Configuration
from penstock.core.config.table import check_source_settings
from penstock.core.program.specs import SourceSpec
from penstock.drawing.plan_json import plan_json
from penstock.drawing.planned import PlannedGraphs
from penstock.graph.stream_graph import StreamGraph
from penstock.launch.hosts import choose_host, is_batch
from penstock.launch.plan_options import plan_options
from penstock.plan.compile import compile_job_graph
from penstock.plan.guarantees import guarantee_lines

__all__ = ["PlannedOnly", "execution_plan", "explain", "planned"]


class PlannedOnly(BaseException):
    """Ends a program whose plan alone is wanted. Not an error: a program's `except Exception` lets it pass."""

    def __init__(self, graphs: PlannedGraphs) -> None:
        super().__init__(graphs)
        self.graphs = graphs

    def render(self, form: str, which: str | None) -> str:
        """One of its graphs, or all, as text, mermaid, svg, html or json."""
        return self.graphs.render(form, which)


def explain(graph: StreamGraph, conf: Configuration, parallelism: int, max_parallelism: int) -> str:
    """The three graphs and the guarantees as text."""
    return planned(graph, conf, parallelism, max_parallelism).render()


def planned(graph: StreamGraph, conf: Configuration, parallelism: int, max_parallelism: int) -> PlannedGraphs:
    """The graphs and guarantees of a program, to be shown; runs nothing."""
    host = choose_host(graph, conf)
    options = plan_options(conf, host, parallelism, max_parallelism, is_batch(graph, conf))
    job_graph = compile_job_graph(graph, options)
    nodes = (node for vertex in job_graph.vertices for node in vertex.nodes)
    check_source_settings(conf, [str(node.uid) for node in nodes if isinstance(node.spec, SourceSpec)])
    return PlannedGraphs(graph, job_graph, guarantee_lines(graph))


def execution_plan(graph: StreamGraph, conf: Configuration, parallelism: int, max_parallelism: int) -> str:
    """The program in Flink's JSON."""
    options = plan_options(conf, choose_host(graph, conf), parallelism, max_parallelism)
    return plan_json(compile_job_graph(graph, options))
