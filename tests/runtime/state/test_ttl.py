"""S2: state that expires, against an oracle with a clock of its own."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from penstock.common import Time
from penstock.common.errors import ProgramError
from penstock.core.config.compat import forget_warnings
from penstock.core.program.job import RuntimeSettings
from penstock.datastream import AggregateFunction, KeyedProcessFunction, RuntimeContext
from penstock.datastream.state import (
    AggregatingStateDescriptor,
    ListStateDescriptor,
    MapStateDescriptor,
    ReducingStateDescriptor,
    StateTtlConfig,
    ValueStateDescriptor,
)
from penstock.runtime.state import collections, handles
from penstock.testing import KeyedOneInputHarness, Snapshot
from tests.effort import examples

TTL = 100
SWEPT = TTL + TTL // 4


def config(**options: Any) -> StateTtlConfig:
    builder = StateTtlConfig.new_builder(Time.milliseconds(TTL))
    if options.get("on_read"):
        builder.update_ttl_on_read_and_write()
    if options.get("lenient"):
        builder.return_expired_if_not_cleaned_up()
    if options.get("on_access_only"):
        builder.disable_cleanup_in_background()
    if options.get("snapshot"):
        builder.cleanup_full_snapshot()
    if "pages" in options:
        builder.cleanup_incrementally(options["pages"], options.get("every_chunk", False))
    return builder.build()


class Joined(AggregateFunction):
    def create_accumulator(self) -> list[Any]:
        return []

    def add(self, value: Any, accumulator: list[Any]) -> list[Any]:
        return [*accumulator, value]

    def get_result(self, accumulator: list[Any]) -> tuple[Any, ...]:
        return tuple(accumulator)

    def merge(self, acc_a: list[Any], acc_b: list[Any]) -> list[Any]:
        return acc_a + acc_b


class AllKinds(KeyedProcessFunction):
    """Does what records say: (key, kind, operation, argument); yields what reads gave."""

    def __init__(self, ttl: StateTtlConfig | None) -> None:
        self._ttl = ttl

    def open(self, runtime_context: RuntimeContext) -> None:
        descriptors: dict[str, Any] = {
            "value": ValueStateDescriptor("v"),
            "list": ListStateDescriptor("l"),
            "map": MapStateDescriptor("m"),
            "reducing": ReducingStateDescriptor("r", lambda a, b: a + b),
            "aggregating": AggregatingStateDescriptor("a", Joined()),
        }
        for descriptor in descriptors.values():
            if self._ttl is not None:
                descriptor.enable_time_to_live(self._ttl)
        self.states: dict[str, Any] = {
            "value": runtime_context.get_state(descriptors["value"]),
            "list": runtime_context.get_list_state(descriptors["list"]),
            "map": runtime_context.get_map_state(descriptors["map"]),
            "reducing": runtime_context.get_reducing_state(descriptors["reducing"]),
            "aggregating": runtime_context.get_aggregating_state(descriptors["aggregating"]),
        }

    def process_element(self, value: Any, ctx: Any) -> Iterator[Any]:
        _, kind, operation, arguments = value
        result = getattr(self.states[kind], operation)(*arguments)
        if operation in READS:
            yield tuple(sorted(result)) if operation in ("items", "keys") else _frozen(result)


READS = {"value", "get", "items", "keys", "contains", "is_empty"}


def _frozen(result: Any) -> Any:
    return result if isinstance(result, (int, str, bool, type(None), tuple)) else tuple(result)


class Oracle:
    """All entries with their stamps, nothing ever cleaned up but by the rules."""

    def __init__(self, on_read: bool) -> None:
        self.on_read = on_read
        self.cells: dict[Any, list[list[Any]]] = {}

    def do(self, now: int, record: Any) -> Any:
        key, kind, operation, arguments = record
        cells = self.cells.setdefault((key, kind), [])
        cells[:] = [c for c in cells if c[0] + TTL > now]
        return getattr(self, f"_{kind}")(cells, now, operation, *arguments)

    def _read(self, cells: list[list[Any]], now: int) -> list[list[Any]]:
        for cell in cells if self.on_read else ():
            cell[0] = now
        return cells

    def _value(self, cells: Any, now: int, operation: str, *arguments: Any) -> Any:
        if operation == "value":
            return _frozen(self._read(cells, now)[0][1]) if cells else None
        cells[:] = [[now, arguments[0]]] if operation == "update" and arguments[0] is not None else []

    def _list(self, cells: Any, now: int, operation: str, *arguments: Any) -> Any:
        if operation == "get":
            return tuple(c[1] for c in self._read(cells, now))
        if operation in ("update", "clear"):
            cells.clear()
        values = arguments if operation == "add" else arguments[0] if arguments else ()
        cells.extend([now, v] for v in values)

    def _map(self, cells: Any, now: int, operation: str, *arguments: Any) -> Any:
        mine = [c for c in cells if arguments and c[1][0] == arguments[0]]
        if operation == "get":
            return self._read(mine, now)[0][1][1] if mine else None
        if operation == "contains":
            return bool(self._read(mine, now))
        if operation == "is_empty":
            return not cells
        if operation in ("items", "keys"):
            pairs = [c[1] for c in self._read(cells, now)]
            return tuple(sorted(pairs if operation == "items" else [k for k, _ in pairs]))
        self._change_map(cells, now, operation, *arguments)

    def _change_map(self, cells: Any, now: int, operation: str, *arguments: Any) -> None:
        puts = {arguments[0]: arguments[1]} if operation == "put" else {}
        puts = arguments[0] if operation == "put_all" else puts
        drops = {arguments[0]} if operation == "remove" else set(puts)
        cells[:] = [c for c in cells if operation != "clear" and c[1][0] not in drops]
        cells.extend([now, (k, v)] for k, v in puts.items())

    def _reducing(self, cells: Any, now: int, operation: str, *arguments: Any) -> Any:
        if operation == "get":
            return self._read(cells, now)[0][1] if cells else None
        base = cells[0][1] if cells else 0
        cells[:] = [] if operation == "clear" else [[now, base + arguments[0]]]

    def _aggregating(self, cells: Any, now: int, operation: str, *arguments: Any) -> Any:
        if operation == "get":
            return self._read(cells, now)[0][1] if cells else None
        base = cells[0][1] if cells else ()
        cells[:] = [] if operation == "clear" else [[now, (*base, arguments[0])]]


number = st.integers(0, 5)
many = st.sampled_from([list(range(3)), list(range(130))])
calls = st.one_of(
    st.tuples(st.just("value"), st.just("value"), st.just(())),
    st.tuples(st.just("value"), st.just("update"), st.tuples(st.one_of(number, st.none(), st.just([1, 2])))),
    st.tuples(st.just("list"), st.sampled_from(["get", "clear"]), st.just(())),
    st.tuples(st.just("list"), st.just("add"), st.tuples(number)),
    st.tuples(st.just("list"), st.sampled_from(["update", "add_all"]), st.tuples(many)),
    st.tuples(st.just("map"), st.sampled_from(["items", "keys", "is_empty", "clear"]), st.just(())),
    st.tuples(st.just("map"), st.sampled_from(["get", "contains", "remove"]), st.tuples(number)),
    st.tuples(st.just("map"), st.just("put"), st.tuples(number, st.sampled_from(["a", "b"]))),
    st.tuples(st.just("map"), st.just("put_all"), st.tuples(many.map(lambda ns: dict.fromkeys(ns, "c")))),
    st.tuples(st.sampled_from(["reducing", "aggregating"]), st.sampled_from(["get", "clear"]), st.just(())),
    st.tuples(st.sampled_from(["reducing", "aggregating"]), st.just("add"), st.tuples(number)),
)
records = st.tuples(st.sampled_from("ab"), calls).map(lambda r: (r[0], *r[1]))
steps = st.lists(st.tuples(st.sampled_from([0, 1, 30, 99, 100, 130]), st.lists(records, max_size=4)), max_size=14)
SMALL = RuntimeSettings(page_bytes=300, state_budget_bytes=1000)


@pytest.fixture(autouse=True, scope="module")
def small_collections() -> Iterator[None]:
    """Lists and maps leave their page early."""
    with pytest.MonkeyPatch.context() as patch:
        for module, name, value in (
            (handles, "SEGMENT_BYTES", 400),
            (collections, "SEGMENT_BYTES", 400),
            (handles, "INLINE_ENTRIES", 8),
            (collections, "BUCKET_ENTRIES", 16),
        ):
            patch.setattr(module, name, value)
        yield


def harness(ttl: StateTtlConfig | None, snapshot: Snapshot | None = None, **options: Any) -> KeyedOneInputHarness:
    return KeyedOneInputHarness(AllKinds(ttl), lambda r: r[0], settings=SMALL, snapshot=snapshot, **options)


@settings(max_examples=examples(120), deadline=None)
@given(steps, st.booleans(), st.booleans(), st.booleans(), st.integers(1, 3))
def test_every_read_sees_what_has_not_expired(
    script: list[Any], on_read: bool, on_access_only: bool, every_chunk: bool, pages: int
) -> None:
    """S2: all kinds and update types, with restarts, whatever is cleaned up when; in the end nothing is left."""
    options = {"on_access_only": True} if on_access_only else {"pages": pages, "every_chunk": every_chunk}
    ttl = config(on_read=on_read, **options)
    run, oracle, expected, seen = harness(ttl), Oracle(on_read), [], []
    for index, (pause, batch) in enumerate(script):
        run.clock.advance_ms(pause)
        for record in batch:
            result = oracle.do(run.clock.now_ms(), record)
            expected += [result] if record[2] in READS else []
        run.push_all([(record, None) for record in batch])
        if index % 5 == 4:
            seen += run.output()
            run = harness(ttl, run.snapshot())
    assert seen + run.output() == expected
    if not on_access_only:
        settle(run)
        run.assert_no_leaks()


def settle(run: KeyedOneInputHarness) -> None:
    """Time passes without records until everything has been swept."""
    for _ in range(60):
        run.set_processing_time(run.clock.now_ms() + SWEPT)


def push(run: KeyedOneInputHarness, key: str, kind: str, operation: str, *arguments: Any) -> Any:
    run.clear_output()
    run.push((key, kind, operation, arguments))
    return run.output()[0] if run.output() else None


def test_an_expired_entry_leaves_the_store_at_most_a_quarter_of_its_time_late() -> None:
    """S2: without being touched; not before, so that pages are not swept for every entry."""
    run = harness(config())
    push(run, "a", "value", "update", 1)
    run.set_processing_time(SWEPT - 1)
    assert run.state_blobs()
    run.set_processing_time(SWEPT)
    run.assert_no_leaks()


def test_with_full_snapshot_cleanup_it_leaves_at_once() -> None:
    """S2"""
    run = harness(config(snapshot=True))
    push(run, "a", "list", "add", 1)
    run.set_processing_time(TTL - 1)
    assert run.state_blobs()
    run.set_processing_time(TTL)
    run.assert_no_leaks()


def test_an_idle_job_is_woken_to_sweep() -> None:
    """S2, T11: what the task reports as its next timer."""
    run = harness(config())
    push(run, "a", "value", "update", 1)
    (task,) = run._tasks[0].tasks.values()
    assert task.next_timer_ms(1) == SWEPT
    again = harness(config(), run.snapshot())
    (task,) = again._tasks[0].tasks.values()
    assert task.next_timer_ms(1) == SWEPT


def test_entries_written_later_stay_when_older_ones_are_swept() -> None:
    """S2: per element and per entry."""
    run = harness(config())
    push(run, "a", "list", "add", 1)
    push(run, "a", "map", "put", 1, "old")
    run.clock.set_ms(60)
    push(run, "a", "list", "add", 2)
    push(run, "a", "map", "put", 2, "new")
    run.set_processing_time(SWEPT)
    assert push(run, "a", "list", "get") == (2,)
    assert push(run, "a", "map", "items") == ((2, "new"),)
    settle(run)
    run.assert_no_leaks()


def test_without_background_cleanup_only_access_removes() -> None:
    """S2"""
    run = harness(config(on_access_only=True))
    for kind, operation in (("value", "update"), ("list", "add"), ("reducing", "add")):
        push(run, "a", kind, operation, 1)
    settle(run)
    assert run.state_blobs()
    for kind, operation in (("value", "value"), ("list", "get"), ("reducing", "get")):
        assert not push(run, "a", kind, operation)
    run.assert_no_leaks()


def test_a_sweep_is_limited_and_goes_on_in_the_next_batch() -> None:
    """S2: `cleanup_incrementally` bounds the pages that one batch loads."""
    run = harness(config(pages=2))
    run.push_all([((f"k{i}", "value", "update", (i,)), None) for i in range(200)])
    fresh = harness(config(pages=2), run.snapshot())
    fresh.set_processing_time(SWEPT)
    left = len(fresh.state_blobs())
    assert 0 < left < len(run.state_blobs())
    fresh.set_processing_time(SWEPT)
    assert len(fresh.state_blobs()) < left
    settle(fresh)
    fresh.assert_no_leaks()


@pytest.mark.parametrize("every_chunk", [False, True])
def test_sweeps_may_run_after_every_chunk(every_chunk: bool) -> None:
    """S2: `run_cleanup_for_every_record`; a lenient read shows whether the entry is still there."""
    run = harness(config(lenient=True, pages=5, every_chunk=every_chunk), channels=2)
    push(run, "a", "value", "update", 1)
    run.clear_output()
    run.clock.set_ms(SWEPT)
    with run.batch():
        run.push(("b", "value", "value", ()), channel=0)
        run.push(("a", "value", "value", ()), channel=1)
    assert run.output() == [None, None if every_chunk else 1]


def test_an_expired_entry_may_be_seen_once_more_if_so_configured() -> None:
    """S2: by the read that removes it; an addition goes on from it."""
    run = harness(config(lenient=True))
    push(run, "a", "value", "update", 1)
    push(run, "a", "list", "add", 1)
    push(run, "a", "map", "put", 1, "x")
    push(run, "a", "reducing", "add", 1)
    run.clock.set_ms(TTL)
    assert push(run, "a", "value", "value") == 1
    assert push(run, "a", "list", "get") == (1,)
    assert push(run, "a", "map", "get", 1) == "x"
    push(run, "a", "reducing", "add", 1)
    assert push(run, "a", "reducing", "get") == 2
    assert push(run, "a", "value", "value") is None
    assert push(run, "a", "list", "get") == ()
    assert push(run, "a", "map", "get", 1) is None


def test_reading_prolongs_if_so_configured() -> None:
    """S2"""
    run, plain = harness(config(on_read=True)), harness(config())
    for one in (run, plain):
        push(one, "a", "value", "update", 1)
        one.clock.set_ms(60)
        assert push(one, "a", "value", "value") == 1
        one.clock.set_ms(120)
    assert push(run, "a", "value", "value") == 1
    assert push(plain, "a", "value", "value") is None


FILL = [
    ("value", "update", ([1],)),
    ("list", "add_all", (list(range(300)),)),
    ("map", "put_all", (dict.fromkeys(range(300), "c"),)),
    ("reducing", "add", (4,)),
    ("aggregating", "add", (5,)),
]
FILLED = {
    "value": (1,),
    "list": tuple(range(300)),
    "map": tuple((i, "c") for i in range(300)),
    "reducing": 4,
    "aggregating": (5,),
}


def look(run: KeyedOneInputHarness) -> dict[str, Any]:
    reads = {"value": "value", "map": "items"}
    return {kind: push(run, "a", kind, reads.get(kind, "get")) for kind in FILLED}


def test_state_gains_a_time_to_live_after_a_restart() -> None:
    """S2, S1: what was there lives on, from the moment its page is loaded."""
    old = harness(None)
    for kind, operation, arguments in FILL:
        push(old, "a", kind, operation, *arguments)
    run = harness(config(), old.snapshot(), now_ms=0)
    run.clock.set_ms(1000)
    assert look(run) == FILLED
    settle(run)
    run.assert_no_leaks()


def test_state_loses_its_time_to_live_after_a_restart() -> None:
    """S2, S1"""
    old = harness(config())
    for kind, operation, arguments in FILL:
        push(old, "a", kind, operation, *arguments)
    run = harness(None, old.snapshot())
    assert look(run) == FILLED
    settle(run)
    assert look(run) == FILLED
    again = harness(config(), run.snapshot())
    assert look(again) == FILLED


class Torn(KeyedProcessFunction):
    def open(self, runtime_context: RuntimeContext) -> None:
        descriptor = ValueStateDescriptor("v")
        runtime_context.get_state(descriptor)
        descriptor.enable_time_to_live(config())
        runtime_context.get_state(descriptor)

    def process_element(self, value: Any, ctx: Any) -> None: ...


def test_a_state_with_and_without_a_time_to_live_is_refused() -> None:
    """S2"""
    with pytest.raises(ProgramError, match="uses the state 'v' with and without a time to live: use one descriptor"):
        KeyedOneInputHarness(Torn(), lambda v: v).push("a")


def test_the_configuration_is_pyflinks() -> None:
    """S2: names and defaults."""
    made = config()
    cleanup = made.get_cleanup_strategies()
    incremental = cleanup.get_incremental_cleanup_strategy()
    compaction = cleanup.get_rocksdb_compact_filter_cleanup_strategy()
    assert incremental is not None
    assert (incremental.get_cleanup_size(), incremental.run_cleanup_for_every_record()) == (5, False)
    assert compaction is not None
    assert compaction.get_query_time_after_num_entries() == 1000
    assert compaction.get_periodic_compaction_time().to_milliseconds() == 30 * 86_400_000
    assert not cleanup.in_full_snapshot()
    assert config(on_access_only=True).get_cleanup_strategies().get_incremental_cleanup_strategy() is None
    assert made.get_ttl_time_characteristic() is StateTtlConfig.TtlTimeCharacteristic.ProcessingTime


def test_a_disabled_configuration_means_no_time_to_live() -> None:
    """S2"""
    builder = StateTtlConfig.new_builder(Time.milliseconds(TTL))
    run = harness(builder.set_update_type(StateTtlConfig.UpdateType.Disabled).build())
    push(run, "a", "value", "update", 1)
    settle(run)
    assert push(run, "a", "value", "value") == 1


def test_bad_settings_are_refused_and_idle_ones_warn() -> None:
    """S2, P12"""
    with pytest.raises(
        ValueError, match="needs a time to live of at least 1 ms as a Time, a Duration or a timedelta, got Time"
    ):
        StateTtlConfig.new_builder(Time.milliseconds(0)).build()
    with pytest.raises(ValueError, match=r"cleanup_incrementally\(\) takes a number of at least 1, got 0"):
        config(pages=0)
    with pytest.raises(TypeError, match=r"enable_time_to_live\(\) takes a StateTtlConfig, got int"):
        ValueStateDescriptor("v").enable_time_to_live(5)  # type: ignore[arg-type]
    forget_warnings()
    with pytest.warns(UserWarning, match="compact_filter has no effect"):
        StateTtlConfig.new_builder(Time.hours(1)).cleanup_in_rocksdb_compact_filter(1000)


def test_pages_that_split_are_swept_as_well() -> None:
    """S2"""
    run = harness(config())
    run.push_all([((f"k{i}", "value", "update", (i,)), None) for i in range(4000)])
    for _ in range(60):
        run.set_processing_time(SWEPT)
    run.assert_no_leaks()


def test_a_large_map_that_lost_entries_to_a_sweep_can_be_emptied() -> None:
    """S2"""
    run = harness(config())
    push(run, "a", "map", "put_all", dict.fromkeys(range(300), "c"))
    run.clock.set_ms(60)
    push(run, "a", "map", "put", 1000, "d")
    run.set_processing_time(SWEPT)
    assert push(run, "a", "map", "items") == ((1000, "d"),)
    push(run, "a", "map", "remove", 1000)
    run.assert_no_leaks()
