"""penstock new, doctor, completion, plan's forms, and what mistakes are told."""

import os
import shutil
import socket
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

from penstock.cli import doctor as doctor_module
from penstock.cli.doctor import Finding, _fits, _free_memory
from penstock.core.errors import ConfigurationError
from tests.cli.kit import penstock, script

COUNT = """
    from penstock.datastream import StreamExecutionEnvironment
    env = StreamExecutionEnvironment.get_execution_environment()
    env.from_collection(["a b"]).flat_map(str.split).key_by(lambda w: w).reduce(lambda a, b: a).print()
    env.execute("words")
"""


# -- new ------------------------------------------------------------------------------------------------------


@pytest.mark.process
def test_a_new_project_passes_its_test_and_runs(tmp_path: Path) -> None:
    """P1, P2: as the messages say: its test, then the job."""
    folder = tmp_path / "my shop"
    result = penstock("new", str(folder))
    assert (result.exit_code, result.stderr) == (0, "")
    assert "penstock run job.py" in result.stdout
    here = {**os.environ, "PYTHONPATH": os.pathsep.join(os.path.abspath(path) for path in sys.path)}
    tested = subprocess.run(
        [sys.executable, "-m", "pytest", "-q"], cwd=folder, env=here, capture_output=True, text=True
    )
    assert tested.returncode == 0, tested.stdout
    assert "3 passed" in tested.stdout
    run = penstock("run", str(folder / "job.py"), "--readings", "120", "--host", "local", "-p", "1")
    assert run.exit_code == 0, run.stderr
    assert "Average(sensor='sensor-0', until_ms=1767225605000, celsius=" in run.stdout
    assert "my shop" in (folder / "README.md").read_text()
    assert 'name = "my-shop"' in (folder / "pyproject.toml").read_text()


def test_a_new_project_is_clean(tmp_path: Path) -> None:
    penstock("new", str(tmp_path / "shop"))
    ruff = shutil.which("ruff", path=str(Path(sys.executable).parent)) or shutil.which("ruff")
    files = sorted(path.name for path in (tmp_path / "shop").iterdir())
    assert files == [".gitignore", "README.md", "job.py", "pyproject.toml", "test_job.py"]
    assert not [path for path in (tmp_path / "shop").iterdir() if "@" in path.read_text()]
    if ruff:
        subprocess.run([ruff, "check", "--isolated", "--line-length", "120", str(tmp_path / "shop")], check=True)


def test_what_to_do_next_can_be_copied(tmp_path: Path) -> None:
    assert f"  cd '{tmp_path}/my shop'\n" in penstock("new", str(tmp_path / "my shop")).stdout


def test_nothing_is_overwritten(tmp_path: Path) -> None:
    (tmp_path / "shop").mkdir()
    (tmp_path / "shop" / "job.py").write_text("mine")
    result = penstock("new", str(tmp_path / "shop"))
    assert (result.exit_code, result.stderr) == (
        1,
        f"Error: {tmp_path / 'shop'} exists and is not an empty folder: choose another name\n",
    )
    assert (tmp_path / "shop" / "job.py").read_text() == "mine"


def test_a_name_that_is_none_is_refused(tmp_path: Path) -> None:
    assert "'$$' does not name a project: use letters, digits" in penstock("new", str(tmp_path / "$$")).stderr
    (tmp_path / "file").write_text("")
    assert "cannot be made: Not a directory" in penstock("new", str(tmp_path / "file" / "shop")).stderr


# -- doctor -----------------------------------------------------------------------------------------------------


def test_a_sound_machine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PENSTOCK_STATE_DIR", str(tmp_path))
    monkeypatch.setattr("penstock.launch.java_version", lambda: ("/java", "17.0.1"))
    result = penstock("doctor")
    assert result.exit_code == 0, result.stdout
    for what in ("Python", "Penstock", "pyspark", "Java", "Memory", "Scratch", "Job list", "Loopback"):
        assert what in result.stdout
    assert result.stdout.endswith("Jobs can run here.\n")


def test_a_missing_java_comes_with_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    """P9"""
    monkeypatch.setenv("JAVA_HOME", "/nowhere")
    result = penstock("doctor")
    assert result.exit_code == 1
    assert "✗ Java        JAVA_HOME=/nowhere: has no bin/java. Spark 4.3 needs Java 17 or newer" in result.stdout
    assert "→ Install one (Debian: apt-get install openjdk-17-jre-headless) and set JAVA_HOME to it" in result.stdout
    assert "1 problem(s): jobs cannot run here yet." in result.stdout


@pytest.mark.process
def test_a_job_without_java_ends_with_a_message(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """P9: no stack trace. The bounded host looks for Java before it starts anything."""
    monkeypatch.setenv("JAVA_HOME", "/nowhere")
    command = [sys.executable, "-m", "penstock.cli", "run", script(tmp_path, COUNT)]
    result = subprocess.run(command, capture_output=True, text=True)
    assert result.returncode == 1
    assert "Error: JAVA_HOME=/nowhere: has no bin/java. Spark 4.3 needs Java 17" in result.stderr
    assert "Traceback" not in result.stderr


@pytest.mark.parametrize(
    ("version", "spec", "fits"),
    [
        ("4.3.0", "pyspark==4.3.*", True),
        ("4.30.0", "pyspark==4.3.*", False),
        ("2.3.3", "pandas>=2.2,<3", True),
        ("3.0.0", "pandas>=2.2,<3", False),
        ("2.1", "pandas>=2.2,<3", False),
        ("10.0", "click>=8.1", True),
    ],
)
def test_versions_are_compared_number_by_number(version: str, spec: str, fits: bool) -> None:
    assert _fits(version, spec) is fits


def test_what_else_may_be_wrong(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def found(check: str) -> list[Finding]:
        return list(getattr(doctor_module, check)())

    monkeypatch.setattr(doctor_module, "_free_memory", lambda: 600 << 20)
    assert [(f.level, f.found.split(",")[0]) for f in found("memory")] == [("problem", "0.6 GiB free")]
    monkeypatch.setattr(shutil, "disk_usage", lambda folder: shutil._ntuple_diskusage(9, 9, 1 << 20))  # type: ignore[attr-defined]
    assert {f.level for f in found("disk")} == {"problem"}
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("PENSTOCK_STATE_DIR", str(tmp_path / "file"))
    assert [(f.level, "PENSTOCK_STATE_DIR" in f.cure) for f in found("listing")] == [("warning", True)]
    monkeypatch.setattr(socket, "gethostbyname", _unknown)
    assert [f.level for f in found("ports")] == ["ok", "warning"]
    monkeypatch.setattr(socket, "create_connection", _unknown)
    assert [f.level for f in found("ports")] == ["problem"]
    assert doctor_module._package("no-such-package>=1").cure.endswith("pip install 'no-such-package>=1'")


def _unknown(*args: object, **more: object) -> None:
    raise OSError("not here")


def test_free_memory_is_read_from_the_system(tmp_path: Path) -> None:
    (tmp_path / "meminfo").write_text("MemTotal: 9 kB\nMemAvailable:  2048 kB\n")
    assert _free_memory(tmp_path / "meminfo") == 2 << 20
    assert _free_memory(tmp_path / "none") is None


# -- completion -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_of_each_shell(shell: str) -> None:
    shown = penstock("completion", shell).stdout
    assert f"_PENSTOCK_COMPLETE={shell}_complete" in shown
    assert f"penstock completion {shell}" in penstock("completion", "-h").stdout


def test_completion_of_another_shell_is_refused() -> None:
    assert "'tcsh' is not one of 'bash', 'zsh', 'fish'" in penstock("completion", "tcsh").stderr


# -- plan -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "begins"),
    [
        ("plan.svg", "<svg "),
        ("plan.html", "<!doctype html>"),
        ("plan.json", '{\n  "name": "words"'),
        ("plan.md", "## Stream graph: words"),
        ("plan.txt", "== StreamGraph: words =="),
    ],
)
def test_the_name_of_the_file_says_the_form(tmp_path: Path, name: str, begins: str) -> None:
    """G1"""
    result = penstock("plan", script(tmp_path, COUNT), "-o", str(tmp_path / name))
    assert (result.exit_code, result.stdout, result.stderr) == (0, "", f"Wrote {tmp_path / name}\n")
    assert (tmp_path / name).read_text().startswith(begins)


def test_one_graph_in_a_form_of_its_own(tmp_path: Path) -> None:
    """G1"""
    job = script(tmp_path, COUNT)
    ElementTree.fromstring(penstock("plan", job, "--format", "svg", "--graph", "job").stdout)
    assert penstock("plan", job, "--format", "mermaid", "--graph", "stream").stdout.startswith("flowchart LR\n")
    assert penstock("plan", job, "--graph", "execution", "-p", "1").stdout.startswith("== ExecutionGraph: words ==\n")


def test_a_file_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    target = tmp_path / "none" / "plan.svg"
    result = penstock("plan", script(tmp_path, COUNT), "-o", str(target))
    assert (result.exit_code, result.stderr) == (1, f"Error: {target} cannot be written: No such file or directory\n")


# -- mistakes ---------------------------------------------------------------------------------------------------


def test_a_near_miss_is_guessed(tmp_path: Path) -> None:
    """P9"""
    script(tmp_path, COUNT)
    assert penstock("run", str(tmp_path / "jbo.py")).stderr.endswith("jbo.py: did you mean 'job.py'?\n")
    assert "No such command 'paln': did you mean 'plan'?" in penstock("paln").stderr


@pytest.mark.parametrize(
    ("conf", "message"),
    [
        ("parallelism.default=many", "'many'"),
        ("penstock.host=moon", "penstock.host must be one of auto, local, bounded, streaming, got 'moon'"),
        (
            "execution.runtime-mode=FAST",
            "execution.runtime-mode must be one of STREAMING, BATCH, AUTOMATIC, got 'FAST'",
        ),
        ("penstock.poison=eat", "penstock.poison"),
    ],
)
def test_a_bad_setting_is_told_by_name(tmp_path: Path, conf: str, message: str) -> None:
    """P9"""
    result = penstock("run", script(tmp_path, COUNT), "--conf", conf)
    assert result.exit_code == 1
    assert message in result.stderr
    assert "Traceback" not in result.stderr


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"a": ', "is not JSON"),
        ("parallelism.default 3", "has a line that is not 'key: value': 'parallelism.default 3'"),
    ],
)
def test_a_bad_configuration_file_is_told_by_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, message: str
) -> None:
    (tmp_path / "penstock.yaml").write_text(text)
    monkeypatch.setenv("PENSTOCK_CONF_FILE", str(tmp_path / "penstock.yaml"))
    result = penstock("run", script(tmp_path, COUNT))
    assert result.exit_code == 1
    assert f"The configuration file {tmp_path / 'penstock.yaml'} {message}" in result.stderr
    assert "Traceback" not in result.stderr


def test_a_syntax_error_shows_its_line_and_no_stack(tmp_path: Path) -> None:
    """P9"""
    job = script(tmp_path, "x = = 1")
    result = penstock("run", job)
    assert result.exit_code == 1
    assert result.stderr.splitlines()[0] == f'  File "{job}", line 1'
    assert result.stderr.splitlines()[-1] == "SyntaxError: invalid syntax"


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("import pyflink.datastream", "runs with its imports changed: sed -i 's/\\bpyflink\\b/penstock/g' {job}"),
        (
            "import penstock.no_such",
            "There is no module penstock.no_such. The guide's chapter 'Coming from PyFlink'",
        ),
        (
            "from penstock.datastream import TimeCharacteristic",
            "no TimeCharacteristic and neither has penstock.datastream: a WatermarkStrategy gives a stream event time",
        ),
        (
            "from penstock.datastream.async_retry_strategies import AsyncRetryStrategy",
            "no AsyncRetryStrategy in penstock.datastream.async_retry_strategies: import it from penstock.datastream",
        ),
        (
            "from penstock.datastream import Row",
            "There is no Row in penstock.datastream: import it from penstock.common",
        ),
        (
            "from penstock.common import AsyncRetryStrategies",  # alike are RestartStrategies and, more so, another's
            "no such name in penstock.common: did you mean 'AsyncRetryStrategy' of penstock.datastream? The guide's",
        ),
        (
            "from penstock.datastream import TumblingEventTimeWindows",
            "in penstock.datastream: import it from penstock.datastream.window",
        ),
        (
            "from penstock.datastream import SlidingWindows",  # was: FailedWindow
            "There is no such name in penstock.datastream. The guide's chapter 'Coming from PyFlink' says which names",
        ),
        (
            "from penstock.datastream import MapFuncton",
            "no such name in penstock.datastream: did you mean 'MapFunction'? The",
        ),
    ],
)
def test_an_import_that_fails_says_what_to_do(tmp_path: Path, text: str, hint: str) -> None:
    """P9"""
    job = script(tmp_path, text)
    result = penstock("run", job)
    assert result.exit_code == 1
    assert hint.format(job=job) in result.stderr.splitlines()[-1]


def test_an_import_of_something_else_is_left_alone(tmp_path: Path) -> None:
    result = penstock("run", script(tmp_path, "import no_such_module"))
    assert result.stderr.splitlines()[-1] == "ModuleNotFoundError: No module named 'no_such_module'"


def test_every_command_has_help_with_an_example() -> None:
    from penstock.cli import main

    assert list(main.commands) == [  # type: ignore[attr-defined]
        *("run", "plan", "list", "stop", "cancel", "savepoint", "state", "config"),
        *("new", "demo", "doctor", "completion"),
    ]
    for name in main.commands:  # type: ignore[attr-defined]
        shown = penstock(name, "--help").stdout
        assert f"penstock {name}" in shown
        assert "Example" in shown or "eval" in shown


def test_an_error_of_ours_outside_a_job_is_a_message(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse() -> None:
        raise ConfigurationError("this is wrong")

    monkeypatch.setattr("penstock.cli.jobs.running_jobs", refuse)
    result = penstock("list")
    assert (result.exit_code, result.stderr) == (1, "Error: this is wrong\n")
