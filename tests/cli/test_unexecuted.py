"""penstock run: programs that build operators and forget to run them."""

from pathlib import Path

import pytest

from tests.cli.kit import penstock, script

ENDS = ["env.execute()", "print(env.explain())", "print(env.get_execution_plan())", "env.close()"]
BUILT = """
from penstock.datastream import StreamExecutionEnvironment

def main():
    env = StreamExecutionEnvironment.get_execution_environment()
    env.from_collection([1, 2]).map(lambda v: v).name("numbers").print()
    {end}

main()
"""


def test_a_program_that_forgets_to_execute_is_told(tmp_path: Path) -> None:
    """P9: else it ends well, having done nothing."""
    job = script(tmp_path, BUILT.replace("{end}", "pass"))
    result = penstock("run", job, "--host", "local")
    assert result.exit_code == 1
    assert f"{job} ended without execute() for 3 operator(s): " in result.stderr
    assert "Nothing was run: end the program with env.execute()" in result.stderr


@pytest.mark.parametrize("end", ENDS)
def test_a_program_that_runs_or_shows_its_operators_ends_well(tmp_path: Path, end: str) -> None:
    """P9"""
    result = penstock("run", script(tmp_path, BUILT.replace("{end}", end)), "--host", "local")
    assert (result.exit_code, result.stderr) == (0, "")


def test_operators_left_over_behind_a_job_are_told(tmp_path: Path) -> None:
    """P9"""
    end = "env.execute(); env.from_collection([3]).print()"
    result = penstock("run", script(tmp_path, BUILT.replace("{end}", end)), "--host", "local")
    assert result.exit_code == 0
    assert "Warning: " in result.stderr
    assert "ended without execute() for 2 operator(s)" in result.stderr
