"""The Nexmark queries as Pathway tables: a table with the columns key, value, at out.

Queries 4 and 6 are not among them: a reducer is not promised the rows of a group in their order. A connector passes on
the kind of events that a query asks for.
"""

from __future__ import annotations

from collections.abc import Callable
from operator import attrgetter
from typing import Any

import pathway as pw

from benchmarks.nexmark.generator import AUCTIONS, GROUP, PERSONS, event
from benchmarks.nexmark.questions import GAP_MS, HOT_SIZE_MS, HOT_SLIDE_MS, LOCAL_STATES, WINDOW_MS
from benchmarks.pathway_source import read


class PersonRow(pw.Schema):  # type: ignore[misc]
    person: int
    state: str
    at: int


class AuctionRow(pw.Schema):  # type: ignore[misc]
    auction: int
    category: int
    seller: int
    at: int


class BidRow(pw.Schema):  # type: ignore[misc]
    auction: int
    bidder: int
    price: int
    at: int


KINDS: dict[Any, tuple[range, Any]] = {
    PersonRow: (range(PERSONS), attrgetter("id", "state", "date_time")),
    AuctionRow: (range(PERSONS, PERSONS + AUCTIONS), attrgetter("id", "category", "seller", "date_time")),
    BidRow: (range(PERSONS + AUCTIONS, GROUP), attrgetter("auction", "bidder", "price", "date_time")),
}
"""Where a kind of event stands in every group, and what its columns are."""


def _made(schema: Any, records: int) -> Any:
    places, columns = KINDS[schema]
    names = schema.column_names()
    events = (event(index) for index in range(records) if index % GROUP in places)
    return read((dict(zip(names, columns(made), strict=True)) for made in events), schema)


def q0(records: int) -> Any:
    return _made(BidRow, records).select(pw.this.at, key=pw.this.auction, value=pw.this.price)


def q1(records: int) -> Any:
    return q0(records).select(pw.this.key, pw.this.at, value=pw.this.value * 908 // 1000)


def q2(records: int) -> Any:
    return q0(records).filter(pw.this.key % 123 == 0)


def q3(records: int) -> Any:
    persons = _made(PersonRow, records)
    oregon, idaho, california = (persons.state == state for state in LOCAL_STATES)
    local = persons.filter(oregon | idaho | california)
    auctions = _made(AuctionRow, records).filter(pw.this.category == 10)
    later = pw.if_else(local.at > auctions.at, local.at, auctions.at)
    return local.join(auctions, local.person == auctions.seller).select(
        key=local.person, value=auctions.auction, at=later
    )


def q5(records: int) -> Any:
    bids = _made(BidRow, records)
    sliding = pw.temporal.sliding(hop=HOT_SLIDE_MS, duration=HOT_SIZE_MS)
    windows = bids.windowby(bids.at, window=sliding, instance=bids.auction)
    counts = windows.reduce(key=pw.this._pw_instance, value=pw.reducers.count(), at=pw.this._pw_window_end)
    most = counts.groupby(pw.this.at).reduce(pw.this.at, value=pw.reducers.max(pw.this.value))
    return counts.join(most, counts.at == most.at, counts.value == most.value).select(
        counts.key, counts.value, counts.at
    )


def q7(records: int) -> Any:
    bids = _made(BidRow, records)
    windows = bids.windowby(bids.at, window=pw.temporal.tumbling(duration=WINDOW_MS))
    rank = pw.make_tuple(pw.this.price, -pw.this.at, pw.this.auction)
    highest = windows.reduce(best=pw.reducers.max(rank), at=pw.this._pw_window_end)
    return highest.select(key=pw.this.best[2], value=pw.this.best[0], at=pw.this.at)


def q8(records: int) -> Any:
    sellers = _made(AuctionRow, records).select(pw.this.seller, window=pw.this.at // WINDOW_MS)
    sellers = sellers.groupby(pw.this.seller, pw.this.window).reduce(pw.this.seller, pw.this.window)
    persons = _made(PersonRow, records).with_columns(window=pw.this.at // WINDOW_MS)
    new = persons.join(sellers, persons.person == sellers.seller, persons.window == sellers.window)
    return new.select(key=persons.person, value=persons.at, at=(persons.window + 1) * WINDOW_MS)


def q11(records: int) -> Any:
    bids = _made(BidRow, records)
    windows = bids.windowby(bids.at, window=pw.temporal.session(max_gap=GAP_MS), instance=bids.bidder)
    return windows.reduce(key=pw.this._pw_instance, value=pw.reducers.count(), at=pw.this._pw_window_end + GAP_MS)


NEXMARK: dict[str, Callable[[int], Any]] = {query.__name__: query for query in (q0, q1, q2, q3, q5, q7, q8, q11)}
