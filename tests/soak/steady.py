"""`python -m tests.soak.steady --minutes 30`: a fixed rate with random kills; does anything grow? Writes docs/soak.md.

Memory, the checkpoint folder and the state are sampled all along. It fails if the output is wrong, or if one of them
was larger by half in the last third of the run than in the second.
"""

from __future__ import annotations

import argparse
import datetime
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median

from tests.kill.processes import Process, alive, below, end_when_told, jvm_of, kill, python_workers, wait_gone
from tests.kill.report import versions
from tests.kill.run import QUICK_JVM, ROOT
from tests.kill.sinks import file_records
from tests.soak.job import GROUPS, KEYS, PARALLELISM, WINDOW_MS, SoakOptions

MIB = 1 << 20
GROWTH = 1.5
LONG_ENOUGH = 600.0
_KILLS = {"Python worker": 6, "driver": 2, "driver and JVM": 2}


@dataclass(frozen=True, slots=True)
class Sample:
    """What was there at a moment. Sizes in bytes."""

    at: float
    driver: int
    jvm: int
    workers: int
    checkpoint: int
    files: int
    state: int
    batch_ms: int
    remaining: int
    kills: int


FIGURES = ("driver", "jvm", "workers", "checkpoint", "files", "state")


@dataclass(slots=True)
class Soak:
    """One job, started again whenever its driver was killed."""

    options: SoakOptions
    chance: random.Random
    started: float = field(default_factory=time.monotonic)
    samples: list[Sample] = field(default_factory=list)
    kills: Counter[str] = field(default_factory=Counter)
    _driver: subprocess.Popen[bytes] | None = None
    _orphans: list[Process] = field(default_factory=list)

    def run(self, every: float, kill_every: float) -> None:
        """Until the job has finished: samples at fixed intervals, kills at random ones."""
        self._start()
        next_sample, next_kill = every, self._elapsed() + kill_every
        while self._alive():
            time.sleep(0.5)
            if self._elapsed() >= next_sample:
                next_sample += every
                self.samples.append(self._sample())
                print(self.samples[-1], flush=True)
            if self._elapsed() >= next_kill and self._remaining() > 0:
                next_kill = self._elapsed() + kill_every * self.chance.uniform(0.5, 1.5)
                self._kill()

    def _elapsed(self) -> float:
        return time.monotonic() - self.started

    def _start(self) -> None:
        Path(self.options.folder).mkdir(parents=True, exist_ok=True)
        with open(Path(self.options.folder, "log"), "ab") as log:
            self._driver = subprocess.Popen(
                [sys.executable, "-m", "tests.soak.job", *self.options.to_arguments()],
                cwd=ROOT,
                env={**os.environ, **QUICK_JVM},
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
            )

    def _alive(self) -> bool:
        assert self._driver is not None
        code = self._driver.poll()
        assert code in (None, 0), Path(self.options.folder, "log").read_text(errors="replace")[-5_000:]
        return code is None

    def _kill(self) -> None:
        assert self._driver is not None
        (what,) = self.chance.choices(list(_KILLS), list(_KILLS.values()))
        if what == "Python worker":
            workers = python_workers(self._driver.pid)
            if not workers:
                return
            kill(self.chance.choice(workers))
        else:
            self._kill_driver(what == "driver and JVM")
        self.kills[what] += 1

    def _kill_driver(self, together: bool) -> None:
        assert self._driver is not None
        family, jvm = below(self._driver.pid), jvm_of(self._driver.pid)
        self._driver.kill()
        if together and jvm is not None:
            kill(jvm)
        self._driver.wait()
        self._orphans = [p for p in self._orphans if alive(p)] + family
        self._start()

    def close(self) -> None:
        """Leave no process behind."""
        if self._driver is not None and self._driver.poll() is None:
            self._orphans += below(self._driver.pid)
            self._driver.kill()
            self._driver.wait()
        for process in wait_gone(self._orphans, 10.0):
            kill(process)

    # -- figures ---------------------------------------------------------------------------------------

    def _sample(self) -> Sample:
        assert self._driver is not None
        jvm, told = jvm_of(self._driver.pid), self._told()
        family = below(self._driver.pid)
        workers = [p for p in family if jvm is None or p.pid != jvm.pid]
        checkpoint, files = _size(self.options.checkpoint)
        return Sample(
            self._elapsed(),
            _resident(self._driver.pid),
            _resident(jvm.pid) if jvm is not None else 0,
            sum(_resident(p.pid) for p in workers),
            checkpoint,
            files,
            told.get("state_bytes") or 0,
            told.get("batch_ms") or 0,
            self._remaining(),
            self.kills.total(),
        )

    def _told(self) -> dict[str, int]:
        with suppress(OSError, ValueError):
            told: dict[str, int] = json.loads(self.options.metrics.read_text())
            return told
        return {}

    def _remaining(self) -> int:
        """Records that no durable batch holds."""
        with suppress(OSError, ValueError, IndexError):
            last = max((f for f in (self.options.checkpoint / "commits").glob("*") if f.name.isdigit()), key=_number)
            offset = json.loads((self.options.checkpoint / "offsets" / last.name).read_text().splitlines()[2])
            splits = [split["at"] for splits in offset["sources"].values() for split in splits.values()]
            return self.options.records - int(sum(splits))
        return self.options.records


def _number(file: Path) -> int:
    return int(file.name)


def _resident(pid: int) -> int:
    """What a process alone has in memory, pages shared with others divided among them."""
    with suppress(OSError, IndexError):
        rollup = Path(f"/proc/{pid}/smaps_rollup").read_text()
        return next(int(line.split()[1]) for line in rollup.splitlines() if line.startswith("Pss:")) * 1024
    return 0


def _size(folder: Path) -> tuple[int, int]:
    """Bytes and files below a folder, which changes meanwhile."""
    size = files = 0
    for place, _, names in os.walk(folder):
        for name in names:
            with suppress(OSError):
                size += os.path.getsize(os.path.join(place, name))
                files += 1
    return size, files


# -- judgement --------------------------------------------------------------------------------------------


def wrong_output(options: SoakOptions) -> list[str]:
    """Every group and window once, with its count."""
    expected = Counter((i % GROUPS, options.window_of(i)) for i in range(options.records))
    wanted: Counter[tuple[int, ...]] = Counter((*place, count) for place, count in expected.items())
    found = Counter(file_records(str(options.output)))
    missing, extra = wanted - found, found - wanted
    if not missing and not extra:
        return []
    return [f"{missing.total()} missing {list(missing)[:3]}, {extra.total()} too many {list(extra)[:3]}"]


def growth(samples: Sequence[Sample]) -> dict[str, float]:
    """How many times larger each figure was in the last third than in the second; a killed driver's are left out."""
    settled = [s for s in samples if s.state and s.jvm]
    third = len(settled) // 3
    if not third:
        return {}
    return {name: _times(settled[third : 2 * third], settled[2 * third :], name) for name in FIGURES}


def _times(before: Sequence[Sample], after: Sequence[Sample], name: str) -> float:
    return float(median(getattr(s, name) for s in after) / max(1, median(getattr(s, name) for s in before)))


def report(soak: Soak, seconds: float, wrong: Sequence[str], seed: int) -> Iterable[str]:
    options, grown = soak.options, growth(soak.samples)
    yield "# Soak"
    yield ""
    yield "Written by `make soak`; not edited by hand."
    yield ""
    now = datetime.datetime.now(datetime.UTC)
    yield f"- {now:%Y-%m-%d %H:%M} UTC, seed {seed}, {seconds / 60:.0f} minutes, {versions()}"
    yield f"- {options.records:,} records at {options.per_second:,} a second; {PARALLELISM} subtasks; {KEYS:,} keys"
    yield f"  that keep ten records, counts per {GROUPS} groups and {WINDOW_MS // 1000} s window, exactly-once to files"
    killed = ", ".join(f"{name} {count}" for name, count in sorted(soak.kills.items()))
    yield f"- killed: {killed or 'nobody'}; **output: {'; '.join(wrong) or 'right, every window once'}**"
    yield "- last third of the run against the second: " + ", ".join(f"{n} ×{t:.2f}" for n, t in grown.items())
    if seconds < LONG_ENOUGH:
        yield "- too short a run to say that nothing grows"
    yield ""
    yield "Memory is what a process has for itself plus its share of what it shares (Pss), in MiB."
    yield ""
    yield (
        "| minute | driver | JVM | Python workers | checkpoint, MiB | its files | state, MiB | batch, ms "
        "| records behind the wall clock | kills so far |"
    )
    yield "|---|---|---|---|---|---|---|---|---|---|"
    for sample in soak.samples:
        yield _row(sample, options)


def _row(sample: Sample, options: SoakOptions) -> str:
    due = min(options.records, int(sample.at * options.per_second))
    cells = (
        f"{sample.at / 60:.1f}",
        *(f"{size / MIB:.0f}" for size in (sample.driver, sample.jvm, sample.workers)),
        f"{sample.checkpoint / MIB:.1f}",
        f"{sample.files}",
        f"{sample.state / MIB:.1f}",
        f"{sample.batch_ms}",
        f"{max(0, due - (options.records - sample.remaining)):,}",
        f"{sample.kills}",
    )
    return f"| {' | '.join(cells)} |"


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="tests.soak.steady")
    parser.add_argument("--minutes", type=float, default=30.0)
    parser.add_argument("--rate", type=int, default=2_000, help="records a second")
    parser.add_argument("--kill-every", type=float, default=60.0, help="seconds between kills, on average")
    parser.add_argument("--seed", type=int, help="repeat the choices of an earlier run")
    parser.add_argument("--log", type=Path, default=Path(ROOT, "docs", "soak.md"), help="where the table is written")
    given = parser.parse_args(arguments)
    end_when_told()
    seed = given.seed if given.seed is not None else random.SystemRandom().randrange(1 << 32)
    folder = tempfile.mkdtemp(prefix="penstock-soak-")
    soak = Soak(SoakOptions(folder, int(given.minutes * 60 * given.rate), given.rate), random.Random(seed))
    try:
        soak.run(every=max(5.0, given.minutes * 60 / 60), kill_every=given.kill_every)
        wrong = wrong_output(soak.options)
    finally:
        soak.close()
        shutil.rmtree(folder, ignore_errors=True)
    seconds = time.monotonic() - soak.started
    given.log.write_text("\n".join(report(soak, seconds, wrong, seed)) + "\n", encoding="utf-8")
    return _verdict(soak, seconds, wrong)


def _verdict(soak: Soak, seconds: float, wrong: Sequence[str]) -> int:
    measured = growth(soak.samples)
    grown = {name: times for name, times in measured.items() if times > GROWTH}
    said = (grown or "nothing") if measured else "not known: the job told nothing of its state"
    print(f"output: {wrong or 'right'}; kills: {dict(soak.kills)}; grown: {said}")
    return 1 if wrong or (seconds >= LONG_ENOUGH and (grown or not measured)) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
