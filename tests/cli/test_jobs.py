"""penstock list and cancel, with jobs that run in this process."""

import json
import os
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from penstock.core.time.clock import SystemClock
from penstock.jobs.client import JobClient, JobStatus
from penstock.jobs.listing import find_job, running_jobs
from penstock.jobs.registration import _REGISTRATIONS, register
from tests.cli.kit import penstock
from tests.jobs.test_running_jobs import Client


@pytest.fixture(autouse=True)
def _own_list(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A list of this test's own; no registration of it writes to the next one's."""
    monkeypatch.setenv("PENSTOCK_STATE_DIR", str(tmp_path / "state"))
    yield
    for registration in list(_REGISTRATIONS.values()):
        registration.end()


class Deaf(Client):
    """Does not end when it is told to, but when the test lets it."""

    released = threading.Event()

    def stop(self) -> None:
        self.released.wait()
        self.become(JobStatus.CANCELED)


class Stubborn(Client):
    def stop(self) -> None:
        raise RuntimeError("the query does not answer")


def _start(client: JobClient, name: str = "hot items", checkpoint: str = "") -> None:
    assert register(client, name, "streaming", checkpoint, SystemClock().now_ms() - 65_000) is not None


def test_nothing_runs() -> None:
    assert penstock("list").stdout == "No job runs. Start one: penstock run job.py\n"
    assert json.loads(penstock("list", "--json").stdout) == []


def test_running_jobs_are_listed_and_canceled(tmp_path: Path) -> None:
    """P8: what is committed stays; the message says how to go on."""
    _start(Client("aaaa1111bbbb"), checkpoint=str(tmp_path / "ckpt"))
    _start(Client("cccc2222dddd"), "words")
    head, *rows = penstock("list").stdout.splitlines()
    assert head.split() == ["ID", "NAME", "STATUS", "FOR", "PID", "CHECKPOINT"]
    assert sorted(row.split("  ")[0] for row in rows) == ["aaaa1111", "cccc2222"]
    assert f"aaaa1111  hot items  RUNNING  1 min 5 s  {os.getpid()}" in "\n".join(rows)
    assert {job["name"] for job in json.loads(penstock("list", "--json").stdout)} == {"hot items", "words"}

    result = penstock("cancel", "hot items")
    again = f"Started again, it goes on from {tmp_path / 'ckpt'}."
    assert (result.exit_code, result.stdout) == (0, f"Canceled 'hot items' (aaaa1111). {again}\n"), result.stderr
    assert penstock("cancel", "cccc").stdout == "Canceled 'words' (cccc2222).\n"
    assert running_jobs() == []


class Busy(Client):
    """In a long batch: it stops later."""

    def ask_to_stop(self) -> None:
        self.become(JobStatus.CANCELLING)


def test_a_job_in_a_long_batch_answers_at_once(tmp_path: Path) -> None:
    """P8: the command does not wait for the end unless asked to."""
    client = Busy("aaaa1111bbbb")
    _start(client, checkpoint=str(tmp_path / "ckpt"))
    said = penstock("cancel", "hot items").stdout
    start = "Canceling 'hot items' (aaaa1111): it ends as soon as the batch that runs has ended. Started again"
    assert said.startswith(start)
    waiting = penstock("cancel", "hot items", "--wait", "--timeout", "0.3")
    assert "'hot items' is being canceled but has not ended for 0.3 s" in waiting.stderr
    client.stop()


def test_an_unknown_job_is_told_with_those_there_are() -> None:
    result = penstock("cancel", "words")
    assert (result.exit_code, result.stderr) == (
        1,
        "Error: No running job 'words': no job of this user runs on this machine\n",
    )
    client = Client()
    _start(client)
    assert penstock("cancel", "words").stderr == "Error: No running job 'words'. There are: 'hot items' (c0ffee00)\n"
    client.stop()


def test_a_job_that_is_silent_or_refuses_is_told() -> None:
    _start(Deaf("dddd0000"), "deaf")
    result = penstock("cancel", "deaf", "--timeout", "0.3")
    assert result.exit_code == 1
    assert "'deaf' has not answered for 0.3 s; it may be in a long batch" in result.stderr
    Deaf.released.set()
    client = Stubborn("eeee0000")
    _start(client, "stubborn")
    assert penstock("cancel", "stubborn").stderr == "Error: 'stubborn': the query does not answer\n"
    client.become(JobStatus.CANCELED)


def test_a_job_whose_mailbox_is_gone_is_told() -> None:
    client = Client()
    _start(client, "lost")
    os.rmdir(find_job("lost").mailbox)
    assert "'lost' cannot be reached through" in penstock("cancel", "lost").stderr
    client.stop()


@pytest.mark.parametrize("command", [["stop", "words"], ["savepoint", "words", "/tmp/nowhere"]])
def test_stop_and_savepoint_take_a_name_of_a_job_with_a_checkpoint(command: list[str]) -> None:
    """F4"""
    assert penstock(*command).stderr.startswith("Error: No running job 'words'")
    client = Client()
    _start(client, "words")
    expected = "Error: 'words' was started without --checkpoint: it can only be canceled (penstock cancel)\n"
    assert penstock(*command).stderr == expected
    client.stop()


def test_names_of_running_jobs_are_completed() -> None:
    client = Client()
    _start(client, "words")
    os.environ.update(COMP_WORDS="penstock cancel w", COMP_CWORD="2", _PENSTOCK_COMPLETE="bash_complete")
    try:
        from click.testing import CliRunner

        from penstock.cli import main

        shown = CliRunner().invoke(main, [], prog_name="penstock").stdout
    finally:
        for name in ("COMP_WORDS", "COMP_CWORD", "_PENSTOCK_COMPLETE"):
            os.environ.pop(name)
        client.stop()
    assert shown == "plain,words\n"
