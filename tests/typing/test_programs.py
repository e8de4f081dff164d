"""Programs that type checkers pass, with the types that their streams have, and mistakes that they find.

The programs in `right` hold `assert_type`. In `wrong` every line with a mistake has a comment above it that names the
error of mypy and the rule of pyright: `# E: arg-type reportArgumentType`. A mistake that is not found fails the test,
and so does a complaint about any other line.
"""

import json
import re
import subprocess
import sys
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path

import pytest

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
PROGRAMS = sorted(path for folder in ("right", "wrong") for path in (HERE / folder).glob("*.py"))

Errors = dict[tuple[str, int], set[str]]
"""What a type checker says, by file and line: its names of the errors."""


def mypy(*paths: Path) -> Errors:
    """The errors of `mypy --strict`; a file that cannot be checked at all raises."""
    said = _run("mypy", "--strict", "--no-pretty", "--hide-error-context", *map(str, paths))
    found: Errors = defaultdict(set)
    for file, line, code in re.findall(r"^(.+?):(\d+): error: .*\[([\w-]+)\]$", said, re.MULTILINE):
        found[file, int(line)].add(code)
    assert found or "Success" in said, said
    return found


def pyright(*paths: Path) -> Errors:
    """The errors of pyright in its standard mode."""
    report = json.loads(_run("pyright", "--outputjson", "--pythonpath", sys.executable, *map(str, paths)))
    found: Errors = defaultdict(set)
    for said in report["generalDiagnostics"]:
        if said["severity"] == "error":
            place = str(Path(said["file"]).relative_to(ROOT)), said["range"]["start"]["line"] + 1
            found[place].add(said.get("rule", said["message"]))
    assert report["summary"]["filesAnalyzed"] == len(paths), report["summary"]
    return found


def _run(checker: str, *arguments: str) -> str:
    done = subprocess.run(
        [sys.executable, "-m", checker, *arguments], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode in (0, 1), done.stdout + done.stderr
    return done.stdout


def marked(place: int) -> dict[tuple[str, int], str]:
    """The mistakes that the programs name themselves; `place` 0 for mypy's names, 1 for pyright's."""
    return {
        (str(path.relative_to(ROOT)), number): mark[1].split()[place]
        for path in PROGRAMS
        for number, line in enumerate(path.read_text().splitlines(), 2)
        if (mark := re.fullmatch(r" *# E: (\S+ \S+)", line))
    }


@pytest.mark.process
@pytest.mark.parametrize(("checker", "place"), [(mypy, 0), (pyright, 1)])
def test_types_flow_through_programs_and_mistakes_are_found(checker: Callable[..., Errors], place: int) -> None:
    found, expected = checker(*(path.relative_to(ROOT) for path in PROGRAMS)), marked(place)
    # a lambda with a wrong result is reported twice by mypy: as an argument, and as a result
    named = {where: expected[where] if expected.get(where) in names else names for where, names in found.items()}
    assert named == expected


def test_every_program_with_mistakes_names_them() -> None:
    wrong = {str(path.relative_to(ROOT)) for path in PROGRAMS if path.parent.name == "wrong"}
    assert {file for file, _ in marked(0)} == wrong


@pytest.mark.process
def test_the_gallery_passes_strict_type_checking() -> None:
    examples = [path.relative_to(ROOT) for path in sorted((ROOT / "examples").glob("*.py"))]
    assert mypy(*examples) == {}


@pytest.mark.process
def test_a_new_project_passes_strict_type_checking(tmp_path: Path) -> None:
    made = subprocess.run(
        [sys.executable, "-m", "penstock.cli", "new", "sensors"], cwd=tmp_path, capture_output=True, text=True
    )
    assert made.returncode == 0, made.stderr
    checked = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "job.py", "test_job.py"],
        cwd=tmp_path / "sensors",
        capture_output=True,
        text=True,
    )
    assert checked.stdout.startswith("Success"), checked.stdout + checked.stderr
