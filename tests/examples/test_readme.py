"""The README's job gives the README's output, and its picture is the one that is drawn."""

import os
import re
from pathlib import Path

import pytest
from click.testing import CliRunner

from penstock.cli import main

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")


@pytest.fixture
def job(tmp_path: Path) -> Path:
    (program,) = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
    path = tmp_path / "clicks.py"
    path.write_text(program)
    return path


def test_the_job_on_the_first_page_does_what_it_says(job: Path) -> None:
    """P1, P2, T3, W2: program and output are taken from the page."""
    ((command, output),) = re.findall(r"```console\n\$ penstock (.*?)\n(.*?)```", README, re.DOTALL)
    args = [str(job) if arg == "clicks.py" else arg for arg in command.split()]
    result = CliRunner().invoke(main, [*args, "--host", "local"])
    assert (result.exit_code, result.stdout) == (0, output)


def test_the_job_is_short() -> None:
    (program,) = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
    assert len([line for line in program.splitlines() if line.strip()]) <= 15


def test_the_picture_is_what_the_command_beside_it_draws(job: Path, tmp_path: Path) -> None:
    """G1: `PENSTOCK_DRAW=1` draws it anew."""
    (command,) = re.findall(r"`penstock (plan clicks.py .*?)`", README)
    args = [str({"clicks.py": job, "plan.svg": tmp_path / "plan.svg"}.get(arg, arg)) for arg in command.split()]
    assert CliRunner().invoke(main, args).exit_code == 0
    drawn, kept = (tmp_path / "plan.svg").read_text(encoding="utf-8"), ROOT / "docs" / "pictures" / "plan.svg"
    if os.environ.get("PENSTOCK_DRAW"):
        kept.parent.mkdir(exist_ok=True)
        kept.write_text(drawn, encoding="utf-8")
    assert kept.read_text(encoding="utf-8") == drawn
