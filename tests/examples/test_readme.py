"""The README's job gives the README's output."""

import re
from pathlib import Path

from click.testing import CliRunner

from penstock.cli import main

README = Path(__file__).parents[2] / "README.md"


def test_the_job_on_the_first_page_does_what_it_says(tmp_path: Path) -> None:
    """P1, P2, S1: program and output are taken from the page."""
    text = README.read_text(encoding="utf-8")
    (program,) = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    ((command, output),) = re.findall(r"```console\n\$ penstock (.*?)\n(.*?)```", text, re.DOTALL)
    job = tmp_path / "words.py"
    job.write_text(program)
    args = [str(job) if arg == "words.py" else arg for arg in command.split()]
    result = CliRunner().invoke(main, [*args, "--host", "local"])
    assert (result.exit_code, result.stdout) == (0, output)
