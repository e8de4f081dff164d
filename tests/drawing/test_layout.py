"""Layout: whatever the graph, boxes and labels do not overlap and edges pass beside boxes."""

from itertools import combinations, pairwise

from hypothesis import given
from hypothesis import strategies as st

from penstock.drawing.layout import EdgeIn, Layout, lay_out
from penstock.drawing.ordering import crossings, isotonic, order_layers

Rect = tuple[float, float, float, float]


@st.composite
def graphs(draw: st.DrawFn) -> tuple[list[tuple[float, float]], list[EdgeIn]]:
    count = draw(st.integers(1, 14))
    sizes = draw(st.lists(st.tuples(st.floats(20, 250), st.floats(20, 200)), min_size=count, max_size=count))
    pairs = draw(st.lists(st.tuples(st.integers(0, count - 1), st.integers(0, count - 1)), max_size=24))
    labels = st.sampled_from([(0.0, 0.0), (60.0, 18.0), (120.0, 18.0)])
    return sizes, [EdgeIn(a, b, *draw(labels)) for a, b in pairs if a < b]


def _overlap(a: Rect, b: Rect) -> bool:
    return min(a[2], b[2]) - max(a[0], b[0]) > 0.01 and min(a[3], b[3]) - max(a[1], b[1]) > 0.01


def _boxes(layout: Layout) -> list[Rect]:
    return [(p.along, p.across, p.along + p.size_along, p.across + p.size_across) for p in layout.boxes]


def _labels(layout: Layout, edges: list[EdgeIn]) -> list[Rect]:
    return [
        (x - e.label_along / 2, y - e.label_across / 2, x + e.label_along / 2, y + e.label_across / 2)
        for e, (x, y) in ((e, route.label) for e, route in zip(edges, layout.routes, strict=True))
        if e.label_along
    ]


@given(graphs())
def test_nothing_overlaps(graph: tuple[list[tuple[float, float]], list[EdgeIn]]) -> None:
    """G1: boxes and labels have room of their own, all of them on the paper."""
    sizes, edges = graph
    layout = lay_out(sizes, edges)
    things = _boxes(layout) + _labels(layout, edges)
    assert not [pair for pair in combinations(things, 2) if _overlap(*pair)]
    assert all(r[0] > -0.01 and r[1] > -0.01 for r in things)
    assert all(r[2] < layout.along + 0.01 and r[3] < layout.across + 0.01 for r in things)


@given(graphs())
def test_edges_go_forward_and_pass_beside_boxes(graph: tuple[list[tuple[float, float]], list[EdgeIn]]) -> None:
    """G1: a curve between two points stays within their range across, so it is enough to look at both ends."""
    sizes, edges = graph
    layout = lay_out(sizes, edges)
    boxes = _boxes(layout)
    for edge, route in zip(edges, layout.routes, strict=True):
        assert [a for a, _ in route.points] == sorted(a for a, _ in route.points)
        source, target = boxes[edge.source], boxes[edge.target]
        assert route.points[0][0] == source[2]
        assert source[1] <= route.points[0][1] <= source[3]
        assert abs(route.points[-1][0] - target[0]) < 0.01
        assert target[1] <= route.points[-1][1] <= target[3]
        for (a, x), (b, y) in pairwise(route.points):
            if x == y:  # straight: may lie in a layer of boxes
                line = (a, x - 0.1, b, x + 0.1)
                assert not [
                    box for n, box in enumerate(boxes) if n not in (edge.source, edge.target) and _overlap(line, box)
                ]


@given(graphs())
def test_the_same_graph_gives_the_same_picture(graph: tuple[list[tuple[float, float]], list[EdgeIn]]) -> None:
    assert lay_out(*graph) == lay_out(*graph)


def test_a_chain_is_a_straight_line() -> None:
    layout = lay_out([(100, 40), (100, 80), (100, 40)], [EdgeIn(0, 1), EdgeIn(1, 2)])
    assert len({y for route in layout.routes for _, y in route.points}) == 1


def test_a_source_stands_next_to_what_it_feeds() -> None:
    """A late join does not draw its second source to the far left."""
    layout = lay_out([(50, 50)] * 5, [EdgeIn(0, 1), EdgeIn(1, 2), EdgeIn(2, 4), EdgeIn(3, 4)])
    assert layout.boxes[3].along == layout.boxes[2].along


def test_crossings_are_untangled() -> None:
    after = [[5], [4], [3], [], [], []]
    assert crossings([[0, 1, 2], [3, 4, 5]], after) == 3
    assert crossings(order_layers([0, 0, 0, 1, 1, 1], after), after) == 0


@given(st.lists(st.tuples(st.floats(-100, 100), st.floats(0.5, 5)), min_size=1, max_size=12))
def test_isotonic_never_falls_and_cannot_be_bettered(items: list[tuple[float, float]]) -> None:
    wanted, weights = [w for w, _ in items], [g for _, g in items]
    found = isotonic(wanted, weights)
    assert all(a <= b + 1e-9 for a, b in pairwise(found))

    def cost(places: list[float]) -> float:
        return sum(g * (p - w) ** 2 for p, w, g in zip(places, wanted, weights, strict=True))

    for at in range(len(found)):
        for step in (-0.01, 0.01):
            moved = [p + step if i == at else p for i, p in enumerate(found)]
            if all(a <= b for a, b in pairwise(moved)):
                assert cost(moved) >= cost(found) - 1e-9
