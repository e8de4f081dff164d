"""What the planner of the sources is told, and when (T11, F4, F13); without Spark."""

from pathlib import Path

import pytest

from penstock.spark.streaming.control import ControlFile, ControlPublisher
from penstock.spark.streaming.job_context import JobContext
from tests.spark.job_parts import FakeRequests, job_context


class CountingFile(ControlFile):
    written = 0

    def write(self, control: object) -> None:  # type: ignore[override]
        self.written += 1
        super().write(control)  # type: ignore[arg-type]


class Published:
    def __init__(self, folder: Path) -> None:
        self.job: JobContext = job_context()
        self.requests = FakeRequests()
        self.limits = {"clicks": 100}
        self.file = CountingFile(str(folder / "control.json"))
        self._publisher = ControlPublisher(self.job, self.file, self.requests, lambda: dict(self.limits))
        self._planner = ControlFile(self.file.path)

    def tell(self) -> dict[str, object]:
        self._publisher.publish_control()
        return dict(self._planner.read())


@pytest.fixture
def published(tmp_path: Path) -> Published:
    return Published(tmp_path)


def test_before_anything_is_said_the_planner_knows_nothing(tmp_path: Path) -> None:
    assert ControlFile(str(tmp_path / "none.json")).read() == {}


def test_a_job_that_runs_is_told_so(published: Published) -> None:
    assert published.tell() == {
        "stop": False,
        "hold": False,
        "drain": False,
        "next_timer_ms": None,
        "limits": {"clicks": 100},
    }


def test_the_file_is_written_only_when_there_is_news(published: Published) -> None:
    for _ in range(3):
        published.tell()
    assert published.file.written == 1
    published.job.run.next_timer_ms = 5000
    assert published.tell()["next_timer_ms"] == 5000
    published.limits["clicks"] = 50
    assert published.tell()["limits"] == {"clicks": 50}
    assert published.file.written == 3


def test_a_stop_is_told_at_once(published: Published) -> None:
    """P8"""
    published.job.stop.ask()
    assert published.tell()["stop"] is True


def test_a_savepoint_waits_for_the_first_batch_of_a_run(published: Published) -> None:
    """F4: that batch commits what the run before had prepared, so it must be planned."""
    published.requests.holds = True
    assert published.tell()["hold"] is False
    published.job.run.released = 0
    assert published.tell()["hold"] is True
    published.job.run.begin()
    assert published.tell()["hold"] is False


def test_draining_waits_likewise(published: Published) -> None:
    """F4"""
    published.requests.drains = True
    assert published.tell()["drain"] is False
    published.job.run.released = 3
    assert published.tell()["drain"] is True
