"""``python -m benchmarks``: measure, compare, print; with ``--record``, keep."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Collection, Sequence

from benchmarks import report
from benchmarks.jobs.registry import JOBS
from benchmarks.machine import cores, describe
from benchmarks.model import Job
from benchmarks.peers.registry import PEERS
from benchmarks.schedule import measure

ROUNDS, QUICK_ROUNDS = 5, 2


def main(arguments: Sequence[str]) -> int:
    """0 if every peer ran and answered rightly and no requirement was missed."""
    options = _options(arguments)
    if os.getloadavg()[0] > cores() / 4:
        print(f"warning: the load is {os.getloadavg()[0]:.1f} already; numbers will be worse than they are")
    records = [_run(JOBS[name], options) for name in options.only or JOBS]
    return 1 if any(map(_bad, records)) else 0


def _options(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="smaller inputs, two rounds")
    parser.add_argument("--only", type=_jobs, metavar="A,B", help=f"some of {', '.join(JOBS)}")
    parser.add_argument("--peers", type=_peers, metavar="A,B", help=f"some of {', '.join(PEERS)}")
    parser.add_argument("--case", metavar="TEXT", help="only cases whose name begins so; others stay as recorded")
    parser.add_argument("--rounds", type=int, help=f"rounds, instead of {ROUNDS} ({QUICK_ROUNDS} if quick)")
    parser.add_argument("--record", action="store_true", help="write benchmarks/records and RESULTS.md")
    return parser.parse_args(arguments)


def _peers(text: str) -> list[str]:
    return _known(text, "peer", PEERS)


def _jobs(text: str) -> list[str]:
    return _known(text, "job", JOBS)


def _known(text: str, what: str, there: Collection[str]) -> list[str]:
    names = text.split(",")
    if unknown := [name for name in names if name not in there]:
        raise argparse.ArgumentTypeError(f"no such {what}: {', '.join(unknown)}; there are {', '.join(there)}")
    return names


def _run(job: Job, options: argparse.Namespace) -> report.Record:
    trials = [
        trial
        for trial in job.trials(options.quick)
        if (options.peers is None or trial.peer in options.peers)
        and (options.case is None or trial.case.startswith(options.case))
    ]
    rounds = options.rounds or (QUICK_ROUNDS if options.quick else ROUNDS)
    if not trials:
        print(f"{job.name}: none of the chosen peers and cases", flush=True)
    machine = describe()
    measured = measure(job, trials, rounds, lambda line: print(line, flush=True))
    kept = report.kept_of(job, options.quick) if options.case else None
    record = report.record_of(job, measured, machine, options.quick, kept)
    print(f"\n{report.screen(record)}\n", flush=True)
    if options.record:
        report.write(record)
    return record


def _bad(record: report.Record) -> bool:
    failed = any(result["failure"] is not None for result in record["results"])
    return failed or any(wanted["verdict"] == "NOT MET" for wanted in record["requirements"])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
