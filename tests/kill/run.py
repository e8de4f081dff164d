"""A job that is started, killed and started again until it has finished, with a log of every kill."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import IO

from tests.effort import HANG_S
from tests.kill.found import Class, Found, autopsy, inspect, last_committed
from tests.kill.job import JobOptions
from tests.kill.moments import PAUSES, Aim, Moment
from tests.kill.processes import (
    Process,
    alive,
    below,
    executors,
    jvm_of,
    kill,
    python_workers,
    send,
    wait_for,
    wait_gone,
)

__all__ = ["QUICK_JVM", "ROOT", "Kill", "KilledJob", "Target", "pause_for"]

ROOT = Path(__file__).parents[2]
PATIENCE = float(HANG_S)


class Target(StrEnum):
    """Who is killed."""

    DRIVER = "driver"
    """The Python process; its JVM lives on for as long as it notices nothing."""
    MACHINE = "driver and JVM"
    """Both at once, as when a machine dies."""
    WORKER = "Python worker"
    EXECUTOR = "executor"


@dataclass(frozen=True, slots=True)
class Kill:
    """One kill and what it left behind. `recovered` is the time until the next batch was committed."""

    target: Target
    aimed: Moment | None
    found: Found
    recovered: float

    @property
    def counts(self) -> bool:
        """A kill after the last record proves nothing."""
        return self.found.remaining > 0 and self.found.kind is not None

    @property
    def kind(self) -> Class | None:
        return self.found.kind


_MOMENTS = {
    Class.A: (Moment.OFFSET_WRITTEN,),
    Class.B: (Moment.PREPARED,),
    Class.C: (Moment.STATE_WRITTEN,),
    Class.D: (Moment.COMMITTED, Moment.ROWS_WRITTEN),
    Class.E: (Moment.SINK_COMMITTED,),
}


def pause_for(kind: Class | None, chance: random.Random | None = None) -> Moment | None:
    """A moment to stretch so that a kill finds a class; None: nothing is stretched."""
    return (chance or random).choice(_MOMENTS[kind]) if kind is not None else None


@dataclass(slots=True)
class KilledJob:
    """One job from its first start to its end. Cluster workers, if any, are given by process number."""

    options: JobOptions
    cluster: Sequence[int] = ()
    environment: Mapping[str, str] = field(default_factory=dict)
    kills: list[Kill] = field(default_factory=list)
    _driver: subprocess.Popen[bytes] | None = None
    _stretched: Moment | None = None
    _orphans: list[Process] = field(default_factory=list)
    _log: IO[bytes] | None = None

    # -- starting and ending ------------------------------------------------------------------------

    def start(self, stretched: Moment | None = None) -> None:
        """Start or restart the driver. A predecessor's JVM may still be there: that is the point."""
        folder = Path(self.options.folder)
        folder.mkdir(parents=True, exist_ok=True)
        self.aim(stretched)
        self._close_log()
        self._log = open(folder / "log", "ab")  # noqa: SIM115 - closed with the driver
        self._driver = subprocess.Popen(
            [sys.executable, "-m", "tests.kill.job", *self.options.to_arguments()],
            cwd=ROOT,
            env={**os.environ, **QUICK_JVM, PAUSES: str(self._aim.path), **self.environment},
            stdin=subprocess.DEVNULL,
            stdout=self._log,
            stderr=self._log,
        )

    def aim(self, moment: Moment | None) -> None:
        """Stretch a moment from now on; the next kill comes in it."""
        self._stretched = moment
        self._aim.at(moment)

    @property
    def _aim(self) -> Aim:
        return Aim(Path(self.options.folder))

    def finish(self, seconds: float = PATIENCE) -> None:
        """Let it run to its end; it must end well."""
        driver = self._running()
        try:
            code = driver.wait(seconds)
        except subprocess.TimeoutExpired:
            raise AssertionError(f"the job has not finished within {seconds} s\n{self.log()}") from None
        assert code == 0, f"the job ended with {code}\n{self.log()}"

    def give_up(self, seconds: float = PATIENCE) -> str:
        """Wait for a driver that must not end well; what it said."""
        code = self._running().wait(seconds)
        assert code != 0, f"the job ended well\n{self.log()}"
        return self.log()

    def close(self) -> None:
        """Leave no process behind."""
        if self._driver is not None and self._driver.poll() is None:
            self._orphans += below(self._driver.pid)
            self._driver.kill()
            self._driver.wait()
        for process in wait_gone(self._orphans, 5.0):
            kill(process)
        self._close_log()

    def log(self) -> str:
        """The end of what the driver has said."""
        return Path(self.options.folder, "log").read_text(errors="replace")[-20_000:]

    @property
    def running(self) -> bool:
        return self._driver is not None and self._driver.poll() is None

    def _running(self) -> subprocess.Popen[bytes]:
        assert self._driver is not None, "the job has not been started"
        return self._driver

    def _close_log(self) -> None:
        if self._log is not None:
            self._log.close()
            self._log = None

    # -- killing ------------------------------------------------------------------------------------

    def wait_for_batches(self, count: int) -> bool:
        """Wait until so many more batches are committed; False if the job ended before."""
        goal = last_committed(self.options) + count
        came = wait_for(lambda: last_committed(self.options) >= goal or not self.running, PATIENCE)
        assert came, f"no progress within {PATIENCE} s\n{self.log()}"
        return self.running

    def kill_driver(self, chance: random.Random, together: bool, then: Moment | None = None) -> Kill | None:
        """Kill the driver at a random moment, note what is left, start it again, with `then` stretched."""
        if not self.wait_for_batches(1):
            return None
        self._choose_moment(chance)
        driver = self._running()
        family = below(driver.pid)
        jvm = jvm_of(driver.pid)
        driver.kill()
        if together and jvm is not None:
            kill(jvm)
        driver.wait()
        found, stretched = autopsy(self.options), self._stretched
        self._orphans = [p for p in self._orphans if alive(p)] + family
        started = time.monotonic()
        self.start(then)
        return self._note(Target.MACHINE if together else Target.DRIVER, stretched, found, started)

    def _choose_moment(self, chance: random.Random) -> None:
        """Any, unless one is stretched: then somewhere inside it, if it comes in time."""
        time.sleep(chance.uniform(0.0, 1.0))
        if self._stretched is not None:
            aim = self._aim
            wait_for(lambda: aim.reached or not self.running, PATIENCE, 0.005)
            time.sleep(chance.uniform(0.0, 0.1))

    def freeze(self, kind: Class) -> tuple[Found, list[int]]:
        """Stop the driver and all its descendants with a batch in this state: what is found, and who sleeps.

        The state may be gone by the time that the last of them is stopped; then they go on, until the next time.
        """
        deadline = time.monotonic() + PATIENCE
        while self.running and time.monotonic() < deadline:
            if inspect(self.options).kind is kind:
                sleepers = self._processes()
                send(sleepers, signal.SIGSTOP)
                found = autopsy(self.options)
                if found.kind is kind:
                    return found, sleepers
                send(sleepers, signal.SIGCONT)
            time.sleep(0.005)
        raise AssertionError(f"no batch was found with its {kind}\n{self.log()}")

    def _processes(self) -> list[int]:
        """The driver and all its descendants."""
        driver = self._running().pid
        return [driver, *(p.pid for p in below(driver))]

    def kill_worker(self, chance: random.Random) -> Kill | None:
        """Kill a Python worker while the driver runs on."""
        return self._kill_helper(chance, Target.WORKER)

    def kill_executor(self, chance: random.Random) -> Kill | None:
        """Kill an executor of the cluster while the driver runs on."""
        return self._kill_helper(chance, Target.EXECUTOR)

    def _kill_helper(self, chance: random.Random, target: Target) -> Kill | None:
        if not self.wait_for_batches(1):
            return None
        self._choose_moment(chance)
        wait_for(lambda: bool(self._victims(target)) or not self.running, PATIENCE)
        victims = self._victims(target)
        if not victims or not self.running:
            return None
        kill(chance.choice(victims))
        found, started = autopsy(self.options), time.monotonic()
        return self._note(target, self._stretched, found, started)

    def _victims(self, target: Target) -> list[Process]:
        if target is Target.EXECUTOR:
            return [p for worker in self.cluster for p in executors(worker)]
        return [p for top in (self._running().pid, *self.cluster) for p in python_workers(top)]

    def _note(self, target: Target, stretched: Moment | None, found: Found, since: float) -> Kill:
        came = wait_for(lambda: last_committed(self.options) > found.committed or not self.running, PATIENCE)
        assert came, f"not recovered within {PATIENCE} s\n{self.log()}"
        noted = Kill(target, stretched, found, time.monotonic() - since)
        self.kills.append(noted)
        return noted


QUICK_JVM = {"SPARK_SUBMIT_OPTS": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC", "SPARK_LOCAL_IP": "127.0.0.1"}
