"""``python -m differential.programs OUT SEEDS NAME...``: run programs and note outcomes, one JSON object a line.

A name is ``program``, ``program.case`` or ``program:from:to``, some of its cases by number.
``python -m differential.programs count NAME...`` prints how many cases each has.
"""

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
    if arguments[0] == "count":
        print(json.dumps({name: len(_program(name).cases) for name in arguments[1:]}))
        return
    out, seeds, *names = arguments
    with open(out, "w", encoding="utf-8") as file:
        for name in names:
            program = name.replace(":", ".").split(".")[0]
            for seed in map(int, seeds.split(",")):
                for outcome in _outcomes(name, program, seed):
                    print(json.dumps({"program": program, "seed": seed, **outcome}), file=file, flush=True)


def _program(name: str) -> kit.Program:
    program: kit.Program = importlib.import_module(f"differential.programs.{name}").PROGRAM
    return program


def _outcomes(wanted: str, name: str, seed: int) -> Iterator[dict[str, Any]]:
    started = time.monotonic()
    try:
        program = _program(name)
    except Exception:
        yield {"case": "import", "order": kit.VALUES, "values": [], "error": traceback.format_exc()}
        return
    yield from kit.run(program, _chosen(program, wanted), seed)
    print(f"{wanted}, seed {seed}: {time.monotonic() - started:.1f} s", file=sys.stderr, flush=True)


def _chosen(program: kit.Program, wanted: str) -> list[kit.Case]:
    if ":" in wanted:
        _, start, stop = wanted.split(":")
        return program.cases[int(start) : int(stop)]
    only = wanted.partition(".")[2]
    return [case for case in program.cases if only in ("", case.name)]


if __name__ == "__main__":
    main(sys.argv[1:])
