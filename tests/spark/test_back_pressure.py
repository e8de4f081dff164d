"""A sink ten times too slow slows the sources (F13). `tests/soak/back_pressure.py` does it for longer."""

import statistics

import pytest

from tests.soak.back_pressure import press

pytestmark = pytest.mark.spark


def test_memory_is_flat_under_a_sink_ten_times_too_slow() -> None:
    """F13, G6: the source is held back, batches come near their target, and the lag is there to be seen."""
    figures = press(seconds=180, target_ms=1_500, batches=16)
    assert figures.limits["fast"] < 3_000
    assert figures.lag_records[-1] > 50_000
    assert max(figures.busy[-5:]) > 0.3
    assert statistics.median(figures.batch_ms[-5:]) < 5_000  # on a busy machine, too
    assert figures.growth_mb() < 60
