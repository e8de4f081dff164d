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
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from tests.cluster.standalone import Cluster, standalone_cluster
from tests.kill.found import Class
from tests.kill.job import JobOptions
from tests.kill.oracle import check
from tests.kill.report import Round, write_report
from tests.kill.run import ROOT, Kill, KilledJob, Target, pause_for

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
SORTS = (
    Sort("deterministic", (_D, _W, _W, _W, _M, _W, _W, _W, _D, _W, _W)),
    Sort("not deterministic", (_M, _W, _W, _W, _D, _W, _W, _W, _M, _W, _W), deterministic=False),
    Sort("not deterministic, fails at random", (_D, _W, _W, _M, _W, _W), deterministic=False, failures_per_million=250),
    Sort("with asynchronous calls", (_D, _W, _W, _M, _W, _W), asynchronous=True),
    Sort("on a cluster, not deterministic", (_X, _W, _X, _X, _D, _X, _X, _W), deterministic=False, on_cluster=True),
)
RECORDS = 4_800


def main(arguments: list[str]) -> int:
    given = _parse(arguments)
    seed = given.seed if given.seed is not None else random.SystemRandom().randrange(1 << 32)
    print(f"seed {seed}", flush=True)
    folder = Path(tempfile.mkdtemp(prefix="penstock-kill-"))
    with ExitStack() as stack:
        stack.callback(shutil.rmtree, folder, ignore_errors=True)
        (folder / "cluster").mkdir()
        cluster = stack.enter_context(standalone_cluster(folder / "cluster"))
        rounds = _loop(given.kills, random.Random(seed), folder, cluster, lambda r: write_report(given.log, r, seed))
    return _verdict(rounds, given.kills)


def _parse(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="tests.kill.loop")
    parser.add_argument("--kills", type=int, default=50, help="how many kills must count")
    parser.add_argument("--seed", type=int, help="repeat the choices of an earlier run")
    parser.add_argument("--log", type=Path, default=Path(ROOT, "docs", "kills.md"), help="where the log is written")
    return parser.parse_args(arguments)


def _loop(
    kills: int, chance: random.Random, folder: Path, cluster: Cluster, report: Callable[[list[Round]], None]
) -> list[Round]:
    """Rounds until enough kills have counted, every class has been found and every sort has had its turn."""
    rounds: list[Round] = []
    counted: list[Kill] = []
    aims = _aims(chance, counted)
    while len(counted) < kills or _missing(counted) or len(rounds) < len(SORTS):
        sort = SORTS[len(rounds) % len(SORTS)]
        job = _job(sort, folder / str(len(rounds)), cluster)
        rounds.append(_round(sort, job, chance, aims, counted))
        report(rounds)
        print(f"round {len(rounds)}: {rounds[-1].wrong or 'right'}; {len(counted)} kills", flush=True)
    return rounds


def _job(sort: Sort, folder: Path, cluster: Cluster) -> KilledJob:
    options = JobOptions(
        str(folder),
        records=RECORDS,
        per_second=1_000.0,
        master=cluster.master if sort.on_cluster else "",
        deterministic=sort.deterministic,
        failures_per_million=sort.failures_per_million,
        asynchronous=sort.asynchronous,
    )
    return KilledJob(options, cluster.workers if sort.on_cluster else ())


def _round(
    sort: Sort, job: KilledJob, chance: random.Random, aims: Iterator[Class | None], counted: list[Kill]
) -> Round:
    started = time.monotonic()
    try:
        job.start(pause_for(next(aims)))
        for target in sort.targets:
            if (kill := _kill(job, target, chance, aims)) is not None:
                counted += [kill] if kill.counts else []
                print(f"  {kill.target}: {kill.kind}, {kill.found.remaining} left, {kill.recovered:.1f} s", flush=True)
        job.finish()
    finally:
        job.close()
    return Round(sort.name, tuple(job.kills), tuple(check(job.options)), time.monotonic() - started)


def _kill(job: KilledJob, target: Target, chance: random.Random, aims: Iterator[Class | None]) -> Kill | None:
    helpers: dict[Target, Callable[[random.Random], Kill | None]] = {
        Target.WORKER: job.kill_worker,
        Target.EXECUTOR: job.kill_executor,
    }
    if target in helpers:
        return helpers[target](chance)
    return job.kill_driver(chance, target is Target.MACHINE, pause_for(next(aims)))


def _aims(chance: random.Random, counted: list[Kill]) -> Iterator[Class | None]:
    """Every other run is left alone; the others have the class stretched that was found least often."""
    while True:
        found = Counter(k.kind for k in counted)
        yield min(Class, key=lambda c: (found[c], chance.random()))
        yield None


def _missing(kills: list[Kill]) -> set[Class]:
    return set(Class) - {k.kind for k in kills if k.kind is not None}


def _verdict(rounds: list[Round], wanted: int) -> int:
    counted = [k for r in rounds for k in r.kills if k.counts]
    wrong = [text for r in rounds for text in r.wrong]
    print(f"{len(counted)} kills counted of {wanted} wanted; wrong: {wrong or 'nothing'}")
    return 1 if wrong or len(counted) < wanted or _missing(counted) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
