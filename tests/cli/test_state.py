"""penstock state: looking into a savepoint."""

import json
from pathlib import Path

import pytest

from penstock.common import Types
from penstock.datastream import StreamExecutionEnvironment
from penstock.datastream.state import MapStateDescriptor, ValueStateDescriptor
from penstock.jobs.registration import register
from penstock.state import StateEditor
from penstock.testing import collect, local_job
from tests.cli.kit import penstock
from tests.jobs.test_running_jobs import Client


@pytest.fixture(autouse=True)
def _own_list(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PENSTOCK_STATE_DIR", str(tmp_path / "state"))


@pytest.fixture
def saved(tmp_path: Path) -> str:
    new = StateEditor.new("visits")
    with new.keyed("count") as keyed:
        for key, seen in (("ann", 3), ("bob", 1), (("a", 1), 2)):
            keyed.set_key(key)
            keyed.get_state(ValueStateDescriptor("seen", Types.INT())).update(seen)
        keyed.set_key("ann")
        keyed.get_map_state(MapStateDescriptor("pages", Types.STRING(), Types.INT())).put("/", 2)
        keyed.register_event_time_timer(1_000)
    new.write(str(tmp_path / "saved"))
    return str(tmp_path / "saved")


def test_the_operators_of_a_savepoint(saved: str) -> None:
    """F5"""
    result = penstock("state", saved)
    assert result.exit_code == 0, result.stderr
    head, names, row = result.stdout.splitlines()[:3]
    assert (head, names.split()) == ("== operators ==", ["UID", "NAME", "KIND", "PARALLELISM", "KEYED", "BLOBS"])
    assert row.startswith("count ")
    assert json.loads(penstock("state", saved, "--format", "json").stdout)["operators"][0]["uid"] == "count"


def test_the_event_time_of_subtasks_is_readable(tmp_path: Path) -> None:
    """F5: the beginning of time is not shown as a large number, but in data."""
    env = StreamExecutionEnvironment()
    collect(env.from_collection([1, 2]).key_by(lambda v: v).reduce(max).uid("largest"), "out")
    job = local_job(env)
    job.run_batch(1)
    job.savepoint(str(tmp_path / "saved"))
    assert "largest  0        -∞" in penstock("state", str(tmp_path / "saved")).stdout.splitlines()
    clocks = json.loads(penstock("state", str(tmp_path / "saved"), "--format", "json").stdout)["event time"]
    assert clocks[-1]["watermark"] == -(2**63)


def test_keyed_state_and_timers(saved: str) -> None:
    """F5: values as they are; one key; a limit that says what it leaves out."""
    rows = {tuple(line.split()[:3]) for line in penstock("state", saved, "count").stdout.splitlines()[1:]}
    assert {("ann", "seen", "value"), ("ann", "pages", "map"), ("bob", "seen", "value")} <= rows
    (only,) = json.loads(penstock("state", saved, "count", "--key", "'bob'", "--format", "json").stdout)
    assert (only["key"], only["state"], only["value"]) == ("bob", "seen", 1)
    limited = penstock("state", saved, "count", "--limit", "1", "--format", "csv")
    assert len(limited.stdout.splitlines()) == 2
    assert limited.stderr == "3 more rows; --limit shows them\n"
    assert penstock("state", saved, "count", "--timers").stdout.splitlines() == [
        "KEY  DOMAIN      TIME_MS  NAMESPACE",
        "ann  event time  1000     -",
    ]
    assert penstock("state", saved, "count", "--key", "'nobody'").stdout == "nothing\n"


def test_what_is_not_there_is_told(saved: str, tmp_path: Path) -> None:
    """P9"""
    assert penstock("state", str(tmp_path / "none")).stderr == f"Error: there is no folder {tmp_path / 'none'}\n"
    result = penstock("state", saved, "cuont")
    assert result.exit_code == 1
    assert "has no operator with uid 'cuont'. It has: count" in result.stderr
    (tmp_path / "empty").mkdir()
    empty = penstock("state", str(tmp_path / "empty"))
    assert empty.exit_code == 1
    assert empty.stderr.startswith("Error: ")
    assert "Traceback" not in empty.stderr


def test_a_running_jobs_checkpoint_is_refused(tmp_path: Path) -> None:
    client = Client()
    (tmp_path / "ckpt").mkdir()
    register(client, "visits", "streaming", str(tmp_path / "ckpt"), 0)
    result = penstock("state", str(tmp_path / "ckpt"))
    client.stop()
    assert result.exit_code == 1
    assert "'visits' runs on" in result.stderr
    assert "take a savepoint and look into that (penstock savepoint c0ffee00 DIR)" in result.stderr
