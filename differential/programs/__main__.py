"""``python -m differential.programs OUT SEEDS NAME...``: run programs and note outcomes, one JSON object a line."""

from __future__ import annotations

import importlib
import json
import sys
import time
import traceback
from collections.abc import Iterator, Sequence
from typing import Any

from differential.programs import kit


def main(arguments: Sequence[str]) -> None:
    out, seeds, *names = arguments
    with open(out, "w", encoding="utf-8") as file:
        for name in names:
            program, _, only = name.partition(".")
            for seed in map(int, seeds.split(",")):
                for outcome in _outcomes(program, seed, only or None):
                    print(json.dumps({"program": program, "seed": seed, **outcome}), file=file, flush=True)


def _outcomes(name: str, seed: int, only: str | None) -> Iterator[dict[str, Any]]:
    started = time.monotonic()
    try:
        program: kit.Program = importlib.import_module(f"differential.programs.{name}").PROGRAM
    except Exception:
        yield {"case": "import", "order": kit.VALUES, "values": [], "error": traceback.format_exc()}
        return
    yield from kit.run(program, seed, only)
    print(f"{name}, seed {seed}: {time.monotonic() - started:.1f} s", file=sys.stderr, flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
