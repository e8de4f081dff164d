"""The runtime at the edges of the pieces it cuts records and state into (G4, S1, P5, P11, F3).

For each constant n that cuts: 0, 1, n − 1, n, n + 1 and 2n + 1 of whatever is counted. Constants are made small, so
that their edges are met often; those that count records are also tried in their real size.
"""

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from penstock.common import Time, Types
from penstock.core.program.job import RuntimeSettings
from penstock.core.program.partition import Broadcast, Forward, Hash, Rebalance
from penstock.core.time.clock import ManualClock
from penstock.datastream import (
    AsyncDataStream,
    AsyncFunction,
    KeyedProcessFunction,
    StreamExecutionEnvironment,
)
from penstock.datastream.state import ListStateDescriptor, MapStateDescriptor, StateTtlConfig, ValueStateDescriptor
from penstock.runtime import operator_state, sorting, writer
from penstock.runtime.codec import loads
from penstock.runtime.operator_state import list_blocks
from penstock.runtime.sorting import RecordSorter
from penstock.runtime.source_function_buffer import SourceFunctionBuffer
from penstock.runtime.spill import SpillStore
from penstock.runtime.state import collection_blobs, collections, handles, heap, page_cache, sweep, timed
from penstock.runtime.state.heap import SweptHeap
from penstock.testing import At, Mark, ScriptedSource, collect, local_job, scripted_stream
from tests.runtime.test_writer import Edge


def around(n: int) -> list[int]:
    """The counts at which a piece of n has its edges."""
    return sorted({0, 1, n - 1, n, n + 1, 2 * n + 1})


# -- chunks between stages -----------------------------------------------------------------------------


EXCHANGES = {"forward": Forward(), "hash": Hash(lambda v: v % 3), "rebalance": Rebalance(), "broadcast": Broadcast()}


@pytest.mark.parametrize("exchange", EXCHANGES)
@pytest.mark.parametrize("count", around(4))
@pytest.mark.parametrize("piece", [1, 3, 4, 5, 100])
def test_chunks_carry_every_record(exchange: str, count: int, piece: int) -> None:
    """G4: with its timestamp and key, whatever is emitted at a time; no chunk is larger than it may be."""
    receivers = 1 if exchange == "forward" else 2
    edge = Edge(EXCHANGES[exchange], receivers, chunk_records=4)
    for first in range(0, count, piece):
        values = list(range(first, min(count, first + piece)))
        edge.writer.emit(values, [10 * v for v in values])
        edge.writer.watermark(first)
    edge.writer.flush()
    found = [payload for payload in edge.payloads() if payload.values]
    assert all(len(payload.values) <= 4 for payload in found)
    copies = receivers if exchange == "broadcast" else 1
    assert sorted(v for payload in found for v in payload.values) == sorted([*range(count)] * copies)
    assert all(payload.timestamps == [10 * v for v in payload.values] for payload in found)
    if exchange == "hash":
        assert all(payload.keys == [v % 3 for v in payload.values] for payload in found)
    for receiver in edge.received().values():
        assert receiver == sorted(receiver)


@pytest.mark.parametrize("count", around(4))
@pytest.mark.parametrize("room", [1, 150, 200, 1000])
def test_chunks_bounded_in_bytes_carry_every_record(count: int, room: int) -> None:
    """G4: they shrink after the first that was too large."""
    edge = Edge(Forward(), 1, chunk_records=4, chunk_bytes=room)
    edge.writer.emit([str(i) * 40 for i in range(count)], None)
    edge.writer.emit([str(i) * 40 for i in range(count)], None)
    edge.writer.flush()
    assert edge.received().get(0, []) == [str(i) * 40 for i in range(count)] * 2


@pytest.mark.parametrize("count", around(RuntimeSettings().chunk_records))
def test_chunks_of_the_real_size_carry_every_record(count: int) -> None:
    """G4"""
    env = StreamExecutionEnvironment()
    collect(env.from_collection(range(count)).rebalance().map(lambda v: v), "out")
    job = local_job(env, 2)
    job.run()
    assert sorted(job.results.get("out", [])) == list(range(count))


@pytest.mark.parametrize("count", around(4))
def test_routes_that_are_forgotten_are_found_again(monkeypatch: pytest.MonkeyPatch, count: int) -> None:
    """G4: more keys than are remembered go where they went before."""
    monkeypatch.setattr(writer, "_ROUTE_CACHE", 4)
    edge = Edge(Hash(lambda v: v), 3)
    for _ in range(2):
        edge.writer.emit([f"key{i}" for i in range(count)], None)
    edge.writer.flush()
    places = {(value, place) for place, values in edge.received().items() for value in values}
    assert len(places) == count
    assert sum(map(len, edge.received().values())) == 2 * count


@pytest.mark.parametrize("count", around(RuntimeSettings().watermark_records))
def test_watermarks_between_records_lose_none(count: int) -> None:
    """T1: marks are set after a number of records; the one in whose place they come is still there."""
    env = StreamExecutionEnvironment()
    collect(scripted_stream(env, ScriptedSource([[*(At(i, i) for i in range(count)), Mark(count)]])), "out")
    job = local_job(env)
    job.run()
    assert job.results.get("out", []) == list(range(count))


# -- sorting, in BATCH mode ----------------------------------------------------------------------------


def sorted_values(sorter: RecordSorter) -> list[tuple[Any, Any]]:
    found: list[tuple[Any, Any]] = []
    for part in sorter.drain():
        assert len(part.values) == len(part.keys) == len(part.timestamps) <= sorting._BLOCK
        found += zip(part.keys, part.values, strict=True)
    return found


@pytest.mark.parametrize("count", around(8))
@pytest.mark.parametrize("keys", [1, 3])
@pytest.mark.parametrize("stamped", [True, False])
@pytest.mark.parametrize("budget", [0, 900, 1 << 30])
def test_the_sorter_gives_every_record(
    monkeypatch: pytest.MonkeyPatch, count: int, keys: int, stamped: bool, budget: int
) -> None:
    """P5, F13: held, in one run or in several, with a key's records in order."""
    monkeypatch.setattr(sorting, "_BLOCK", 8)
    sorter = RecordSorter(budget, 128)
    for first in range(0, count, 5):
        values = list(range(first, min(count, first + 5)))
        sorter.add(0, values, values if stamped else None, [v % keys for v in values], 10)
    found = sorted_values(sorter)
    assert sorted(v for _, v in found) == list(range(count))
    for key in range(keys):
        assert [v for k, v in found if k == key] == list(range(key, count, keys))


@pytest.mark.parametrize("count", around(sorting._BLOCK))
def test_the_sorter_gives_every_record_in_blocks_of_the_real_size(count: int) -> None:
    """P5"""
    for budget in (0, 1 << 30):
        sorter = RecordSorter(budget, 128)
        sorter.add(0, list(range(count)), None, [0] * count, 10)
        assert [v for _, v in sorted_values(sorter)] == list(range(count))


@pytest.mark.parametrize("count", around(5))
def test_the_spill_store_gives_every_blob(count: int) -> None:
    """F13: empty ones too."""
    store = SpillStore()
    keys = [bytes([i]) for i in range(count)]
    store.put_many((key, key * i) for i, key in enumerate(keys))
    assert store.get_many([*keys, b"none"]) == [*(key * i for i, key in enumerate(keys)), None]


# -- keyed state ---------------------------------------------------------------------------------------


class Remember(KeyedProcessFunction):
    """Keeps every record of a key in all kinds of state; asked with −1, it shows what is there."""

    def __init__(self, ttl: bool = False) -> None:
        self._ttl = StateTtlConfig.new_builder(Time.hours(1)).build() if ttl else None

    def open(self, runtime_context: Any) -> None:
        listed = ListStateDescriptor("list", Types.INT())
        mapped = MapStateDescriptor("map", Types.INT(), Types.INT())
        counted = ValueStateDescriptor("count", Types.INT())
        for descriptor in (listed, mapped, counted) if self._ttl is not None else ():
            descriptor.enable_time_to_live(self._ttl)
        self.list = runtime_context.get_list_state(listed)
        self.map = runtime_context.get_map_state(mapped)
        self.count = runtime_context.get_state(counted)

    def process_element(self, value: Any, ctx: Any) -> Iterator[Any]:
        key, number = value
        if number >= 0:
            self.list.add(number)
            self.map.put(number, -number)
            self.count.update((self.count.value() or 0) + 1)
        else:
            yield key, list(self.list.get() or ()), sorted(self.map.items()), self.count.value() or 0


def remembered(records: list[tuple[int, int]], keys: int, batches: tuple[int, ...], ttl: bool = False) -> list[Any]:
    """What `Remember` shows for each key after a restart, when all records have gone by in batches of some sizes."""
    env = StreamExecutionEnvironment()
    asked = [(key, -1) for key in range(keys)]
    stream = env.from_collection([*records, *asked])
    collect(stream.key_by(lambda v: v[0]).process(Remember(ttl)), "out")
    job = local_job(env, settings=RuntimeSettings(page_bytes=256), clock=ManualClock(0))
    for size in batches:
        job.run_batch(size)
        job.restart()
    job.run()
    return sorted(job.results.get("out", []))


@pytest.fixture
def small_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    """Segments, buckets and reads of state are small."""
    for module, name, size in (
        (collections, "SEGMENT_BYTES", 100),
        (handles, "SEGMENT_BYTES", 100),
        (timed, "SEGMENT_BYTES", 100),
        (collections, "BUCKET_ENTRIES", 4),
        (handles, "INLINE_ENTRIES", 8),
        (collections, "_READ_AHEAD", 2),
        (page_cache, "_PREFETCH", 4),
        (page_cache, "_PART_PAGES", 4),
        (collection_blobs, "_BUCKETS_KEPT", 2),
        (sweep, "_SWEPT_PAGES", 4),
        (heap, "_SLACK", 4),
    ):
        monkeypatch.setattr(module, name, size)


@pytest.mark.usefixtures("small_pieces")
@pytest.mark.parametrize("ttl", [False, True])
@pytest.mark.parametrize("count", sorted({*around(8), *around(128)}))
def test_long_lists_and_large_maps_keep_every_entry(count: int, ttl: bool) -> None:
    """S1, F3: 128 is how often the length of a list is looked at, 8 when a map leaves its page."""
    records = [(0, i) for i in range(count)]
    expected = [(0, list(range(count)), [(i, -i) for i in range(count)], count)]
    for batches in ((), (count,), (max(1, count - 1), 1), (1, 7, 1, count // 2)):
        assert remembered(records, 1, batches, ttl) == expected


@pytest.mark.usefixtures("small_pieces")
@pytest.mark.parametrize("ttl", [False, True])
@pytest.mark.parametrize("keys", around(4))
def test_many_pages_keep_every_key(keys: int, ttl: bool) -> None:
    """S1, F3: more of them than are read, or written, at a time."""
    records = [(key, number) for number in range(3) for key in range(keys)]
    expected = [(key, [0, 1, 2], [(0, 0), (1, -1), (2, -2)], 3) for key in range(keys)]
    for batches in ((), (keys,), (keys, keys, 1)):
        assert remembered(records, keys, batches, ttl) == expected


@pytest.mark.parametrize("count", [c for n in (collections.INLINE_ENTRIES,) for c in around(n)])
def test_a_map_of_the_real_size_keeps_every_entry(count: int) -> None:
    """S1"""
    expected = [(0, list(range(count)), [(i, -i) for i in range(count)], count)]
    assert remembered([(0, i) for i in range(count)], 1, (count,)) == expected


@pytest.mark.parametrize("count", around(page_cache._PREFETCH))
def test_pages_of_the_real_number_keep_every_key(count: int) -> None:
    """S1, F3"""
    expected = [(key, [5], [(5, -5)], 1) for key in range(count)]
    assert remembered([(key, 5) for key in range(count)], count, (count,)) == expected


class Alarm(KeyedProcessFunction):
    """A timer for every record, half of them taken back."""

    def process_element(self, value: Any, ctx: Any) -> Iterator[Any]:
        ctx.timer_service().register_event_time_timer(value)
        ctx.timer_service().register_event_time_timer(value + 100_000)
        ctx.timer_service().delete_event_time_timer(value + 100_000)
        yield from ()

    def on_timer(self, timestamp: int, ctx: Any) -> Iterator[Any]:
        yield timestamp


@pytest.mark.parametrize("count", sorted({*around(4), *around(64), *around(heap._SLACK)}))
@pytest.mark.parametrize("keys", [1, 100])
def test_every_timer_fires_once(count: int, keys: int) -> None:
    """S4: however many have been taken back; 256 entries is when the heap of timers is first cleared of these."""
    env = StreamExecutionEnvironment()
    source = ScriptedSource([[*(At(i, i) for i in range(count)), Mark(1_000_000)]])
    collect(scripted_stream(env, source).key_by(lambda v: v % keys).process(Alarm()), "out")
    job = local_job(env, settings=RuntimeSettings(page_bytes=256))
    job.run([max(1, count // 2)])
    assert sorted(job.results.get("out", [])) == list(range(count))


@pytest.mark.parametrize("count", around(4))
def test_a_heap_that_is_swept_keeps_what_counts(monkeypatch: pytest.MonkeyPatch, count: int) -> None:
    """S4"""
    monkeypatch.setattr(heap, "_SLACK", 4)
    swept = SweptHeap(lambda entries: {e for e in entries if e % 2})
    for number in reversed(range(count)):
        swept.push(number)
    assert {e for e in swept if e % 2} == set(range(1, count, 2))
    assert not swept or swept[0] == min(swept)


class LastPart(KeyedProcessFunction):
    """Says nothing for a key whose state is gone."""

    def open(self, runtime_context: Any) -> None:
        descriptor = ValueStateDescriptor("seen", Types.INT())
        descriptor.enable_time_to_live(StateTtlConfig.new_builder(Time.seconds(1)).build())
        self.seen = runtime_context.get_state(descriptor)

    def process_element(self, value: Any, ctx: Any) -> Iterator[Any]:
        yield value, self.seen.value()
        self.seen.update(value)


@pytest.mark.usefixtures("small_pieces")
@pytest.mark.parametrize("keys", around(4))
def test_swept_state_is_gone_for_every_key(keys: int) -> None:
    """S6: more pages than are swept at a time."""
    clock = ManualClock(0)
    env = StreamExecutionEnvironment()
    collect(env.from_collection([*range(keys), *range(keys)]).key_by(lambda v: v).process(LastPart()), "out")
    job = local_job(env, settings=RuntimeSettings(page_bytes=256), clock=clock)
    job.run_batch(keys)
    clock.advance_ms(10_000)
    for _ in range(3):
        job.run_batch(0)
    job.run()
    assert job.results.get("out", []) == [(key, None) for key in range(keys)] * 2


# -- operator state ------------------------------------------------------------------------------------


@pytest.mark.parametrize("count", around(4))
@pytest.mark.parametrize("room", [1, 8 + 40, 4 * (8 + 40) - 1, 4 * (8 + 40), 4 * (8 + 40) + 1])
def test_blocks_of_operator_state_hold_every_item(monkeypatch: pytest.MonkeyPatch, count: int, room: int) -> None:
    """S5, F3: each block says how many there are."""
    monkeypatch.setattr(operator_state, "BLOCK_BYTES", room)
    blocks = [loads(blob) for blob in list_blocks([f"{i:040d}" for i in range(count)])]
    assert [item for _, items in blocks for item in items] == [f"{i:040d}" for i in range(count)]
    assert all(number == len(blocks) and items for number, items in blocks)


# -- sources and calls that are bounded in number -------------------------------------------------------


@pytest.mark.parametrize("count", around(4))
@pytest.mark.parametrize("limit", [1, 3, 4, 5, 100])
def test_what_a_running_source_emits_is_sealed_once(count: int, limit: int) -> None:
    """F11, F13: the buffer is as large as what is emitted, and batches may be smaller or larger."""
    buffer = SourceFunctionBuffer(capacity=max(1, count))
    for number in range(count):
        buffer.collect(number)
    buffer.close()
    at, found, ended = 0, [], False
    while not ended:
        position = buffer.seal(at, limit)
        found += [v for batch in buffer.between(at, position.at).batches for v in batch.values]
        at, ended = position.at, position.ended
    assert found == list(range(count))


class Twice(AsyncFunction):
    async def async_invoke(self, value: int) -> list[int]:
        return [value, -value]


@pytest.mark.parametrize("count", around(4))
@pytest.mark.parametrize("call", [AsyncDataStream.ordered_wait, AsyncDataStream.unordered_wait])
def test_every_call_is_answered(call: Callable[..., Any], count: int) -> None:
    """O5: with as many under way as may be."""
    env = StreamExecutionEnvironment()
    collect(call(env.from_collection(range(1, count + 1)), Twice(), Time.seconds(60), capacity=4), "out")
    job = local_job(env)
    job.run([3])
    assert sorted(job.results.get("out", [])) == sorted([*range(1, count + 1), *range(-count, 0)])


# -- windows of a number of records --------------------------------------------------------------------


@pytest.mark.parametrize("count", around(4))
@pytest.mark.parametrize("batch", [1, 3, 4, 5, 100])
def test_count_windows_hold_their_number(count: int, batch: int) -> None:
    """W1: full ones only, wherever batches end."""
    env = StreamExecutionEnvironment()
    stream = env.from_collection(range(count)).map(lambda v: [v]).key_by(lambda v: 0)
    collect(stream.count_window(4).reduce(lambda a, b: a + b), "full")
    collect(stream.count_window(4, 2).reduce(lambda a, b: a + b), "sliding")
    job = local_job(env)
    while not job.finished:
        job.run_batch(batch)
        job.restart()
    assert job.results.get("full", []) == [list(range(i, i + 4)) for i in range(0, count - 3, 4)]
    assert job.results.get("sliding", []) == [list(range(i, i + 4)) for i in range(0, count - 3, 2)]
