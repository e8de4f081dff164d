"""`python -m tests.kill.loop --kills 50`: kill jobs of every sort until so many kills have counted; write the log.

Each round is one job from start to end: it is killed several times, and its committed files are checked at
the end. What is killed when comes from a random seed, which is printed and may be given again.
"""

from __future__ import annotations

import argparse
import random
import shutil
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path

from tests.cluster.standalone import Cluster, standalone_cluster
from tests.kill.found import Class
from tests.kill.job import JobOptions
from tests.kill.moments import Moment
from tests.kill.oracle import check
from tests.kill.processes import end_when_told
from tests.kill.report import Round, write_report
from tests.kill.run import ROOT, Kill, KilledJob, Target, pause_for
from tests.postgres.server import USER, Server, postgres_server

__all__ = ["main"]


@dataclass(frozen=True, slots=True)
class Sort:
    """A sort of job and the kills it gets, in order; after a driver's kill the job is started anew."""

    name: str
    targets: tuple[Target, ...]
    deterministic: bool = True
    failures_per_million: int = 0
    on_cluster: bool = False
    asynchronous: bool = False


_D, _M, _W, _X = Target.DRIVER, Target.MACHINE, Target.WORKER, Target.EXECUTOR
_MANY = (_D, _W, _W, _W, _M, _W, _W, _W, _D, _W, _W, _W, _M, _W, _W, _W, _D, _W, _W, _W)
SORTS = (
    Sort("not deterministic", _MANY, deterministic=False),
    Sort("deterministic", _MANY),
    Sort("not deterministic, fails at random", _MANY[4:16], deterministic=False, failures_per_million=100),
    Sort("on a cluster, not deterministic", (_X, _W, _X, _X, _D, _X, _X, _W), deterministic=False, on_cluster=True),
    Sort("with asynchronous calls", _MANY[:10], asynchronous=True),
)
RECORDS = 480
"""For every kill a job gets; so many batches are run in between."""


def main(arguments: list[str]) -> int:
    given = _parse(arguments)
    end_when_told()
    seed = given.seed if given.seed is not None else random.SystemRandom().randrange(1 << 32)
    print(f"seed {seed}", flush=True)
    folder = Path(tempfile.mkdtemp(prefix="penstock-kill-"))
    with ExitStack() as stack:
        stack.callback(shutil.rmtree, folder, ignore_errors=True)
        targets = Targets(folder, stack.enter_context(postgres_server()), stack)
        rounds = _loop(given.kills, random.Random(seed), targets, lambda r: write_report(given.log, r, seed))
    return _verdict(rounds, given.kills)


class Targets:
    """Where jobs run and write: a folder each, a database each in the one server, a cluster if one is needed."""

    def __init__(self, folder: Path, postgres: Server, stack: ExitStack) -> None:
        self._folder, self._postgres, self._stack = folder, postgres, stack
        self._cluster: Cluster | None = None

    def folder(self, number: int) -> str:
        return str(self._folder / str(number))

    def database(self, number: int) -> str:
        self._postgres.run(f"create database job_{number}")
        return replace(self._postgres, database=f"job_{number}").jdbc_url + f"?user={USER}"

    def cluster(self) -> Cluster:
        if self._cluster is None:
            (self._folder / "cluster").mkdir()
            self._cluster = self._stack.enter_context(standalone_cluster(self._folder / "cluster"))
        return self._cluster


def _parse(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="tests.kill.loop")
    parser.add_argument("--kills", type=int, default=50, help="how many kills must count")
    parser.add_argument("--seed", type=int, help="repeat the choices of an earlier run")
    parser.add_argument("--log", type=Path, default=Path(ROOT, "docs", "kills.md"), help="where the log is written")
    return parser.parse_args(arguments)


def _loop(kills: int, chance: random.Random, targets: Targets, report: Callable[[list[Round]], None]) -> list[Round]:
    """Rounds until enough kills have counted and, if so many are wanted, every class and sort has had its turn."""
    rounds: list[Round] = []
    counted: list[Kill] = []
    while len(counted) < kills or (kills >= 50 and (_missing(counted) or len(rounds) < len(SORTS))):
        sort = SORTS[len(rounds) % len(SORTS)]
        job = _job(sort, len(rounds), targets, max(1, kills - len(counted)))
        rounds.append(_round(sort, job, chance, counted, kills))
        report(rounds)
        print(f"round {len(rounds)}: {rounds[-1].wrong or 'right'}; {len(counted)} kills", flush=True)
    return rounds


def _job(sort: Sort, number: int, targets: Targets, wanted: int) -> KilledJob:
    cluster = targets.cluster() if sort.on_cluster else None
    options = JobOptions(
        targets.folder(number),
        records=RECORDS * (min(wanted, len(sort.targets)) + 1),
        per_second=1_000.0,
        master=cluster.master if cluster is not None else "",
        deterministic=sort.deterministic,
        failures_per_million=sort.failures_per_million,
        asynchronous=sort.asynchronous,
        postgres=targets.database(number),
    )
    return KilledJob(options, cluster.workers if cluster is not None else ())


def _round(sort: Sort, job: KilledJob, chance: random.Random, counted: list[Kill], wanted: int) -> Round:
    started = time.monotonic()
    try:
        job.start(_aim(sort.targets[0], chance, counted))
        for target, following in pairwise((*sort.targets, Target.WORKER)):
            if (kill := _kill(job, target, chance, _aim(following, chance, counted))) is not None:
                counted += [kill] if kill.counts else []
                print(f"  {kill.target}: {kill.kind}, {kill.found.remaining} left, {kill.recovered:.1f} s", flush=True)
            if len(counted) >= wanted:
                break
        job.aim(None)
        job.finish()
    finally:
        job.close()
    return Round(sort.name, tuple(job.kills), tuple(check(job.options)), time.monotonic() - started)


def _kill(job: KilledJob, target: Target, chance: random.Random, then: Moment | None) -> Kill | None:
    """Kill somebody; from then on a moment is stretched for the next kill."""
    helpers: dict[Target, Callable[[random.Random], Kill | None]] = {
        Target.WORKER: job.kill_worker,
        Target.EXECUTOR: job.kill_executor,
    }
    if target not in helpers:
        return job.kill_driver(chance, target is Target.MACHINE, then)
    kill = helpers[target](chance)
    job.aim(then)
    return kill


_WITH_HELPERS = (Class.A, Class.B)
"""What a worker's or executor's death can disturb: later its work is done."""


def _aim(target: Target, chance: random.Random, counted: list[Kill]) -> Moment | None:
    """For every other kill the moment of the class that was found least often; the rest is left to chance."""
    if chance.random() < 0.5:
        return None
    found = Counter(k.kind for k in counted)
    classes = _WITH_HELPERS if target in (Target.WORKER, Target.EXECUTOR) else tuple(Class)
    return pause_for(min(classes, key=lambda c: (found[c], chance.random())), chance)


def _missing(kills: list[Kill]) -> set[Class]:
    return set(Class) - {k.kind for k in kills if k.kind is not None}


def _verdict(rounds: list[Round], wanted: int) -> int:
    counted = [k for r in rounds for k in r.kills if k.counts]
    wrong = [text for r in rounds for text in r.wrong]
    print(f"{len(counted)} kills counted of {wanted} wanted; wrong: {wrong or 'nothing'}")
    return 1 if wrong or len(counted) < wanted or (wanted >= 50 and _missing(counted)) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
