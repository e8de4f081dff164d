"""Jobs that run: listed, found, asked through their control channel, forgotten when they end or die."""

import json
import os
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from penstock.core.errors import JobNotFoundError
from penstock.core.processes import process_mark
from penstock.jobs.client import JobClient, JobExecutionResult, JobStatus
from penstock.jobs.control_channel import LocalChannel
from penstock.jobs.listing import (
    RunningJob,
    find_job,
    jobs_folder,
    remove_entry,
    running_jobs,
    write_entry,
)
from penstock.jobs.registration import _REGISTRATIONS, register, unregister
from penstock.jobs.starting_job import StartingJob


@pytest.fixture(autouse=True)
def _own_list(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A list of this test's own; no registration of it writes to the next one's."""
    monkeypatch.setenv("PENSTOCK_STATE_DIR", str(tmp_path / "state"))
    yield
    for registration in list(_REGISTRATIONS.values()):
        registration.end()


def _job(job_id: str = "5f1a0000", name: str = "words", **more: Any) -> RunningJob:
    return RunningJob(job_id, name, os.getpid(), process_mark(os.getpid()), socket.gethostname(), **more)


class Client(JobClient):
    """A job that runs until it is told to stop."""

    def __init__(self, job_id: str = "c0ffee00") -> None:
        self._id, self._status, self.ended = job_id, JobStatus.RUNNING, threading.Event()

    job_id = property(lambda self: self._id)  # type: ignore[assignment]
    status = property(lambda self: self._status)  # type: ignore[assignment]

    def become(self, status: JobStatus) -> None:
        self._status = status

    def stop(self) -> None:
        self._status = JobStatus.CANCELED
        self.ended.set()

    def wait(self) -> JobExecutionResult:
        raise NotImplementedError

    def results(self, name: str) -> Iterator[Any]:
        raise NotImplementedError

    def accumulators(self) -> dict[str, Any]:
        return {}


def _until(met: Any) -> None:
    while not met():
        threading.Event().wait(0.05)


# -- the list -----------------------------------------------------------------------------------------------


def test_a_job_is_listed_until_its_entry_is_removed() -> None:
    job = _job(started_ms=5)
    write_entry(job)
    write_entry(replace(_job("aaaa1111", "other"), started_ms=3))
    assert [found.name for found in running_jobs()] == ["other", "words"]
    remove_entry(job)
    assert [found.name for found in running_jobs()] == ["other"]


def test_a_job_whose_process_died_is_forgotten(tmp_path: Path) -> None:
    dead = subprocess.Popen([sys.executable, "-c", ""])
    dead.wait()
    job = replace(_job(), pid=dead.pid, checkpoint=str(tmp_path / "ckpt"))
    write_entry(job)
    assert (tmp_path / "ckpt" / "penstock" / "running.json").exists()
    assert running_jobs() == []
    assert list(jobs_folder().glob("*.json")) == []
    assert not (tmp_path / "ckpt" / "penstock" / "running.json").exists()


def test_what_dead_jobs_have_left_is_cleared_when_another_starts() -> None:
    channel = jobs_folder() / "dead0000.mailbox"
    LocalChannel(channel).open()
    LocalChannel(channel).ask("cancel")
    write_entry(replace(_job("dead0000"), mark="another start", mailbox=str(channel)))
    client = Client()
    register(client, "words", "streaming", "", 0)
    assert not channel.exists()
    assert [path.name for path in jobs_folder().glob("*.json")] == ["c0ffee00.json"]
    client.stop()
    _until(lambda: not running_jobs())


def test_a_later_process_with_the_same_number_is_not_the_job() -> None:
    write_entry(replace(_job(), mark="another start"))
    assert running_jobs() == []


def test_a_job_of_another_machine_counts_as_alive(tmp_path: Path) -> None:
    job = replace(_job(), machine="elsewhere", pid=1, checkpoint=str(tmp_path / "shared"))
    write_entry(job)
    assert not job.here
    assert find_job(str(tmp_path / "shared")) == job


def test_a_damaged_entry_is_passed_over() -> None:
    write_entry(_job())
    (jobs_folder() / "broken.json").write_text("{")
    (jobs_folder() / "other.json").write_text(json.dumps([1]))
    assert [job.name for job in running_jobs()] == ["words"]


def test_removing_an_entry_leaves_a_successor_on_the_same_checkpoint(tmp_path: Path) -> None:
    first, second = (_job(i, checkpoint=str(tmp_path)) for i in ("aaaa1111", "bbbb2222"))
    write_entry(first)
    write_entry(second)
    remove_entry(first)
    assert find_job(str(tmp_path)) == second


@pytest.mark.parametrize("wanted", ["words", "5f1a", "5f1a0000", "PROCESS", "CHECKPOINT", "file:CHECKPOINT"])
def test_a_job_is_found_by_name_id_process_and_checkpoint(tmp_path: Path, wanted: str) -> None:
    job = _job(checkpoint=str(tmp_path))
    write_entry(job)
    assert find_job(wanted.replace("CHECKPOINT", str(tmp_path)).replace("PROCESS", str(os.getpid()))) == job


def test_a_job_that_does_not_run_is_refused() -> None:
    with pytest.raises(JobNotFoundError, match=r"No running job 'x': no job of this user runs on this machine"):
        find_job("x")
    write_entry(_job())
    with pytest.raises(JobNotFoundError, match=r"No running job 'wrods'. There are: 'words' \(5f1a0000\)"):
        find_job("wrods")
    write_entry(_job("aaaa1111"))
    with pytest.raises(JobNotFoundError, match=r"2 running jobs are called 'words': give an id instead \(5f1a"):
        find_job("words")


def test_where_the_list_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also for a user without a home, as in some containers: a job must not fail for that."""
    monkeypatch.delenv("PENSTOCK_STATE_DIR")
    monkeypatch.setenv("XDG_STATE_HOME", "/xdg")
    assert jobs_folder() == Path("/xdg/penstock/jobs")
    monkeypatch.delenv("XDG_STATE_HOME")
    monkeypatch.setenv("HOME", "/home/ann")
    assert jobs_folder() == Path("/home/ann/.local/state/penstock/jobs")

    def homeless() -> Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.setattr(Path, "home", homeless)
    assert jobs_folder().parts[-3:] == (f"state-{os.getuid()}", "penstock", "jobs")


# -- the control channel ----------------------------------------------------------------------------------------------


def test_requests_come_in_order_and_once(tmp_path: Path) -> None:
    channel = LocalChannel(tmp_path / "box")
    channel.open()
    first, second = channel.ask("savepoint", path="/x"), channel.ask("cancel")
    os.utime(channel.folder / f"request-{first.request_id}.json", ns=(1, 1))
    assert [(r.action, r.arguments) for r in channel.take()] == [("savepoint", {"path": "/x"}), ("cancel", {})]
    assert channel.take() == []
    assert channel.answer(second) is None


def test_a_channel_with_an_answer_in_it_stays(tmp_path: Path) -> None:
    channel = LocalChannel(tmp_path / "box")
    channel.open()
    request = channel.ask("cancel")
    channel.reply(channel.take()[0], {"status": "CANCELED"})
    channel.close()
    assert channel.answer(request) == {"status": "CANCELED"}
    channel.close()
    assert not channel.folder.exists()


def test_requests_to_a_predecessor_do_not_concern_the_job(tmp_path: Path) -> None:
    channel = LocalChannel(tmp_path)
    channel.ask("cancel")
    channel.open()
    assert channel.take() == []


# -- registration --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("with_checkpoint", [True, False])
def test_a_job_is_canceled_through_its_control_channel(tmp_path: Path, with_checkpoint: bool) -> None:
    """P8"""
    client = Client()
    assert register(client, "words", "streaming", str(tmp_path / "ckpt") if with_checkpoint else "", 7)
    job = find_job("words")
    assert (job.job_id, job.started_ms, job.engine, job.pid) == ("c0ffee00", 7, "streaming", os.getpid())
    request = LocalChannel(job.mailbox).ask("cancel")
    client.ended.wait()
    _until(lambda: not running_jobs())
    assert LocalChannel(job.mailbox).answer(request) == {"status": "CANCELED"}


def test_a_job_that_has_ended_is_off_the_list_when_its_starter_goes_on(tmp_path: Path) -> None:
    """P8: the folder of its checkpoint may be removed at once."""
    for number in range(20):
        client = Client(f"c0ffee{number:02}")
        register(client, "words", "streaming", str(tmp_path / "ckpt"), 0)
        client.stop()
        unregister(client)
        assert not running_jobs()
        assert not list((tmp_path / "ckpt" / "penstock").glob("running.json"))
        unregister(client)


def test_what_a_job_cannot_do_is_answered() -> None:
    client = Client()
    register(client, "words", "bounded", "", 0, {"fail": lambda c, a: {}["x"]})
    channel = LocalChannel(find_job("words").mailbox)
    for action, error in (("dance", "This job does not understand 'dance'"), ("fail", "'x'")):
        request = channel.ask(action)
        _until(lambda: list(channel.folder.glob("answer-*.json")))
        assert channel.answer(request) == {"error": error}
    client.stop()
    _until(lambda: not running_jobs())


def test_the_list_shows_that_a_job_restarts() -> None:
    client = Client()
    register(client, "words", "streaming", "", 0)
    client.become(JobStatus.RESTARTING)
    _until(lambda: [job.status for job in running_jobs()] == ["RESTARTING"])
    client.stop()
    _until(lambda: not running_jobs())


def test_a_list_that_cannot_be_written_is_told_and_the_job_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """P12: nothing is a silent no-op."""
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("PENSTOCK_STATE_DIR", str(tmp_path / "file"))
    with pytest.warns(RuntimeWarning, match="The job cannot be listed, so `penstock list` and `penstock cancel`"):
        assert register(Client(), "words", "bounded", "", 0) is None


def test_a_program_that_leaves_its_job_leaves_no_entry(tmp_path: Path) -> None:
    """A daemon thread does not see the end of the process; the entry must go all the same."""
    script = (
        "from tests.jobs.test_running_jobs import Client\n"
        "from penstock.jobs.registration import register\n"
        "register(Client(), 'left', 'streaming', '', 0)\n"
    )
    subprocess.run([sys.executable, "-c", script], check=True, cwd=Path(__file__).parents[2])
    assert list(jobs_folder().glob("*")) == []


# -- a job that starts ------------------------------------------------------------------------------------------


def test_a_job_is_listed_and_canceled_while_its_host_starts(tmp_path: Path) -> None:
    """P8: it is not RUNNING yet; the cancellation reaches it when it has started."""
    starting = StartingJob("c0ffee00")
    registration = register(starting, "words", "streaming", "", 7)
    assert registration is not None
    job = find_job("words")
    assert (job.status, job.checkpoint) == ("CREATED", "")
    request = LocalChannel(job.mailbox).ask("cancel")
    _until(lambda: starting.status is JobStatus.CANCELLING)
    _until(lambda: list(Path(job.mailbox).glob("answer-*.json")))
    assert LocalChannel(job.mailbox).answer(request) == {"status": "CANCELLING"}
    client = Client()
    registration.add_checkpoint(str(tmp_path / "ckpt"))
    starting.become(client)
    assert client.status is JobStatus.CANCELED
    unregister(client)
    assert running_jobs() == []
    assert not list((tmp_path / "ckpt" / "penstock").glob("running.json"))


def test_a_job_that_could_not_start_is_off_the_list() -> None:
    """P8"""
    starting = StartingJob("c0ffee00")
    register(starting, "words", "streaming", "", 7)
    starting.failed()
    unregister(starting)
    assert running_jobs() == []


def test_a_predecessor_on_the_checkpoint_leaves_the_channel_of_its_successor_alone(tmp_path: Path) -> None:
    """F10, P8: two drivers, one folder; what is asked reaches the one that is listed."""
    old, new = Client("0000aaaa"), Client("1111bbbb")
    register(old, "words", "streaming", str(tmp_path / "ckpt"), 0)
    register(new, "words", "streaming", str(tmp_path / "ckpt"), 1)
    old.stop()
    unregister(old)
    LocalChannel(find_job(str(tmp_path / "ckpt")).mailbox).ask("cancel")
    new.ended.wait()
    unregister(new)
    assert list((tmp_path / "ckpt" / "penstock").rglob("request-*.json")) == []
