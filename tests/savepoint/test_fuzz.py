"""F8: whatever happens to a file of a savepoint, it gives the same state or an error that names the file."""

from __future__ import annotations

import random
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from penstock.core.errors import SavepointError
from penstock.datastream import StreamExecutionEnvironment
from penstock.savepoint.savepoint import METADATA, Savepoint
from penstock.savepoint.sealed_json import sealed, unsealed
from penstock.state import open_state
from penstock.testing import collect, local_job
from tests.effort import examples

OLD = Path(__file__).parents[1] / "golden" / "savepoints" / "format-1"


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    env = StreamExecutionEnvironment()
    numbers = env.from_collection(list(range(20))).uid("numbers")
    collect(numbers.key_by(lambda v: v % 3).reduce(lambda a, b: a + b).uid("sum"), "out")
    job = local_job(env, 2)
    job.run_batch(6)
    path = tmp_path_factory.mktemp("fuzz") / "saved"
    job.savepoint(str(path))
    return path


def content(path: Path) -> Any:
    savepoint = Savepoint(str(path))
    return savepoint.metadata, sorted(savepoint.blobs())


def damages(data: bytes, flips: list[int]) -> Iterator[tuple[str, bytes | None]]:
    """A bit of each of these bytes flipped, the file cut at several places, empty, with more at its end, and gone."""
    for place in flips:
        changed = bytearray(data)
        changed[place] ^= 1 << (place % 8)
        yield f"bit {place % 8} of byte {place}", bytes(changed)
    for length in sorted({0, 1, len(data) // 3, len(data) // 2, len(data) - 1}):
        yield f"cut to {length}", data[:length]
    yield "one byte more", data + b"\n"
    yield "every byte turned", bytes(255 - byte for byte in data)
    yield "gone", None


def survives(path: Path, file: Path, data: bytes | None, before: Any) -> str:
    """What is wrong with how a damaged savepoint is taken; empty if nothing is."""
    kept = file.read_bytes()
    try:
        file.unlink() if data is None else file.write_bytes(data)
        return "" if content(path) == before else "other state, and no word"
    except SavepointError as error:
        return "" if file.name in str(error) else f"the file is not named: {error}"
    except Exception as error:
        return f"a bare {type(error).__name__}: {error}"
    finally:
        file.write_bytes(kept)


def test_damaged_files_of_a_savepoint_are_refused_by_name(saved: Path) -> None:
    """F8: a sample of the bytes of each file, all of the metadata's in the slower rings."""
    before = content(saved)
    wrong = []
    for file in [p for p in saved.rglob("*") if p.is_file()]:
        data = file.read_bytes()
        most = examples(5000 if file.name == METADATA else 1000)
        flips = random.Random(7).sample(range(len(data)), min(len(data), most))
        for what, changed in damages(data, flips):
            problem = survives(saved, file, changed, before)
            if problem:
                wrong.append(f"{file.name}, {what}: {problem}")
    assert wrong == []


def test_a_position_that_was_altered_is_not_believed(saved: Path, tmp_path: Path) -> None:
    """F8: one bit would send a source back, and its records would come twice."""
    copy = Path(shutil.copytree(saved, tmp_path / "copy"))
    file = copy / METADATA
    assert b'"at": 6' in file.read_bytes()
    file.write_bytes(file.read_bytes().replace(b'"at": 6', b'"at": 4'))
    with pytest.raises(SavepointError) as caught:
        open_state(str(copy))
    assert str(caught.value) == (
        f"The savepoint is damaged: {file}: its checksum does not match. Restore the file from a copy"
    )


def test_metadata_without_its_checksum_is_refused(saved: Path, tmp_path: Path) -> None:
    copy = Path(shutil.copytree(saved, tmp_path / "copy"))
    file = copy / METADATA
    bare = [line for line in file.read_text().splitlines() if '"sum"' not in line and '"sealed"' not in line]
    file.write_text("\n".join(bare).replace("},\n}", "}\n}").rstrip(",\n}") + "}\n}")
    with pytest.raises(SavepointError, match=r"metadata\.json: its checksum is missing"):
        Savepoint(str(copy))


def test_metadata_of_the_first_format_ends_in_no_bare_error(tmp_path: Path) -> None:
    """F8: it has no checksum; what can be told is told, with the file's name."""
    copy = Path(shutil.copytree(OLD, tmp_path / "copy"))
    file = copy / METADATA
    data = file.read_bytes()
    for place in random.Random(3).sample(range(len(data)), examples(3000)):
        changed = bytearray(data)
        changed[place] ^= 1 << random.Random(place).randrange(8)
        file.write_bytes(changed)
        assert METADATA in _refusal(copy)


def _refusal(path: Path) -> str:
    """The text of the refusal; the name of the metadata if it is taken."""
    try:
        Savepoint(str(path))
    except SavepointError as error:
        return str(error)
    return METADATA


# -- the form that all small files share -------------------------------------------------------------------


@pytest.mark.parametrize("data", [{"generation": 12}, {"owner": "0123abcd"}, {"done": True, "path": "/data/ü"}])
def test_no_damage_of_a_small_file_is_believed(data: dict[str, Any]) -> None:
    """F8: job.json, generation, owner, requests and their answers are written so."""
    text = sealed(data).encode()
    for bit in range(8 * len(text)):
        changed = bytearray(text)
        changed[bit // 8] ^= 1 << (bit % 8)
        with pytest.raises(ValueError):  # noqa: PT011 - what it says depends on the bit
            unsealed(bytes(changed))
    for length in range(len(text)):
        with pytest.raises(ValueError):  # noqa: PT011
            unsealed(text[:length])


def test_a_file_of_state_that_was_altered_is_not_read_by_spark_either(saved: Path, tmp_path: Path) -> None:
    """F8: Spark reads the files in its own way, so they are checked before."""
    copy = Path(shutil.copytree(saved, tmp_path / "copy"))
    file = next((copy / "state").iterdir())
    file.write_bytes(file.read_bytes()[:-1])
    with pytest.raises(SavepointError, match=rf"The savepoint is damaged: {file}: has"):
        open_state(str(copy)).keyed_frame(None, "sum")
