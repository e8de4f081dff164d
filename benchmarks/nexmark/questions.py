"""The constants and conditions of the queries. Standard library only."""

from __future__ import annotations

from benchmarks.nexmark.generator import Auction, Bid

WINDOW_MS = 10_000
HOT_SIZE_MS, HOT_SLIDE_MS = 10_000, 2_000
GAP_MS = 10_000
CLOSED = 10
"""Of how many auctions of a seller q6 takes the average."""

LOCAL_STATES = ("OR", "ID", "CA")


def converted(price: int) -> int:
    """From dollars to euros, in q1."""
    return price * 908 // 1_000


def is_selected(auction: int) -> bool:
    return auction % 123 == 0


def is_local(state: str) -> bool:
    return state in LOCAL_STATES


def wins(bid: Bid, auction: Auction) -> bool:
    """Whether a bid may win an auction: in time, and not below the reserve."""
    return auction.date_time <= bid.date_time < auction.expires and bid.price >= auction.reserve


def best(one: Bid, other: Bid) -> Bid:
    """The higher bid; of two alike, the earlier."""
    return one if (one.price, -one.date_time) >= (other.price, -other.date_time) else other
