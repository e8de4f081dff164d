"""Places boxes in layers and leads edges between them: no boxes overlap, labels have room of their own.

The usual four steps: a layer for every box (longest path), orders within layers that cross few edges, places
within layers near the neighbours, routes. Between two layers of boxes lies a layer for labels and for edges that
pass. *Along* is the direction of flow, *across* the other one; the caller decides which of them is x.
"""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field

from penstock.drawing.ordering import isotonic, order_layers

__all__ = ["EdgeIn", "Layout", "Placed", "Route", "lay_out"]

_GAP_ACROSS, _GAP_PASSING = 26.0, 12.0
_PORT = 16.0
_SWEEPS = 14


@dataclass(frozen=True, slots=True)
class EdgeIn:
    """An edge to lead; the size of its label, if it has one."""

    source: int
    target: int
    label_along: float = 0.0
    label_across: float = 0.0


@dataclass(frozen=True, slots=True)
class Placed:
    """A box: where it begins, and its size."""

    along: float
    across: float
    size_along: float
    size_across: float


@dataclass(frozen=True, slots=True)
class Route:
    """Points of an edge from port to port, and the middle of its label. `direct`: passes no other layer of boxes."""

    points: tuple[tuple[float, float], ...]
    label: tuple[float, float]
    direct: bool


@dataclass(frozen=True, slots=True)
class Layout:
    """Where everything lies: a place for each box and a route for each edge, in the order given, and the size."""

    boxes: tuple[Placed, ...]
    routes: tuple[Route, ...]
    along: float
    across: float


@dataclass(slots=True)
class _Slot:
    """A place in a layer: a box, a label, or an edge that passes."""

    layer: int
    along: float
    across: float
    passing: bool = False
    before: list[int] = field(default_factory=list)
    after: list[int] = field(default_factory=list)
    centre: float = 0.0


def lay_out(sizes: Sequence[tuple[float, float]], edges: Sequence[EdgeIn], gap: float = 28.0) -> Layout:
    """Place boxes of these sizes (along, across). The edges must not go in a circle.

    `gap`: between a box and the label of its edge; where there is no label, half of what is between two boxes.
    """
    layers = _layers(len(sizes), edges)
    slots = [_Slot(2 * layer, *size) for layer, size in zip(layers, sizes, strict=True)]
    chains = [_thread(slots, edge) for edge in edges]
    ranks = order_layers([slot.layer for slot in slots], [slot.after for slot in slots])
    _place_across(slots, ranks)
    starts, ends = _place_along(slots, ranks, gap)
    boxes = tuple(_placed(slot, starts, ends) for slot in slots[: len(sizes)])
    routes = _routes(slots, chains, boxes, starts, ends)
    across = max((slot.centre + slot.across / 2 for slot in slots), default=0.0)
    return Layout(boxes, routes, max(ends, default=0.0), across)


def _layers(count: int, edges: Sequence[EdgeIn]) -> list[int]:
    """Longest path from a source; then boxes without input move up to what they feed."""
    inputs, outputs = defaultdict(list), defaultdict(list)
    for edge in edges:
        inputs[edge.target].append(edge.source)
        outputs[edge.source].append(edge.target)
    found: dict[int, int] = {}
    for box in _topological(count, inputs, outputs):
        found[box] = 1 + max((found[source] for source in inputs[box]), default=-1)
    for box in range(count):
        if not inputs[box] and outputs[box]:
            found[box] = min(found[target] for target in outputs[box]) - 1
    return [found[box] for box in range(count)]


def _topological(count: int, inputs: dict[int, list[int]], outputs: dict[int, list[int]]) -> list[int]:
    waiting = {box: len(inputs[box]) for box in range(count)}
    done = [box for box in range(count) if not waiting[box]]
    for box in done:
        for target in outputs[box]:
            waiting[target] -= 1
            if not waiting[target]:
                done.append(target)
    assert len(done) == count, "the graph has a circle"
    return done


def _thread(slots: list[_Slot], edge: EdgeIn) -> list[int]:
    """Slots of an edge, one in each layer that it passes; the first has the label."""
    chain = [edge.source]
    for layer in range(slots[edge.source].layer + 1, slots[edge.target].layer):
        labelled = len(chain) == 1
        size = (edge.label_along, edge.label_across) if labelled else (0.0, 0.0)
        slots.append(_Slot(layer, *size, passing=True))
        chain.append(len(slots) - 1)
    chain.append(edge.target)
    for a, b in itertools.pairwise(chain):
        slots[a].after.append(b)
        slots[b].before.append(a)
    return chain


# -- across -------------------------------------------------------------------------------------------------


def _place_across(slots: list[_Slot], ranks: list[list[int]]) -> None:
    for rank in ranks:
        _settle(slots, rank, [0.0] * len(rank), [1.0] * len(rank))
    for sweep in range(_SWEEPS):
        last = sweep == _SWEEPS - 1
        for rank in ranks if sweep % 2 == 0 else reversed(ranks):
            wanted = [_wanted(slots, slot, sweep % 2 == 0, last) for slot in rank]
            _settle(slots, rank, wanted, [_weight(slots[slot]) for slot in rank])
    least = min((slot.centre - slot.across / 2 for slot in slots), default=0.0)
    for slot in slots:
        slot.centre -= least


def _wanted(slots: list[_Slot], index: int, forward: bool, both: bool) -> float:
    """The middle of the neighbours; where there are none on this side, those on the other."""
    slot = slots[index]
    near = slot.before + slot.after if both else (slot.before if forward else slot.after) or slot.before + slot.after
    return sum(slots[n].centre for n in near) / len(near) if near else slot.centre


def _weight(slot: _Slot) -> float:
    """Edges that pass are kept straight at the cost of others."""
    return 4.0 if slot.passing else 1.0


def _settle(slots: list[_Slot], rank: list[int], wanted: list[float], weights: list[float]) -> None:
    """As near as can be to where they want to be, in this order and without overlap."""
    offsets = [0.0]
    for a, b in itertools.pairwise(rank):
        gap = _GAP_PASSING if slots[a].passing and slots[b].passing else _GAP_ACROSS
        offsets.append(offsets[-1] + (slots[a].across + slots[b].across) / 2 + gap)
    places = isotonic([w - o for w, o in zip(wanted, offsets, strict=True)], weights)
    for index, place, offset in zip(rank, places, offsets, strict=True):
        slots[index].centre = place + offset


# -- along and routes ---------------------------------------------------------------------------------------


def _place_along(slots: list[_Slot], ranks: list[list[int]], gap: float) -> tuple[list[float], list[float]]:
    """Where every layer begins and ends."""
    starts, ends, at = [], [], 0.0
    for rank in ranks:
        size = max((slots[slot].along for slot in rank), default=0.0)
        starts.append(at)
        ends.append(at + size)
        at += size + gap
    return starts, ends


def _placed(slot: _Slot, starts: list[float], ends: list[float]) -> Placed:
    middle = (starts[slot.layer] + ends[slot.layer]) / 2
    return Placed(middle - slot.along / 2, slot.centre - slot.across / 2, slot.along, slot.across)


def _routes(
    slots: list[_Slot], chains: list[list[int]], boxes: Sequence[Placed], starts: list[float], ends: list[float]
) -> tuple[Route, ...]:
    leaving = _ports(slots, chains, 0)
    coming = _ports(slots, chains, -1)
    return tuple(
        _route(slots, chain, boxes, starts, ends, leaving[number], coming[number])
        for number, chain in enumerate(chains)
    )


def _ports(slots: list[_Slot], chains: list[list[int]], end: int) -> dict[int, float]:
    """Where each edge touches its box, across: those of one box side by side, in the order of where they go."""
    touching: dict[int, list[int]] = defaultdict(list)
    for number, chain in enumerate(chains):
        touching[chain[end]].append(number)
    found = {}
    for box, numbers in touching.items():
        numbers.sort(key=lambda n: slots[chains[n][1 if end == 0 else -2]].centre)
        step = min(_PORT, slots[box].across * 0.8 / len(numbers))
        for place, number in enumerate(numbers):
            found[number] = slots[box].centre + (place - (len(numbers) - 1) / 2) * step
    return found


def _route(
    slots: list[_Slot],
    chain: list[int],
    boxes: Sequence[Placed],
    starts: list[float],
    ends: list[float],
    leaving: float,
    coming: float,
) -> Route:
    source, target = boxes[chain[0]], boxes[chain[-1]]
    points = [(source.along + source.size_along, leaving)]
    for index in chain[1:-1]:
        slot = slots[index]
        if slot.layer % 2:
            points.append(((starts[slot.layer] + ends[slot.layer]) / 2, slot.centre))
        else:
            points += [(starts[slot.layer], slot.centre), (ends[slot.layer], slot.centre)]
    points.append((target.along, coming))
    first = slots[chain[1]]
    label = ((starts[first.layer] + ends[first.layer]) / 2, first.centre)
    return Route(tuple(points), label, len(chain) == 3)
