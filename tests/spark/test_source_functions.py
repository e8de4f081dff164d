"""Source functions in the streaming host: they run in the planner, beside the driver (T8, F7, F13)."""

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from penstock.common import Configuration
from penstock.core.errors import UserFunctionError
from penstock.core.time.watermarks import Watermark
from penstock.datastream import (
    CheckpointedFunction,
    ProcessFunction,
    SourceContext,
    SourceFunction,
    StreamExecutionEnvironment,
)
from penstock.datastream.state import ListStateDescriptor

pytestmark = [pytest.mark.spark, pytest.mark.filterwarnings("ignore:.*cannot rewind.*:RuntimeWarning")]


def environment(**conf: Any) -> StreamExecutionEnvironment:
    settings = {"restart-strategy.type": "none", **conf}
    return StreamExecutionEnvironment(Configuration(settings)).set_parallelism(1)


class Stamped(SourceFunction):
    def run(self, ctx: SourceContext) -> None:
        for i in range(2_000):
            ctx.collect_with_timestamp(i, i * 10)
            ctx.emit_watermark(Watermark(i * 10 - 5))

    def cancel(self) -> None:
        pass


class Clock(ProcessFunction):
    def process_element(self, value: Any, ctx: Any) -> Iterator[Any]:
        yield value, ctx.timestamp(), ctx.timer_service().current_watermark()


def test_records_and_watermarks_keep_their_places() -> None:
    """T8, T2, P10: an unbounded source goes to the streaming host; more than the buffer takes at once."""
    env = environment(**{"penstock.source.buffer-records": 300, "penstock.batch.max-records": 1_700})
    found = list(env.add_source(Stamped()).process(Clock()).execute_and_collect())
    assert found == [(i, i * 10, (i - 1) * 10 - 5 if i else -(2**63)) for i in range(2_000)]


class Failing(SourceFunction):
    def run(self, ctx: SourceContext) -> None:
        ctx.collect(1)
        raise OSError("the line is dead")

    def cancel(self) -> None:
        pass


def test_a_failing_source_fails_the_job_with_its_traceback() -> None:
    """P9: without JVM noise."""
    with pytest.raises(UserFunctionError) as caught:
        list(environment().add_source(Failing()).execute_and_collect())
    text = str(caught.value)
    assert text.startswith("run() of operator 'Source: Custom Source' (uid auto-1-Source: Custom Source) failed\nTrace")
    assert text.endswith("OSError: the line is dead")


class Endless(SourceFunction):
    """Leaves a note when it is told to stop."""

    def __init__(self, note: Path) -> None:
        self.note = note

    def open(self, runtime_context: Any) -> None:
        self.stopped = threading.Event()

    def run(self, ctx: SourceContext) -> None:
        number = 0
        while not self.stopped.wait(0.01):
            ctx.collect(number)
            number += 1

    def cancel(self) -> None:
        self.note.write_text("canceled")
        self.stopped.set()

    def close(self) -> None:
        self.note.write_text(self.note.read_text() + ", closed")


def test_cancel_reaches_the_function(tmp_path: Path) -> None:
    """P8"""
    env = environment()
    assert env.add_source(Endless(tmp_path / "note")).execute_and_collect(limit=5) == [0, 1, 2, 3, 4]
    said = ""
    while not said.endswith("closed"):  # Spark may end the planner only after the job has returned
        said = (tmp_path / "note").read_text() if (tmp_path / "note").exists() else ""
        threading.Event().wait(0.05)
    assert said == "canceled, closed"


class Restarted(SourceFunction):
    """Its first run emits three records and then nothing for ever; its second one record, and ends."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def open(self, runtime_context: Any) -> None:
        self.stopped = threading.Event()

    def run(self, ctx: SourceContext) -> None:
        mark = self.folder / "ran"
        if mark.exists():
            ctx.collect("second")
            return
        mark.touch()
        with ctx.get_checkpoint_lock():
            for i in range(3):
                ctx.collect(f"first {i}")
        self.stopped.wait()

    def cancel(self) -> None:
        self.stopped.set()


class FailOnce:
    def __init__(self, folder: Path) -> None:
        self.mark = folder / "failed"

    def __call__(self, value: str) -> str:
        if not self.mark.exists():
            self.mark.touch()
            raise ValueError("once")
        return value


def test_what_a_restart_takes_is_counted_and_never_delivered_twice(tmp_path: Path) -> None:
    """F7, F3: at-most-once."""
    conf = {"restart-strategy.type": "fixed-delay", "restart-strategy.fixed-delay.delay": "0"}
    env = environment(**conf)
    seen = tmp_path / "seen"
    env.add_source(Restarted(tmp_path)).rebalance().map(FailOnce(tmp_path)).add_sink(
        lambda v: seen.open("a").write(f"{v}\n")
    )
    with pytest.warns(RuntimeWarning, match=r"lost 3 record\(s\) in a restart"):
        result = env.execute()
    assert seen.read_text().split("\n")[:-1] == ["second"]
    assert result.restarts == 1
    assert result.metrics["lost_records"] == 3


class Counting(SourceFunction, CheckpointedFunction):
    """Its state is the next number."""

    def initialize_state(self, context: Any) -> None:
        self.state = context.get_operator_state_store().get_list_state(ListStateDescriptor("next"))
        self.next = next(iter(self.state.get()), 0)

    def snapshot_state(self, context: Any) -> None:
        self.state.update([self.next])

    def run(self, ctx: SourceContext) -> None:
        while self.next < 1_000:
            with ctx.get_checkpoint_lock():
                ctx.collect(self.next)
                self.next += 1

    def cancel(self) -> None:
        self.next = 1_000


class FailAt:
    """Raises once at each of some numbers: in the first batch, in the middle, in the last."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def __call__(self, value: int) -> int:
        mark = self.folder / f"failed {value}"
        if value in (0, 500, 999) and not mark.exists():
            mark.touch()
            raise ValueError("once")
        return value


@pytest.mark.filterwarnings("error:.*lost.*:RuntimeWarning")
def test_a_function_that_keeps_its_place_in_state_loses_nothing(tmp_path: Path) -> None:
    """S3, F1: its state is in the offset log; a batch that failed is emitted again."""
    conf = {"restart-strategy.type": "fixed-delay", "restart-strategy.fixed-delay.delay": "0"}
    env = environment(**conf, **{"penstock.source.buffer-records": 300})
    stream = env.add_source(Counting()).rebalance().map(FailAt(tmp_path))
    assert list(stream.execute_and_collect()) == list(range(1_000))
    assert len(list(tmp_path.iterdir())) == 3
