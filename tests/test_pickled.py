"""The names under which Penstock's classes stand in pickles, and old paths of modules that have moved."""

from __future__ import annotations

import io
import pickle
import subprocess
import sys
from base64 import b85decode
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

import penstock.pickled
from penstock.common import Row, RowKind, Time, Types
from penstock.core.contracts.source import MarkedBatch
from penstock.core.program.poison import FailedTimer
from penstock.datastream import CountWindow, GlobalWindow, TimeWindow
from penstock.moved import MOVED, install
from penstock.pickled import NAMES, resolve, stable_name
from penstock.runtime.codec import Encoded, dumps, loads
from penstock.runtime.list_keys import hashable
from tests.golden.job import CURIOSITIES, shown
from tests.golden.make import begun

KNOWN = (Path(__file__).parent / "golden" / "kinds" / "stable-names.txt").read_text().split()
"""Names that are on disk somewhere. Add to them, never take one away."""


class Names(pickle.Unpickler):
    """Notes every name that a pickle refers to, also in values that are pickled inside it."""

    def __init__(self, data: bytes, seen: set[str]) -> None:
        super().__init__(io.BytesIO(data))
        self.seen = seen

    def find_class(self, module: str, name: str) -> Any:
        self.seen.add(f"{module}.{name}")
        found = super().find_class(module, name)
        return self._inside(found) if name in ("Encoded", "list_key") else found

    def _inside(self, found: Any) -> Any:
        def made(data: bytes) -> Any:
            Names(data, self.seen).load()
            return found(data)

        return made

    def persistent_load(self, pid: Any) -> Any:
        return object


def names_in(*blobs: bytes) -> set[str]:
    """The names of Penstock's that these pickles refer to."""
    seen: set[str] = set()
    for blob in blobs:
        Names(blob, seen).load()
    return {name for name in seen if name.startswith("penstock.")}


# -- stable names ------------------------------------------------------------------------------------


@pytest.mark.parametrize(("name", "place"), NAMES.items())
def test_every_name_is_where_the_table_says(name: str, place: str) -> None:
    found, (module, _, path) = resolve(name), place.partition(":")
    assert getattr(penstock.pickled, name) is found
    there: Any = import_module(module)
    for part in path.split("."):
        there = vars(there)[part]
    assert there is found
    assert found.__module__ in (module, "penstock.pickled")
    if isinstance(found, type):
        assert stable_name(found) == name


def test_no_name_is_ever_taken_away() -> None:
    assert not set(KNOWN) - NAMES.keys()
    assert not NAMES.keys() - set(KNOWN), "add the new names to tests/golden/kinds/stable-names.txt"


def test_no_name_hides_a_function_of_the_table() -> None:
    assert not NAMES.keys() & set(penstock.pickled.__all__)


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match=r"module 'penstock\.pickled' has no attribute 'Gone'"):
        resolve("Gone")


OWN: list[Any] = [
    *CURIOSITIES,
    Types.INSTANT(),
    Types.SQL_TIME(),
    Types.SQL_TIMESTAMP(),
    Types.BASIC_ARRAY(Types.INT()),
    Types.OBJECT_ARRAY(Types.STRING()),
    hashable([1, Row(a=2)]),
    [Row(a=1), Row(a=2)],
    Encoded(dumps([1])),
    MarkedBatch([1], [2], [(1, 3)]),
]


@pytest.mark.parametrize("value", OWN, ids=shown)
def test_values_are_written_under_stable_names(value: Any) -> None:
    data = dumps(value)
    assert all(name.startswith("penstock.pickled.") for name in names_in(data))
    again = loads(data)
    assert type(again) is type(value)
    assert shown(again) == shown(value)


def test_all_that_a_job_keeps_has_a_stable_name(tmp_path: Path) -> None:
    """A class that is new in state is noticed here: give it a line in `penstock/pickled.py`."""
    job = begun(tmp_path)
    blobs = [blob for store in job._stores.values() for blob in store.blobs.values()]
    states = [p.at["state"] for p in job._positions.values() if isinstance(p.at, dict) and "state" in p.at]
    blobs += [b85decode(text) for state in states for text in state.values()]
    found = names_in(*blobs)
    assert [name for name in sorted(found) if not name.startswith("penstock.pickled.")] == []
    assert {name.rpartition(".")[2] for name in found} >= {
        *("BucketMap", "Encoded", "Runs", "SegmentList", "create_row", "list_key", "reader", "record", "remade"),
        *("row_kind", "time_window", "count_window"),
    }


def test_plain_pickle_reads_what_the_codec_wrote_in_a_process_that_knows_nothing() -> None:
    values = [
        Row(a=1),
        TimeWindow(0, 1),
        CountWindow(2),
        GlobalWindow(),
        RowKind.DELETE,
        Time.seconds(1),
        FailedTimer(1, 2),
    ]
    script = "import pickle, sys; print(pickle.load(sys.stdin.buffer)[:6])"
    done = subprocess.run([sys.executable, "-c", script], input=dumps(values), capture_output=True, check=True)
    assert done.stdout.decode().startswith(
        "[Row(a=1), TimeWindow(start=0, end=1), CountWindow(id=2), GlobalWindow, <RowKind"
    )


# -- old paths ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("old", MOVED)
def test_every_old_path_leads_to_a_module(old: str) -> None:
    import_module(old)
    for new in MOVED[old]:
        import_module(new)


@pytest.fixture
def house(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A package `oldhouse` in which modules have moved; nothing of it stays loaded."""
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(sys, "meta_path", list(sys.meta_path))
    before = set(sys.modules)
    for name, text in {
        "oldhouse/__init__.py": "",
        "oldhouse/core/__init__.py": "",
        "oldhouse/core/windows/__init__.py": '"""Names."""',
        "oldhouse/core/windows/windows.py": "class TimeWindow:\n    class Inner: ...",
        "oldhouse/core/windows/other.py": "class Other: ...",
        "oldhouse/core/types/__init__.py": "",
        "oldhouse/core/types/row.py": "from ..windows.windows import TimeWindow\ndef make(): return 7",
    }.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    install(
        {
            "oldhouse.core.windows": ("oldhouse.core.windows.windows", "oldhouse.core.windows.other"),
            "oldhouse.core.row": ("oldhouse.core.types.row",),
            "oldhouse.graph.deep.nodes": ("oldhouse.core.types.row",),
        }
    )
    yield tmp_path
    for name in set(sys.modules) - before:
        del sys.modules[name]


def reference(module: str, name: str) -> bytes:
    """A pickle of a global."""
    parts = b"".join(b"\x8c" + bytes([len(text)]) + text.encode() for text in (module, name))
    return b"\x80\x04" + parts + b"\x93."


@pytest.mark.parametrize(
    ("module", "name", "there"),
    [
        ("oldhouse.core.row", "make", "oldhouse.core.types.row"),
        ("oldhouse.core.windows", "TimeWindow", "oldhouse.core.windows.windows"),
        ("oldhouse.core.windows", "TimeWindow.Inner", "oldhouse.core.windows.windows"),
        ("oldhouse.core.windows", "Other", "oldhouse.core.windows.other"),
        ("oldhouse.graph.deep.nodes", "make", "oldhouse.core.types.row"),
    ],
)
def test_pickle_finds_what_has_moved(house: Path, module: str, name: str, there: str) -> None:
    """Whether the module is gone, its package is, or a package has taken its place."""
    found = pickle.loads(reference(module, name))
    assert (found.__module__, found.__qualname__) == (there, name)


def test_a_package_in_the_place_of_a_module_keeps_its_submodules_and_its_source(house: Path) -> None:
    windows: Any = import_module("oldhouse.core.windows")
    assert import_module("oldhouse.core.windows.windows").TimeWindow is windows.TimeWindow
    assert windows.__doc__ == "Names."
    assert windows.__spec__.loader.get_source("oldhouse.core.windows") == '"""Names."""'


def test_what_is_nowhere_is_missed_by_its_old_name(house: Path) -> None:
    with pytest.raises(AttributeError, match=r"module 'oldhouse\.core\.row' has no attribute 'gone'"):
        import_module("oldhouse.core.row").gone  # noqa: B018
    with pytest.raises(ModuleNotFoundError):
        import_module("oldhouse.core.never")
