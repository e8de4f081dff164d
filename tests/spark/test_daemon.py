"""The daemon whose children are the workers: what it has imported, and what it does between two tasks."""

import gc
import os
import subprocess
import sys
from types import FunctionType, SimpleNamespace
from typing import Any

import pytest

from penstock.spark.startup.daemon import PRELOADED, spare_full_collections


def _generations(collect: object) -> list[int]:
    seen: list[int] = []

    def note(phase: str, info: dict[str, int]) -> None:
        if phase == "start":
            seen.append(info["generation"])

    gc.callbacks.append(note)
    try:
        assert callable(collect)
        collect()
    finally:
        gc.callbacks.remove(note)
    return seen


def test_the_daemon_visits_young_objects_only(monkeypatch: pytest.MonkeyPatch) -> None:
    names: dict[str, Any] = {"gc": gc}
    manager = FunctionType((lambda: None).__code__, names)
    monkeypatch.setitem(sys.modules, "__main__", SimpleNamespace(manager=manager))
    assert _generations(names["gc"].collect) == [2]
    spare_full_collections()
    spare_full_collections()
    assert _generations(names["gc"].collect) == [1]
    assert _generations(gc.collect) == [2], "who asks the module itself gets what was asked for"


def test_another_program_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    program = SimpleNamespace(gc=gc)
    monkeypatch.setitem(sys.modules, "__main__", program)
    spare_full_collections()
    assert program.gc is gc


@pytest.mark.process
def test_nothing_that_is_imported_before_workers_are_forked_starts_threads() -> None:
    """A fork copies one thread only; whatever the others held stays locked in the workers."""
    look = f"import os, {', '.join(PRELOADED)}; print(len(os.listdir('/proc/self/task')))"
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}  # as Spark sets it for workers
    answer = subprocess.run([sys.executable, "-c", look], env=environment, capture_output=True, text=True)
    assert answer.stdout.strip() == "1", answer.stderr
