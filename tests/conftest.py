"""Set-up for all rings. Nothing here may import pyspark: the fast ring runs without it."""

import signal
import sys

import pytest
from hypothesis import settings

from tests.effort import PROFILE, examples

SLOW_RINGS = ("spark", "cluster", "kill")
_jvm_before = pytest.StashKey[bool]()

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    # started in the background of a script; tests of Ctrl-C need it, and child processes inherit that it is ignored
    signal.signal(signal.SIGINT, signal.default_int_handler)

settings.register_profile(PROFILE, deadline=None, max_examples=examples(100))
settings.load_profile(PROFILE)


def _jvm_runs() -> bool:
    context = sys.modules.get("pyspark.core.context")
    return context is not None and context.SparkContext._gateway is not None


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    item.stash[_jvm_before] = _jvm_runs()


@pytest.hookimpl(trylast=True)
def pytest_runtest_teardown(item: pytest.Item) -> None:
    """Fail a test that starts a JVM without belonging to a ring that may."""
    allowed = any(item.get_closest_marker(ring) for ring in SLOW_RINGS)
    if not allowed and _jvm_runs() and not item.stash[_jvm_before]:
        pytest.fail("this test started a JVM: mark it with pytest.mark.spark", pytrace=False)
