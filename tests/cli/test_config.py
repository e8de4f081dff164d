"""`penstock config`: the list of settings, and what is said of one."""

from pathlib import Path

import pytest
from click.shell_completion import ShellComplete

from penstock.cli import main
from penstock.core.config.table import ALL_OPTIONS, OWN_OPTIONS, older_names
from penstock.core.config.variables import ALL_VARIABLES
from tests.cli.kit import penstock


@pytest.fixture(autouse=True)
def nothing_given(monkeypatch: pytest.MonkeyPatch) -> None:
    for variable in ALL_VARIABLES:
        monkeypatch.delenv(variable.name, raising=False)


def names(*args: str) -> list[str]:
    """The first column of a list."""
    result = penstock("config", *args)
    assert result.exit_code == 0
    first = [line.split()[0] for line in result.stdout.splitlines() if line]
    return [name.removesuffix("[.<uid>]") for name in first if "." in name]


def explained(key: str) -> str:
    result = penstock("config", "explain", key)
    assert result.exit_code == 0
    return result.stdout


def test_the_list_has_every_setting_of_penstock_and_every_variable() -> None:
    """P12"""
    assert names() == names("list") == [key for key, option in OWN_OPTIONS.items() if not option.internal]
    lines = penstock("config").stdout.splitlines()
    assert lines[0].split() == ["SETTING", "DEFAULT", "WHAT", "IT", "DECIDES"]
    target = next(line for line in lines if line.startswith("penstock.batch.target-ms"))
    assert "  10 s  " in target
    assert target.endswith("How long a micro-batch should take at most; what is read of the sources follows it")
    assert [line.split()[0] for line in lines if line.startswith("PENSTOCK_")] == [v.name for v in ALL_VARIABLES]


def test_all_adds_the_settings_of_flink_and_spark_that_mean_something() -> None:
    """P12"""
    shown = {key for key, option in ALL_OPTIONS.items() if not option.no_effect and not option.internal}
    assert set(names("--all")) == shown
    assert "pipeline.force-kryo" not in shown


def test_a_text_and_a_host_narrow_the_list() -> None:
    assert names("--all", "backoff-mult") == ["restart-strategy.exponential-delay.backoff-multiplier"]
    assert "penstock.watermark.records" in names("WATERMARK")
    assert "penstock.batch.target-ms" not in names("--host", "local")
    assert "penstock.batch.target-ms" in names("--host", "streaming")
    assert penstock("config", "qqq").stdout.startswith("nothing; --all looks among the settings of Flink")
    assert penstock("config", "--all", "qqq").stdout == "nothing\n"


@pytest.mark.parametrize("key", ALL_OPTIONS)
def test_every_setting_is_explained(key: str) -> None:
    """P12"""
    text = explained(key)
    assert text.startswith(f"{key}\n")
    for wanted in (ALL_OPTIONS[key].description, "takes", "default", "hosts", "now", *older_names(ALL_OPTIONS[key])):
        assert wanted in text


def test_an_explanation_says_what_there_is_to_know() -> None:
    assert explained("penstock.state.budget-bytes").splitlines() == [
        "penstock.state.budget-bytes",
        "  Memory of a worker for pages of state that are in use; the rest stays in the state store.",
        "",
        "  takes    a whole number of at least 1",
        "  default  268435456 (256 MiB); in BATCH mode 50331648 (48 MiB)",
        "  hosts    local, bounded, streaming",
        "  now      the default",
        "  set it   in the program, which is stronger than the others:",
        '             Configuration().set_string("penstock.state.budget-bytes", "…")',
        "           on the command line:  penstock run job.py --conf penstock.state.budget-bytes=…",
        "           in the file that PENSTOCK_CONF_FILE names, the weakest:  penstock.state.budget-bytes: …",
    ]


def test_the_value_now_is_the_strongest_and_says_where_it_is_from(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """P3"""
    key, file = "penstock.batch.target-ms", tmp_path / "conf.yaml"
    file.write_text(f"{key}: 5 s\nstate.savepoints.dir: /old\n", encoding="utf-8")
    monkeypatch.setenv("PENSTOCK_CONF_FILE", str(file))
    assert f"now      5 s, from the file {file}\n" in explained(key)
    savepoints = explained("execution.checkpointing.savepoint-dir")
    assert f"/old, from the file {file}, as state.savepoints.dir\n" in savepoints
    assert savepoints == explained("state.savepoints.dir")
    monkeypatch.setenv("PENSTOCK_CONF", f'{{"{key}": "soon"}}')
    assert "soon, from the command line (PENSTOCK_CONF): jobs are refused" in explained(key)
    assert f"now  {file}\n" in explained("PENSTOCK_CONF_FILE")
    assert "now  not set\n" in explained("PENSTOCK_JVM_TRACE")


def test_the_setting_of_one_source() -> None:
    text = explained("penstock.batch.max-records.orders")
    assert text.startswith("penstock.batch.max-records.orders\n")
    assert "penstock.batch.max-records.<uid> is for the source with this uid" in text


def test_a_setting_of_flink_that_does_nothing_says_why() -> None:
    """P12"""
    assert "It has no effect: it is about Flink's own processes" in explained("rest.port")
    assert "No effect: records are pickled" in explained("pipeline.force-kryo")


@pytest.mark.parametrize(
    ("key", "message"),
    [
        ("penstock.chunk.record", "There is no setting 'penstock.chunk.record': did you mean 'penstock.chunk.records'"),
        ("PENSTOCK_CONF_FIL", "There is no setting 'PENSTOCK_CONF_FIL': did you mean 'PENSTOCK_CONF_FILE'"),
        ("spark.executor.memry", "There is no setting 'spark.executor.memry': did you mean 'spark.executor.memory'?"),
        ("colour", "There is no setting 'colour'; `penstock config --all` lists them"),
    ],
)
def test_an_unknown_setting_ends_with_the_nearest_names(key: str, message: str) -> None:
    """P9"""
    result = penstock("config", "explain", key)
    assert result.exit_code == 2
    assert result.stderr.startswith(f"Error: {message}")


@pytest.mark.parametrize(
    ("line", "typed", "expected"),
    [
        (["config", "explain"], "penstock.chunk", "penstock.chunk.records"),
        (["config", "explain"], "PENSTOCK_J", "PENSTOCK_JVM_TRACE"),
        (["run", "--conf"], "penstock.chunk", "penstock.chunk.records="),
    ],
)
def test_names_are_completed(line: list[str], typed: str, expected: str) -> None:
    complete = ShellComplete(main, {}, "penstock", "_PENSTOCK_COMPLETE")
    assert [item.value for item in complete.get_completions(line, typed)] == [expected]
