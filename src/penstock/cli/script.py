"""Runs a job's script in this process, as `python job.py` would."""

from __future__ import annotations

import builtins
import sys
import traceback
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType

__all__ = ["last_line_of", "run_script", "script_traceback"]

_OURS = str(Path(__file__).resolve().parents[1])


def run_script(path: str, args: Sequence[str]) -> None:
    """Run a script as `__main__`; whatever it raises comes out.

    While it runs, its module really is `sys.modules["__main__"]`: records of its classes are pickled
    by that name.
    """
    source = Path(path).read_bytes()
    module = ModuleType("__main__")
    vars(module).update(__file__=path, __builtins__=builtins, __cached__=None)
    with _as_main(module, path, args):
        exec(compile(source, path, "exec"), vars(module))


@contextmanager
def _as_main(module: ModuleType, path: str, args: Sequence[str]) -> Iterator[None]:
    saved = sys.modules["__main__"], sys.argv, list(sys.path)
    sys.modules["__main__"], sys.argv = module, [path, *args]
    sys.path.insert(0, str(Path(path).resolve().parent))
    try:
        yield
    finally:
        sys.modules["__main__"], sys.argv, sys.path[:] = saved


def script_traceback(error: BaseException) -> str:
    """The traceback without Penstock's own frames."""
    summary = traceback.TracebackException.from_exception(error)
    _strip(summary)
    return "".join(summary.format()).rstrip()


def _strip(summary: traceback.TracebackException | None) -> None:
    while summary is not None:
        kept = [frame for frame in summary.stack if not frame.filename.startswith(_OURS)]
        summary.stack = traceback.StackSummary.from_list(kept)
        _strip(summary.__context__)
        summary = summary.__cause__


def last_line_of(path: str, error: BaseException) -> str | None:
    """Where in the script the call was made that failed: `job.py, line 12: env.execute()`."""
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if frame.filename == path]
    return f"{path}, line {frames[-1].lineno}: {frames[-1].line}" if frames else None
