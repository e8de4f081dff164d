"""PyFlink's outcomes, kept between runs: its side takes most of a run and changes only when a program does.

With ``--keep`` a piece of work is asked of PyFlink once. Its outcomes are used again as long as everything that decides
them is the same: the programs' text, the cases and seeds, PyFlink's version and its settings.
"""

from __future__ import annotations

import hashlib
import re
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path

from differential.sides import SCRATCH

FOLDER = SCRATCH / "kept"
_USES = re.compile(r"^from differential\.programs(?:\.(\w+)| import (\w+))", re.MULTILINE)


def keep(parts: Sequence[str], out: Path, make: Callable[[], None]) -> None:
    """Put the outcomes for ``parts`` into ``out``: a copy of those kept, else those that ``make`` writes there.

    ``make`` raises if it fails, and then nothing is kept.
    """
    kept = FOLDER / f"{fingerprint(parts)}.jsonl"
    if kept.exists():
        shutil.copyfile(kept, out)
        return
    make()
    FOLDER.mkdir(parents=True, exist_ok=True)
    unfinished = kept.with_suffix(".part")
    shutil.copyfile(out, unfinished)
    unfinished.replace(kept)


def fingerprint(parts: Sequence[str]) -> str:
    """Equal for equal parts alone."""
    digest = hashlib.sha256()
    for part in parts:
        data = part.encode()
        digest.update(len(data).to_bytes(8, "big") + data)
    return digest.hexdigest()


def texts(programs: Sequence[str], folder: Path) -> list[str]:
    """The text of the programs in a folder, and of every module beside them that they use, each once."""
    found: dict[str, str] = {}
    waiting = ["__main__", *programs]
    while waiting:
        name = waiting.pop()
        if name not in found:
            found[name] = (folder / f"{name}.py").read_text(encoding="utf-8")
            waiting += [module or imported for module, imported in _USES.findall(found[name])]
    return [found[name] for name in sorted(found)]
