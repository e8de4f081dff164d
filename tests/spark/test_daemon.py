"""What PySpark's daemon does between two tasks."""

import gc
import sys
from types import SimpleNamespace

import pytest

from penstock.spark.daemon import spare_full_collections


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
    daemon = SimpleNamespace(manager=print, gc=gc)
    monkeypatch.setitem(sys.modules, "__main__", daemon)
    assert _generations(daemon.gc.collect) == [2]
    spare_full_collections()
    spare_full_collections()
    assert _generations(daemon.gc.collect) == [1]
    assert _generations(gc.collect) == [2], "who asks the module itself gets what was asked for"


def test_another_program_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    program = SimpleNamespace(gc=gc)
    monkeypatch.setitem(sys.modules, "__main__", program)
    spare_full_collections()
    assert program.gc is gc
