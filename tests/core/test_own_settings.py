"""Penstock's own settings: every one that is read is in the table, and no other is accepted."""

import re
from pathlib import Path
from typing import Any

import pytest

from penstock.core.config import Configuration
from penstock.core.config.own_settings import OWN_SETTINGS, check_own_settings
from penstock.core.errors import ConfigurationError
from penstock.datastream import StreamExecutionEnvironment
from tests.cli.kit import penstock, script

SOURCE = Path(__file__).parents[2] / "src" / "penstock"
GOOD = {
    "penstock.batch.max-bytes": "1",
    "penstock.batch.max-records": "1",
    "penstock.batch.target-ms": "5 s",
    "penstock.cache.dir": "/shared",
    "penstock.chunk.records": "1",
    "penstock.host": "local",
    "penstock.jvm.compiler": "full",
    "penstock.metrics.heavy-keys": "0",
    "penstock.metrics.late-records": "True",
    "penstock.plan-only": "false",
    "penstock.poison": "side-output",
    "penstock.sort.budget-bytes": "1",
    "penstock.source.buffer-records": "1",
    "penstock.source.cancel-timeout-ms": "0",
    "penstock.state.accept-changed-program": "true",
    "penstock.state.budget-bytes": "1",
    "penstock.state.page-bytes": "1",
    "penstock.tmp-dir": "/tmp",
    "penstock.watermark.per-record": "true",
    "penstock.watermark.records": "1",
}
NOT_SETTINGS = {"penstock.job"}  # a logger


def is_module(name: str) -> bool:
    place = SOURCE.parent.joinpath(*name.split("."))
    return place.is_dir() or place.with_suffix(".py").is_file()


def test_the_table_has_every_setting_that_is_read() -> None:
    """P12"""
    found = {
        name
        for path in SOURCE.rglob("*.py")
        if path.name != "own_settings.py"
        for name in re.findall(r'"(penstock\.[a-z][a-z-]*(?:\.[a-z-]+)*)"', path.read_text(encoding="utf-8"))
    }
    assert {name for name in found if not is_module(name)} - NOT_SETTINGS == set(OWN_SETTINGS)


def test_a_slip_of_the_pen_is_refused() -> None:
    """P12: it would have no effect."""
    check_own_settings(Configuration({**GOOD, "penstockish": "1", "my.own": "2"}))
    with pytest.raises(ConfigurationError, match=r"no setting 'penstock.hots': did you mean 'penstock.host'\?"):
        check_own_settings(Configuration({"penstock.hots": "local"}))
    with pytest.raises(ConfigurationError, match=r"no setting 'penstock.zzzzzz': there are penstock.batch.max-bytes, "):
        check_own_settings(Configuration({"penstock.zzzzzz": "1"}))


@pytest.mark.parametrize("command", ["run", "plan"])
def test_the_command_line_refuses_it_with_the_line(tmp_path: Path, command: str) -> None:
    """P9, P12"""
    job = script(
        tmp_path,
        """
        from penstock.datastream import StreamExecutionEnvironment
        env = StreamExecutionEnvironment.get_execution_environment()
        env.from_collection([1]).print()
        env.execute()
        """,
    )
    result = penstock(command, job, "--conf", "penstock.chunk.record=5")
    assert result.exit_code == 1
    message, where = result.stderr.splitlines()
    assert message == "Error: There is no setting 'penstock.chunk.record': did you mean 'penstock.chunk.records'?"
    assert where == f"  {job}, line 5: env.execute()"


# -- values -------------------------------------------------------------------------------------------

NUMBERS = [name for name, setting in OWN_SETTINGS.items() if "whole number" in setting.expected]
BAD = [
    *((name, bad, r"a whole number of at least \d") for name in NUMBERS for bad in ("five", "", "1.5", "-1")),
    ("penstock.batch.target-ms", "five", "a duration like '10 s', '1 min' or '500 ms'"),
    ("penstock.batch.target-ms", "-5", "a duration like '10 s', '1 min' or '500 ms'"),
    ("penstock.host", "somewhere", "one of auto, local, bounded, streaming"),
    ("penstock.jvm.compiler", "fast", "one of quick, full"),
    ("penstock.poison", "ignore", "one of fail, skip, side-output"),
    ("penstock.metrics.late-records", "yes", "true or false"),
    ("penstock.watermark.per-record", "1", "true or false"),
    ("penstock.batch.max-records.numbers", "many", "a whole number of at least 1"),
    ("penstock.batch.max-bytes.numbers", "0", "a whole number of at least 1"),
]


def test_every_setting_has_a_value_that_it_takes() -> None:
    assert GOOD.keys() == OWN_SETTINGS.keys()


def environment(**settings: Any) -> StreamExecutionEnvironment:
    env = StreamExecutionEnvironment(Configuration(settings))
    env.from_collection([1]).uid("numbers").print()
    return env


@pytest.mark.parametrize("host", ["local", "bounded", "streaming"])
@pytest.mark.parametrize(("name", "value", "expected"), BAD)
def test_a_value_is_refused_on_every_host_before_anything_starts(
    host: str, name: str, value: str, expected: str
) -> None:
    """P9: on a host that never reads the setting, too."""
    settings = {"penstock.host": host, name: value}
    message = rf"{re.escape(name)} must be {expected}, got {re.escape(repr(value))}"
    with pytest.raises(ConfigurationError, match=message):
        environment(**settings).execute_async()
    with pytest.raises(ConfigurationError, match=message):
        environment(**settings).explain()


# -- of one source ------------------------------------------------------------------------------------

PER_SOURCE = [name for name, setting in OWN_SETTINGS.items() if setting.per_source]


def test_the_guide_documents_the_settings_that_take_a_uid() -> None:
    """P12"""
    pages = (SOURCE.parents[1] / "docs" / "guide").glob("*.md")
    texts = (page.read_text(encoding="utf-8") for page in pages)
    documented = {name for text in texts for name in re.findall(r"`(penstock[a-z.-]+)\.<uid>`", text)}
    assert documented == set(PER_SOURCE)


@pytest.mark.parametrize("name", PER_SOURCE)
def test_a_setting_of_one_source_is_taken_however_it_is_said(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """P3, P12"""
    key, local = f"{name}.numbers", {"penstock.host": "local"}
    environment(**local, **{key: "5"}).execute()
    env = environment(**local)
    env.get_configuration().set_string(key, "5")
    env.execute()
    file = tmp_path / "conf.yaml"
    file.write_text(f"{key}: 5\n", encoding="utf-8")
    monkeypatch.setenv("PENSTOCK_CONF_FILE", str(file))
    assert environment(**local).get_configuration().get_string(key, "") == "5"
    environment(**local).execute()


@pytest.mark.parametrize("name", PER_SOURCE)
def test_a_setting_of_one_source_on_the_command_line(name: str, tmp_path: Path) -> None:
    """P3, P12"""
    job = script(
        tmp_path,
        """
        from penstock.datastream import StreamExecutionEnvironment
        env = StreamExecutionEnvironment.get_execution_environment()
        env.from_collection([1]).uid("numbers").print()
        env.execute()
        """,
    )
    assert penstock("plan", job, "--conf", f"{name}.numbers=5").exit_code == 0
    run = penstock("run", job, "--host", "local", "--conf", f"{name}.numbers=5")
    assert (run.exit_code, run.stdout.splitlines()[-1][-2:]) == (0, " 1")


@pytest.mark.parametrize("host", ["local", "bounded", "streaming"])
@pytest.mark.parametrize("name", PER_SOURCE)
def test_a_uid_that_no_source_has_is_refused_on_every_host(name: str, host: str) -> None:
    """P12: it would do nothing."""
    settings = {"penstock.host": host, f"{name}.number": "5"}
    message = rf"{re.escape(name)}\.number names no source of the job: its sources have the uids numbers"
    with pytest.raises(ConfigurationError, match=message):
        environment(**settings).execute_async()
    with pytest.raises(ConfigurationError, match=message):
        environment(**settings).explain()


def test_only_settings_of_sources_take_a_uid() -> None:
    """P12"""
    with pytest.raises(ConfigurationError, match=r"no setting 'penstock\.chunk\.records\.numbers': did you mean"):
        check_own_settings(Configuration({"penstock.chunk.records.numbers": "5"}))
    with pytest.raises(ConfigurationError, match=r"There is no setting 'penstock\.batch\.max-records\.'"):
        check_own_settings(Configuration({"penstock.batch.max-records.": "5"}))
