"""Orders within layers that cross few edges, and places that keep an order."""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["crossings", "isotonic", "order_layers"]

_SWEEPS = 24


def order_layers(layers: Sequence[int], after: Sequence[Sequence[int]]) -> list[list[int]]:
    """Items by layer, ordered; `after[i]` are the items of the next layer that item i is joined with.

    >>> order_layers([0, 0, 1, 1], [[3], [2], [], []])
    [[0, 1], [3, 2]]
    """
    before: list[list[int]] = [[] for _ in layers]
    for item, targets in enumerate(after):
        for target in targets:
            before[target].append(item)
    ranks = _first_order(layers, after)
    best, fewest = [list(rank) for rank in ranks], crossings(ranks, after)
    for sweep in range(_SWEEPS):
        if not fewest:
            break
        _sweep(ranks, before if sweep % 2 == 0 else after, sweep % 2 == 0)
        crossed = crossings(ranks, after)
        if crossed < fewest:
            best, fewest = [list(rank) for rank in ranks], crossed
    return best


def _first_order(layers: Sequence[int], after: Sequence[Sequence[int]]) -> list[list[int]]:
    """As a walk from the sources meets them."""
    ranks: list[list[int]] = [[] for _ in range(max(layers, default=-1) + 1)]
    seen: set[int] = set()
    todo = sorted(range(len(layers)), key=lambda item: (layers[item], item), reverse=True)
    while todo:
        item = todo.pop()
        if item not in seen:
            seen.add(item)
            ranks[layers[item]].append(item)
            todo.extend(reversed(after[item]))
    return ranks


def _sweep(ranks: list[list[int]], near: Sequence[Sequence[int]], forward: bool) -> None:
    """Put every layer in the order of the middles of its neighbours in the layer before."""
    place = {item: index for rank in ranks for index, item in enumerate(rank)}
    for rank in ranks if forward else reversed(ranks):
        middle = {
            item: sum(place[n] for n in near[item]) / len(near[item]) if near[item] else float(place[item])
            for item in rank
        }
        rank.sort(key=lambda item: (middle[item], place[item]))
        place.update({item: index for index, item in enumerate(rank)})


def crossings(ranks: Sequence[Sequence[int]], after: Sequence[Sequence[int]]) -> int:
    """How many pairs of edges cross.

    >>> crossings([[0, 1], [2, 3]], [[3], [2], [], []])
    1
    """
    place = {item: index for rank in ranks for index, item in enumerate(rank)}
    return sum(_crossed([(place[a], place[b]) for a in rank for b in after[a]]) for rank in ranks)


def _crossed(ends: list[tuple[int, int]]) -> int:
    return sum((a[0] - b[0]) * (a[1] - b[1]) < 0 for i, a in enumerate(ends) for b in ends[:i])


def isotonic(wanted: Sequence[float], weights: Sequence[float]) -> list[float]:
    """The numbers nearest to those wanted (least squares) that do not fall: pool adjacent violators.

    >>> isotonic([1, 3, 2, 5], [1, 1, 1, 1])
    [1.0, 2.5, 2.5, 5.0]
    """
    pools: list[tuple[float, float, int]] = []
    for want, weight in zip(wanted, weights, strict=True):
        pools.append((float(want), weight, 1))
        while len(pools) > 1 and pools[-2][0] >= pools[-1][0]:
            (a, wa, na), (b, wb, nb) = pools[-2:]
            pools[-2:] = [((a * wa + b * wb) / (wa + wb), wa + wb, na + nb)]
    return [mean for mean, _, size in pools for _ in range(size)]
