"""``python -m differential``: the same programs under PyFlink and Penstock, compared; with ``--record``, kept."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from differential import examples, kept, listed, report
from differential.compare import Difference, Outcomes, differences, read
from differential.sides import HOSTS, PYFLINK, Side, SideFailed, prepare

PROGRAMS = sorted({path.stem for path in Path(__file__).with_name("programs").glob("[!_]*.py")} - {"kit"})
SEEDS, TIMEOUT_S = 2, 1800
PART, TOGETHER = 10, 2


def main(arguments: Sequence[str]) -> int:
    """0 if every difference is listed and everything listed still differs."""
    options = _options(arguments)
    theirs = _outcomes(Side(PYFLINK), options)
    ours = {host: _outcomes(Side(host), options) for host in options.hosts}
    found = [d for host, outcomes in ours.items() for d in differences(host, theirs, outcomes)]
    verdict = listed.judge((case for case, _ in theirs), {d.case for d in found}, listed.load())
    _tell(found, verdict)
    figures = report.Figures.of(theirs, options.hosts, options.seeds, verdict)
    print(figures)
    if options.record:
        report.write(figures)
    return 0 if verdict.good else 1


def _options(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m differential", description=__doc__)
    parser.add_argument("--only", metavar="NAME", help=f"a program, program.case, or examples: {', '.join(PROGRAMS)}")
    parser.add_argument("--seeds", type=int, default=SEEDS, help=f"how many, instead of {SEEDS}")
    parser.add_argument("--hosts", type=_hosts, default=list(HOSTS[:2]), metavar="A,B", help=f"of {', '.join(HOSTS)}")
    parser.add_argument("--keep", action="store_true", help="ask PyFlink only what it was not asked before")
    parser.add_argument("--record", action="store_true", help="write differential/RESULTS.md")
    options = parser.parse_args(arguments)
    if options.record and options.only:
        parser.error("--record keeps the figures of a whole run: leave --only out")
    return options


def _hosts(text: str) -> list[str]:
    unknown = [name for name in text.split(",") if name not in HOSTS]
    if unknown:
        raise argparse.ArgumentTypeError(f"no such host: {', '.join(unknown)}; there are {', '.join(HOSTS)}")
    return text.split(",")


def _outcomes(side: Side, options: argparse.Namespace) -> Outcomes:
    names = [n for n in PROGRAMS if options.only in (None, n) or (options.only or "").startswith(f"{n}.")]
    print(f"{side.name}: {', '.join([options.only] if options.only else [*names, 'examples'])}", flush=True)
    prepare(side)
    asked = [options.only] if options.only and names else names
    outcomes = _programs(side, asked, options.seeds, options.keep) if names else {}
    if options.only is None or options.only.startswith("examples"):
        chosen = examples.found(Side(PYFLINK).python())
        wanted = (options.only or "examples").rstrip("/")
        outcomes |= examples.run(side, {n: t for n, t in chosen.items() if examples.case_name(n).startswith(wanted)})
    if not outcomes:
        raise SystemExit(f"differential: there is no {options.only}")
    return outcomes


def _programs(side: Side, names: list[str], seeds: int, keep: bool) -> Outcomes:
    """PyFlink has some 20 threads for each case and keeps them: it gets many processes; Penstock, one."""
    numbers = list(range(1, seeds + 1))
    pieces = [([part], [seed]) for part in _parts(names) for seed in numbers] if side.reference else [(names, numbers)]
    outcomes: Outcomes = {}

    def run(numbered: tuple[int, tuple[list[str], list[int]]]) -> Outcomes:
        number, piece = numbered
        print(f"  {number} of {len(pieces)}: {', '.join(piece[0])}", flush=True)
        return _process(side, *piece, keep)

    # PyFlink's processes wait more than they compute
    with ThreadPoolExecutor(TOGETHER) as pool:
        for found in pool.map(run, enumerate(pieces, 1)):
            outcomes |= found
    for case, seed in [key for key, outcome in outcomes.items() if outcome.together]:
        outcomes |= _process(side, [case], [seed], keep)
    return outcomes


def _parts(names: list[str]) -> list[str]:
    """Programs cut into runs of a few cases. Penstock counts them: it is the faster to ask."""
    whole, counter = [name for name in names if "." not in name], Side("local")
    prepare(counter)
    counts = json.loads(counter.run(["-m", "differential.programs", "count", *whole], TIMEOUT_S).stdout or "{}")
    cut = [f"{name}:{start}:{start + _step(name)}" for name in whole for start in range(0, counts[name], _step(name))]
    return cut + [name for name in names if "." in name]


def _step(name: str) -> int:
    """How many cases of a program PyFlink runs together: those on which it fails, one by one."""
    return 1 if name == "fragile" else PART


def _process(side: Side, names: list[str], seeds: list[int], keep: bool) -> Outcomes:
    out = side.folder / f"{side.name}-{kept.fingerprint([*names, repr(seeds)])[:16]}.jsonl"

    def run() -> None:
        ended = side.run(["-m", "differential.programs", str(out), ",".join(map(str, seeds)), *names], TIMEOUT_S)
        if ended.returncode:
            raise SideFailed(f"{side.name} ended with {ended.returncode} at {names}:\n{ended.stderr[-2000:]}")

    if keep and side.reference:
        programs = kept.texts([name.replace(":", ".").split(".")[0] for name in names], side.programs)
        kept.keep([*programs, *names, repr(seeds), *side.facts()], out, run)
    else:
        run()
    return read(out)


def _tell(found: list[Difference], verdict: listed.Verdict) -> None:
    for difference in found:
        if difference.case in verdict.unlisted:
            print(f"DIFFERS: {difference}")
    for case in verdict.stale:
        print(f"AGREES: {case} is listed as different and no longer is: take it off the list")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
