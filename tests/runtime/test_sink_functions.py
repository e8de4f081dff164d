"""Sinks that are called record by record (O1, F7)."""

from collections.abc import Iterator
from typing import Any

import pytest

from penstock.common import WatermarkStrategy
from penstock.core.contracts.sink import Sink
from penstock.core.errors import UserFunctionError
from penstock.core.time.clock import ManualClock
from penstock.core.time.spans import MAX_WATERMARK
from penstock.core.time.watermarks import Watermark
from penstock.datastream import (
    MapFunction,
    RichSinkFunction,
    SinkFunction,
    SourceContext,
    SourceFunction,
    StreamExecutionEnvironment,
)
from penstock.testing import local_job

CALLS: list[Any] = []


@pytest.fixture(autouse=True)
def _no_calls() -> Iterator[None]:
    CALLS.clear()
    return iter(())


class Noting(RichSinkFunction):
    def open(self, runtime_context: Any) -> None:
        assert runtime_context is self.get_runtime_context()
        CALLS.append(("open", runtime_context.get_index_of_this_subtask()))

    def invoke(self, value: Any, context: SinkFunction.Context) -> None:
        CALLS.append((value, context.timestamp(), context.current_watermark(), context.current_processing_time()))

    def write_watermark(self, watermark: Watermark) -> None:
        CALLS.append(watermark)

    def finish(self) -> None:
        CALLS.append("finish")

    def close(self) -> None:
        CALLS.append("close")


class Stamped(SourceFunction):
    def run(self, ctx: SourceContext) -> None:
        ctx.collect_with_timestamp("a", 5)
        ctx.emit_watermark(Watermark(7))
        ctx.collect("b")

    def cancel(self) -> None:
        pass


@pytest.mark.filterwarnings("ignore:.*cannot rewind.*:RuntimeWarning")
def test_a_sink_function_sees_record_times_and_watermarks_in_order() -> None:
    """T8, T2, P6"""
    env = StreamExecutionEnvironment()
    env.add_source(Stamped()).add_sink(Noting())
    job = local_job(env, clock=ManualClock(42))
    job.run()
    assert [
        ("open", 0),
        ("a", 5, -(2**63), 42),
        Watermark(7),
        ("b", None, 7, 42),
        Watermark(MAX_WATERMARK),
        "finish",
    ] == CALLS
    job.restart()
    assert CALLS[-1] == "close"


def test_a_plain_function_is_a_sink() -> None:
    """O1"""
    env = StreamExecutionEnvironment()
    env.from_collection([1, 2, 3]).add_sink(CALLS.append)
    env.from_collection([4]).key_by(lambda v: v).add_sink(lambda v: CALLS.append(v))
    local_job(env).run()
    assert sorted(CALLS) == [1, 2, 3, 4]


def test_a_batch_that_failed_calls_the_sink_again() -> None:
    """F7: at-least-once."""
    env = StreamExecutionEnvironment()
    env.from_collection([1, 2, 3]).add_sink(CALLS.append)
    job = local_job(env)
    job.run_batch(2, commit=False)
    job.run_batch(2)
    job.run()
    assert CALLS == [1, 2, 1, 2, 3]


def test_a_failing_sink_names_the_record() -> None:
    """P9"""
    env = StreamExecutionEnvironment()
    env.from_collection([1, 0]).add_sink(lambda v: 1 // v).name("divide").uid("d")
    with pytest.raises(UserFunctionError, match=r"^The sink function of operator 'divide' \(uid d\) failed on rec"):
        local_job(env).run()


class BadFinish(SinkFunction):
    def invoke(self, value: Any, context: SinkFunction.Context) -> None:
        pass

    def finish(self) -> None:
        raise OSError("full")


def test_a_sink_that_fails_in_finish_fails_the_job() -> None:
    """P9"""
    env = StreamExecutionEnvironment()
    env.from_collection([1]).add_sink(BadFinish()).uid("s")
    with pytest.raises(UserFunctionError, match=r"^finish\(\) of operator 'Sink: Unnamed' \(uid s\) failed\n"):
        local_job(env).run()


class NoSink(MapFunction):
    def map(self, value: Any) -> Any:
        return value


class TwoPhase(Sink):
    def create_writer(self, context: Any) -> Any:
        raise AssertionError("never")


@pytest.mark.parametrize(
    ("given", "text"),
    [
        (NoSink(), r"add_sink\(\) takes a SinkFunction or a function, got NoSink"),
        (5, r"add_sink\(\) takes a SinkFunction or a function, got int"),
        (TwoPhase(), r"add_sink\(\) takes a SinkFunction, got TwoPhase, a Sink: use sink_to\(\)"),
    ],
)
def test_what_is_no_sink_function_is_refused(given: Any, text: str) -> None:
    """P9"""
    stream = StreamExecutionEnvironment().from_collection([1])
    with pytest.raises(TypeError, match=text):
        stream.add_sink(given)


def test_a_sink_function_is_no_sink() -> None:
    """P9"""
    stream = StreamExecutionEnvironment().from_collection([1])
    with pytest.raises(TypeError, match=r"sink_to\(\) takes a Sink, got Noting, a SinkFunction: use add_sink\(\)"):
        stream.sink_to(Noting())  # type: ignore[arg-type]


def test_printing_to_standard_error(capsys: pytest.CaptureFixture[str]) -> None:
    """O1: with the identifier, as `print`."""
    env = StreamExecutionEnvironment()
    stream = env.from_source(_numbers(), WatermarkStrategy.no_watermarks(), "n")
    stream.print("out")
    stream.print_to_err("err")
    local_job(env).run()
    printed = capsys.readouterr()
    assert (printed.out, printed.err) == ("out> 1\nout> 2\n", "err> 1\nerr> 2\n")


def _numbers() -> Any:
    from penstock.datastream.connectors import NumberSequenceSource

    return NumberSequenceSource(1, 2)
