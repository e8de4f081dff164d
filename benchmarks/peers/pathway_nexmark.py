"""The Nexmark queries as Pathway tables: a table with the columns key, value, at out.

Queries 4 and 6 are not among them: a reducer is not promised the rows of a group in their order. A connector makes
all events, and passes on those of the kinds that a query asks for.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pathway as pw

from benchmarks.nexmark.generator import Bid, Person, event
from benchmarks.nexmark.questions import GAP_MS, HOT_SIZE_MS, HOT_SLIDE_MS, LOCAL_STATES, WINDOW_MS
from benchmarks.peers.pathway_source import read


class BidRow(pw.Schema):  # type: ignore[misc]
    auction: int
    bidder: int
    price: int
    at: int


class PartyRow(pw.Schema):  # type: ignore[misc]
    """A person who may sell, whose ``auction`` is 0; or an auction with its seller."""

    person: int
    auction: int
    state: str
    category: int
    at: int


def _bid(event: Bid) -> dict[str, Any]:
    return {"auction": event.auction, "bidder": event.bidder, "price": event.price, "at": event.date_time}


def _party(event: Any) -> dict[str, Any]:
    if event.__class__ is Person:
        return {"person": event.id, "auction": 0, "state": event.state, "category": 0, "at": event.date_time}
    return {
        "person": event.seller,
        "auction": event.id,
        "state": "",
        "category": event.category,
        "at": event.date_time,
    }


def _bids(records: int) -> Any:
    events = map(event, range(records))
    return read((_bid(made) for made in events if made.__class__ is Bid), BidRow)  # type: ignore[arg-type]


def _parties(records: int) -> tuple[Any, Any]:
    """Persons and auctions."""
    events = map(event, range(records))
    parties = read((_party(made) for made in events if made.__class__ is not Bid), PartyRow)
    return parties.filter(pw.this.auction == 0), parties.filter(pw.this.auction != 0)


def q0(records: int) -> Any:
    return _bids(records).select(pw.this.at, key=pw.this.auction, value=pw.this.price)


def q1(records: int) -> Any:
    return q0(records).select(pw.this.key, pw.this.at, value=pw.this.value * 908 // 1000)


def q2(records: int) -> Any:
    return q0(records).filter(pw.this.key % 123 == 0)


def q3(records: int) -> Any:
    persons, auctions = _parties(records)
    oregon, idaho, california = (persons.state == state for state in LOCAL_STATES)
    local, wanted = persons.filter(oregon | idaho | california), auctions.filter(pw.this.category == 10)
    later = pw.if_else(local.at > wanted.at, local.at, wanted.at)
    return local.join(wanted, local.person == wanted.person).select(key=local.person, value=wanted.auction, at=later)


def q5(records: int) -> Any:
    bids = _bids(records)
    sliding = pw.temporal.sliding(hop=HOT_SLIDE_MS, duration=HOT_SIZE_MS)
    windows = bids.windowby(bids.at, window=sliding, instance=bids.auction)
    counts = windows.reduce(key=pw.this._pw_instance, value=pw.reducers.count(), at=pw.this._pw_window_end)
    most = counts.groupby(pw.this.at).reduce(pw.this.at, value=pw.reducers.max(pw.this.value))
    return counts.join(most, counts.at == most.at, counts.value == most.value).select(
        counts.key, counts.value, counts.at
    )


def q7(records: int) -> Any:
    bids = _bids(records)
    windows = bids.windowby(bids.at, window=pw.temporal.tumbling(duration=WINDOW_MS))
    rank = pw.make_tuple(pw.this.price, -pw.this.at, pw.this.auction)
    highest = windows.reduce(best=pw.reducers.max(rank), at=pw.this._pw_window_end)
    return highest.select(key=pw.this.best[2], value=pw.this.best[0], at=pw.this.at)


def q8(records: int) -> Any:
    persons, auctions = (table.with_columns(window=pw.this.at // WINDOW_MS) for table in _parties(records))
    sellers = auctions.groupby(pw.this.person, pw.this.window).reduce(pw.this.person, pw.this.window)
    new = persons.join(sellers, persons.person == sellers.person, persons.window == sellers.window)
    return new.select(key=persons.person, value=persons.at, at=(persons.window + 1) * WINDOW_MS)


def q11(records: int) -> Any:
    bids = _bids(records)
    windows = bids.windowby(bids.at, window=pw.temporal.session(max_gap=GAP_MS), instance=bids.bidder)
    return windows.reduce(key=pw.this._pw_instance, value=pw.reducers.count(), at=pw.this._pw_window_end + GAP_MS)


NEXMARK: dict[str, Callable[[int], Any]] = {query.__name__: query for query in (q0, q1, q2, q3, q5, q7, q8, q11)}
