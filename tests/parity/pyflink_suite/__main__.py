"""`python -m tests.parity.pyflink_suite`: PyFlink's own tests on Penstock; with `--record`, kept in RESULTS.md."""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from tests.parity.pyflink_suite import judge, report, rewrite
from tests.parity.pyflink_suite.plugin import OUTCOMES
from tests.parity.pyflink_suite.sources import SourcesMissing, pyflink_sources

ROOT = Path(__file__).resolve().parents[3]
TIMEOUT_S = 300
"""For one case; one that hangs fails."""


def main(arguments: Sequence[str]) -> int:
    """0 if every reachable case passes or differs as listed, and everything listed still differs."""
    options = _options(arguments)
    try:
        pyflink, origin = pyflink_sources()
    except SourcesMissing as error:
        print(error, file=sys.stderr)
        return 2
    with tempfile.TemporaryDirectory(prefix="pyflink-suite-") as scratch:
        modules = rewrite.write(pyflink, Path(scratch))
        outcomes = run(Path(scratch), options.host, options.only)
    verdict = judge.judge(outcomes, judge.load(), whole=options.only is None)
    print(report.text(verdict))
    if options.record:
        report.RESULTS.write_text(report.page(verdict, options.host, origin, modules, options.note), encoding="utf-8")
    return 0 if verdict.good else 1


def _options(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.parity.pyflink_suite", description=__doc__)
    parser.add_argument("--host", default="local", choices=["local", "bounded"], help="where Penstock runs the jobs")
    parser.add_argument("--only", metavar="TEXT", help="cases whose names match, as in pytest's -k")
    parser.add_argument("--record", action="store_true", help="write RESULTS.md")
    parser.add_argument("--note", default="", help="what a reader of RESULTS.md must know of this run")
    options = parser.parse_args(arguments)
    if options.record and options.only:
        parser.error("--record keeps the figures of a whole run: leave --only out")
    return options


def run(folder: Path, host: str, only: str | None = None) -> dict[str, tuple[str, str]]:
    """Run the tests of a folder in a process of its own; case -> outcome and reason."""
    found = folder / "outcomes"
    found.touch()
    command = [sys.executable, "-m", "pytest", "-q", "--no-header", "--tb", "short", "-W", "ignore", "-c", os.devnull]
    command += ["-p", "tests.parity.pyflink_suite.plugin", "-p", "no:cacheprovider", "-p", "no:xdist"]
    command += ["-o", "python_files=*__test_*.py", "--timeout", str(TIMEOUT_S), "--rootdir", "."]
    command += ["--continue-on-collection-errors"]
    command += [*(["-k", only] if only else []), "."]
    variables = {
        **os.environ,
        OUTCOMES: str(found),
        "HADOOP_CLASSPATH": "",  # tests of Parquet and ORC skip themselves without it; Penstock needs no Hadoop
        "PENSTOCK_CONF": json.dumps({"penstock.host": host, "restart-strategy.type": "none"}),
        "PYTHONPATH": os.pathsep.join([str(folder), str(ROOT), str(ROOT / "src")]),
    }
    with (folder / "log").open("w", encoding="utf-8") as log:
        subprocess.run(command, cwd=folder, env=variables, stdout=log, stderr=log, check=False)
    lines = [json.loads(line) for line in found.read_text(encoding="utf-8").splitlines()]
    if not lines:
        raise RuntimeError(f"pytest ran no case:\n{(folder / 'log').read_text(encoding='utf-8')[-4000:]}")
    return {case: (outcome, why) for case, outcome, why in lines}


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
