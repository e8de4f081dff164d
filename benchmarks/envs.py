"""The peers' virtual environments, made on demand under ``.bench/envs``.

``PENSTOCK_BENCH_ENVS`` may name a folder of ready ones instead (``<folder>/flink``, ``<folder>/bytewax``); nothing is
installed there.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SCRATCH = ROOT / ".bench"
DATA = SCRATCH / "data"
_PINS = Path(__file__).with_name("peers.toml")


class EnvironmentMissing(Exception):
    """An environment could not be made, or is not where ``PENSTOCK_BENCH_ENVS`` says."""


def interpreter(environment: str | None) -> str:
    """The Python that runs a peer; its environment is made first if need be."""
    if environment is None:
        return sys.executable
    given = os.environ.get("PENSTOCK_BENCH_ENVS")
    return str(_ready(Path(given) / environment) if given else _made(environment))


def pins(environment: str) -> list[str]:
    """What pip is to install."""
    found: list[str] = tomllib.loads(_PINS.read_text(encoding="utf-8"))[environment]["requirements"]
    return found


def _ready(folder: Path) -> Path:
    python = folder / "bin" / "python"
    if not python.exists():
        raise EnvironmentMissing(f"PENSTOCK_BENCH_ENVS: there is no virtual environment {folder.name!r} in that folder")
    return python


def _made(environment: str) -> Path:
    """An environment is finished when the pins it was made from stand in it; a changed pin makes it anew."""
    folder = SCRATCH / "envs" / environment
    stamp, wanted = folder / "pins", "\n".join(pins(environment))
    if not stamp.exists() or stamp.read_text(encoding="utf-8") != wanted:
        print(f"making the environment {environment}: {', '.join(pins(environment))}", flush=True)
        _make(folder, pins(environment))
        stamp.write_text(wanted, encoding="utf-8")
    return folder / "bin" / "python"


def _make(folder: Path, requirements: list[str]) -> None:
    python = str(folder / "bin" / "python")
    folder.parent.mkdir(parents=True, exist_ok=True)
    try:
        _run([str(ROOT / "scripts" / "ensure_venv.sh"), str(folder)])
        _run([python, "-m", "pip", "install", "--quiet", *requirements])
    except subprocess.CalledProcessError as error:
        raise EnvironmentMissing(f"the environment {folder.name!r} could not be made:\n{error.stderr}") from error


def _run(command: list[str]) -> None:
    variables = {**os.environ, "PYTHON": sys.executable}
    subprocess.run(command, check=True, env=variables, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
