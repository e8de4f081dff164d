"""The JVM's greetings are kept away; everything else gets through. No JVM is started here."""

import logging
import os
import subprocess
import sys
import threading

import pytest

from penstock.spark.startup.quiet import quiet_bridge, quiet_start

CHILD = """
import sys
print("WARNING: Using incubator modules: jdk.incubator.vector", file=sys.stderr)
print("a user's own words\\n", file=sys.stderr)
print("Starting Streaming TransformWithStateInPandas Python worker.\\n", file=sys.stderr)
print("WARNING: something else", file=sys.stderr)
print("no newline", end="", file=sys.stderr)
"""


def test_known_noise_is_dropped_and_the_rest_passes(capfd: pytest.CaptureFixture[str]) -> None:
    """P9: noise is not shown; what a user function writes to standard error is."""
    with quiet_start():
        subprocess.run([sys.executable, "-c", CHILD], check=True)
    os.write(2, b"|after\n")
    for thread in threading.enumerate():
        if thread.name == "penstock-stderr":
            thread.join()
    shown = capfd.readouterr().err
    assert sorted(shown.replace("|after\n", "")) == sorted("a user's own words\n\nWARNING: something else\nno newline")
    assert "|after\n" in shown


@pytest.mark.parametrize(("before", "after"), [(logging.NOTSET, logging.WARNING), (logging.DEBUG, logging.DEBUG)])
def test_the_bridge_to_the_jvm_is_quiet_unless_asked(before: int, after: int) -> None:
    """P9: a program that logs at INFO sees its own lines."""
    bridge = logging.getLogger("py4j")
    kept = bridge.level
    try:
        bridge.setLevel(before)
        quiet_bridge()
        assert bridge.level == after
    finally:
        bridge.setLevel(kept)
