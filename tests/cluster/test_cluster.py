"""On a real standalone cluster, jobs give what they give in process, and survive the loss of an executor (P2, P11)."""

from __future__ import annotations

import os
import random
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from textwrap import dedent

import pytest

from tests.cluster.golden import published, run
from tests.cluster.standalone import Cluster, standalone_cluster
from tests.effort import HANG_S
from tests.kill.job import JobOptions
from tests.kill.oracle import check
from tests.kill.processes import below, kill, wait_for
from tests.kill.run import QUICK_JVM, ROOT, KilledJob

pytestmark = pytest.mark.cluster


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    with standalone_cluster(tmp_path_factory.mktemp("cluster")) as running:
        yield running


def test_a_golden_job_gives_the_same_on_every_host(cluster: Cluster, tmp_path: Path) -> None:
    """P2, P11, G3: local host, bounded and streaming host on the cluster; the program's text is the same."""
    run(tmp_path, "local")
    expected = published(tmp_path, "local")
    assert expected["trips"]
    assert expected["totals"]
    done = subprocess.run(
        [sys.executable, "-m", "tests.cluster.golden", str(tmp_path), cluster.master, "bounded", "streaming"],
        cwd=ROOT,
        env={**os.environ, **QUICK_JVM},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr[-4_000:]
    assert published(tmp_path, "bounded") == expected
    assert published(tmp_path, "streaming") == expected


def test_the_loss_of_an_executor_changes_nothing(cluster: Cluster, tmp_path: Path) -> None:
    """F1, F10: the functions are not deterministic; what was committed agrees with state."""
    options = JobOptions(str(tmp_path), records=1_200, master=cluster.master, deterministic=False)
    job = KilledJob(options, cluster.workers)
    try:
        job.start()
        kill = job.kill_executor(random.Random(1))
        job.finish()
    finally:
        job.close()
    assert kill is not None
    assert kill.counts
    assert check(options) == []


NUMBERS = """
    import sys, time
    from pathlib import Path
    from penstock.common import Encoder, WatermarkStrategy
    from penstock.datastream import StreamExecutionEnvironment
    from penstock.datastream.connectors.datagen import DataGeneratorSource, RateLimiterStrategy
    from penstock.datastream.connectors.file_system import FileSink

    env = StreamExecutionEnvironment.get_execution_environment()
    source = DataGeneratorSource(lambda i: i, 3_000, RateLimiterStrategy.per_second(300))

    gate = Path(sys.argv[2])

    def held(number):  # so that the job cannot end before its driver is killed
        while number == 1_500 and not gate.exists():
            time.sleep(0.05)
        return str(number)

    numbers = env.from_source(source, WatermarkStrategy.no_watermarks(), "numbers").key_by(lambda i: i % 7)
    numbers.map(held).sink_to(FileSink.for_row_format(sys.argv[1], Encoder.simple_string_encoder()).build())
    env.execute("numbers")
"""


FEW = ("--conf", "penstock.batch.max-records=100")
"""So that the first batches end before the number that is held."""


def test_a_supervised_driver_that_is_killed_comes_back(cluster: Cluster, tmp_path: Path) -> None:
    """F10, F1: nobody starts it again but `penstock run --supervise`; every number is published once."""
    (tmp_path / "job.py").write_text(dedent(NUMBERS))
    out, gate = tmp_path / "out", tmp_path / "go on"
    options = ("--master", cluster.master, "--checkpoint", str(tmp_path / "checkpoint"), "-p", "1", "--supervise", *FEW)
    process = subprocess.Popen(
        [
            sys.executable,
            "-m",
            "penstock.cli",
            "run",
            *options,
            str(tmp_path / "job.py"),
            str(out),
            str(gate),
        ],
        cwd=ROOT,
        env={**os.environ, **QUICK_JVM},
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert wait_for(lambda: bool(_published(out)) or process.poll() is not None, HANG_S)
        (driver,) = [p for p in below(process.pid) if p.parent == process.pid]
        kill(driver)
        gate.touch()
        _, said = process.communicate()
    finally:
        for left in below(process.pid):
            kill(left)
        process.kill()
        process.wait()
    assert process.returncode == 0, said[-4_000:]
    assert "The driver was ended by signal 9. Restart 1 in 1000 ms" in said
    assert sorted(map(int, _published(out))) == list(range(3_000))


def _published(folder: Path) -> list[str]:
    files = [f for f in folder.rglob("*") if f.is_file() and not f.name.startswith(".")]
    return [line for f in files for line in f.read_text().splitlines()]
