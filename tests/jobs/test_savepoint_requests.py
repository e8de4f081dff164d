"""F4: another process asks a running job through files beside its checkpoint; the command line does."""

from __future__ import annotations

import json
import os
import socket
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from penstock.cli.command import main
from penstock.core.errors import SavepointError
from penstock.core.processes import process_mark
from penstock.core.time.clock import SystemClock
from penstock.jobs.control_channel import REQUESTS, checkpoint_channel
from penstock.jobs.listing import RunningJob, write_entry
from penstock.jobs.savepoint_requests import SavepointRequest, Waits, ask_for_savepoint
from penstock.savepoint.storage import Folder


def answer_name(ident: str) -> str:
    """Where the answer of a job lies, on disk: a format that other versions read too."""
    return f"{REQUESTS}/{ident}.answer.json"


@pytest.fixture
def checkpoint(tmp_path: Path) -> Path:
    Folder(str(tmp_path / "ckpt")).write("penstock/owner", "me")
    return tmp_path / "ckpt"


def answering(checkpoint: Path, answer: Callable[[SavepointRequest], dict[str, Any]]) -> threading.Thread:
    """Stands for a job: takes one request and answers it."""

    def job() -> None:
        folder = Folder(str(checkpoint))
        while not (names := [n for n in folder.names(REQUESTS) if n.endswith(".json") and "answer" not in n]):
            SystemClock().sleep_ms(5)
        ident = names[0].removesuffix(".json")
        request = SavepointRequest.of(checkpoint_channel(folder).take()[0])
        folder.write(answer_name(ident), json.dumps({"done": False}))
        SystemClock().sleep_ms(50)
        folder.write(answer_name(ident), json.dumps({"done": True, **answer(request)}))

    thread = threading.Thread(target=job)
    thread.start()
    return thread


def test_a_savepoint_is_asked_for_on_the_command_line(checkpoint: Path, tmp_path: Path) -> None:
    job = answering(checkpoint, lambda request: {"path": request.path})
    result = CliRunner().invoke(main, ["savepoint", str(checkpoint), str(tmp_path / "saved")])
    job.join()
    assert (result.exit_code, result.output) == (0, f"{tmp_path}/saved\n")
    assert Folder(str(checkpoint)).names(REQUESTS) == [], "nothing is left behind"


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ([], SavepointRequest("", True, False)),
        (["--savepoint", "/s/one"], SavepointRequest("/s/one", True, False)),
        (["--savepoint", "/s/one", "--drain"], SavepointRequest("/s/one", True, True)),
    ],
)
def test_a_job_is_stopped_on_the_command_line(checkpoint: Path, options: list[str], expected: SavepointRequest) -> None:
    seen: list[SavepointRequest] = []
    job = answering(checkpoint, lambda request: seen.append(request) or {"path": request.path})  # type: ignore[func-returns-value]
    result = CliRunner().invoke(main, ["stop", str(checkpoint), *options])
    job.join()
    assert seen == [expected]
    assert (result.exit_code, result.output) == (0, f"{expected.path or 'Stopped.'}\n")


def test_what_the_job_could_not_do_is_said(checkpoint: Path) -> None:
    job = answering(checkpoint, lambda request: {"error": "the disk is full"})
    result = CliRunner().invoke(main, ["stop", str(checkpoint)])
    job.join()
    assert (result.exit_code, result.output) == (1, "Error: the disk is full\n")


def test_a_folder_that_is_no_checkpoint(tmp_path: Path) -> None:
    result = CliRunner().invoke(main, ["savepoint", str(tmp_path), "/s"])
    assert (result.exit_code, result.output) == (
        1,
        f"Error: {tmp_path} is not the checkpoint folder of a job of Penstock\n",
    )


def test_a_job_that_does_not_run(checkpoint: Path) -> None:
    with pytest.raises(SavepointError, match=r"ckpt: no job answers: none seems to run on it after 0 s"):
        ask_for_savepoint(str(checkpoint), SavepointRequest("/s"), Waits(10, 10))
    assert Folder(str(checkpoint)).names(REQUESTS) == []


def listed(checkpoint: Path, pid: int, mark: str, machine: str) -> RunningJob:
    job = RunningJob("c0ffee", "words", pid, mark, machine, checkpoint=str(checkpoint))
    write_entry(job)
    return job


class Clock(SystemClock):
    """Time passes as fast as somebody waits; after so many looks something happens."""

    def __init__(self, looks: int, then: Callable[[], Any]) -> None:
        self._now_ms, self._looks, self._then = 0, looks, then

    def now_ms(self) -> int:
        return self._now_ms

    def sleep_ms(self, delay_ms: float) -> None:
        self._now_ms += int(delay_ms)
        self._looks -= 1
        if self._looks == 0:
            self._then()


@pytest.fixture
def _own_list(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PENSTOCK_STATE_DIR", str(tmp_path / "state"))


@pytest.mark.usefixtures("_own_list")
def test_a_job_that_lives_is_waited_for_however_slow_it_is(checkpoint: Path) -> None:
    """F4: an hour, where one that is not seen is given a second."""
    listed(checkpoint, os.getpid(), process_mark(os.getpid()), socket.gethostname())
    folder = Folder(str(checkpoint))

    def begin() -> None:
        (name,) = folder.names(REQUESTS)
        folder.write(answer_name(name.removesuffix(".json")), json.dumps({"done": False}))
        clock._looks, clock._then = 18_000, finish

    def finish() -> None:
        (name,) = (n for n in folder.names(REQUESTS) if "answer" not in n)
        folder.write(answer_name(name.removesuffix(".json")), json.dumps({"done": True, "path": "/s"}))

    clock = Clock(18_000, begin)
    assert ask_for_savepoint(str(checkpoint), SavepointRequest("/s"), Waits(1_000, 1_000), clock) == "/s"
    assert clock.now_ms() >= 7_200_000


@pytest.mark.usefixtures("_own_list")
def test_a_job_that_lives_is_waited_for_no_longer_than_one_is_told_to(checkpoint: Path) -> None:
    """F4"""
    listed(checkpoint, os.getpid(), process_mark(os.getpid()), socket.gethostname())
    text = r"the job has not done what was asked of it, which it may still do, after 2.5 s"
    with pytest.raises(SavepointError, match=text):
        ask_for_savepoint(str(checkpoint), SavepointRequest("/s"), Waits(1_000, 1_000, 2_500), Clock(0, str))


@pytest.mark.usefixtures("_own_list")
@pytest.mark.parametrize("machine", ["", "elsewhere"])
def test_a_job_that_died_or_is_not_seen_is_given_up(checkpoint: Path, machine: str) -> None:
    """F4: the number of its process belongs to another one now, or nothing is known of its machine."""
    listed(checkpoint, os.getpid(), "another beginning", machine or socket.gethostname())
    with pytest.raises(SavepointError, match="none seems to run on it after 1 s"):
        ask_for_savepoint(str(checkpoint), SavepointRequest("/s"), Waits(1_000, 1_000), Clock(0, str))


JOB = """
from penstock.datastream import StreamExecutionEnvironment
env = StreamExecutionEnvironment.get_execution_environment()
env.from_collection([1, 2, 3, 4]).uid("n").key_by(lambda v: 0).reduce(lambda a, b: a + b).uid({uid!r}).print()
env.execute()
"""


def test_a_job_is_started_from_a_savepoint_on_the_command_line(tmp_path: Path) -> None:
    """F4, P10."""
    from penstock.datastream import StreamExecutionEnvironment
    from penstock.testing import collect, local_job

    env = StreamExecutionEnvironment()
    collect(env.from_collection([1, 2, 3, 4]).uid("n").key_by(lambda v: 0).reduce(lambda a, b: a + b).uid("s"), "out")
    job = local_job(env)
    job.run_batch(2)
    saved = job.savepoint(str(tmp_path / "saved")).path
    for uid in ("s", "t"):
        (tmp_path / f"{uid}.py").write_text(JOB.format(uid=uid))

    def run(uid: str, *options: str) -> tuple[int, str]:
        arguments = ["run", str(tmp_path / f"{uid}.py"), "--host", "local", "-p", "1", "--from-savepoint", saved]
        result = CliRunner().invoke(main, [*arguments, *options])
        return result.exit_code, result.output

    assert run("s") == (0, "6\n10\n")
    code, text = run("t")
    assert code == 1
    assert "no operator claims the state of operator 'Reduce' (uid s)" in text
    assert run("t", "--allow-unclaimed-state") == (0, "3\n7\n")
    assert "the bounded host cannot: it keeps no state" in run("s", "--host", "bounded")[1]
