"""Operators of two inputs: connected streams and broadcast state (O3, S3, T5)."""

from collections.abc import Iterator
from typing import Any

import pytest

from penstock.core.errors import ProgramError, UserFunctionError
from penstock.datastream import (
    BroadcastProcessFunction,
    CoFlatMapFunction,
    CoMapFunction,
    CoProcessFunction,
    KeyedBroadcastProcessFunction,
    KeyedCoProcessFunction,
    OutputTag,
    RuntimeContext,
    StreamExecutionEnvironment,
)
from penstock.datastream.state import ListStateDescriptor, MapStateDescriptor, ValueStateDescriptor
from penstock.testing import BroadcastHarness, TwoInputHarness, collect, local_job

RULES = MapStateDescriptor("rules")
ASIDE = OutputTag("aside")


class Join(KeyedCoProcessFunction):
    """Waits for the other side of a key for ten milliseconds."""

    def open(self, runtime_context: RuntimeContext) -> None:
        self.left = runtime_context.get_state(ValueStateDescriptor("left"))
        self.right = runtime_context.get_state(ValueStateDescriptor("right"))

    def process_element1(self, value: Any, ctx: Any) -> Iterator[Any]:
        yield from self._meet(value, self.left, self.right, ctx)

    def process_element2(self, value: Any, ctx: Any) -> Iterator[Any]:
        yield from self._meet(value, self.right, self.left, ctx)

    def _meet(self, value: Any, own: Any, other: Any, ctx: Any) -> Iterator[Any]:
        if other.value() is None:
            own.update(value)
            ctx.timer_service().register_event_time_timer(ctx.timestamp() + 10)
            return
        yield ctx.get_current_key(), value, other.value()
        other.clear()

    def on_timer(self, timestamp: int, ctx: Any) -> Iterator[Any]:
        if self.left.value() is not None or self.right.value() is not None:
            yield ctx.get_current_key(), "alone", timestamp
        self.left.clear()
        self.right.clear()


def key(value: Any) -> Any:
    return value[0]


@pytest.mark.parametrize("parallelism", [1, 3])
def test_both_inputs_share_state_and_timers_of_a_key(parallelism: int) -> None:
    """O3, S1, S4"""
    harness = TwoInputHarness(Join(), key, key, parallelism=parallelism)
    harness.push("a1", 1, input=1)
    harness.push("b1", 2, input=2)
    harness.push("a2", 3, input=2)
    assert harness.output() == [("a", "a2", "a1")]
    harness.end_input()
    assert harness.output()[1:] == [("b", "alone", 12)]
    harness.assert_no_leaks()


def test_the_clock_is_the_minimum_of_both_inputs() -> None:
    """T5: a watermark of one input alone moves nothing."""
    harness = TwoInputHarness(Join(), key, key)
    harness.push("a1", 1, input=1)
    harness.push_watermark(50, input=1)
    assert harness.output() == []
    harness.push_watermark(10, input=2)
    assert harness.output() == []
    harness.push_watermark(11, input=2)
    assert harness.output() == [("a", "alone", 11)]


def test_timers_of_connected_streams_survive_a_restart() -> None:
    """S4, F1"""
    first = TwoInputHarness(Join(), key, key)
    first.push("a1", 1, input=1)
    second = TwoInputHarness(Join(), key, key, snapshot=first.snapshot())
    second.push("a2", 2, input=2)
    assert second.output() == [("a", "a2", "a1")]


class Sides(CoProcessFunction):
    def process_element1(self, value: Any, ctx: Any) -> Iterator[Any]:
        yield 1, value, ctx.timestamp(), ctx.timer_service().current_watermark()

    def process_element2(self, value: Any, ctx: Any) -> Iterator[Any]:
        ctx.output(ASIDE, value)
        yield ASIDE, value * 2


def test_a_function_on_plain_connected_streams_has_times_and_side_outputs() -> None:
    """O3, O4"""
    harness = TwoInputHarness(Sides(), tags=[ASIDE])
    harness.push_watermark(4, input=1)
    harness.push_watermark(7, input=2)
    harness.push("x", 9, input=1)
    harness.push("y", 9, input=2)
    assert harness.output() == [(1, "x", 9, 4)]
    assert harness.side_output(ASIDE) == ["y", "yy"]


def test_a_failing_method_is_named() -> None:
    """P9"""

    class Broken(CoProcessFunction):
        def process_element1(self, value: Any, ctx: Any) -> None: ...
        def process_element2(self, value: Any, ctx: Any) -> None:
            raise ValueError("no")

    harness = TwoInputHarness(Broken())
    with pytest.raises(UserFunctionError, match=r"process_element2 of operator 'Co-Process'.*on record 'r'"):
        harness.push("r", input=2)


class Label(CoMapFunction):
    def map1(self, value: Any) -> Any:
        return "n", value

    def map2(self, value: Any) -> Any:
        return "s", value


class Words(CoFlatMapFunction):
    def open(self, runtime_context: RuntimeContext) -> None:
        self.seen = runtime_context.get_list_state(ListStateDescriptor("seen"))

    def flat_map1(self, value: Any) -> Iterator[Any]:
        self.seen.add(value)
        yield list(self.seen.get())

    def flat_map2(self, value: Any) -> Any:
        return None


@pytest.mark.parametrize("parallelism", [1, 2, 4])
def test_co_map_and_keyed_co_flat_map(parallelism: int) -> None:
    """O3, O1: after key_by they may use keyed state."""
    env = StreamExecutionEnvironment()
    numbers, texts = env.from_collection([1, 2]), env.from_collection(["a"])
    collect(numbers.connect(texts).map(Label()), "mapped")
    collect(numbers.connect(texts).key_by(lambda v: 0, lambda v: 0).flat_map(Words()), "lists")
    job = local_job(env, parallelism)
    job.run([1, 1])
    assert sorted(job.results["mapped"]) == [("n", 1), ("n", 2), ("s", "a")]
    assert job.results["lists"] == [[1], [1, 2]]


class Flag(BroadcastProcessFunction):
    """Keeps the records that a rule names."""

    def process_element(self, value: Any, ctx: Any) -> Iterator[Any]:
        rules = ctx.get_broadcast_state(RULES)
        if value in rules:
            yield value, rules[value], ctx.timestamp(), ctx.current_watermark()

    def process_broadcast_element(self, value: Any, ctx: Any) -> None:
        name, verdict = value
        rules = ctx.get_broadcast_state(RULES)
        if verdict is None:
            del rules[name]
        else:
            rules[name] = verdict


@pytest.mark.parametrize("parallelism", [1, 3])
def test_broadcast_state_reaches_every_subtask_and_survives_a_restart(parallelism: int) -> None:
    """S3, O3, F1"""
    harness = BroadcastHarness(Flag(), [RULES], parallelism=parallelism)
    harness.push(("x", [1]), input=2)
    harness.push_all([("x", 1), ("y", 2), ("x", 3), ("x", 4)])
    assert sorted(v[2] for v in harness.output()) == [1, 3, 4]
    later = BroadcastHarness(Flag(), [RULES], parallelism=parallelism, snapshot=harness.snapshot())
    later.push_all([("x", 5), ("x", 6), ("x", 7)])
    assert sorted(v[2] for v in later.output()) == [5, 6, 7]
    later.push(("x", None), input=2)
    later.assert_no_leaks()


def test_a_broadcast_value_is_fixed_when_it_is_put() -> None:
    """S7"""

    class Mutating(BroadcastProcessFunction):
        def process_element(self, value: Any, ctx: Any) -> Iterator[Any]:
            found = ctx.get_broadcast_state(RULES).get("k")
            found.append("reader")
            yield list(ctx.get_broadcast_state(RULES).get("k"))

        def process_broadcast_element(self, value: Any, ctx: Any) -> None:
            ctx.get_broadcast_state(RULES).put("k", value)
            value.append("later")

    harness = BroadcastHarness(Mutating(), [RULES])
    harness.push(["first"], input=2)
    harness.push("r")
    assert harness.output() == [["first"]]


def test_broadcast_state_is_read_only_on_the_other_side() -> None:
    """S3, P9"""

    class Writes(Flag):
        def process_element(self, value: Any, ctx: Any) -> Any:
            ctx.get_broadcast_state(RULES).put(value, 1)

    harness = BroadcastHarness(Writes(), [RULES])
    with pytest.raises(ProgramError, match=r"Co-Process-Broadcast.*read-only.*process_broadcast_element"):
        harness.push("x")


def test_an_unknown_broadcast_state_is_refused() -> None:
    """P9"""

    class Asks(Flag):
        def process_element(self, value: Any, ctx: Any) -> Any:
            ctx.get_broadcast_state(MapStateDescriptor("other"))

    harness = BroadcastHarness(Asks(), [RULES])
    with pytest.raises(ProgramError, match=r"broadcast state 'other', which was not given to .*it has 'rules'"):
        harness.push("x")


TOTAL = ValueStateDescriptor("total")


class Sums(KeyedBroadcastProcessFunction):
    """Sums per key; a broadcast number is added to the sum of every key, "clear" empties them."""

    def open(self, runtime_context: RuntimeContext) -> None:
        self.total = runtime_context.get_state(TOTAL)

    def process_element(self, value: Any, ctx: Any) -> Iterator[Any]:
        self.total.update((self.total.value() or 0) + value[1])
        ctx.timer_service().register_event_time_timer(100)
        yield ctx.get_current_key(), self.total.value()

    def process_broadcast_element(self, value: Any, ctx: Any) -> None:
        def change(name: Any, state: Any) -> None:
            if value == "clear":
                state.clear()
            else:
                state.update(state.value() + value)

        ctx.apply_to_keyed_state(TOTAL, change)

    def on_timer(self, timestamp: int, ctx: Any) -> Iterator[Any]:
        yield "end", ctx.get_current_key(), self.total.value()
        self.total.clear()


@pytest.mark.parametrize("parallelism", [1, 4])
@pytest.mark.parametrize("pages", [12 << 10, 64])
def test_a_broadcast_record_may_change_the_state_of_all_keys(parallelism: int, pages: int) -> None:
    """S3, O3: apply_to_keyed_state sees every key once, also those whose pages are not in memory."""
    from penstock.core.program.job import RuntimeSettings

    settings = RuntimeSettings(page_bytes=pages, state_budget_bytes=4096)
    harness = BroadcastHarness(Sums(), [RULES], key, parallelism=parallelism, settings=settings)
    harness.push_all([((f"k{i}", i), 1) for i in range(300)])
    harness.push(1000, input=2)
    harness.clear_output()
    harness.push_watermark(100, input=1)
    harness.push_watermark(100, input=2)
    assert sorted(harness.output()) == sorted(("end", f"k{i}", 1000 + i) for i in range(300))
    harness.push(("k1", 5), 101)
    harness.push("clear", input=2)
    harness.end_input()
    harness.assert_no_leaks()


def test_connecting_a_keyed_with_a_plain_stream_is_refused() -> None:
    """P9"""
    env = StreamExecutionEnvironment()
    one, two = env.from_collection([1]), env.from_collection([2])
    with pytest.raises(ProgramError, match="keyed and a plain stream: key both"):
        one.key_by(lambda v: v).connect(two).process(Join())
    with pytest.raises(TypeError, match="that are not keyed takes a CoProcessFunction, got Join"):
        one.connect(two).process(Join())
    with pytest.raises(TypeError, match="takes MapStateDescriptors, got ValueStateDescriptor"):
        one.broadcast(TOTAL)  # type: ignore[call-overload]
    with pytest.raises(TypeError, match="plain stream connected with a broadcast one takes a BroadcastProcessFunction"):
        one.connect(two.broadcast(RULES)).process(Sums())


class Alone(KeyedCoProcessFunction):
    """Fails if one of its methods is called while another one runs."""

    def open(self, runtime_context: RuntimeContext) -> None:
        self.inside: str | None = None
        self.calls = 0

    def process_element1(self, value: Any, ctx: Any) -> Iterator[Any]:
        return self._enter("one", ctx)

    def process_element2(self, value: Any, ctx: Any) -> Iterator[Any]:
        return self._enter("two", ctx)

    def on_timer(self, timestamp: int, ctx: Any) -> Iterator[Any]:
        return self._enter("timer", None)

    def _enter(self, name: str, ctx: Any) -> Iterator[Any]:
        assert self.inside is None, f"{name} was called inside {self.inside}"
        self.inside = name
        self.calls += 1
        if ctx is not None:
            service = ctx.timer_service()
            service.register_event_time_timer(self.calls)
            service.register_processing_time_timer(service.current_processing_time())
        yield name
        yield name
        self.inside = None


def test_methods_of_a_subtask_never_run_at_the_same_time() -> None:
    """S5: not even while a generator of theirs is being consumed, nor with chunks of one record."""
    from penstock.core.program.job import RuntimeSettings

    harness = TwoInputHarness(Alone(), key, key, settings=RuntimeSettings(chunk_records=1))
    for number in range(20):
        with harness.batch():
            harness.push(f"a{number}", number, input=1)
            harness.push(f"b{number}", number, input=2)
            harness.push_watermark(number, input=1)
            harness.push_watermark(number, input=2)
        harness.set_processing_time(number)
    harness.end_input()
    assert harness.output().count("timer") >= 20
    assert harness.output().count("one") == harness.output().count("two") == 40
