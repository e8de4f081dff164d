"""On a real standalone cluster, jobs give what they give in process, and survive the loss of an executor (P2, P11)."""

from __future__ import annotations

import os
import random
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cluster.golden import published, run
from tests.cluster.standalone import Cluster, standalone_cluster
from tests.kill.job import JobOptions
from tests.kill.oracle import check
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
        timeout=300,
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
