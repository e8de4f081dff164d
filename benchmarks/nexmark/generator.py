"""The stream of events. Event ``i`` is a function of ``i`` alone, so any part of the stream can be made anywhere.

As in Nexmark, of every fifty events one is a new person, three are new auctions and the others bids. Half of the bids
go to the hottest auction of the moment, three of four come from the hottest bidder. Event ``i`` happens at millisecond
``i``: in order, a thousand a second. Standard library only.
"""

from __future__ import annotations

from typing import NamedTuple

from benchmarks.inputs import FIRST, MASK, SECOND, SEED

GROUP, PERSONS, AUCTIONS = 50, 1, 3
FIRST_ID = 1_000
HOT_EVERY, ACTIVE_PERSONS, OPEN_AUCTIONS = 100, 1_000, 100
CATEGORIES = (10, 11, 12, 13, 14)
STATES = ("AZ", "CA", "ID", "OR", "WA", "WY")
CITIES = ("Phoenix", "Los Angeles", "Boise", "Portland", "Seattle", "Cheyenne")
FIRST_NAMES = ("Peter", "Paul", "Luke", "John", "Saul", "Vicky", "Kate", "Julie", "Sarah", "Deiter", "Walter")
LAST_NAMES = ("Shultz", "Abrams", "Spencer", "White", "Bartels", "Walton", "Smith", "Jones", "Noris")


class Person(NamedTuple):
    """Someone who has registered."""

    id: int
    name: str
    city: str
    state: str
    date_time: int


class Auction(NamedTuple):
    """Something offered for sale, until `expires`; sold for no less than `reserve`."""

    id: int
    reserve: int
    category: int
    seller: int
    expires: int
    date_time: int


class Bid(NamedTuple):
    """An offer."""

    auction: int
    bidder: int
    price: int
    date_time: int


Event = Person | Auction | Bid


def event(index: int) -> Event:
    """Event number ``index``.

    >>> event(0)
    Person(id=1000, name='John Jones', city='Los Angeles', state='CA', date_time=0)
    >>> event(4)
    Bid(auction=1000, bidder=1000, price=108, date_time=4)
    """
    offset = index % GROUP
    if offset < PERSONS:
        return _person(index)
    return _auction(index) if offset < PERSONS + AUCTIONS else _bid(index)


def _draw(index: int, salt: int, below: int) -> int:
    h = (index * FIRST + salt * SECOND + SEED) & MASK
    return ((h ^ h >> 15) * SECOND >> 9 & MASK) % below


def _person(index: int) -> Person:
    place = _draw(index, 1, len(STATES))
    name = f"{FIRST_NAMES[_draw(index, 2, len(FIRST_NAMES))]} {LAST_NAMES[_draw(index, 3, len(LAST_NAMES))]}"
    return Person(FIRST_ID + index // GROUP, name, CITIES[place], STATES[place], index)


def _auction(index: int) -> Auction:
    number = index // GROUP * AUCTIONS + index % GROUP - PERSONS
    seller = _somebody(index, 4)
    reserve = 100 + _draw(index, 5, 5_000)
    category = CATEGORIES[_draw(index, 6, len(CATEGORIES))]
    return Auction(FIRST_ID + number, reserve, category, seller, index + 1_000 + _draw(index, 7, 19_000), index)


def _bid(index: int) -> Bid:
    last = (index // GROUP + 1) * AUCTIONS - 1
    if _draw(index, 8, 2):
        auction = last // HOT_EVERY * HOT_EVERY
    else:
        auction = max(0, last - _draw(index, 9, OPEN_AUCTIONS))
    price = 100 + _draw(index, 10, 100) * (1 + _draw(index, 11, 100))
    return Bid(FIRST_ID + auction, _somebody(index, 12), price, index)


def _somebody(index: int, salt: int) -> int:
    last = index // GROUP
    if _draw(index, salt, 4):
        return FIRST_ID + last // HOT_EVERY * HOT_EVERY
    return FIRST_ID + max(0, last - _draw(index, salt + 100, ACTIVE_PERSONS))
