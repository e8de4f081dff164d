"""The control channel: one protocol, two places, and files that the version before understands too."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from penstock.jobs.control_channel import REQUESTS, ControlChannel, LocalChannel, checkpoint_channel
from penstock.savepoint.storage import Folder


def beside_checkpoint(folder: Path) -> tuple[ControlChannel, ControlChannel]:
    """Both ends of a channel beside a checkpoint: the asker's and the job's."""
    return checkpoint_channel(Folder(str(folder))), checkpoint_channel(Folder(str(folder)))


def local(folder: Path) -> tuple[ControlChannel, ControlChannel]:
    LocalChannel(folder).open()
    return LocalChannel(folder), LocalChannel(folder)


@pytest.mark.parametrize("channel", [local, beside_checkpoint])
def test_a_request_is_taken_once_begun_and_answered_once(tmp_path: Path, channel: object) -> None:
    asker, job = channel(tmp_path / "job")  # type: ignore[operator]
    asked = asker.ask("savepoint", path="/data/one")
    assert not asker.begun(asked)
    (taken,) = job.take()
    assert (taken.action, taken.arguments, taken.request_id) == ("savepoint", {"path": "/data/one"}, asked.request_id)
    assert job.take() == []
    job.acknowledge(taken)
    assert asker.begun(asked)
    assert asker.answer(asked) is None
    job.reply(taken, {"path": "/data/one"})
    assert asker.answer(asked) == {"path": "/data/one"}
    assert asker.answer(asked) is None
    asker.withdraw(asked)
    assert [path for path in (tmp_path / "job").rglob("*") if path.is_file()] == [], "nothing is left behind"


def test_a_request_beside_a_checkpoint_waits_for_the_next_driver_if_one_dies(tmp_path: Path) -> None:
    """F4"""
    asker, job = beside_checkpoint(tmp_path)
    asked = asker.ask("savepoint", path="/data/one")
    (taken,) = job.take()
    job.acknowledge(taken)
    _, successor = beside_checkpoint(tmp_path)
    assert [request.request_id for request in successor.take()] == [asked.request_id]


@pytest.mark.parametrize("channel", [local, beside_checkpoint])
def test_a_request_that_was_altered_is_refused(tmp_path: Path, channel: object) -> None:
    """F8"""
    asker, job = channel(tmp_path)  # type: ignore[operator]
    asked = asker.ask("savepoint", path="/data/one")
    (file,) = (path for path in tmp_path.rglob("*.json"))
    file.write_text(file.read_text().replace("one", "two"))
    assert job.take() == []
    answer = asker.answer(asked)
    assert answer is not None
    assert answer["error"].startswith(f"The job does not understand what is asked in {file}: ")
    assert answer["error"].endswith("its checksum does not match")


@pytest.mark.parametrize("channel", [local, beside_checkpoint])
def test_an_answer_that_was_altered_is_not_believed(tmp_path: Path, channel: object) -> None:
    """F8"""
    asker, job = channel(tmp_path)  # type: ignore[operator]
    asked = asker.ask("savepoint", path="/data/one")
    job.reply(job.take()[0], {"path": "/data/one"})
    (file,) = (path for path in tmp_path.rglob("*answer*.json"))
    file.write_text(file.read_text().replace("one", "two"))
    with pytest.raises(ValueError, match=r"The job's answer is damaged: .*its checksum does not match. Ask again"):
        asker.answer(asked)


# -- other versions -------------------------------------------------------------------------------------------


def test_a_job_of_the_version_before_is_canceled(tmp_path: Path) -> None:
    """P8: such a job reads `action` and `arguments`, and answers without a checksum and without `done`."""
    asker = LocalChannel(tmp_path)
    asked = asker.ask("cancel")
    data = json.loads((tmp_path / f"request-{asked.request_id}.json").read_text())
    assert (data["action"], data["arguments"]) == ("cancel", {})
    (tmp_path / f"answer-{asked.request_id}.json").write_text('{"status": "CANCELLING"}')
    assert asker.answer(asked) == {"status": "CANCELLING"}


def test_a_command_of_the_version_before_is_understood(tmp_path: Path) -> None:
    """P8: such a command writes no checksum, and reads any key of the answer that it knows."""
    (tmp_path / "request-5f1a.json").write_text('{"action": "cancel", "arguments": {}}')
    job = LocalChannel(tmp_path)
    (taken,) = job.take()
    job.reply(taken, {"status": "CANCELED"})
    assert json.loads((tmp_path / "answer-5f1a.json").read_text())["status"] == "CANCELED"


def test_a_savepoint_is_asked_for_and_answered_in_the_form_of_the_version_before(tmp_path: Path) -> None:
    """F4: such a job refuses a request with a key that it does not know."""
    asker, job = beside_checkpoint(tmp_path)
    asked = asker.ask("savepoint", path="/data/one", stop=True, drain=False)
    text = (tmp_path / REQUESTS / f"{asked.request_id}.json").read_text()
    assert set(json.loads(text)) == {"path", "stop", "drain", "sum", "sealed"}
    job.acknowledge(job.take()[0])
    answer = tmp_path / REQUESTS / f"{asked.request_id}.answer.json"
    assert json.loads(answer.read_text())["done"] is False
    answer.write_text('{"done": true, "path": "/data/one"}')
    assert asker.answer(asked) == {"path": "/data/one"}


class Vanishing(Folder):
    """A folder in which a file is removed between the listing and the reading of it."""

    def read_bytes(self, name: str) -> bytes:
        self.delete(name)
        return super().read_bytes(name)


def test_a_request_that_is_withdrawn_while_the_job_reads_it_is_passed_over(tmp_path: Path) -> None:
    """F4: the job goes on."""
    checkpoint_channel(Folder(str(tmp_path))).ask("savepoint", path="/data/one")
    assert checkpoint_channel(Vanishing(str(tmp_path))).take() == []
