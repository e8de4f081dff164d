"""Savepoints of a running job, coordinated; the host's part is a fake, so no Spark is needed."""

from __future__ import annotations

from pathlib import Path

import pytest

from penstock.core.errors import JobFailedError, SavepointError
from penstock.jobs.control_channel import REQUESTS, ControlChannel, checkpoint_channel
from penstock.jobs.savepoint_coordinator import SavepointCoordinator
from penstock.jobs.savepoint_requests import SavepointRequest
from penstock.savepoint.storage import Folder


class Writer:
    """Stands for a host: notes what it is to write."""

    def __init__(self, drainable: bool = True) -> None:
        self.drainable = drainable
        self.written: list[tuple[SavepointRequest, int, bool]] = []

    def write(self, request: SavepointRequest, batch: int, finished: bool) -> str:
        if request.path == "/full":
            raise OSError("the disk is full")
        self.written.append((request, batch, finished))
        return request.path

    def explain(self, error: Exception) -> Exception:
        return SavepointError(f"as the host says it: {error}")


class Clock:
    """Time passes when the test says so."""

    def __init__(self) -> None:
        self.ms = 10_000

    def now_ms(self) -> int:
        return self.ms


def channel(folder: Path) -> ControlChannel:
    return checkpoint_channel(Folder(str(folder)))


def made(folder: Path, writer: Writer | None = None) -> tuple[SavepointCoordinator, Writer, Clock]:
    writer, clock = writer or Writer(), Clock()
    return SavepointCoordinator(channel(folder), writer, clock), writer, clock


def test_a_job_holds_still_until_its_savepoint_is_written(tmp_path: Path) -> None:
    """F4"""
    coordinator, writer, _ = made(tmp_path)
    assert not coordinator.holds
    answer = coordinator.submit(SavepointRequest("/s"))
    assert coordinator.holds
    assert not coordinator.drains
    assert not coordinator.handle_requests(4, False, lambda: False), "the job is in a batch"
    assert writer.written == []
    assert not coordinator.handle_requests(5, False, lambda: True), "the job goes on"
    assert writer.written == [(SavepointRequest("/s"), 5, False)]
    assert answer.result() == "/s"
    assert not coordinator.holds


def test_a_job_that_is_to_stop_answers_when_it_has_ended(tmp_path: Path) -> None:
    """F4"""
    coordinator, _, _ = made(tmp_path)
    answer = coordinator.submit(SavepointRequest("/s", stop=True))
    assert coordinator.handle_requests(5, False, lambda: True)
    assert coordinator.saved
    assert not answer.done()
    coordinator.close()
    assert answer.result() == "/s"


@pytest.mark.parametrize("drainable", [True, False])
def test_a_drained_savepoint_waits_for_the_end_of_all_sources_if_they_can_end(tmp_path: Path, drainable: bool) -> None:
    """F4: a host whose sources cannot be brought to an end is asked at once, and refuses by itself."""
    coordinator, writer, _ = made(tmp_path, Writer(drainable))
    coordinator.submit(SavepointRequest("/s", stop=True, drain=True))
    assert (coordinator.drains, coordinator.holds) == (drainable, not drainable)
    coordinator.handle_requests(5, False, lambda: True)
    assert bool(writer.written) is not drainable
    if drainable:
        assert coordinator.handle_requests(6, True, lambda: True)
        assert writer.written == [(SavepointRequest("/s", True, True), 6, True)]


def test_a_savepoint_that_cannot_be_written_is_told_and_the_job_goes_on(tmp_path: Path) -> None:
    coordinator, _, _ = made(tmp_path)
    answer = coordinator.submit(SavepointRequest("/full", stop=True))
    assert not coordinator.handle_requests(5, False, lambda: True)
    with pytest.raises(SavepointError, match="as the host says it: the disk is full"):
        answer.result()
    assert not coordinator.saved


def test_requests_that_come_too_late_are_refused(tmp_path: Path) -> None:
    coordinator, _, _ = made(tmp_path)
    waiting = coordinator.submit(SavepointRequest("/s"))
    coordinator.close()
    late = coordinator.submit(SavepointRequest("/s"))
    for answer in (waiting, late):
        with pytest.raises(JobFailedError, match="The job ended before it could do what was asked of it"):
            answer.result()


def test_another_process_is_told_that_its_request_has_begun_and_what_came_of_it(tmp_path: Path) -> None:
    """F4: the folder is looked at once a second."""
    coordinator, _, clock = made(tmp_path)
    asker = channel(tmp_path)
    coordinator.handle_requests(5, False, lambda: True)
    asked = asker.ask("savepoint", path="/s", stop=False, drain=False)
    coordinator.handle_requests(5, False, lambda: False)
    assert not asker.begun(asked)
    clock.ms += 1_000
    coordinator.handle_requests(5, False, lambda: False)
    assert asker.begun(asked)
    coordinator.handle_requests(5, False, lambda: True)
    assert asker.answer(asked) == {"path": "/s"}


def test_a_request_with_an_unknown_argument_is_refused(tmp_path: Path) -> None:
    coordinator, _, _ = made(tmp_path)
    asker = channel(tmp_path)
    asked = asker.ask("savepoint", path="/s", twice=True)
    coordinator.handle_requests(5, False, lambda: True)
    answer = asker.answer(asked)
    assert answer is not None
    where = f"{tmp_path}/{REQUESTS}/{asked.request_id}.json"
    assert answer["error"].startswith(f"The job does not understand what is asked in {where}: ")
    assert "twice" in answer["error"]
    assert not coordinator.holds
