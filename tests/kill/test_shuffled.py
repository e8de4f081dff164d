"""A source that emits in another order each time it is run: its state alone decides where it goes on (F1, S3)."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.kill.drivers import Driver, last
from tests.kill.shuffled import output

pytestmark = pytest.mark.kill

KILLS = 4


def finish(folder: Path, driver: Driver) -> None:
    """Let the job end, and compare what it published with how far its source came."""
    (folder / "finish").touch()
    assert driver.ends() == 0, driver.said()
    found, ended = output(folder), json.loads((folder / "ended").read_text())
    assert min(ended.values()) > 0
    for partition, count in ended.items():
        assert sorted(n for p, n in found if p == partition) == list(range(count))
    assert list((folder / "checkpoint" / "penstock" / "emitted").iterdir()) == []


def test_kills_between_offset_and_commit(tmp_path: Path) -> None:
    """F1, S3: every record once, though no run repeats what the one before did."""
    hold, holding = tmp_path / "hold", tmp_path / "holding"
    for _ in range(KILLS):
        before = last(tmp_path, "commits")
        with Driver(tmp_path) as driver:
            driver.until(lambda before=before: last(tmp_path, "commits") > before + 1)  # type: ignore[misc]
            hold.touch()
            driver.until(holding.exists)
            driver.kill()
        assert last(tmp_path, "offsets") == last(tmp_path, "commits") + 1
        hold.unlink()
        holding.unlink()
    with Driver(tmp_path) as driver:
        finish(tmp_path, driver)


def test_the_earlier_of_two_drivers_stops(tmp_path: Path) -> None:
    """F10, F1: it stops at its next batch, says why, does not restart itself; its successor goes on."""
    owner = tmp_path / "checkpoint" / "penstock" / "owner"
    with Driver(tmp_path, "first") as first:
        first.until(lambda: last(tmp_path, "commits") > 0)
        before = owner.read_text()
        with Driver(tmp_path, "second") as second:
            second.until(lambda: owner.read_text() != before)
            assert first.ends() != 0
            assert "Another driver has taken over the checkpoint" in first.said()
            assert "so this one stops" in first.said()
            now = last(tmp_path, "commits")
            second.until(lambda: last(tmp_path, "commits") > now + 1)
            finish(tmp_path, second)
