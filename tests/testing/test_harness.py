"""The harness runs functions in the real stage task (S1, S4, T4, T5)."""

from collections.abc import Iterator
from typing import Any

import pytest

from penstock.core.time.spans import MIN_WATERMARK
from penstock.datastream import KeyedProcessFunction, OutputTag, ProcessFunction, RuntimeContext
from penstock.datastream.state import ListStateDescriptor, ValueStateDescriptor
from penstock.testing import KeyedOneInputHarness, OneInputHarness

LATE = OutputTag("late")


class Buffer(KeyedProcessFunction):
    """Keeps records until the watermark has passed them; late ones go to a side output."""

    def open(self, runtime_context: RuntimeContext) -> None:
        self.waiting = runtime_context.get_list_state(ListStateDescriptor("waiting"))
        self.alarm = runtime_context.get_state(ValueStateDescriptor("alarm"))

    def process_element(self, value: Any, ctx: Any) -> Iterator[Any]:
        if ctx.timestamp() <= ctx.timer_service().current_watermark():
            yield LATE, value
            return
        self.waiting.add((ctx.timestamp(), value))
        ctx.timer_service().register_event_time_timer(ctx.timestamp())

    def on_timer(self, timestamp: int, ctx: Any) -> Iterator[Any]:
        waiting = sorted(self.waiting.get())
        self.waiting.update([r for r in waiting if r[0] > timestamp])
        yield from (value for ts, value in waiting if ts <= timestamp)


class Alarm(KeyedProcessFunction):
    """An alarm ten milliseconds of processing time after the first record of a key."""

    def open(self, runtime_context: RuntimeContext) -> None:
        self.at = runtime_context.get_state(ValueStateDescriptor("at"))

    def process_element(self, value: Any, ctx: Any) -> None:
        if self.at.value() is None:
            self.at.update(ctx.timer_service().current_processing_time() + 10)
            ctx.timer_service().register_processing_time_timer(self.at.value())

    def on_timer(self, timestamp: int, ctx: Any) -> Iterator[Any]:
        self.at.clear()
        yield ctx.get_current_key(), timestamp


def buffer(**options: Any) -> KeyedOneInputHarness:
    return KeyedOneInputHarness(Buffer(), lambda v: v[0], tags=[LATE], **options)


@pytest.mark.parametrize("parallelism", [1, 3])
def test_records_wait_for_the_watermark_and_late_ones_go_aside(parallelism: int) -> None:
    """S4, T10, O4"""
    harness = buffer(parallelism=parallelism)
    harness.push_all([("a2", 2), ("a1", 1), ("b3", 3)])
    assert harness.output() == []
    assert harness.event_time_timers() == [(1, "a"), (2, "a"), (3, "b")]
    harness.push_watermark(2)
    assert harness.output_with_timestamps() == [("a1", 1), ("a2", 2)]
    harness.push("c2", 2)
    harness.push("c3", 3)
    assert harness.side_output(LATE) == ["c2"]
    harness.end_input()
    assert sorted(harness.output()) == ["a1", "a2", "b3", "c3"]
    harness.assert_no_leaks()


def test_a_leak_is_found() -> None:
    """S1, S4"""
    harness = buffer()
    harness.push("a1", 1)
    with pytest.raises(AssertionError) as found:
        harness.assert_no_leaks()
    where = f"operator 'KeyedProcess' (uid {harness.plan.at_level(1)[0].uid}): key 'a':"
    assert str(found.value).splitlines() == [
        "State is left:",
        f"{where} list state 'waiting' = [(1, 'a1')]",
        f"{where} event-time timer at 1",
    ]


def test_the_clock_is_the_minimum_of_the_channels() -> None:
    """T5"""
    harness = buffer(channels=2)
    harness.push("a5", 5, channel=1)
    harness.push_watermark(100, channel=0)
    assert harness.output() == []
    harness.push_watermark(4, channel=1)
    assert harness.output() == []
    harness.push_watermark(5, channel=1)
    assert harness.output() == ["a5"]


def test_a_snapshot_carries_state_timers_and_clock() -> None:
    """S1, S4: into another harness, through the real codec."""
    first = buffer(parallelism=2)
    first.push_all([("a9", 9), ("b5", 5)])
    first.push_watermark(3)
    second = buffer(parallelism=2, snapshot=first.snapshot())
    assert second.output() == []
    second.push("c3", 3)
    assert second.side_output(LATE) == ["c3"]
    second.push_watermark(6)
    assert second.output() == ["b5"]
    second.end_input()
    second.assert_no_leaks()
    assert len(first.state_blobs()) > 0


def test_a_snapshot_of_another_parallelism_is_refused() -> None:
    snapshot = buffer(parallelism=2).snapshot()
    with pytest.raises(ValueError, match="The snapshot was taken at parallelism 2, not 3"):
        buffer(parallelism=3, snapshot=snapshot)


def test_processing_time_moves_only_when_told() -> None:
    """T1, T11"""
    harness = KeyedOneInputHarness(Alarm(), lambda v: v, now_ms=100)
    harness.push("a")
    harness.set_processing_time(109)
    assert harness.output() == []
    assert harness.processing_time_timers() == [(110, "a")]
    harness.set_processing_time(110)
    assert harness.output_with_timestamps() == [(("a", 110), None)]
    harness.assert_no_leaks()


def test_pending_processing_time_timers_are_dropped_at_the_end() -> None:
    """T4"""
    harness = KeyedOneInputHarness(Alarm(), lambda v: v, now_ms=100)
    harness.push("a")
    harness.end_input()
    assert harness.output() == []
    assert harness.processing_time_timers() == []


def test_calls_may_share_a_batch() -> None:
    harness = buffer()
    with harness.batch():
        harness.push("a1", 1)
        harness.push_watermark(1)
        assert harness.output() == []
    assert harness.output() == ["a1"]
    with pytest.raises(RuntimeError, match="a batch is already open"), harness.batch(), harness.batch():
        pass


def test_an_unknown_tag_is_refused() -> None:
    with pytest.raises(KeyError, match="the harness was not told of the side output 'other'"):
        buffer().side_output(OutputTag("other"))


class Seen(ProcessFunction):
    def process_element(self, value: Any, ctx: Any) -> Iterator[Any]:
        now = ctx.timer_service().current_watermark()
        yield value, ctx.timestamp(), None if now == MIN_WATERMARK else now


def test_a_function_without_keys() -> None:
    """T2"""
    harness = OneInputHarness(Seen())
    harness.push("a")
    harness.push_watermark(7)
    harness.push("b", 9)
    assert harness.output() == [("a", None, None), ("b", 9, 7)]
    harness.clear_output()
    assert harness.output() == []
    harness.close()
