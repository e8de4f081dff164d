"""Temporary files of a process: closed to others, and cleared up after it by the next one."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from penstock.core import scratch
from penstock.core.processes import process_mark


@pytest.fixture(autouse=True)
def _own_temporary_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(scratch, "_FOLDERS", {})


def _mode(path: str | Path) -> int:
    return stat.S_IMODE(os.stat(path).st_mode)


def test_only_the_user_may_look_into_it(tmp_path: Path) -> None:
    """P8: on a machine that others use as well."""
    folder = scratch.scratch_folder()
    assert scratch.scratch_folder() == folder
    assert (_mode(folder), _mode(Path(folder).parent)) == (0o700, 0o700)
    assert Path(folder).parent.parent == tmp_path


def test_what_dead_processes_have_left_is_removed_and_nothing_else(tmp_path: Path) -> None:
    """P8: a process with the same number that began later is another one; other machines may share the folder."""
    base, mark = tmp_path / f"penstock-{os.getuid()}", process_mark(os.getpid())
    dead = subprocess.Popen([sys.executable, "-c", ""])
    dead.wait()
    gone = [f"{dead.pid}.123.{scratch._machine()}", f"{os.getppid()}.another start.{scratch._machine()}"]
    stays = [f"{os.getppid()}.{process_mark(os.getppid())}.{scratch._machine()}", f"{dead.pid}.123.elsewhere", "notes"]
    for name in (*gone, *stays):
        (base / name / "inside").mkdir(parents=True)
    folder = Path(scratch.scratch_folder())
    assert folder.name == f"{os.getpid()}.{mark}.{scratch._machine()}"
    assert sorted(path.name for path in base.iterdir()) == sorted([*stays, folder.name])


def test_a_folder_that_somebody_else_has_put_there_is_not_used(tmp_path: Path) -> None:
    """P8"""
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / f"penstock-{os.getuid()}").symlink_to(tmp_path / "elsewhere")
    folder = Path(scratch.scratch_folder())
    assert list((tmp_path / "elsewhere").iterdir()) == []
    assert (folder.parent, _mode(folder)) == (tmp_path, 0o700)


def test_it_is_removed_when_the_process_ends(tmp_path: Path) -> None:
    """P8"""
    script = "from penstock.core.scratch import scratch_folder as f; open(f() + '/file', 'w').close(); print(f())"
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, env={**os.environ, "TMPDIR": str(tmp_path)}
    )
    assert done.stdout.startswith(str(tmp_path)), done.stderr
    assert not Path(done.stdout.strip()).exists()
