"""The queries as DataStream programs, with names that PyFlink has as well: the very same text runs under PyFlink.

A query takes the stream of all events, which has timestamps and watermarks, and gives records of three numbers, the
last of which is the event time that the record speaks for. Query 3 and 8 join by hand, because PyFlink has no joins in
Python. Query 4 and 6 take closed auctions in the order in which they closed, so that their running averages do not
depend on who was faster.
"""

from __future__ import annotations

from benchmarks.nexmark.generator import Auction, Bid, Person
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
from penstock.common import Time, Types
from penstock.datastream.functions import (
    AggregateFunction,
    KeyedProcessFunction,
    ProcessAllWindowFunction,
    ProcessWindowFunction,
)
from penstock.datastream.state import ListStateDescriptor, MapStateDescriptor, ValueStateDescriptor
from penstock.datastream.window import (
    EventTimeSessionWindows,
    SlidingEventTimeWindows,
    TumblingEventTimeWindows,
    TumblingProcessingTimeWindows,
)


def bids(events):
    return events.filter(lambda event: isinstance(event, Bid))


class Count(AggregateFunction):
    """Merging is right in any order, and says so to whoever asks."""

    mergeable = True

    def create_accumulator(self):
        return 0

    def add(self, value, accumulator):
        return accumulator + 1

    def get_result(self, accumulator):
        return accumulator

    def merge(self, a, b):
        return a + b


class WithEnd(ProcessWindowFunction):
    """(key, result, end of the window)."""

    def process(self, key, context, elements):
        for result in elements:
            yield key, result, context.window().end

    def clear(self, context):
        pass


# -- record by record --------------------------------------------------------------------------------------


def q0(events):
    """Pass through: what the plumbing costs."""
    return bids(events).map(lambda bid: (bid.auction, bid.price, bid.date_time))


def q1(events):
    """Currency conversion."""
    return bids(events).map(lambda bid: (bid.auction, converted(bid.price), bid.date_time))


def q2(events):
    """Selection."""
    selected = bids(events).filter(lambda bid: is_selected(bid.auction))
    return selected.map(lambda bid: (bid.auction, bid.price, bid.date_time))


# -- local item suggestion ---------------------------------------------------------------------------------


class Suggest(KeyedProcessFunction):
    """Keeps a seller, and until the seller is known his auctions."""

    def open(self, runtime_context):
        self.person = runtime_context.get_state(ValueStateDescriptor("person", Types.PICKLED_BYTE_ARRAY()))
        self.auctions = runtime_context.get_list_state(ListStateDescriptor("auctions", Types.PICKLED_BYTE_ARRAY()))

    def process_element(self, value, ctx):
        if isinstance(value, Person):
            self.person.update(value)
            for auction in self.auctions.get():
                yield self._pair(value, auction)
            self.auctions.clear()
        elif (person := self.person.value()) is not None:
            yield self._pair(person, value)
        else:
            self.auctions.add(value)

    def _pair(self, person, auction):
        return person.id, auction.id, max(person.date_time, auction.date_time)


def q3(events):
    """Who sells in Oregon, Idaho or California in category 10, and what."""
    persons = events.filter(lambda event: isinstance(event, Person) and is_local(event.state))
    auctions = events.filter(lambda event: isinstance(event, Auction) and event.category == 10)
    return persons.union(auctions).key_by(_seller, Types.LONG()).process(Suggest())


def _seller(event):
    return event.id if isinstance(event, Person) else event.seller


# -- closed auctions ---------------------------------------------------------------------------------------


class Close(KeyedProcessFunction):
    """Keyed by auction: the highest bid that counts, when the auction is over.

    A bid may overtake its auction; it is kept until the watermark says that no such auction is to come.
    """

    def open(self, runtime_context):
        self.auction = runtime_context.get_state(ValueStateDescriptor("auction", Types.PICKLED_BYTE_ARRAY()))
        self.price = runtime_context.get_state(ValueStateDescriptor("price", Types.LONG()))
        self.early = runtime_context.get_list_state(ListStateDescriptor("early", Types.PICKLED_BYTE_ARRAY()))

    def process_element(self, value, ctx):
        if isinstance(value, Auction):
            self.auction.update(value)
            ctx.timer_service().register_event_time_timer(value.expires)
            for bid in self.early.get():
                self._offered(value, bid)
            self.early.clear()
        elif (auction := self.auction.value()) is not None:
            self._offered(auction, value)
        elif value.date_time > ctx.timer_service().current_watermark():
            self.early.add(value)
            ctx.timer_service().register_event_time_timer(value.date_time)

    def _offered(self, auction, bid):
        if wins(bid, auction):
            self.price.update(max(self.price.value() or 0, bid.price))

    def on_timer(self, timestamp, ctx):
        auction, price = self.auction.value(), self.price.value()
        if auction is None:
            self.early.update([bid for bid in self.early.get() if bid.date_time > timestamp])
        elif auction.expires == timestamp:
            self.auction.clear()
            self.price.clear()
            if price is not None:
                yield auction.id, auction.category, auction.seller, price, timestamp


def closed(events):
    """(auction, category, seller, price, when)."""
    auctions = events.filter(lambda event: isinstance(event, (Auction, Bid)))
    return auctions.key_by(lambda e: e.id if isinstance(e, Auction) else e.auction, Types.LONG()).process(Close())


class InOrder(KeyedProcessFunction):
    """Takes closed auctions of a key in the order in which they closed; `taken` says what comes of each."""

    def open(self, runtime_context):
        self.waiting = runtime_context.get_map_state(
            MapStateDescriptor("waiting", Types.LONG(), Types.PICKLED_BYTE_ARRAY())
        )
        self.so_far = runtime_context.get_state(ValueStateDescriptor("so far", Types.PICKLED_BYTE_ARRAY()))

    def process_element(self, value, ctx):
        self.waiting.put(value[4], [*(self.waiting.get(value[4]) or ()), (value[0], value[3])])
        ctx.timer_service().register_event_time_timer(value[4])

    def on_timer(self, timestamp, ctx):
        for _, price in sorted(self.waiting.get(timestamp)):
            so_far, average = self.taken(self.so_far.value(), price)
            self.so_far.update(so_far)
            yield ctx.get_current_key(), average, timestamp
        self.waiting.remove(timestamp)


class RunningAverage(InOrder):
    def taken(self, so_far, price):
        count, total = so_far or (0, 0)
        return (count + 1, total + price), (total + price) // (count + 1)


class AverageOfTheLast(InOrder):
    def taken(self, so_far, price):
        prices = (*(so_far or ()), price)[-CLOSED:]
        return prices, sum(prices) // len(prices)


def q4(events):
    """The average selling price of a category so far, whenever an auction of it closes."""
    return closed(events).key_by(lambda sold: sold[1], Types.LONG()).process(RunningAverage())


def q6(events):
    """The average selling price of a seller's last ten auctions, whenever one closes."""
    return closed(events).key_by(lambda sold: sold[2], Types.LONG()).process(AverageOfTheLast())


# -- windows -----------------------------------------------------------------------------------------------


class Hottest(KeyedProcessFunction):
    """Keyed by the end of a window: those auctions with the most bids."""

    def open(self, runtime_context):
        self.counts = runtime_context.get_list_state(ListStateDescriptor("counts", Types.PICKLED_BYTE_ARRAY()))

    def process_element(self, value, ctx):
        self.counts.add((value[0], value[1]))
        ctx.timer_service().register_event_time_timer(value[2])

    def on_timer(self, timestamp, ctx):
        counts = list(self.counts.get())
        self.counts.clear()
        top = max(count for _, count in counts)
        for auction, count in counts:
            if count == top:
                yield auction, count, timestamp


def q5(events):
    """Hot items: every two seconds, the auctions with the most bids of the last ten."""
    windows = SlidingEventTimeWindows.of(Time.milliseconds(HOT_SIZE_MS), Time.milliseconds(HOT_SLIDE_MS))
    counts = bids(events).key_by(lambda bid: bid.auction, Types.LONG()).window(windows).aggregate(Count(), WithEnd())
    return counts.key_by(lambda count: count[2], Types.LONG()).process(Hottest())


class Highest(ProcessAllWindowFunction):
    def process(self, context, elements):
        for bid in elements:
            yield bid.auction, bid.price, context.window().end

    def clear(self, context):
        pass


def q7(events):
    """The highest bid of every ten seconds: of parts, then of all."""
    windows = TumblingEventTimeWindows.of(Time.milliseconds(WINDOW_MS))
    parts = bids(events).key_by(lambda bid: bid.bidder % 16, Types.LONG()).window(windows).reduce(best)
    return parts.window_all(windows).reduce(best, Highest())


class NewSeller(ProcessWindowFunction):
    """A person who has both registered and opened an auction in the window."""

    def process(self, key, context, elements):
        found = list(elements)
        if any(isinstance(event, Auction) for event in found):
            for event in found:
                if isinstance(event, Person):
                    yield event.id, event.date_time, context.window().end

    def clear(self, context):
        pass


def q8(events):
    """Monitor new users."""
    people = events.filter(lambda event: not isinstance(event, Bid)).key_by(_seller, Types.LONG())
    return people.window(TumblingEventTimeWindows.of(Time.milliseconds(WINDOW_MS))).process(NewSeller())


def q11(events):
    """User sessions: bids of a bidder until there is none for ten seconds."""
    windows = EventTimeSessionWindows.with_gap(Time.milliseconds(GAP_MS))
    return bids(events).key_by(lambda bid: bid.bidder, Types.LONG()).window(windows).aggregate(Count(), WithEnd())


def q12(events):
    """Bids of a bidder in every second of processing time."""
    windows = TumblingProcessingTimeWindows.of(Time.seconds(1))
    return bids(events).key_by(lambda bid: bid.bidder, Types.LONG()).window(windows).aggregate(Count(), WithEnd())


QUERIES = {query.__name__: query for query in (q0, q1, q2, q3, q4, q5, q6, q7, q8, q11, q12)}
