"""The package as people get it: sdist, wheel from it, installed into an empty environment outside the checkout.

What makes an environment takes half a minute, and so belongs to the slow ring, also where it needs no JVM.
"""

import os
import re
import shutil
import site
import subprocess
import sys
import tarfile
import venv
import zipfile
from pathlib import Path

import pytest

from penstock._version import __version__

ROOT = Path(__file__).parents[1]
SOURCES = ("pyproject.toml", "README.md", "LICENSE", "NOTICE", "src")
JOB = """
from dataclasses import dataclass
from penstock.datastream import StreamExecutionEnvironment

@dataclass
class Word:
    text: str
    count: int

env = StreamExecutionEnvironment.get_execution_environment()
words = env.from_collection("to be or not to be".split()).map(lambda word: Word(word, 1))
words.key_by(lambda word: word.text).reduce(lambda a, b: Word(a.text, a.count + b.count)).print()
env.execute("words")
"""
OUTPUT = ["Word(text='be', count=1)", "Word(text='be', count=2)", "Word(text='not', count=1)"]
OUTPUT += ["Word(text='or', count=1)", "Word(text='to', count=1)", "Word(text='to', count=2)"]


def _build(source: Path, kind: str, out: Path) -> Path:
    """By the build backend of pyproject.toml, as pip and build call it, in this environment: nothing is downloaded."""
    call = f"from setuptools import build_meta; print(build_meta.build_{kind}({str(out)!r}))"
    done = subprocess.run([sys.executable, "-c", call], cwd=source, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return out / done.stdout.splitlines()[-1]


@pytest.fixture(scope="module")
def sdist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    copy = tmp_path_factory.mktemp("copy")
    for name in SOURCES:
        source = ROOT / name
        ignored = shutil.ignore_patterns("*.egg-info", "__pycache__")
        shutil.copytree(source, copy / name, ignore=ignored) if source.is_dir() else shutil.copy(source, copy / name)
    return _build(copy, "sdist", tmp_path_factory.mktemp("sdist"))


@pytest.fixture(scope="module")
def wheel(sdist: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("unpacked")
    with tarfile.open(sdist) as archive:
        archive.extractall(folder, filter="data")
    (unpacked,) = folder.iterdir()
    return _build(unpacked, "wheel", tmp_path_factory.mktemp("wheel"))


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The bin folder of an environment that has the wheel, and this environment's packages to depend on."""
    home = tmp_path_factory.mktemp("env")
    venv.create(home, with_pip=False, symlinks=True)
    python = home / "bin" / "python"
    install = [sys.executable, "-m", "pip", "--python", str(python), "install", "--quiet", "--no-deps", "--no-index"]
    done = subprocess.run([*install, "--no-warn-script-location", str(wheel)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    (packages,) = home.glob("lib/python*/site-packages")
    # folders that a .pth file adds have their own .pth files ignored: an editable installation does not shine through
    paths = [path for path in (*site.getsitepackages(), *sys.path) if path.endswith("site-packages")]
    (packages / "dependencies.pth").write_text("\n".join(dict.fromkeys(paths)))
    return home / "bin"


def _run(bin_: Path, folder: Path, *command: str) -> subprocess.CompletedProcess[str]:
    env = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "VIRTUAL_ENV")}
    env["PATH"] = f"{bin_}{os.pathsep}{env.get('PATH', '')}"
    return subprocess.run([str(bin_ / command[0]), *command[1:]], cwd=folder, env=env, capture_output=True, text=True)


@pytest.mark.process
def test_the_wheel_has_all_that_is_needed_and_nothing_else(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        (meta,) = [name for name in names if name.endswith("METADATA")]
        metadata = archive.read(meta).decode()
    for needed in ("py.typed", "spark/startup/log4j2.properties", "cli/template/job.py.txt", "demo.py"):
        assert f"penstock/{needed}" in names
    sources = {str(path.relative_to(ROOT / "src")) for path in (ROOT / "src").rglob("*.py")}
    assert sources <= set(names), "a package without __init__.py is left out"
    assert {name.split("/")[0] for name in names} == {"penstock", f"penstock-{__version__}.dist-info"}
    assert f"\nVersion: {__version__}\n" in metadata
    assert "License-File: LICENSE" in metadata


def test_the_sdist_builds_without_the_checkout(sdist: Path) -> None:
    assert sdist.name == f"penstock-{__version__}.tar.gz"
    with tarfile.open(sdist) as archive:
        names = archive.getnames()
    assert f"penstock-{__version__}/src/penstock/py.typed" in names
    assert f"penstock-{__version__}/LICENSE" in names


def test_the_version_is_written_in_one_place() -> None:
    written = [
        path
        for path in (*(ROOT / "src").rglob("*.py"), ROOT / "pyproject.toml")
        if re.search(rf"version[\W_]+{re.escape(__version__)}", path.read_text(encoding="utf-8"))
    ]
    assert [path.name for path in written] == ["_version.py"]


@pytest.mark.spark
def test_the_installed_command_runs_outside_the_checkout(installed: Path, tmp_path: Path) -> None:
    """P2: a job, a new project, a plan; everything from the environment, nothing from the checkout."""
    (tmp_path / "job.py").write_text(JOB)
    where = _run(installed, tmp_path, "python", "-c", "import penstock; print(penstock.__file__)").stdout
    assert where.startswith((str(installed.parent), str(installed.parent.resolve()))), where
    assert _run(installed, tmp_path, "penstock", "--version").stdout == f"penstock, version {__version__}\n"
    ran = _run(installed, tmp_path, "penstock", "run", "job.py", "--host", "local", "-p", "1")
    assert (ran.returncode, sorted(ran.stdout.splitlines())) == (0, OUTPUT), ran.stderr
    assert _run(installed, tmp_path, "penstock", "plan", "job.py", "-o", "plan.html").returncode == 0
    assert _run(installed, tmp_path, "penstock", "new", "shop").returncode == 0
    tested = _run(installed, tmp_path / "shop", "python", "-m", "pytest", "-q", "-p", "no:cacheprovider")
    assert "3 passed" in tested.stdout, tested.stdout + tested.stderr


@pytest.mark.spark
def test_what_users_write_is_checked_against_the_installed_types(installed: Path, tmp_path: Path) -> None:
    """py.typed is heeded: a wrong call is found."""
    (tmp_path / "typed.py").write_text(
        "from penstock.datastream import StreamExecutionEnvironment\n"
        "StreamExecutionEnvironment.get_execution_environment().set_parallelism('two')\n"
    )
    done = _run(installed, tmp_path, "python", "-m", "mypy", "--cache-dir", str(tmp_path / "cache"), "typed.py")
    assert 'Argument 1 to "set_parallelism"' in done.stdout, done.stdout + done.stderr


@pytest.mark.spark
def test_the_installed_command_runs_a_job_on_spark(installed: Path, tmp_path: Path) -> None:
    """P2, P7: workers find the package and the job's own classes outside the checkout."""
    (tmp_path / "job.py").write_text(JOB)
    ran = _run(installed, tmp_path, "penstock", "run", "job.py", "-p", "2", "--plain")
    shown = sorted(re.sub(r"^\d> ", "", text) for text in ran.stdout.splitlines())
    assert (ran.returncode, shown) == (0, OUTPUT), ran.stderr
    assert "words: FINISHED after" in ran.stderr
