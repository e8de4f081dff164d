"""The Java process of Spark dies, or is fed what is too large for it (P9, F13). Each job in a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from textwrap import dedent

import pytest

pytestmark = pytest.mark.spark

KILLED = """
import os, signal, sys, threading
from pathlib import Path
from penstock.common import Configuration
from penstock.common.errors import SparkDiedError
from penstock.datastream import StreamExecutionEnvironment

host, begun = sys.argv[1], Path(sys.argv[2])

def wait_for_ever(value):
    begun.touch()
    threading.Event().wait()

def environment():
    return StreamExecutionEnvironment(Configuration({"penstock.host": host})).set_parallelism(1)

def kill():
    while not begun.exists():
        threading.Event().wait(0.05)
    from pyspark import SparkContext
    os.kill(SparkContext._gateway.proc.pid, signal.SIGKILL)

for turn in range(2):
    begun.unlink(missing_ok=True)
    threading.Thread(target=kill, daemon=True).start()
    env = environment()
    env.from_collection([1]).map(wait_for_ever).print()
    client = env.execute_async("doomed")
    try:
        client.wait()
    except SparkDiedError as error:
        print(error)
    print(client.status.name, client.get_metrics().get("restarts", 0))
print(list(environment().from_collection([1, 2]).execute_and_collect()))
"""


def _run(script: str, *args: str) -> tuple[str, str]:
    done = subprocess.run([sys.executable, "-c", dedent(script), *args], capture_output=True, text=True, env=os.environ)
    assert done.returncode == 0, done.stderr
    return done.stdout, done.stderr


@pytest.mark.parametrize("host", ["bounded", "streaming"])
def test_a_jvm_that_was_killed_is_told_and_replaced(tmp_path: Path, host: str) -> None:
    """P9: twice over; no trace of the bridge to Java, no restart on a connection that is gone."""
    out, err = _run(KILLED, host, str(tmp_path / "begun"))
    assert out.count("The Java process of Spark has died. Process ") == 2
    assert out.count("was ended by signal SIGKILL, as the system does when memory runs out. It may use 1g") == 2
    assert out.count("FAILED 0\n") == 2
    assert out.endswith("[1, 2]\n")
    assert "Traceback" not in err
    assert "Errno" not in err


LARGE = """
from penstock.common import Configuration, Types
from penstock.datastream import KeyedProcessFunction, StreamExecutionEnvironment
from penstock.datastream.state import ValueStateDescriptor

class Last(KeyedProcessFunction):
    def open(self, context):
        self.last = context.get_state(ValueStateDescriptor("last", Types.PICKLED_BYTE_ARRAY()))
    def process_element(self, value, ctx):
        before = self.last.value()
        self.last.update(value[1])
        yield len(value[1]) + (len(before) if before else 0)

env = StreamExecutionEnvironment(Configuration({"penstock.host": "streaming", "restart-strategy.type": "none"}))
large = env.set_parallelism(1).from_collection(range(6)).map(lambda n: (n % 2, bytes([n]) * (50 << 20)))
print(sorted(large.key_by(lambda v: v[0]).process(Last()).execute_and_collect()))
"""


def test_records_of_fifty_megabytes_go_through_keyed_state() -> None:
    """F13: in the memory that an embedded Spark has by default."""
    size = 50 << 20
    assert _run(LARGE)[0] == f"{[size, size, *[2 * size] * 4]}\n"
