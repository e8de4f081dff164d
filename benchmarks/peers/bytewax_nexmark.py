"""The Nexmark queries as Bytewax dataflows: events in, records of three numbers out.

Queries 4 and 6 are not among them: an auction is over when event time has come so far, and Bytewax keeps event time
for each key alone, so that nobody tells an auction which gets no more bids.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

import bytewax.operators as op
from bytewax.operators import windowing

from benchmarks.events import Emitted
from benchmarks.nexmark.generator import Auction, Bid, Event, Person
from benchmarks.nexmark.questions import (
    GAP_MS,
    HOT_SIZE_MS,
    HOT_SLIDE_MS,
    WINDOW_MS,
    best,
    converted,
    is_local,
    is_selected,
)
from benchmarks.peers.bytewax_windows import (
    EPOCH,
    LONG,
    clock,
    counted_sessions,
    gathered_counts,
    moment,
    since_epoch_ms,
)

Sales = tuple[Person | None, list[Auction]]

TEN_SECONDS = windowing.TumblingWindower(length=timedelta(milliseconds=WINDOW_MS), align_to=EPOCH)


def _bids(stream: Any) -> Any:
    return op.filter("bids", stream, lambda event: event.__class__ is Bid)


def _keyed_bids(stream: Any, key: str) -> Any:
    """(the key, the moment of the bid)."""
    get = operator.attrgetter(key)
    return op.map(key, _bids(stream), lambda bid: (str(get(bid)), moment(bid.date_time)))


def q0(stream: Any) -> Any:
    return op.map("bid", _bids(stream), _flat)


def q1(stream: Any) -> Any:
    return op.map("euros", q0(stream), lambda bid: (bid[0], converted(bid[1]), bid[2]))


def q2(stream: Any) -> Any:
    return op.filter("selected", q0(stream), lambda bid: is_selected(bid[0]))


def _flat(bid: Bid) -> Emitted:
    return bid.auction, bid.price, bid.date_time


def q3(stream: Any) -> Any:
    wanted = op.filter("wanted", stream, _wanted)
    keyed = op.key_on("seller", wanted, _seller)
    return op.map("suggested", op.stateful_flat_map("suggest", keyed, _suggest), operator.itemgetter(1))


def _wanted(event: Event) -> bool:
    if event.__class__ is Person:
        return is_local(event.state)  # type: ignore[union-attr]
    return event.__class__ is Auction and event.category == 10  # type: ignore[union-attr]


def _seller(event: Any) -> str:
    return str(event.id if event.__class__ is Person else event.seller)


def _suggest(sales: Sales | None, event: Any) -> tuple[Sales, list[Emitted]]:
    person, auctions = sales or (None, [])
    if event.__class__ is Person:
        return (event, []), [_pair(event, auction) for auction in auctions]
    if person is not None:
        return (person, []), [_pair(person, event)]
    return (None, [*auctions, event]), []


def _pair(person: Person, auction: Auction) -> Emitted:
    return person.id, auction.id, max(person.date_time, auction.date_time)


def q5(stream: Any) -> Any:
    return gathered_counts(_keyed_bids(stream, "auction"), HOT_SIZE_MS, HOT_SLIDE_MS, _hottest)


def _hottest(counts: list[Emitted]) -> list[Emitted]:
    top = max(count for _, count, _ in counts)
    return [found for found in counts if found[1] == top]


def q7(stream: Any) -> Any:
    """Of parts, then of all."""
    parts = op.key_on("part", _bids(stream), lambda bid: str(bid.bidder % 16))
    highest = windowing.reduce_window("highest", parts, clock(_happened), TEN_SECONDS, best).down
    all_parts = op.map("all", highest, lambda found: ("", found[1][1]))
    whole = windowing.reduce_window("of all", all_parts, clock(_happened, LONG), TEN_SECONDS, best).down
    return op.map("end", whole, lambda found: _highest(*found[1]))


def _highest(window: int, bid: Bid) -> Emitted:
    return bid.auction, bid.price, (window + 1) * WINDOW_MS


def _happened(event: Event) -> datetime:
    return moment(event.date_time)


def q8(stream: Any) -> Any:
    people = op.filter("people", stream, lambda event: event.__class__ is not Bid)
    keyed = op.key_on("seller", people, _seller)
    windows = windowing.collect_window("window", keyed, clock(_happened), TEN_SECONDS, ordered=False).down
    return op.flat_map("new", windows, lambda found: _new(*found[1]))


def _new(window: int, events: list[Event]) -> list[Emitted]:
    if not any(event.__class__ is Auction for event in events):
        return []
    return [(e.id, e.date_time, (window + 1) * WINDOW_MS) for e in events if e.__class__ is Person]  # type: ignore[union-attr]


def q11(stream: Any) -> Any:
    found = counted_sessions(_keyed_bids(stream, "bidder"), GAP_MS)
    return op.map("end", found, lambda item: (int(item[0]), item[1][2], since_epoch_ms(item[1][1]) + GAP_MS))


NEXMARK: dict[str, Callable[[Any], Any]] = {query.__name__: query for query in (q0, q1, q2, q3, q5, q7, q8, q11)}
