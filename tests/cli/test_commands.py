"""The command line, without a JVM."""

import os
import signal
import subprocess
import sys
from pathlib import Path
from textwrap import dedent

import pytest
from click.testing import CliRunner, Result

from penstock._version import __version__
from penstock.cli import main

WORDS = """
    import sys
    from dataclasses import dataclass
    from penstock.datastream import StreamExecutionEnvironment

    @dataclass
    class Word:
        text: str

    env = StreamExecutionEnvironment.get_execution_environment()
    words = env.from_collection(sys.argv[1:]).map(Word).key_by(lambda word: word.text)
    words.reduce(lambda a, b: Word(a.text + b.text)).print()
    env.execute("words")
"""


@pytest.fixture(autouse=True)
def _clean(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("PENSTOCK_CONF", "PENSTOCK_CONF_FILE"):
        monkeypatch.delenv(name, raising=False)


def _script(folder: Path, text: str) -> str:
    path = folder / "job.py"
    path.write_text(dedent(text))
    return str(path)


def _penstock(*args: str) -> Result:
    return CliRunner().invoke(main, args)


# -- running ----------------------------------------------------------------------------------------


def test_a_job_runs_with_its_arguments_and_its_own_classes(tmp_path: Path) -> None:
    """P2, P7: records of classes that the script defines travel between its operators."""
    result = _penstock("run", _script(tmp_path, WORDS), "to", "be", "to", "-p", "1", "--host", "local")
    assert (result.exit_code, result.stderr) == (0, "")
    assert result.stdout.splitlines() == ["Word(text='to')", "Word(text='be')", "Word(text='toto')"]


def test_progress_begins_with_what_the_job_guarantees(tmp_path: Path) -> None:
    """F7."""
    result = _penstock("run", _script(tmp_path, WORDS), "to", "--plain", "-p", "1", "--host", "local")
    assert result.stderr.splitlines()[:2] == [
        "== Guarantees: words ==",
        "'Source: Collection' -> 'Print to Std. Out': at-most-once (shown once durable, and not again)",
    ]


def test_the_script_sees_what_python_would_show_it(tmp_path: Path) -> None:
    (tmp_path / "beside.py").write_text("NAME = 'beside'")
    job = _script(
        tmp_path,
        """
        import pickle, sys
        import beside
        class Mine: ...
        assert sys.modules["__main__"].Mine is Mine and pickle.loads(pickle.dumps(Mine)) is Mine
        print(__name__, __file__ == sys.argv[0], sys.argv[1:], beside.NAME, __doc__)
        """,
    )
    before = sys.modules["__main__"], sys.argv, list(sys.path)
    result = _penstock("run", job, "--input", "x", "--", "-p", "y")
    assert result.stdout == "__main__ True ['--input', 'x', '-p', 'y'] beside None\n"
    assert (sys.modules["__main__"], sys.argv, sys.path) == before
    sys.modules.pop("beside")


def test_the_exit_code_of_the_script_is_kept(tmp_path: Path) -> None:
    assert _penstock("run", _script(tmp_path, "import sys; sys.exit(7)")).exit_code == 7


SHOW = """
    from penstock.common import Configuration
    from penstock.datastream import StreamExecutionEnvironment
    env = StreamExecutionEnvironment.get_execution_environment()
    conf = env.get_configuration()
    print(*(conf.get_string(k, "-") for k in (
        "spark.master", "execution.checkpointing.dir", "penstock.host", "a.b", "parallelism.default")))
"""


def test_options_reach_the_program_as_settings(tmp_path: Path) -> None:
    """P2: the program's text does not change with where it runs."""
    options = (
        "--master",
        "spark://h:7077",
        "--checkpoint",
        "/c",
        "--host",
        "streaming",
        "--conf",
        "a.b=c=d",
        "-p",
        "3",
    )
    assert _penstock("run", _script(tmp_path, SHOW), *options).stdout == "spark://h:7077 /c streaming c=d 3\n"
    assert "PENSTOCK_CONF" not in os.environ


# -- parallelism ----------------------------------------------------------------------------------------

SIZES = """
    from penstock.datastream import StreamExecutionEnvironment
    env = StreamExecutionEnvironment.get_execution_environment()
    {environment}
    env.from_sequence(1, 9).map(str).name("plain").start_new_chain().map(len).name("own"){operator}.print()
    env.execute()
"""


@pytest.mark.parametrize(
    ("file", "line", "environment", "operator", "plain", "own"),
    [
        ("2", None, "", "", 2, 2),
        ("2", "3", "", "", 3, 3),
        ("2", "3", "env.set_parallelism(4)", "", 4, 4),
        ("2", "3", "env.set_parallelism(4)", ".set_parallelism(5)", 4, 5),
        ("2", None, "", ".set_parallelism(5)", 2, 5),
    ],
)
def test_parallelism_from_weakest_to_strongest(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    file: str,
    line: str | None,
    environment: str,
    operator: str,
    plain: int,
    own: int,
) -> None:
    """P3: configuration file, command line, environment, operator."""
    settings = tmp_path / "penstock.yaml"
    settings.write_text(f"# defaults\nparallelism.default: {file}\n")
    monkeypatch.setenv("PENSTOCK_CONF_FILE", str(settings))
    job = _script(tmp_path, SIZES.format(environment=environment, operator=operator))
    shown = _penstock("plan", job, *(["-p", line] if line else [])).stdout
    assert f"plain (1/{plain})" in shown or f"plain -> own -> Print to Std. Out (1/{plain})" in shown
    assert f"own (1/{own})" in shown or f"own -> Print to Std. Out (1/{own})" in shown


def test_an_option_of_its_own_is_stronger_than_conf(tmp_path: Path) -> None:
    result = _penstock("run", _script(tmp_path, SHOW), "--conf", "parallelism.default=9", "-p", "3")
    assert result.stdout.split()[-1] == "3"


# -- plans ----------------------------------------------------------------------------------------------


def test_a_plan_shows_three_graphs_and_runs_nothing(tmp_path: Path) -> None:
    """G1, G2, P1: the program is left at its first execute()."""
    job = _script(
        tmp_path,
        """
        from penstock.datastream import StreamExecutionEnvironment
        env = StreamExecutionEnvironment.get_execution_environment()
        words = env.from_collection(["a"]).flat_map(lambda line: 1 / 0).name("split")
        words.key_by(lambda w: w).reduce(lambda a, b: a).name("count").print()
        try:
            env.execute("words")
        except Exception:
            print("caught")
        print("went on")
        """,
    )
    result = _penstock("plan", job, "-p", "2")
    assert result.exit_code == 0
    assert result.stdout == dedent(
        """\
        == StreamGraph: words ==
        1: Source: Collection
        2: split <- 1 FORWARD?
        3: count <- 2 HASH
        4: Print to Std. Out <- 3 FORWARD?

        == JobGraph: words (3 vertices, 5 subtasks) ==
        [0] Source: Collection x1
             --REBALANCE--> [1]
        [1] split x2
             --HASH--> [2]
        [2] count -> Print to Std. Out x2

        == ExecutionGraph: words ==
        Source: Collection (1/1)
        split (1/2)
        split (2/2)
        count -> Print to Std. Out (1/2)
        count -> Print to Std. Out (2/2)

        == Guarantees: words ==
        'Source: Collection' -> 'Print to Std. Out': at-most-once (shown once durable, and not again)
        """
    )


def test_a_plan_of_a_script_without_a_job_is_refused(tmp_path: Path) -> None:
    result = _penstock("plan", _script(tmp_path, "x = 1"))
    assert result.exit_code == 1
    assert "ended without execute(): there is no job to show" in result.stderr


# -- mistakes -------------------------------------------------------------------------------------------


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    """P9: a message, not a stack trace."""
    result = _penstock("run", str(tmp_path / "nope.py"))
    assert (result.exit_code, result.stderr) == (1, f"Error: there is no file {tmp_path / 'nope.py'}\n")
    result = _penstock("run", str(tmp_path))
    assert (result.exit_code, result.stderr) == (1, f"Error: {tmp_path} is not a file\n")


def test_a_mistake_in_the_program_is_told_with_its_line(tmp_path: Path) -> None:
    """P9: refused before anything runs; no frames of ours."""
    job = _script(
        tmp_path,
        """
        from penstock.datastream import StreamExecutionEnvironment
        env = StreamExecutionEnvironment.get_execution_environment()
        env.from_collection([1]).name("lost")
        env.execute()
        """,
    )
    result = _penstock("run", job, "--host", "local")
    assert result.exit_code == 1
    message, where = result.stderr.splitlines()
    assert message.startswith("Error: Source 'lost' has no sink: its records go nowhere. Add one")
    assert where == f"  {job}, line 5: env.execute()"


def test_a_failing_function_is_told_with_its_own_traceback(tmp_path: Path) -> None:
    """P9: operator, uid, record and the function's traceback, none of Penstock's."""
    job = _script(
        tmp_path,
        """
        from penstock.datastream import StreamExecutionEnvironment
        def halve(number):
            return 10 // number
        env = StreamExecutionEnvironment.get_execution_environment()
        env.from_collection([5, 0]).map(halve).name("halve").uid("h").print()
        env.execute()
        """,
    )
    result = _penstock("run", job, "--host", "local")
    assert result.exit_code == 1
    assert "operator 'halve' (uid h) failed on record 0" in result.stderr
    assert "line 4, in halve" in result.stderr
    assert result.stderr.endswith("ZeroDivisionError: integer division or modulo by zero\n")
    assert f"penstock{os.sep}" not in result.stderr


@pytest.mark.parametrize(
    ("text", "last", "frames"),
    [
        ("def f():\n    return undefined\nf()", "NameError: name 'undefined' is not defined", 2),
        ("x = = 1", "SyntaxError: invalid syntax", 1),
        (
            "from penstock.datastream import StreamExecutionEnvironment as E\n"
            "E.get_execution_environment().from_collection([1]).process(5)",
            "TypeError: process() takes a ProcessFunction, got int",
            1,
        ),
        ("try:\n    1 / 0\nexcept Exception as e:\n    raise ValueError('why') from e", "ValueError: why", 2),
    ],
)
def test_other_errors_show_the_scripts_frames_only(tmp_path: Path, text: str, last: str, frames: int) -> None:
    """P9: as `python job.py` would show them."""
    job = _script(tmp_path, text)
    result = _penstock("run", job)
    assert result.exit_code == 1
    assert result.stderr.rstrip().splitlines()[-1] == last
    assert result.stderr.count('File "') == result.stderr.count(f'File "{job}"') == frames


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["run"], "Missing argument 'JOB'"),
        (["run", "job.py", "-p", "0"], "0 is not in the range x>=1"),
        (["run", "job.py", "--conf", "novalue"], "'novalue' is not of the form key=value"),
        (["run", "job.py", "--host", "moon"], "'moon' is not one of 'local', 'bounded', 'streaming'"),
        (["fly"], "No such command 'fly'"),
    ],
)
def test_wrong_usage_exits_with_two(args: list[str], message: str) -> None:
    result = _penstock(*args)
    assert result.exit_code == 2
    assert message in result.stderr


def test_a_damaged_configuration_file_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PENSTOCK_CONF_FILE", str(tmp_path / "none.yaml"))
    result = _penstock("run", _script(tmp_path, SHOW))
    assert result.exit_code == 1
    assert f"The configuration file {tmp_path / 'none.yaml'} cannot be read" in result.stderr


# -- help -------------------------------------------------------------------------------------------------


def test_version_and_help() -> None:
    assert _penstock("--version").stdout == f"penstock, version {__version__}\n"
    assert "penstock run job.py --host local" in _penstock("--help").stdout
    for command in ("run", "plan"):
        shown = _penstock(command, "-h").stdout
        assert all(option in shown for option in ("--parallelism", "--master", "--checkpoint", "--conf", "--host"))
        assert "Example" in shown


# -- Ctrl-C -------------------------------------------------------------------------------------------------


@pytest.mark.process
def test_ctrl_c_ends_with_130_and_no_trace(tmp_path: Path) -> None:
    """P8: a script that Ctrl-C leaves, and one that stops its job and goes on, end alike."""
    job = _script(
        tmp_path,
        """
        import sys, time
        try:
            print("ready", flush=True)
            while True:
                time.sleep(60)
        except KeyboardInterrupt:
            if sys.argv[1] == "leave":
                raise
        """,
    )
    for how in ("leave", "go on"):
        command = [sys.executable, "-m", "penstock.cli", "run", job, how]
        process = subprocess.Popen(command, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        process.send_signal(signal.SIGINT)
        _, err = process.communicate()
        assert (process.returncode, err) == (130, "Stopped.\n")


def test_a_plan_passes_the_programs_own_handlers() -> None:
    from penstock.launch import PlannedOnly

    assert not issubclass(PlannedOnly, Exception)


def test_a_master_that_spark_does_not_know_is_refused_before_a_jvm_starts(tmp_path: Path) -> None:
    """P9"""
    result = _penstock("run", _script(tmp_path, WORDS), "to", "--master", "moon")
    assert result.exit_code == 1
    refusal = "'moon' is not a Spark master: give spark://HOST:PORT, yarn, k8s://HOST:PORT or local[CORES]"
    assert refusal in result.stderr
