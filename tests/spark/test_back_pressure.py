"""A sink ten times too slow slows the sources (F13). `tests/soak/back_pressure.py` does it for longer."""

import pytest

from tests.soak.back_pressure import press

pytestmark = pytest.mark.spark


def test_memory_is_flat_under_a_sink_ten_times_too_slow() -> None:
    """F13, G6: the source is held back to what the sinks do in the target's time, and the lag is there to be seen.

    How long a batch takes depends on the machine; that limits follow from times is shown with a clock of its own
    (`tests/runtime/test_admission.py`).
    """
    figures = press(None, target_ms=1_500, batches=16)
    assert figures.limits["fast"] < 3_000
    assert figures.lag_records[-1] > 50_000
    assert figures.busy["slow"] > figures.busy["fast"]
    assert figures.growth_mb() < 60
