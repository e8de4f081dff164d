"""Every example gives what a plain computation over its input gives, on every host, whole and in pieces (U1–U20).

U18 goes by the clock and has tests of its own: test_outage.py; the demo (U2 in small): test_demo.py.
"""

import re
import sys
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from penstock.cli import main
from penstock.common import Configuration
from penstock.core.program.job import RuntimeSettings
from penstock.datastream import StreamExecutionEnvironment
from penstock.testing import collect, local_job
from tests.effort import some
from tests.examples.case import Case, Results
from tests.examples.patterns import PATTERNS
from tests.examples.streams import STREAMS
from tests.examples.windows import WINDOWS

ROOT = Path(__file__).parents[2]
CASES = [*PATTERNS, *WINDOWS, *STREAMS]
SCRIPTS = sorted(path.stem for path in (ROOT / "examples").glob("*.py") if path.stem != "demo")
USE_CASES = 20

every_case = pytest.mark.parametrize("case", CASES, ids=lambda case: case.example)


@cache
def inputs_and_expected(case: Case) -> tuple[list[list[Any]], Results]:
    inputs = case.inputs()
    return inputs, {name: sorted(values, key=repr) for name, values in case.expected(*inputs).items()}


def attach(case: Case, env: StreamExecutionEnvironment) -> list[str]:
    """The example as part of a job; gives the names of its results."""
    streams = case.build(*map(env.from_collection, inputs_and_expected(case)[0]))
    for name, stream in streams.items():
        collect(stream, f"{case.example}/{name}")
    return list(streams)


def agree(case: Case, results: Results) -> None:
    expected = inputs_and_expected(case)[1]
    assert min(map(len, expected.values())) >= case.at_least
    assert case.outcome(results) == expected


@every_case
@pytest.mark.parametrize("split", some([(1, None), (2, [7] * 40), (4, [1, 30, 2, 400])], 1), ids=str)
def test_an_example_gives_what_its_input_says(case: Case, split: tuple[int, list[int] | None]) -> None:
    """P11: however it is cut and spread.

    U1, U2, U3, U4, U5, U6, U7, U8, U9, U10, U11, U12, U13, U14, U15, U16, U17, U19, U20.
    """
    env = StreamExecutionEnvironment()
    names = attach(case, env)
    job = local_job(env, split[0], settings=RuntimeSettings(per_record_watermarks=True))
    job.run(split[1])
    agree(case, {name: job.results[f"{case.example}/{name}"] for name in names})


@pytest.mark.spark
@pytest.mark.parametrize("host", ["bounded", "streaming"])
def test_all_examples_in_one_job_on_spark(host: str) -> None:
    """G3, P11: a job of all of them, with some thirty sources and sinks; in the streaming host in several batches."""
    conf = {
        "penstock.host": host,
        "penstock.watermark.per-record": "true",
        "penstock.batch.max-records": 2_000,
        "restart-strategy.type": "none",
    }
    env = StreamExecutionEnvironment(Configuration(conf)).set_parallelism(2)
    names = {case: attach(case, env) for case in CASES}
    client = env.execute_async("all examples")
    client.wait()
    for case in CASES:
        agree(case, {name: list(client.results(f"{case.example}/{name}")) for name in names[case]})


@pytest.mark.parametrize("script", [name for name in SCRIPTS if name != "outage"])
def test_an_example_runs_alone_from_anywhere(script: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """P2: by the command line, in a folder that is not ours and from which nothing of ours can be imported."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [entry for entry in sys.path if Path(entry or ".").resolve() != ROOT])
    for module in [name for name in sys.modules if name.split(".")[0] == "examples"]:
        monkeypatch.delitem(sys.modules, module)
    done = CliRunner().invoke(main, ["run", str(ROOT / "examples" / f"{script}.py"), "--host", "local"])
    assert done.exit_code == 0, done.stderr
    assert "Warning" not in done.stderr
    assert done.stdout.count("\n") >= 2


def test_every_example_is_tested_and_listed() -> None:
    """U: all use cases, each in the list with its number, and nothing else in the folder."""
    assert sorted({case.example for case in CASES} | {"outage"}) == SCRIPTS
    listed = re.findall(r"^\| ([\d ]+)\| \[(\w+)\.py\]\(\w+\.py\) \|", (ROOT / "examples/README.md").read_text(), re.M)
    assert sorted(name for _, name in listed) == SCRIPTS
    assert {int(number) for numbers, _ in listed for number in numbers.split()} == set(range(1, USE_CASES + 1))


@pytest.mark.parametrize("script", SCRIPTS)
def test_an_example_says_what_it_is_and_fits_on_a_page(script: str) -> None:
    text = (ROOT / "examples" / f"{script}.py").read_text(encoding="utf-8")
    assert re.match(r'"""U\d+( with a pattern)?: ', text)
    assert f"penstock run examples/{script}.py" in text
    assert len(text.splitlines()) <= 105
