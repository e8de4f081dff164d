"""The sending end of an edge: chooses receivers, fills chunks, keeps watermarks in place."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from random import Random
from typing import ClassVar

import numpy

from penstock.core.errors import KeyTypeError, OperatorError, ProgramError
from penstock.core.program.job import JobPlan, OutEdge
from penstock.core.program.partition import (
    Broadcast,
    Custom,
    Exchange,
    Forward,
    Global,
    Hash,
    Rebalance,
    Rescale,
    Shuffle,
)
from penstock.core.time.spans import MAX_WATERMARK
from penstock.runtime.chunk import ACTIVE, DATA, IDLE, WAKING_SEQ, ChunkRow, Payload, channel_id, encode_payload
from penstock.runtime.codec import dumps
from penstock.runtime.failures import last_taken, named, user_failure
from penstock.runtime.keyhash import key_group, route_ints, stable_hash, subtask_of_group
from penstock.runtime.list_keys import hashable
from penstock.runtime.poison import PoisonBoundary
from penstock.runtime.values import Key, Keys, Record, Records, Timestamps

__all__ = ["EdgeWriter"]

_ROUTE_CACHE = 200_000
_ROUTES: dict[tuple[int, int], dict[Key, int]] = {}
"""Routes of keys seen by this process, for each parallelism and number of key groups."""

Router = Callable[[Records, Records | None], Sequence[int] | int | None]
"""Receivers of records: one each, one for all (int), or all for all (None)."""


class _Buffer:
    """The chunk that is being filled for one receiver."""

    __slots__ = ("keys", "marks", "room", "seq", "stamped", "times", "values")

    def __init__(self) -> None:
        self.seq = self.room = 0
        self.reset()

    def reset(self) -> None:
        self.values: Records = []
        self.times: list[int | None] = []
        self.keys: Records = []
        self.marks: list[tuple[int, int]] = []
        self.stamped = False

    def add(self, values: Sequence[Record], times: Timestamps, keys: Keys) -> None:
        self.values.extend(values)
        if times is not None:
            self.stamped = True
            self.times.extend(times)
        else:
            self.times.extend([None] * len(values))
        if keys is not None:
            self.keys.extend(keys)

    def mark(self, mark: int) -> None:
        """Add a mark. A watermark replaces the one before it if no record lies between; the end of time does not, so
        that timers see the same clock as behind a chained assigner."""
        position = len(self.values)
        if self.marks and self.marks[-1][0] == position and self.marks[-1][1] <= mark < MAX_WATERMARK:
            self.marks.pop()
        self.marks.append((position, mark))


def _cause(error: OperatorError) -> Exception:
    """The error that the user's function raised; the given one if it did not come out of the user's function."""
    cause = error.__cause__
    return cause if isinstance(cause, Exception) and not isinstance(error, KeyTypeError) else error


def _halves(payload: Payload) -> tuple[Payload, Payload]:
    """Two payloads with the same records and marks."""
    values, times, keys, marks = payload
    middle = len(values) // 2
    first = Payload(
        values[:middle],
        times and times[:middle],
        keys and keys[:middle],
        [(place, mark) for place, mark in marks if place <= middle],
    )
    rest = [(place - middle, mark) for place, mark in marks if place > middle]
    return first, Payload(values[middle:], times and times[middle:], keys and keys[middle:], rest)


class _UnhashableKeyError(Exception):
    """Among the keys of a chunk is one that cannot be hashed."""


def _distinct(keys: Records) -> set[Key]:
    try:
        return set(keys)
    except TypeError:
        raise _UnhashableKeyError from None


class EdgeWriter:
    """The writer of one edge in one sending subtask (or source split)."""

    def __init__(
        self,
        plan: JobPlan,
        edge: OutEdge,
        sender: int,
        operator: str,
        uid: str,
        send: Callable[[ChunkRow], None],
    ) -> None:
        # configuration
        target = plan.vertex(edge.target)
        self._edge = edge
        self._channel = channel_id(edge.edge_id, sender)
        self._sender = sender
        self._senders = max((e.senders for e in target.in_edges if e.edge_id == edge.edge_id), default=1)
        self._operator, self._uid = operator, uid
        self._send = send
        self._partitions = [plan.partition_of(target, i) for i in range(target.parallelism)]
        self._max_parallelism = plan.max_parallelism
        self._most_records = self._chunk_records = plan.settings.chunk_records
        self._chunk_bytes = plan.settings.chunk_bytes
        exchange: Exchange = edge.exchange
        self._receivers = [self._own()] if isinstance(exchange, Forward) else range(target.parallelism)
        self._selector = exchange.selector if isinstance(exchange, Hash) else None
        self._route: Router = self._MAKERS[type(exchange)](self, exchange)
        # not checkpointed
        self._buffers = [_Buffer() for _ in self._partitions]
        self._routes = _ROUTES.setdefault((len(self._partitions), plan.max_parallelism), {})
        self._list_keys = False
        self._turn = sender
        self._asleep = self._woken = False
        self._random = Random(0)
        self.records = 0
        self.poison: PoisonBoundary | None = None

    def begin(self, batch_id: int) -> None:
        """Start a batch: sequence numbers and pseudo-random choices start from the same point, so that a retry repeats
        itself."""
        self._turn = self._sender + batch_id
        self._chunk_records = self._most_records
        self.records = 0
        self._asleep = self._woken = False
        self._random = Random(f"{batch_id}/{self._channel}")
        for buffer in self._buffers:
            buffer.seq = 0
            buffer.reset()

    def emit(self, values: Records, timestamps: Timestamps) -> None:
        """Take records, in order, and put each into the chunk of its receiver."""
        self.records += len(values)
        try:
            keys, receivers = self._routed(values)
        except OperatorError:
            if self.poison is None:
                raise
            return self._emit_guarded(self.poison, values, timestamps)
        self._send_to(receivers, values, timestamps, keys)

    def _send_to(
        self,
        receivers: Sequence[int] | int | None,
        values: Records,
        timestamps: Timestamps,
        keys: Keys,
    ) -> None:
        if receivers is None:
            for index in range(len(self._buffers)):
                self._add(index, values, timestamps, keys)
        elif isinstance(receivers, int):
            self._add(receivers, values, timestamps, keys)
        else:
            self._distribute(receivers, values, timestamps, keys)

    def _emit_guarded(self, poison: PoisonBoundary, values: Records, timestamps: Timestamps) -> None:
        """Some record has no key or no receiver: emit one by one and put those aside. Selectors are called again."""
        routed: list[tuple[Record, int | None, Records | None, Sequence[int] | int | None]] = []

        def route(value: object, stamp: int | None) -> None:
            try:
                routed.append((value, stamp, *self._routed([value])))
            except OperatorError as error:
                raise _cause(error) from None

        poison.one_by_one(values, timestamps, route)
        self.records -= len(values) - len(routed)
        for value, stamp, keys, receivers in routed:
            self._send_to(receivers, [value], None if stamp is None else [stamp], keys)

    def watermark(self, timestamp: int) -> None:
        """Send a watermark to every receiver; a forward edge has one."""
        self._asleep = False
        self._mark(timestamp)

    def status(self, idle: bool) -> None:
        """Tell every receiver that the channel is idle or active: a channel that was active within the batch
        counts.

        ACTIVE is sent before all data of the batch, and IDLE after all data of this channel. Otherwise receivers would
        run ahead with the data of other channels, which may be the rest of the same stream.
        """
        self._asleep = idle
        if not idle and not self._woken:
            self._woken = True
            payload = encode_payload(Payload([], None, None, [(0, ACTIVE)]), self._operator, self._uid)
            for index in self._receivers:
                self._send(self._row(index, WAKING_SEQ, payload))

    def _mark(self, mark: int) -> None:
        for index in self._receivers:
            self._buffers[index].mark(mark)

    def flush(self) -> None:
        """End the batch: send everything."""
        if self._asleep:
            self._mark(IDLE)
        for index, buffer in enumerate(self._buffers):
            if buffer.values or buffer.marks:
                self._ship(index, buffer)

    def _add(self, index: int, values: Sequence[Record], times: Timestamps, keys: Keys) -> None:
        buffer, start = self._buffers[index], 0
        while start < len(values):
            if not buffer.values:
                buffer.room = self._room_for(values[start])
            stop = start + max(1, buffer.room - len(buffer.values))
            buffer.add(
                values[start:stop],
                times[start:stop] if times is not None else None,
                keys[start:stop] if keys is not None else None,
            )
            if len(buffer.values) >= buffer.room:
                self._ship(index, buffer)
            start = stop

    def _room_for(self, value: object) -> int:
        """How many records a chunk may take, by the size of its first one: thousands of large records would fill the
        memory."""
        try:
            size = len(dumps(value))
        except Exception:  # the chunk names the record when it is encoded
            return self._chunk_records
        return max(1, min(self._chunk_records, self._chunk_bytes // size))

    def _distribute(self, receivers: Sequence[int], values: Records, times: Timestamps, keys: Keys) -> None:
        chosen = numpy.asarray(receivers)
        for index in range(len(self._buffers)):
            places = numpy.flatnonzero(chosen == index).tolist()
            if places:
                self._add(
                    index,
                    [values[i] for i in places],
                    [times[i] for i in places] if times is not None else None,
                    [keys[i] for i in places] if keys is not None else None,
                )

    def _ship(self, index: int, buffer: _Buffer) -> None:
        times = buffer.times if buffer.stamped else None
        keys = buffer.keys if self._selector is not None else None
        for payload in self._encoded(Payload(buffer.values, times, keys, buffer.marks)):
            self._send(self._row(index, buffer.seq, payload))
            buffer.seq += 1
        buffer.reset()

    def _encoded(self, payload: Payload) -> Iterator[bytes]:
        """Encode a payload as one chunk, or as several if it is too large; a single record is never cut."""
        data, count = encode_payload(payload, self._operator, self._uid), len(payload.values)
        if len(data) <= self._chunk_bytes or count <= 1:
            yield data
            return
        self._chunk_records = max(1, count * self._chunk_bytes // len(data))
        del data
        for half in _halves(payload):
            yield from self._encoded(half)

    def _row(self, index: int, seq: int, payload: bytes) -> ChunkRow:
        return ChunkRow(self._partitions[index], self._edge.target, self._channel, seq, DATA, payload)

    # -- routing --------------------------------------------------------------------------------

    def _own(self) -> int:
        return self._sender % len(self._partitions)

    def _to_one(self, receiver: int) -> Router:
        return lambda values, keys: receiver

    def _round_robin(self, first: int, count: int) -> Router:
        def route(values: Records, keys: Keys) -> Sequence[int]:
            turn = self._turn
            self._turn += len(values)
            return [first + (turn + i) % count for i in range(len(values))]

        return route

    def _at_random(self) -> Router:
        receivers = range(len(self._partitions))
        return lambda values, keys: self._random.choices(receivers, k=len(values))

    def _rescale(self) -> Router:
        """To the receivers near this sender, if senders and receivers were laid out along the same line."""
        senders, count = self._senders, len(self._partitions)
        first = self._sender * count // senders
        if senders >= count:
            return self._to_one(first)
        return self._round_robin(first, (self._sender + 1) * count // senders - first)

    def _by_key(self, values: Records, keys: Records | None) -> Sequence[int] | int:
        assert keys is not None
        routes = self._routes
        if len(routes) > _ROUTE_CACHE:
            routes.clear()
        try:
            if set(map(type, keys)) == {int}:
                return self._by_int(keys)
            for key in _distinct(keys).difference(routes):
                routes[key] = self._route_of(key)
        except KeyTypeError as error:
            raise named(error, self._operator, self._uid) from error
        return 0 if len(self._buffers) == 1 else list(map(routes.__getitem__, keys))

    def _by_int(self, keys: list[int]) -> Sequence[int] | int:
        """The receivers of int keys, many at once; keys beyond 64 bits one by one."""
        if len(self._buffers) == 1:
            return 0
        try:
            routes: Sequence[int] = route_ints(keys, len(self._buffers), self._max_parallelism)
            return routes
        except OverflowError:
            return list(map(self._route_of, keys))

    def _route_of(self, key: object) -> int:
        group = key_group(stable_hash(key), self._max_parallelism)
        return subtask_of_group(group, len(self._buffers), self._max_parallelism)

    def _routed(self, values: Records) -> tuple[Records | None, Sequence[int] | int | None]:
        """The keys of records (None on an edge that is not keyed) and their receivers."""
        keys = self._keys(values)
        try:
            return keys, self._route(values, keys)
        except _UnhashableKeyError:
            # call the selector again: it may return the same list object, changed, for every record
            self._list_keys = True
            keys = self._keys(values)
            return keys, self._route(values, keys)

    def _keys(self, values: Records) -> Records | None:
        """The keys of records. After the first key that is a list, every key is made hashable."""
        select = self._selector
        if select is None:
            return None
        return self._selected((lambda value: hashable(select(value))) if self._list_keys else select, values)

    def _selected(self, select: Callable[[Record], Key], values: Records) -> Records:
        rest = iter(values)
        try:
            return list(map(select, rest))
        except KeyTypeError as error:
            raise named(error, self._operator, self._uid) from error
        except Exception as error:
            record = last_taken(values, rest)
            raise user_failure(self._operator, self._uid, "The key selector", record, error) from error

    def _by_partitioner(self, exchange: Custom) -> Router:
        count = len(self._partitions)

        def route(values: Records, keys: Keys) -> Sequence[int]:
            return [self._custom(exchange, value, count) for value in values]

        return route

    def _custom(self, exchange: Custom, value: object, count: int) -> int:
        try:
            chosen = exchange.partitioner(exchange.selector(value), count)
        except Exception as error:
            raise user_failure(self._operator, self._uid, "The partitioner", value, error) from error
        if not isinstance(chosen, int) or not 0 <= chosen < count:
            raise ProgramError(
                f"The partitioner behind operator '{self._operator}' (uid {self._uid}) chose {chosen!r}: "
                f"it must return an int from 0 to {count - 1}"
            )
        return chosen

    def _several(self, make: Callable[[], Router]) -> Router:
        """A router for several receivers; where there is one, it gets everything."""
        return make() if len(self._partitions) > 1 else self._to_one(0)

    _MAKERS: ClassVar[dict[type[Exchange], Callable[..., Router]]] = {
        Hash: lambda writer, exchange: writer._by_key,
        Custom: lambda writer, exchange: writer._by_partitioner(exchange),
        Broadcast: lambda writer, exchange: lambda values, keys: None,
        Rebalance: lambda writer, exchange: writer._several(partial(writer._round_robin, 0, len(writer._partitions))),
        Rescale: lambda writer, exchange: writer._several(writer._rescale),
        Shuffle: lambda writer, exchange: writer._several(writer._at_random),
        Global: lambda writer, exchange: writer._to_one(0),
        Forward: lambda writer, exchange: writer._to_one(writer._own()),
    }
    """How the receivers of records are chosen, for each way of exchange."""
