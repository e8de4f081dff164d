"""An embedded Spark is this user's alone: nobody reaches it from outside, nobody reads its files (P2)."""

from __future__ import annotations

import os
import signal
import stat
import subprocess
import sys
from pathlib import Path
from textwrap import dedent

import pytest

from tests.kill.processes import Process, below, kill, wait_for, wait_gone

pytestmark = pytest.mark.spark

JOB = """
import sys, threading
from pathlib import Path
from penstock.common import Configuration
from penstock.datastream import StreamExecutionEnvironment

begun = Path(sys.argv[2])

def hold(value):
    begun.touch()
    threading.Event().wait()

conf = {"penstock.host": sys.argv[1], "spark.ui.enabled": "true"}
env = StreamExecutionEnvironment(Configuration(conf)).set_parallelism(1)
env.from_collection([1]).key_by(lambda v: v).map(hold).print()
env.execute("held")
"""


def _listening(pids: set[int]) -> list[str]:
    """Addresses, in hex as the system writes them, on which processes listen."""
    inodes = set()
    for pid in pids:
        for name in os.listdir(f"/proc/{pid}/fd"):
            target = os.readlink(f"/proc/{pid}/fd/{name}") if os.path.lexists(f"/proc/{pid}/fd/{name}") else ""
            if target.startswith("socket:["):
                inodes.add(target[8:-1])
    found = []
    for table in ("/proc/net/tcp", "/proc/net/tcp6"):
        for line in Path(table).read_text().splitlines()[1:]:
            fields = line.split()
            if fields[3] == "0A" and fields[9] in inodes:
                found.append(fields[1].partition(":")[0])
    return found


LOOPBACK = ("0100007F", "0000000000000000FFFF00000100007F", "00000000000000000000000001000000")


def _driver(tmp_path: Path, host: str, begun: Path) -> subprocess.Popen[bytes]:
    (tmp_path / "job.py").write_text(dedent(JOB))
    environment = {k: v for k, v in os.environ.items() if not k.startswith("SPARK_LOCAL")}
    return subprocess.Popen(
        [sys.executable, str(tmp_path / "job.py"), host, str(begun)],
        env={**environment, "TMPDIR": str(tmp_path / "tmp")},
        stdin=subprocess.DEVNULL,
    )


def _await(driver: subprocess.Popen[bytes], begun: Path) -> None:
    assert wait_for(lambda: begun.exists() or driver.poll() is not None, 600)
    assert driver.poll() is None


@pytest.mark.parametrize("host", ["bounded", "streaming"])
def test_it_listens_on_loopback_alone_and_a_killed_driver_leaves_no_open_files(tmp_path: Path, host: str) -> None:
    """P2, F10: also with Spark's user interface on. What the killed driver left is gone after the next start."""
    (tmp_path / "tmp").mkdir()
    family: list[Process] = []
    try:
        driver = _driver(tmp_path, host, tmp_path / "begun")
        _await(driver, tmp_path / "begun")
        family = below(driver.pid)
        listening = _listening({driver.pid, *(p.pid for p in family)})
        assert len(listening) >= 3
        assert [address for address in listening if address not in LOOPBACK] == []
        left = [path for path in (tmp_path / "tmp").iterdir() if not path.name.startswith("hsperfdata")]
        assert [path.name for path in left] == [f"penstock-{os.getuid()}"]
        assert stat.S_IMODE(left[0].stat().st_mode) == 0o700
        (first,) = left[0].iterdir()
        assert list(first.iterdir()) != []
        os.kill(driver.pid, signal.SIGKILL)
        for process in family:
            kill(process)
        driver.wait()
        assert wait_gone(family, 60) == []
        driver = _driver(tmp_path, host, tmp_path / "begun again")
        _await(driver, tmp_path / "begun again")
        family = below(driver.pid)
        assert not first.exists()
    finally:
        driver.kill()
        for process in family:
            kill(process)
