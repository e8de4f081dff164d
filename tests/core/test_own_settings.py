"""Penstock's own settings: every one that is read is in the table, and no other is accepted."""

import re
from pathlib import Path

import pytest

from penstock.core.config import Configuration
from penstock.core.errors import ConfigurationError
from penstock.core.own_settings import OWN_SETTINGS, refuse_unknown
from tests.cli.kit import penstock, script

SOURCE = Path(__file__).parents[2] / "src" / "penstock"
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
    refuse_unknown(Configuration(dict.fromkeys(OWN_SETTINGS, "1") | {"penstockish": "1", "my.own": "2"}))
    with pytest.raises(ConfigurationError, match=r"no setting 'penstock.hots': did you mean 'penstock.host'\?"):
        refuse_unknown(Configuration({"penstock.hots": "local"}))
    with pytest.raises(ConfigurationError, match=r"no setting 'penstock.zzzzzz': there are penstock.batch.max-bytes, "):
        refuse_unknown(Configuration({"penstock.zzzzzz": "1"}))


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
