"""What the queries must answer, as plain loops over the first so many events. Standard library only."""

from __future__ import annotations

from collections import Counter, defaultdict, deque
from collections.abc import Callable, Iterator
from typing import Final

from benchmarks.nexmark.generator import Auction, Bid, Event, Person, event
from benchmarks.nexmark.questions import (
    CLOSED,
    GAP_MS,
    HOT_SIZE_MS,
    HOT_SLIDE_MS,
    WINDOW_MS,
    best,
    converted,
    is_local,
    is_selected,
    wins,
)

Emitted = tuple[int, int, int]


def _events(records: int) -> Iterator[Event]:
    return map(event, range(records))


def _bids(records: int) -> Iterator[Bid]:
    return (e for e in _events(records) if e.__class__ is Bid)  # type: ignore[misc]


def q0(records: int) -> Iterator[Emitted]:
    return ((bid.auction, bid.price, bid.date_time) for bid in _bids(records))


def q1(records: int) -> Iterator[Emitted]:
    return ((bid.auction, converted(bid.price), bid.date_time) for bid in _bids(records))


def q2(records: int) -> Iterator[Emitted]:
    return ((bid.auction, bid.price, bid.date_time) for bid in _bids(records) if is_selected(bid.auction))


def q3(records: int) -> Iterator[Emitted]:
    persons = {p.id: p for p in _events(records) if p.__class__ is Person}
    for auction in _events(records):
        if auction.__class__ is Auction and auction.category == 10:  # type: ignore[union-attr]
            person = persons.get(auction.seller)  # type: ignore[union-attr]
            if person is not None and is_local(person.state):  # type: ignore[union-attr]
                yield person.id, auction.id, max(person.date_time, auction.date_time)  # type: ignore[union-attr]


def _closed(records: int) -> list[tuple[Auction, int]]:
    """Auctions that were sold, with the price, in the order in which they closed."""
    auctions: dict[int, Auction] = {}
    prices: dict[int, int] = {}
    for e in _events(records):
        if e.__class__ is Auction:
            auctions[e.id] = e  # type: ignore[union-attr, assignment]
        elif e.__class__ is Bid and (a := auctions.get(e.auction)) is not None and wins(e, a):  # type: ignore[union-attr, arg-type]
            prices[a.id] = max(prices.get(a.id, 0), e.price)  # type: ignore[union-attr]
    sold = [(auctions[number], price) for number, price in prices.items()]
    return sorted(sold, key=lambda found: (found[0].expires, found[0].id))


def q4(records: int) -> Iterator[Emitted]:
    totals: dict[int, tuple[int, int]] = {}
    for auction, price in _closed(records):
        count, total = totals.get(auction.category, (0, 0))
        totals[auction.category] = (count + 1, total + price)
        yield auction.category, (total + price) // (count + 1), auction.expires


def q5(records: int) -> Iterator[Emitted]:
    panes: dict[int, Counter[int]] = defaultdict(Counter)
    for bid in _bids(records):
        panes[bid.date_time // HOT_SLIDE_MS][bid.auction] += 1
    for last in range(max(panes) + HOT_SIZE_MS // HOT_SLIDE_MS):
        counts: Counter[int] = Counter()
        for pane in range(last - HOT_SIZE_MS // HOT_SLIDE_MS + 1, last + 1):
            counts.update(panes.get(pane, ()))
        top = max(counts.values(), default=0)
        yield from ((auction, n, (last + 1) * HOT_SLIDE_MS) for auction, n in counts.items() if n == top)


def q6(records: int) -> Iterator[Emitted]:
    latest: dict[int, deque[int]] = {}
    for auction, price in _closed(records):
        prices = latest.setdefault(auction.seller, deque(maxlen=CLOSED))
        prices.append(price)
        yield auction.seller, sum(prices) // len(prices), auction.expires


def q7(records: int) -> Iterator[Emitted]:
    highest: dict[int, Bid] = {}
    for bid in _bids(records):
        window = bid.date_time // WINDOW_MS
        highest[window] = best(highest[window], bid) if window in highest else bid
    return ((bid.auction, bid.price, (window + 1) * WINDOW_MS) for window, bid in highest.items())


def q8(records: int) -> Iterator[Emitted]:
    sellers = {
        (a.seller, a.date_time // WINDOW_MS)  # type: ignore[union-attr]
        for a in _events(records)
        if a.__class__ is Auction
    }
    for person in _events(records):
        if person.__class__ is Person and (person.id, person.date_time // WINDOW_MS) in sellers:  # type: ignore[union-attr]
            yield person.id, person.date_time, (person.date_time // WINDOW_MS + 1) * WINDOW_MS  # type: ignore[union-attr]


def q11(records: int) -> Iterator[Emitted]:
    under_way: dict[int, tuple[int, int]] = {}
    for bid in _bids(records):
        count, last = under_way.get(bid.bidder, (0, bid.date_time))
        if bid.date_time - last > GAP_MS:
            yield bid.bidder, count, last + GAP_MS
            count = 0
        under_way[bid.bidder] = (count + 1, bid.date_time)
    for bidder, (count, last) in under_way.items():
        yield bidder, count, last + GAP_MS


LOOPS: Final[dict[str, Callable[[int], Iterator[Emitted]]]] = {
    "q0": q0,
    "q1": q1,
    "q2": q2,
    "q3": q3,
    "q4": q4,
    "q5": q5,
    "q6": q6,
    "q7": q7,
    "q8": q8,
    "q11": q11,
}
"""q12 counts by processing time: no two runs agree."""
