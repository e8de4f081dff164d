"""The demo: hot items (U2 in small) and alerts, in process against brute force, and on Spark as people run it."""

import re
import signal
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from penstock import demo
from penstock.datastream import StreamExecutionEnvironment
from penstock.datastream.connectors.datagen import DataGeneratorSource
from penstock.demo import (
    LIMITS,
    PANE_MS,
    TOP,
    VIEW,
    WINDOW_MS,
    Alert,
    Click,
    Clicks,
    HotItems,
    guarded,
    hot_items,
    pane_end,
)
from penstock.testing import LocalJob, collect, local_job
from tests.effort import some

PER_SECOND, COUNT = 1_000, 17_000


def _job(parallelism: int) -> LocalJob:
    env = StreamExecutionEnvironment.get_execution_environment()
    views, alerts = guarded(env, DataGeneratorSource(Clicks(PER_SECOND), COUNT))
    collect(alerts, "alerts")
    collect(hot_items(views), "ranked")
    return local_job(env, parallelism)


def _rankings(clicks: list[Click]) -> list[HotItems]:
    """Every window that ends on a pane's end, counted anew."""
    views = [click for click in clicks if click.action == VIEW]
    first, last = (pane_end(bound(v.at_ms for v in views)) for bound in (min, max))
    return [_ranking(views, end_ms) for end_ms in range(first, last + WINDOW_MS, PANE_MS)]


def _ranking(views: list[Click], end_ms: int) -> HotItems:
    counts = Counter(view.item for view in views if end_ms - WINDOW_MS <= view.at_ms < end_ms)
    top = sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))[:TOP]
    return HotItems(end_ms, counts.total(), tuple(top))


def _alerts(clicks: list[Click]) -> set[Alert]:
    counts = Counter((click.user, click.action, pane_end(click.at_ms)) for click in clicks)
    return {Alert(*what) for what, count in counts.items() if what[1] in LIMITS and count >= LIMITS[what[1]]}


@pytest.fixture(scope="module")
def clicks() -> list[Click]:
    return list(map(Clicks(PER_SECOND), range(COUNT)))


@pytest.mark.parametrize(("parallelism", "batches"), some([(1, []), (2, [1, 1_000, 3, 4_000]), (4, [2_000] * 3)], 1))
def test_rankings_and_alerts_equal_brute_force(clicks: list[Click], parallelism: int, batches: list[int]) -> None:
    """U2, O4, S4, P11: three keyed stages with timers, a side output, and nothing left in state at the end."""
    job = _job(parallelism)
    job.run(batches)
    assert sorted(job.results["ranked"], key=lambda hot: hot.end_ms) == _rankings(clicks)
    assert len(job.results["alerts"]) == len(_alerts(clicks)) >= 3
    assert set(job.results["alerts"]) == _alerts(clicks)
    assert job.state_blobs() == {}


def test_a_restart_changes_nothing(clicks: list[Click]) -> None:
    """State, timers and watermarks come back; a batch that was not committed never happened (F1)."""
    job = _job(2)
    for commit in (True, False, True, False, True):
        job.run_batch(2_500, commit)
        job.restart()
    job.run()
    assert sorted(job.results["ranked"], key=lambda hot: hot.end_ms) == _rankings(clicks)
    assert set(job.results["alerts"]) == _alerts(clicks)


def test_clicks_are_never_late_and_somewhat_out_of_order(clicks: list[Click]) -> None:
    newest, behind = 0, 0
    for click in clicks:
        newest = max(newest, click.at_ms)
        behind = max(behind, newest - click.at_ms)
    assert 0 < behind <= demo.DELAY_MS


def test_a_ranking_is_readable() -> None:
    shown = str(HotItems(demo.START_MS + 5_000, 1_234, (("oak chair", 1_000), ("red kettle", 100))))
    head, first, second = shown.splitlines()
    assert head == "09:00:05  most viewed in the last 60 s, of 1,234 views"
    assert re.fullmatch(r"   1  oak chair {10}(.)\1{29} 1,000", first)
    assert re.fullmatch(r"   2  red kettle {9}(.)\1{2} 100", second)


def _demo(folder: Path, *more: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "penstock.cli", "demo", "--checkpoint", str(folder), "--rate", "500", *more]
    return subprocess.Popen(command, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def _times(text: str) -> list[str]:
    return re.findall(r"^(\S+)  most viewed", text, re.MULTILINE)


def _expected_times(count: int) -> list[str]:
    return [demo._clock(demo.START_MS + PANE_MS * place) for place in range(count)]


@pytest.mark.spark
def test_the_demo_ends_by_itself_and_goes_on_where_it_stopped(tmp_path: Path) -> None:
    """P8, F1: clean exit after a time and on Ctrl-C, no noise; the second run's windows follow the first's."""
    first = _demo(tmp_path / "checkpoint", "--seconds", "8")
    out, err = first.communicate()
    assert (first.returncode, err) == (0, "")
    assert "Resuming" not in out
    assert re.search(r"restarts +0\n$", out)

    second = _demo(tmp_path / "checkpoint", "--forever")
    assert second.stdout is not None
    assert second.stderr is not None
    # not communicate(): it would forget what has been read ahead
    again = ""
    while "most viewed" not in again:
        line = second.stdout.readline()
        assert line, second.stderr.read()
        again += line
    second.send_signal(signal.SIGINT)
    again += second.stdout.read()
    err = second.stderr.read()
    assert (second.wait(), err) == (0, "")
    assert re.search(r"Resuming from .*checkpoint after batch \d+", again)
    assert "Stopped after" in again

    times = _times(out) + _times(again)
    assert times == _expected_times(len(times)), "a window was ranked twice, out of order or not at all"
