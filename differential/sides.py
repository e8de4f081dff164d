"""The two sides: where each finds its programs, and how a process of it is started."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from benchmarks.envs import interpreter

ROOT = Path(__file__).resolve().parents[1]
SCRATCH = ROOT / ".differential"
PYFLINK = "pyflink"
HOSTS = ("bounded", "local", "streaming")
"""Penstock's; a run compares PyFlink with the first two unless told otherwise."""

_IMPORT = re.compile(r"^(\s*(?:from|import)\s+)pyflink\b", re.MULTILINE)


class SideFailed(Exception):
    """A process of a side ended with an error of its own; the text is its last words."""


@dataclass(frozen=True, slots=True)
class Side:
    """PyFlink, or Penstock on one of its hosts."""

    name: str

    @property
    def reference(self) -> bool:
        return self.name == PYFLINK

    @property
    def folder(self) -> Path:
        """Where its copy of the programs is, and its outcomes."""
        return SCRATCH / ("pyflink" if self.reference else "penstock")

    @property
    def programs(self) -> Path:
        """Its copy of the programs; `prepare` lays it out."""
        return self.folder / "differential" / "programs"

    def text(self, program: str) -> str:
        """A program as this side runs it: the package in its imports is the only thing that changes."""
        return program if self.reference else _IMPORT.sub(r"\1penstock", program)

    def python(self) -> str:
        return interpreter("flink") if self.reference else sys.executable

    def facts(self) -> list[str]:
        """What of PyFlink's side decides its outcomes beside the programs: version and settings."""
        return [flink_version(), json.dumps(_flink(), sort_keys=True)]

    def run(self, arguments: list[str], timeout_s: float) -> subprocess.CompletedProcess[str]:
        """Run this side's Python to its end."""
        command = [self.python(), *arguments]
        return subprocess.run(
            command, env=self._variables(), cwd=self.folder, capture_output=True, text=True, timeout=timeout_s
        )

    def _variables(self) -> dict[str, str]:
        own = _flink() if self.reference else _penstock(self.name)
        path = [str(self.folder), *([] if self.reference else [str(ROOT / "src")])]
        # PyFlink starts its workers with the `python` it finds on PATH
        programs = os.pathsep.join([str(Path(self.python()).parent), os.environ.get("PATH", "")])
        return {**os.environ, **own, "PYTHONPATH": os.pathsep.join(path), "PATH": programs}


@cache
def flink_version() -> str:
    """Of the PyFlink that is compared with."""
    code = "from importlib.metadata import version; print(version('apache-flink'))"
    command = [Side(PYFLINK).python(), "-c", code]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


def _flink() -> dict[str, str]:
    settings = {
        # workers as threads of the one Python process, as PyFlink does when the target is local
        "execution.target": "local",
        "python.fn-execution.bundle.time": "100",
        "rest.port": "0",
        "taskmanager.memory.managed.size": "256m",
        "taskmanager.memory.network.max": "256m",
        "taskmanager.memory.network.min": "256m",
    }
    return {"DIFFERENTIAL_CONF": json.dumps(settings), "DIFFERENTIAL_PAUSE": "0.15"}


def _penstock(host: str) -> dict[str, str]:
    return {"PENSTOCK_CONF": json.dumps({"penstock.host": host})}


def prepare(side: Side) -> None:
    """Lay out a side's copy of the programs anew."""
    package = side.folder / "differential"
    shutil.rmtree(package, ignore_errors=True)
    for source in [ROOT / "differential" / "__init__.py", *(ROOT / "differential" / "programs").glob("*.py")]:
        copy = package / source.relative_to(ROOT / "differential")
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_text(side.text(source.read_text(encoding="utf-8")), encoding="utf-8")
