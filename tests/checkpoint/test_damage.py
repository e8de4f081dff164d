"""A damaged checkpoint is recovered from or refused by name, and never gives other results (F8).

One checkpoint, of a job that failed with a batch begun and not committed, is damaged in every class of file it
has. The job is then run on, to its end or to a refusal.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from penstock.core.errors import DamagedCheckpointError, ForeignCheckpointError, UserFunctionError
from penstock.savepoint.sealed_json import unsealed
from tests.checkpoint.job import difference, run, run_unnamed

pytestmark = pytest.mark.spark

Damage = Callable[[Path], None]
COMMITTED, BEGUN = 2, 3


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the job's checkpoint and output, after it failed in the middle."""
    folder = tmp_path_factory.mktemp("damage")
    with pytest.raises(UserFunctionError, match="poison"):
        run(folder / "job", poison=True)
    shutil.copytree(folder / "job", folder / "kept")
    return folder


@pytest.fixture
def job(kept: Path) -> Path:
    """The job's folder as it was then; always at the same place, for Spark notes where its files are."""
    shutil.rmtree(kept / "job")
    return Path(shutil.copytree(kept / "kept", kept / "job"))


def truncated(file: Path) -> None:
    file.write_bytes(file.read_bytes()[: file.stat().st_size // 2])


def missing(file: Path) -> None:
    file.unlink()


def emptied(file: Path) -> None:
    file.write_bytes(b"")


def flipped(file: Path) -> None:
    """One bit, in the middle."""
    _flip(file, file.stat().st_size // 2)


def flipped_at(text: str) -> Damage:
    """One bit of the byte that follows a text."""

    def flip(file: Path) -> None:
        _flip(file, file.read_bytes().index(text.encode()) + len(text))

    flip.__name__ = f"flipped after {text}"
    return flip


def other_digit_after(text: str) -> Damage:
    """The byte that follows a text, a hexadecimal digit, becomes another one."""

    def change(file: Path) -> None:
        data = bytearray(file.read_bytes())
        place = data.index(text.encode()) + len(text)
        data[place] = ord("0") if data[place] != ord("0") else ord("1")
        file.write_bytes(data)

    change.__name__ = f"another digit after {text}"
    return change


def _flip(file: Path, place: int) -> None:
    data = bytearray(file.read_bytes())
    data[place] ^= 1
    file.write_bytes(data)


def _newest(job: Path, pattern: str) -> Path:
    """The file of a class that a restart needs: of several, the one of the newest version."""
    found = sorted((job / "checkpoint").glob(pattern), key=lambda f: (len(f.name), f.name))
    assert found, f"the checkpoint has no {pattern}"
    return found[-1]


CHANGELOG = f"state/0/0/{COMMITTED + 1}_*.changelog"
SNAPSHOT = "state/0/0/*.zip"
TABLE = "state/0/0/SSTs/*.sst"
OPERATOR = "state/0/_metadata/v2/0"
SCHEMA = "state/0/_stateSchema/default/*"

REFUSED: list[tuple[str, Damage]] = [
    (f"offsets/{BEGUN}", truncated),
    (f"offsets/{BEGUN}", flipped),
    (f"offsets/{BEGUN}", flipped_at('"at": ')),
    (f"offsets/{BEGUN}", flipped_at('shuffle.partitions":"')),
    (f"offsets/{COMMITTED}", truncated),
    (f"offsets/{COMMITTED}", flipped),
    (f"offsets/{COMMITTED}", missing),
    (f"commits/{COMMITTED}", truncated),
    (f"commits/{COMMITTED}", flipped),
    (f"commits/{COMMITTED}", missing),
    ("metadata", truncated),
    ("metadata", missing),
    (CHANGELOG, truncated),
    (CHANGELOG, flipped),
    (CHANGELOG, missing),
    (f"{CHANGELOG}.crc", truncated),
    (f"{CHANGELOG}.crc", emptied),
    (f"{CHANGELOG}.crc", flipped_at('"value":')),
    (f"{CHANGELOG}.crc", flipped_at('"mainFileSize":')),
    (f"{CHANGELOG}.crc", flipped_at('{"')),
    (CHANGELOG, emptied),
    (OPERATOR, truncated),
    (OPERATOR, emptied),
    (OPERATOR, missing),
    (OPERATOR, flipped_at('numPartitions":')),
    (SCHEMA, flipped),
    (SCHEMA, missing),
    ("penstock/job.json", truncated),
    ("penstock/job.json", missing),
    ("penstock/job.json", flipped),
    ("penstock/job.json", emptied),
    ("penstock/job.json", flipped_at('"at": ')),
    ("penstock/job.json", flipped_at('"parallelism": ')),
    ("penstock/sealed", emptied),
    ("penstock/sealed", truncated),
    ("penstock/sealed", flipped),
]


@pytest.mark.parametrize(("pattern", "damage"), REFUSED, ids=lambda v: v if isinstance(v, str) else v.__name__)
def test_damage_that_cannot_be_made_good_is_refused_by_name(job: Path, pattern: str, damage: Damage) -> None:
    """F8."""
    file = _newest(job, pattern)
    damage(file)
    with pytest.raises(DamagedCheckpointError) as refusal:
        run(job)
    assert str(file.relative_to(job / "checkpoint")).removesuffix(".crc") in str(refusal.value)


RECOVERED: list[tuple[str, list[tuple[str, Damage]]]] = [
    ("a snapshot that is damaged", [(SNAPSHOT, flipped)]),
    ("a snapshot that is truncated", [(SNAPSHOT, truncated)]),
    ("a table that is missing", [(TABLE, missing)]),
    ("a table that is damaged", [(TABLE, flipped)]),
    (
        "what can be done without",
        [
            (f"offsets/{BEGUN}", missing),
            ("metadata", other_digit_after('"id":"')),
            ("penstock/sealed", missing),
            ("penstock/owner", missing),
            (f"{CHANGELOG}.crc", missing),
            (f"{SNAPSHOT}.crc", missing),
        ],
    ),
]


@pytest.mark.parametrize(("name", "damages"), RECOVERED, ids=[name for name, _ in RECOVERED])
def test_other_damage_is_made_good(job: Path, name: str, damages: list[tuple[str, Damage]]) -> None:
    """F8: and the results are those of an uninterrupted run."""
    for pattern, damage in damages:
        damage(_newest(job, pattern))
    run(job, restarts=2)
    assert difference(job) == ""


EITHER: list[tuple[str, Damage]] = [
    (f"{CHANGELOG}.crc", flipped_at('"algorithm":"')),
    (f"{CHANGELOG}.crc", flipped_at('"creator":{"')),
    (f"{SNAPSHOT}.crc", emptied),
    (f"{SNAPSHOT}.crc", flipped_at('{"')),
    (f"{SNAPSHOT}.crc", flipped_at('"value":')),
    (SNAPSHOT, emptied),
    ("metadata", emptied),
    ("metadata", flipped_at("{")),
    (f"offsets/{BEGUN}", emptied),
    (f"commits/{COMMITTED}", emptied),
    ("penstock/owner", flipped),
]


@pytest.mark.parametrize(("pattern", "damage"), EITHER, ids=lambda v: v if isinstance(v, str) else v.__name__)
def test_what_spark_may_do_without_is_made_good_or_named(job: Path, pattern: str, damage: Damage) -> None:
    """F8: which of the two is Spark's affair; another result, or an error without a name, is not among them."""
    file = _newest(job, pattern)
    damage(file)
    try:
        run(job)
    except DamagedCheckpointError as refusal:
        named = str(refusal)
    else:
        named = file.name
        assert difference(job) == ""
    assert file.name.removesuffix(".crc") in named


# -- checkpoints that are whole but do not fit ------------------------------------------------------------


def test_the_checkpoint_of_another_job_is_refused(job: Path) -> None:
    """F8."""
    with pytest.raises(ForeignCheckpointError, match=r"checkpoint .* does not fit this program: it belongs to another"):
        run(job, uid="other")


def test_another_parallelism_is_taken_over(job: Path) -> None:
    """F10: and the results are those of an uninterrupted run."""
    run(job, parallelism=3)
    assert difference(job) == ""


def test_a_folder_that_penstock_has_not_written_is_refused(tmp_path: Path) -> None:
    (tmp_path / "checkpoint" / "offsets").mkdir(parents=True)
    (tmp_path / "checkpoint" / "metadata").write_text('{"id":"6d3b1cb8-2f4f-4a36-b8a5-5a0f7c1f9d11"}')
    with pytest.raises(ForeignCheckpointError, match=r"not written by Penstock \(no penstock/job.json\)"):
        run(tmp_path)


def test_a_job_that_is_renamed_goes_on(job: Path) -> None:
    """F4"""
    run(job, restarts=2, name="another name")
    assert difference(job) == ""


GENERATION: list[Damage] = [truncated, missing, emptied, flipped, flipped_at('"generation": ')]


@pytest.fixture(scope="module")
def upgraded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A job that went on with another parallelism, in another generation, to its end."""
    folder = tmp_path_factory.mktemp("upgraded")
    with pytest.raises(UserFunctionError, match="poison"):
        run(folder, poison=True)
    run(folder, parallelism=3)
    return folder


@pytest.mark.parametrize("damage", GENERATION, ids=lambda damage: damage.__name__)
def test_which_generation_counts_is_not_guessed(upgraded: Path, damage: Damage) -> None:
    """F8: an older one, or none, would give results again that are out."""
    file = upgraded / "checkpoint" / "penstock" / "generation"
    kept = file.read_bytes()
    damage(file)
    with pytest.raises(DamagedCheckpointError, match="penstock/generation"):
        run(upgraded, parallelism=3)
    file.write_bytes(kept)


def test_another_program_with_the_same_generated_uids_is_refused(tmp_path: Path) -> None:
    """F4, F8: it would begin where the other one has ended, and give nothing without a word."""
    assert len(run_unnamed(tmp_path, lambda v: v, "first")) == 20
    with pytest.raises(ForeignCheckpointError) as refusal:
        run_unnamed(tmp_path, lambda v: v * 100, "second")
    text = str(refusal.value)
    assert "the position under auto-1-Source: Collection is that of 'Source: Collection' in another program" in text
    assert text.endswith("Run the program that wrote it, or choose another checkpoint folder")
    assert run_unnamed(tmp_path, lambda v: v, "renamed") == [], "the same one goes on: it has read everything"
    accepted = {"penstock.state.accept-changed-program": "true"}
    assert run_unnamed(tmp_path, lambda v: v * 100, "second", **accepted) == []
    assert run_unnamed(tmp_path, lambda v: v * 100, "second") == [], "from now on it is this program's"


def test_a_checkpoint_of_the_version_before_is_gone_on_from(job: Path) -> None:
    """F4: its files had no checksums, and its operators no marks; from now on they have."""
    folder = job / "checkpoint" / "penstock"
    said, _ = unsealed((folder / "job.json").read_bytes())
    for operator in said["notes"]["operators"]:
        for later in ("states", "contents", "mark"):
            del operator[later]
    (folder / "job.json").write_text(json.dumps(said, indent=2))
    (folder / "owner").write_text("0" * 32)
    run(job, restarts=2)
    assert difference(job) == ""
    assert unsealed((folder / "job.json").read_bytes())[1], "it was described anew"


def test_an_undamaged_checkpoint_is_gone_on_from(job: Path) -> None:
    """F1: what the cases above are compared with."""
    run(job, restarts=2)
    assert difference(job) == ""
