"""The sending end of an edge: who receives what, and where watermarks stand (G4, T2)."""

from collections.abc import Callable
from typing import Any

import pytest

from penstock.core.errors import KeyTypeError, ProgramError, UserFunctionError
from penstock.core.program.job import ChainedOperator, InEdge, JobPlan, OutEdge, RuntimeSettings, Vertex
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
from penstock.core.program.specs import OperatorSpec
from penstock.runtime.chunk import ACTIVE, IDLE, WAKING_SEQ, ChunkRow, Payload, decode_payload, sort_key
from penstock.runtime.keyhash import key_group, stable_hash, subtask_of_group
from penstock.runtime.writer import EdgeWriter


class Edge:
    """A writer of one sender, and what it sent to each receiver."""

    def __init__(self, exchange: Exchange, receivers: int, sender: int = 0, senders: int = 1, **settings: int) -> None:
        op = ChainedOperator("u", "Op", OperatorSpec())
        out = OutEdge(3, 0, None, 1, exchange)
        edge = InEdge(3, senders, isinstance(exchange, Forward))
        vertices = (
            Vertex(0, 0, senders, 0, (op,), (), (out,)),
            Vertex(1, 1, receivers, 0, (op,), (edge,), ()),
        )
        plan = JobPlan("job", vertices, receivers, 128, RuntimeSettings(**settings))
        self.rows: list[ChunkRow] = []
        self.writer = EdgeWriter(plan, out, sender, "Op", "u", self.rows.append)
        self.writer.begin(0)

    def send(self, *values: Any) -> dict[int, list[Any]]:
        self.writer.emit(list(values), None)
        self.writer.flush()
        return self.received()

    def received(self) -> dict[int, list[Any]]:
        found: dict[int, list[Any]] = {}
        for row in self.rows:
            found.setdefault(row.partition, []).extend(decode_payload(row.payload).values)
        return found

    def payloads(self) -> list[Payload]:
        return [decode_payload(row.payload) for row in self.rows]


def test_forward_goes_to_the_subtask_of_the_same_number() -> None:
    """G4"""
    assert Edge(Forward(), 3, sender=2, senders=3).send(1, 2) == {2: [1, 2]}


def test_forward_of_more_senders_than_receivers_takes_turns() -> None:
    """G4: files are cut into more splits than there are subtasks."""
    assert Edge(Forward(), 2, sender=5, senders=6).send(1) == {1: [1]}


def test_rebalance_deals_round_robin_starting_at_the_sender() -> None:
    """G4"""
    assert Edge(Rebalance(), 3).send(*range(7)) == {0: [0, 3, 6], 1: [1, 4], 2: [2, 5]}
    assert Edge(Rebalance(), 3, sender=1, senders=2).send(*range(3)) == {1: [0], 2: [1], 0: [2]}


@pytest.mark.parametrize(
    ("receivers", "senders", "near"),
    [
        (4, 2, {0: {0, 1}, 1: {2, 3}}),
        (2, 4, {0: {0}, 1: {0}, 2: {1}, 3: {1}}),
        (3, 2, {0: {0}, 1: {1, 2}}),
        (1, 3, {2: {0}}),
    ],
)
def test_rescale_deals_to_the_receivers_near_the_sender(
    receivers: int, senders: int, near: dict[int, set[int]]
) -> None:
    """G4"""
    for sender, expected in near.items():
        assert set(Edge(Rescale(), receivers, sender, senders).send(*range(12))) == expected


def test_shuffle_repeats_itself_in_a_retry_and_reaches_everybody() -> None:
    """G4: seeded by batch and channel."""
    first, again = Edge(Shuffle(), 4).send(*range(200)), Edge(Shuffle(), 4).send(*range(200))
    assert first == again
    assert set(first) == {0, 1, 2, 3}
    assert Edge(Shuffle(), 4, sender=1, senders=2).send(*range(200)) != first


def test_broadcast_reaches_everybody() -> None:
    """G4"""
    assert Edge(Broadcast(), 3).send(1, 2) == {0: [1, 2], 1: [1, 2], 2: [1, 2]}


def test_global_reaches_the_first() -> None:
    """G4"""
    assert Edge(Global(), 3, sender=1, senders=2).send(1, 2) == {0: [1, 2]}


@pytest.mark.parametrize("make", [int, str, lambda i: (i, "x"), lambda i: i * 2**60])
def test_hash_follows_the_key_group(make: Callable[[int], Any]) -> None:
    """G4, G5"""
    keys = [make(i) for i in range(100)]
    found = Edge(Hash(lambda v: v), 4).send(*keys)
    for receiver, values in found.items():
        assert {subtask_of_group(key_group(stable_hash(v), 128), 4, 128) for v in values} == {receiver}
    assert sorted(map(repr, (v for vs in found.values() for v in vs))) == sorted(map(repr, keys))


def test_custom_follows_the_partitioner() -> None:
    """G4"""
    found = Edge(Custom(lambda key, n: key % n, lambda v: v + 1), 3).send(0, 1, 2, 3)
    assert found == {1: [0, 3], 2: [1], 0: [2]}


@pytest.mark.parametrize("chosen", [3, -1, "0", None, 1.0])
def test_a_partitioner_out_of_range_is_refused(chosen: Any) -> None:
    """P9"""
    with pytest.raises(
        ProgramError, match=rf"The partitioner behind operator 'Op' \(uid u\) chose {chosen!r}: .*0 to 2"
    ):
        Edge(Custom(lambda key, n: chosen, lambda v: v), 3).send(0)


def test_a_partitioner_that_raises_is_named() -> None:
    """P9"""
    with pytest.raises(UserFunctionError, match=r"The partitioner of operator 'Op' \(uid u\) failed on record 7"):
        Edge(Custom(lambda key, n: 1 // 0, lambda v: v), 3).send(7)


@pytest.mark.parametrize("key", [{"a": 1}, {1}, bytearray(b"a"), [1, {2}], (1, [{"a": 1}])], ids=repr)
def test_an_unhashable_key_that_is_not_a_list_is_refused(key: Any) -> None:
    """G5, P9"""
    with pytest.raises(KeyTypeError, match=r"Operator 'Op' \(uid u\): .* cannot be a key: it is unhashable. Use plain"):
        Edge(Hash(lambda v: v), 2).send("a", key)


def test_lists_are_keys_by_their_value() -> None:
    """G5: equal lists go to one receiver, whatever else is in their chunk."""
    edge = Edge(Hash(lambda v: v), 4)
    alone = [next(iter(Edge(Hash(lambda v: v), 4).send([n, "x"]))) for n in range(20)]
    found = edge.send("a", *([n, "x"] for n in range(20)), *([float(n), "x"] for n in range(20)))
    for n in range(20):
        assert found[alone[n]].count([n, "x"]) == 2


def test_a_selector_may_give_the_same_list_changed_for_each_record() -> None:
    """G5: the key is taken at the moment at which it is returned."""
    scratch: list[int] = []

    def select(value: int) -> list[int]:
        scratch[:] = [value]
        return scratch

    assert Edge(Hash(select), 4).send(*range(20)) == Edge(Hash(lambda v: [v]), 4).send(*range(20))


def test_an_unsupported_key_is_refused() -> None:
    """G5, P9"""
    with pytest.raises(KeyTypeError, match=r"Operator 'Op' \(uid u\): a frozenset cannot be a key.*Keys may be None"):
        Edge(Hash(lambda v: v), 2).send("a", frozenset([1]))


def test_keys_are_checked_also_when_there_is_one_receiver() -> None:
    """G5, P9: the program must not begin to fail when it is scaled."""
    with pytest.raises(KeyTypeError):
        Edge(Hash(lambda v: v), 1).send(frozenset([1]))


def test_a_key_selector_that_raises_names_the_record() -> None:
    """P9"""
    with pytest.raises(UserFunctionError, match=r"The key selector of operator 'Op' \(uid u\) failed on record \(2,\)"):
        Edge(Hash(lambda v: v[1]), 2).send((1, 1), (2,), (3, 3))


@pytest.mark.parametrize(
    "exchange", [Rebalance(), Shuffle(), Rescale(), Broadcast(), Hash(lambda v: v)], ids=lambda e: e.arrow
)
def test_order_between_sender_and_receiver_is_kept_across_chunks(exchange: Exchange) -> None:
    """G4: sequence numbers count up per receiver."""
    edge = Edge(exchange, 3, chunk_records=4)
    for start in range(0, 50, 5):
        edge.writer.emit(list(range(start, start + 5)), None)
    edge.writer.flush()
    for receiver, values in edge.received().items():
        assert values == sorted(values)
        assert [r.seq for r in edge.rows if r.partition == receiver] == list(
            range(len([r for r in edge.rows if r.partition == receiver]))
        )


def test_a_watermark_stands_between_the_records_it_came_between() -> None:
    """T2"""
    edge = Edge(Global(), 2)
    edge.writer.emit(["a"], [1])
    edge.writer.watermark(5)
    edge.writer.emit(["b"], [6])
    edge.writer.watermark(7)
    edge.writer.watermark(8)
    edge.writer.flush()
    first, second = edge.payloads()
    assert first == Payload(["a", "b"], [1, 6], None, [(1, 5), (2, 8)])
    assert second == Payload([], None, None, [(0, 8)])


@pytest.mark.parametrize("exchange", [Rebalance(), Global(), Hash(lambda v: v), Shuffle()], ids=lambda e: e.arrow)
def test_watermarks_go_to_every_receiver(exchange: Exchange) -> None:
    """T5"""
    edge = Edge(exchange, 3)
    edge.writer.watermark(5)
    edge.writer.flush()
    assert [(r.partition, decode_payload(r.payload).marks) for r in edge.rows] == [(i, [(0, 5)]) for i in range(3)]


def test_a_forward_edge_has_one_receiver_for_watermarks_too() -> None:
    """T5"""
    edge = Edge(Forward(), 3, sender=1, senders=3)
    edge.writer.watermark(5)
    edge.writer.flush()
    assert [r.partition for r in edge.rows] == [1]


def test_large_records_make_smaller_chunks_alike_in_every_batch() -> None:
    """A batch that is run again must be cut as before."""
    edge = Edge(Global(), 1, chunk_bytes=1_000, chunk_records=64)
    sizes = []
    for batch in (0, 1):
        edge.rows.clear()
        edge.writer.begin(batch)
        for i in range(200):
            edge.writer.emit([f"{i:0100d}"], None)
        edge.writer.flush()
        sizes.append([len(p.values) for p in edge.payloads()])
    assert sizes[0] == sizes[1]
    assert sum(sizes[0]) == 200
    assert max(sizes[0]) < 64
    assert max(len(row.payload) for row in edge.rows) <= 1_000


def test_chunks_are_not_larger_than_asked_for_however_records_come() -> None:
    """F13: what is left from one call and what comes with the next do not add up to twice a chunk."""
    edge = Edge(Global(), 1, chunk_bytes=4_000, chunk_records=64)
    edge.writer.begin(0)
    for first in range(0, 640, 64):
        edge.writer.emit([f"{first + i:0100d}" for i in range(64)], None)
    edge.writer.flush()
    assert [value for p in edge.payloads() for value in p.values] == [f"{i:0100d}" for i in range(640)]
    assert max(len(row.payload) for row in edge.rows[1:]) < 4_200


def marks(edge: Edge) -> list[tuple[int, int, list[tuple[int, int]]]]:
    """(receiver, sequence number, marks) of every row, in the order in which receivers run them."""
    rows = sorted(edge.rows, key=lambda r: (r.partition, *sort_key(r)))
    return [(r.partition, r.seq, decode_payload(r.payload).marks) for r in rows]


def test_idle_and_active_go_to_every_receiver() -> None:
    """T6: like watermarks."""
    edge = Edge(Rebalance(), 2)
    edge.writer.watermark(5)
    edge.writer.status(idle=True)
    edge.writer.flush()
    assert marks(edge) == [(0, 0, [(0, 5), (0, IDLE)]), (1, 0, [(0, 5), (0, IDLE)])]


def test_on_a_forward_edge_they_go_to_the_one_receiver() -> None:
    """T6, G4"""
    edge = Edge(Forward(), 3, sender=2, senders=3)
    edge.writer.status(idle=True)
    edge.writer.flush()
    assert marks(edge) == [(2, 0, [(0, IDLE)])]


def test_that_a_channel_wakes_is_heard_before_all_data() -> None:
    """T6: once, and before what was sent already."""
    edge = Edge(Global(), 1)
    edge.writer.emit(["a"], None)
    edge.writer.status(idle=False)
    edge.writer.status(idle=False)
    edge.writer.watermark(7)
    edge.writer.flush()
    assert marks(edge) == [(0, WAKING_SEQ, [(0, ACTIVE)]), (0, 0, [(1, 7)])]


@pytest.mark.parametrize("wake", [lambda w: w.status(idle=False), lambda w: w.watermark(9)])
def test_a_nap_within_a_batch_is_not_announced(wake: Any) -> None:
    """T6: awake at some time of a batch a channel counts throughout; a watermark wakes, too."""
    edge = Edge(Global(), 1)
    edge.writer.status(idle=True)
    wake(edge.writer)
    edge.send("a")
    assert IDLE not in [mark for _, _, found in marks(edge) for _, mark in found]


def test_records_alone_do_not_wake() -> None:
    """T6: who falls asleep is announced after all data of the batch."""
    edge = Edge(Global(), 1)
    edge.writer.status(idle=True)
    edge.send("a", "b")
    assert marks(edge) == [(0, 0, [(2, IDLE)])]
    edge.writer.begin(1)
    edge.rows.clear()
    edge.send("c")
    assert marks(edge) == [(0, 0, [])]


# -- large records ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("count", [1, 2, 3, 4, 5, 7, 17])
@pytest.mark.parametrize("sizes", [(1_000,), (1, 1, 1, 1_000), (600, 1), (400, 400, 1)])
def test_a_chunk_has_no_more_bytes_than_it_may(count: int, sizes: tuple[int, ...]) -> None:
    """G4, T2: large records among small ones; order and watermarks stay. One record alone may be larger."""
    values = [(i, bytes(sizes[i % len(sizes)])) for i in range(count)]
    edge = Edge(Global(), 1, chunk_bytes=900)
    for value in values:
        edge.writer.emit([value], [value[0]])
        edge.writer.watermark(value[0])
    edge.writer.flush()
    assert all(len(row.payload) <= 900 or len(decode_payload(row.payload).values) == 1 for row in edge.rows)
    assert [row.seq for row in edge.rows] == list(range(len(edge.rows)))
    seen: list[Any] = []
    for values_, times, _, marks in edge.payloads():
        for place in range(len(values_) + 1):
            seen += [("mark", mark) for at, mark in marks if at == place]
            seen += [(values_[place], times and times[place])] if place < len(values_) else []
    assert seen == [event for v in values for event in ((v, v[0]), ("mark", v[0]))]


def test_large_records_do_not_wait_for_thousands_of_others() -> None:
    """F13: the first record of a chunk tells how many of its kind fit."""
    edge = Edge(Global(), 1, chunk_bytes=10_000)
    edge.writer.emit([bytes(4_000)] * 9, None)
    assert [len(p.values) for p in edge.payloads()] == [2, 2, 2, 2]
