"""One run of one peer, in a process of its own."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import tempfile
import time
from pathlib import Path

from benchmarks.envs import ROOT, SCRATCH, interpreter
from benchmarks.inputs import Answer
from benchmarks.machine import session_mb
from benchmarks.model import PEAK_MB, Outcome, Trial
from benchmarks.peers.registry import PEERS, Peer

TIMEOUT_S, LOOK_S = 900, 2


class RunFailed(Exception):
    """A peer did not come to an end, or came to a wrong one."""


def run(job: str, trial: Trial, round_number: int) -> Outcome:
    """Run a peer; its outcome, checked. What it printed stays in ``.bench/logs``."""
    log = SCRATCH / "logs" / job / trial.case.replace(" ", "-").replace(",", "") / f"{trial.peer}-{round_number}.log"
    log.parent.mkdir(parents=True, exist_ok=True)
    (SCRATCH / "work").mkdir(parents=True, exist_ok=True)
    work = Path(tempfile.mkdtemp(dir=SCRATCH / "work"))
    try:
        peak_mb = _execute(PEERS[trial.peer], job, trial, work, log)
        outcome = _read(work / "outcome.json")
        outcome.metrics[PEAK_MB] = peak_mb
    finally:
        shutil.rmtree(work, ignore_errors=True)
    _check(trial, outcome)
    return outcome


def _execute(peer: Peer, job: str, trial: Trial, work: Path, log: Path) -> float:
    """Run a peer to its end; the most memory that it and its children had, in MB."""
    python = interpreter(peer.environment)
    command = [python, "-m", peer.module, job, json.dumps(trial.params), str(work / "outcome.json")]
    with log.open("w", encoding="utf-8") as output:
        process = subprocess.Popen(
            command,
            cwd=work,
            env=_variables(peer, python, work),
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            code, peak_mb = _watched(process)
        except subprocess.TimeoutExpired:
            raise RunFailed(f"not finished after {TIMEOUT_S} s, see {log.relative_to(ROOT)}") from None
        finally:
            _end(process)
    if code != 0:
        raise RunFailed(f"exit code {code}, see {log.relative_to(ROOT)}")
    return peak_mb


def _watched(process: subprocess.Popen[bytes]) -> tuple[int, float]:
    """Exit code and peak memory; looks every other second, which is dear enough for the process that is measured."""
    deadline, pause_s, peak_mb = time.monotonic() + TIMEOUT_S, 0.5, 0.0
    while True:
        try:
            return process.wait(pause_s), peak_mb
        except subprocess.TimeoutExpired:
            if time.monotonic() > deadline:
                raise
        pause_s, peak_mb = LOOK_S, max(peak_mb, session_mb(process.pid))


def _variables(peer: Peer, python: str, work: Path) -> dict[str, str]:
    return {
        **os.environ,
        **peer.variables,
        "PYTHONPATH": os.pathsep.join([str(ROOT / "src"), str(ROOT)]),  # this tree, not an installed one
        "PYSPARK_PYTHON": python,
        "PYSPARK_DRIVER_PYTHON": python,
        "TMPDIR": str(work),
        "BENCH_STARTED": str(time.time()),
        "PENSTOCK_NO_ARCHIVE": "1",  # no class-data archive is to be made in the background meanwhile
    }


def _end(process: subprocess.Popen[bytes]) -> None:
    """A JVM or a worker may outlive the process that started it; all of them are in its process group."""
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        return
    process.wait()


def _read(path: Path) -> Outcome:
    data = json.loads(path.read_text(encoding="utf-8"))
    answer = data.pop("answer")
    return Outcome(answer=None if answer is None else Answer(**answer), **data)


def _check(trial: Trial, outcome: Outcome) -> None:
    if trial.expected is None:
        return
    expected = trial.expected()
    if outcome.answer != expected:
        raise RunFailed(f"wrong answer: {outcome.answer}, expected {expected}")
