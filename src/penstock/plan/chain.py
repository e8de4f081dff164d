"""Joins neighbours into chains."""

from __future__ import annotations

from penstock.core.errors import ProgramError
from penstock.core.program.partition import Exchange, Forward, Rebalance
from penstock.graph.job_graph import JobEdge, JobGraph, JobVertex
from penstock.graph.stream_graph import ChainStrategy, StreamEdge, StreamGraph, StreamNode
from penstock.plan.options import PlanOptions

__all__ = ["chain"]


def chain(graph: StreamGraph, options: PlanOptions) -> JobGraph:
    """Afterwards: operators joined by a forward edge with equal parallelism share a vertex, exchanges are decided."""
    edges = {e: _exchange(graph, e) for e in graph.edges}
    chained = {e.target: e for e in graph.edges if options.chaining and _chainable(graph, e, edges[e])}
    heads = [n for n in graph.nodes if n.node_id not in chained]
    vertices = tuple(_vertex(graph, head, chained) for head in heads)
    cut = tuple(
        JobEdge(e.source, e.target, edges[e], e.tag, e.input) for e in graph.edges if chained.get(e.target) is not e
    )
    return JobGraph(graph.name, vertices, cut, options.max_parallelism)


def _exchange(graph: StreamGraph, edge: StreamEdge) -> Exchange:
    source, target = graph.node(edge.source), graph.node(edge.target)
    same = source.parallelism == target.parallelism
    if isinstance(edge.exchange, Forward) and not same:
        raise ProgramError(
            f"forward() from '{source.name}' (parallelism {source.parallelism}) to '{target.name}' (parallelism "
            f"{target.parallelism}) cannot change the parallelism: use rebalance() or rescale(), or make them equal"
        )
    if edge.exchange is not None:
        return edge.exchange
    return Forward() if same else Rebalance()


def _chainable(graph: StreamGraph, edge: StreamEdge, exchange: Exchange) -> bool:
    source, target = graph.node(edge.source), graph.node(edge.target)
    return (
        isinstance(exchange, Forward)
        and source.parallelism == target.parallelism
        and len(graph.inputs(target.node_id)) == 1
        and target.chain == ChainStrategy.ALWAYS
        and source.chain != ChainStrategy.NEVER
    )


def _vertex(graph: StreamGraph, head: StreamNode, chained: dict[int, StreamEdge]) -> JobVertex:
    nodes, links, todo = [head], [], [head]
    while todo:
        node = todo.pop(0)
        for edge in graph.outputs(node.node_id):
            if chained.get(edge.target) is edge:
                target = graph.node(edge.target)
                nodes.append(target)
                todo.append(target)
                links.append((node.node_id, target.node_id, edge.tag))
    assert head.parallelism is not None
    return JobVertex(tuple(nodes), head.parallelism, tuple(links))
