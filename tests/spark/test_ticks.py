"""When the intake asks for a batch though no data came (T11); needs PySpark's classes but no JVM."""

from typing import Any

import pytest

from penstock.core.time.clock import ManualClock
from penstock.spark.streaming.multiplexed_source import MultiplexedOptions, MultiplexedReader


@pytest.fixture
def reader(tmp_path: Any) -> MultiplexedReader:
    made = MultiplexedReader(MultiplexedOptions(None, "run", str(tmp_path / "control.json"), 10))  # type: ignore[arg-type]
    made._clock = ManualClock(1000)  # type: ignore[assignment]
    return made


def at(reader: MultiplexedReader, now_ms: int, due_ms: int | None) -> bool:
    reader._clock.set_ms(now_ms)  # type: ignore[attr-defined]
    wanted = reader._ticks(due_ms)
    reader._announced = True
    return wanted


def test_every_run_has_a_first_batch(reader: MultiplexedReader) -> None:
    """T11"""
    assert at(reader, 1000, None)
    assert not at(reader, 1001, None)


def test_a_timer_that_is_due_has_its_batch_and_never_early(reader: MultiplexedReader) -> None:
    """T11, T6"""
    at(reader, 1000, None)
    assert not at(reader, 1999, 2000)
    assert at(reader, 2000, 2000)
    assert at(reader, 2001, 2001)


def test_a_timer_that_a_slow_clock_left_pending_is_asked_for_again(reader: MultiplexedReader) -> None:
    """T11: a worker's clock may be behind the driver's; it is not asked all the time."""
    at(reader, 1000, None)
    assert at(reader, 2000, 2000)
    assert not at(reader, 2001, 2000)
    assert at(reader, 2100, 2000)
