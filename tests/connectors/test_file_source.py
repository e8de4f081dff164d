"""Files as a source: whatever the cuts, every line once (X1, F11)."""

import bz2
import gzip
import lzma
import os
import tempfile
from hashlib import blake2b
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.common import WatermarkStrategy
from penstock.connectors.files import source as file_source
from penstock.connectors.files.source import (
    FileEnumeratorProvider,
    FileSource,
    FileSplitAssignerProvider,
    StreamFormat,
)
from penstock.connectors.formats import files
from penstock.core.config import compat
from penstock.core.contracts.source import Position, SourceClock
from penstock.core.errors import ProgramError, RecordError, SourceError
from penstock.datastream import StreamExecutionEnvironment
from penstock.testing import collect, local_job

NOW = SourceClock(0, 0)


def source(*paths: Path | str, charset: str = "UTF-8") -> FileSource:
    text = StreamFormat.text_line_format(charset)
    return FileSource.for_record_stream_format(text, *map(str, paths)).process_static_file_set().build()


def zst() -> str:
    path = Path(tempfile.mkdtemp()) / "a.zst"
    path.write_bytes(b"x")
    return str(path)


def read(made: FileSource, start: Position, end: Position | None, split: int = 0) -> list[Any]:
    return [value for values, times in made.read(split, 1, start, end) for value in values]


lines = st.lists(
    st.text(st.characters(blacklist_characters="\r\n", blacklist_categories=["Cs"]), max_size=8), max_size=8
)


@given(texts=st.lists(st.tuples(lines, st.sampled_from(["\n", "\r\n"]), st.booleans()), max_size=3), data=st.data())
def test_every_cut_between_bytes_gives_the_same_lines(
    tmp_path_factory: pytest.TempPathFactory, texts: list[Any], data: st.DataObject
) -> None:
    """F11, P11: also in the middle of a character or a line end."""
    folder = tmp_path_factory.mktemp("files")
    expected = []
    for number, (given_lines, end, closed) in enumerate(texts):
        text = end.join(given_lines) + (end if closed else "")
        (folder / f"{number}.txt").write_bytes(text.encode())
        expected += text.split(end)[: -1 if closed or not text or text.endswith(end) else None]
    made = source(folder)
    position = made.initial(0, 1)
    found = []
    while not position.ended:
        budget = data.draw(st.integers(1, 20))
        step = made.advance(0, 1, position, position, 1, NOW)
        if step.at[0] == position.at[0] and step.at[1] > position.at[1] + budget:
            step = Position([position.at[0], position.at[1] + budget, position.at[2]], False)
        found += read(made, position, step)
        position = step
    assert found == expected


@pytest.mark.parametrize("block", [1, 2, 3, 5, 1000])
def test_blocks_of_any_size_give_the_same_lines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, block: int) -> None:
    """P11: read at once, every block is a split."""
    monkeypatch.setattr(file_source, "_BLOCK", block)
    (tmp_path / "a").write_text("one\n\nthree\r\nvier ü\n")
    (tmp_path / "b").write_text("no line end")
    (tmp_path / "empty").write_text("")
    made = source(tmp_path)
    splits = made.split_count(4, one_batch=True)
    found = [v for s in range(splits) for v in read(made, made.initial(s, splits), None, s)]
    assert found == ["one", "", "three", "vier ü", "no line end"]


def everything(made: FileSource) -> list[Any]:
    start = made.initial(0, 1)
    return read(made, start, made.advance(0, 1, start, start, 99, NOW))


def test_folders_are_read_in_order_without_hidden_files(tmp_path: Path) -> None:
    """X1"""
    for name in ("b", "a", ".hidden", "_SUCCESS", "deep/c", ".secret/d"):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(name)
    assert everything(source(tmp_path)) == ["a", "b", "deep/c"]
    assert everything(source(f"file://{tmp_path}/a")) == ["a"]
    assert everything(source(tmp_path / "[ab]")) == ["a", "b"]
    assert everything(source(tmp_path / "*")) == ["a", "b", "deep/c"]


def test_an_empty_folder_ends_at_once(tmp_path: Path) -> None:
    """T4"""
    assert source(tmp_path).initial(0, 1).ended


def touched(path: Path, text: str, at: int) -> None:
    path.write_text(text)
    os.utime(path, (at, at))


@pytest.mark.parametrize("change", ["appended", "removed", "renamed", "rewritten"])
def test_changed_files_are_refused(tmp_path: Path, change: str) -> None:
    """F8: positions would point elsewhere."""
    touched(tmp_path / "a", "1\n2\n", 100)
    touched(tmp_path / "b", "3\n4\n", 200)
    made = source(tmp_path)
    position = made.advance(0, 1, made.initial(0, 1), made.initial(0, 1), 1, NOW)
    match change:
        case "appended":
            touched(tmp_path / "a", "1\n2\n2.5\n", 100)
        case "removed":
            (tmp_path / "b").unlink()
        case "renamed":
            (tmp_path / "a").rename(tmp_path / "c")
        case _:
            touched(tmp_path / "a", "8\n9\n", 101)
    with pytest.raises(SourceError, match=r"FileSource\(.*\) have changed since the checkpoint: some are gone, ren"):
        source(tmp_path).advance(0, 1, Position(position.at), position, 10, NOW)


@pytest.mark.parametrize("at", [50, 100, 200])
@pytest.mark.parametrize("how", ["written", "moved", "in a folder"])
def test_files_that_are_added_later_are_left_alone(
    tmp_path: Path, tmp_path_factory: pytest.TempPathFactory, at: int, how: str
) -> None:
    """F1, F11: the set is what was there when the job began, also after a restart, whatever the file's own time."""
    touched(tmp_path / "b", "1\n2\n", 100)
    made = source(tmp_path)
    begin = made.initial(0, 1)
    other = tmp_path_factory.mktemp("elsewhere")
    match how:
        case "written":
            touched(tmp_path / "a", "0\n", at)
        case "moved":
            touched(other / "a", "0\n", at)
            (other / "a").rename(tmp_path / "a")
        case _:
            touched(other / "a", "0\n", at)
            other.rename(tmp_path / "0")
    again = source(tmp_path)
    end = again.advance(0, 1, begin, begin, 99, NOW)
    assert read(again, begin, end) == ["1", "2"]
    assert end.ended


def test_a_file_that_changes_while_it_is_read_is_refused(tmp_path: Path) -> None:
    """F8"""
    (tmp_path / "a").write_text("1\n")
    made = source(tmp_path)
    begin = made.initial(0, 1)
    end = made.advance(0, 1, begin, begin, 9, NOW)
    (tmp_path / "a").write_text("1\n2\n")
    with pytest.raises(SourceError, match=r"/a had 2 bytes when the source found it and has 4 now. Files must be"):
        read(made, begin, end)
    (tmp_path / "a").unlink()
    with pytest.raises(SourceError, match=r"/a was found by the source but is gone now: restore it"):
        read(made, begin, end)


@pytest.mark.parametrize("one_batch", [False, True])
@pytest.mark.parametrize("moment", ["before", "while"])
def test_a_file_that_is_replaced_by_one_of_the_same_size_is_refused(
    tmp_path: Path, one_batch: bool, moment: str
) -> None:
    """F8: before it is read, or while it is."""
    touched(tmp_path / "a", "1\n2\n", 100)
    made = source(tmp_path)
    made.split_count(1, one_batch)
    begin = made.initial(0, 1)
    reading = made.read(0, 1, begin, None if one_batch else made.advance(0, 1, begin, begin, 9, NOW))
    if moment == "while":
        next(reading)
    touched(tmp_path / ".new", "8\n9\n", 101)
    (tmp_path / ".new").replace(tmp_path / "a")
    with pytest.raises(SourceError, match=r"/a was modified after the source had found it. Files must be complete"):
        list(reading)


def test_positions_of_the_older_form_keep_their_meaning(tmp_path: Path) -> None:
    """F4, F8: (block, byte, [latest modification time, fingerprint of paths and sizes])."""
    for name, text in (("a", "1\n2\n"), ("b", "3\n4\n")):
        touched(tmp_path / name, text, 100)
    touched(tmp_path / "0", "later\n", 200)
    listed = f"{tmp_path}/a\t4\n{tmp_path}/b\t4"
    pin = [100 * 10**9, blake2b(listed.encode(), digest_size=8).hexdigest()]
    old = Position([0, 2, pin])
    made = source(tmp_path)
    end = made.advance(0, 1, old, old, 99, NOW)
    assert read(made, old, end) == ["2", "3", "4"]
    assert end.ended
    touched(tmp_path / "b", "3\n4\n5\n", 100)
    with pytest.raises(SourceError, match=r"have changed since the checkpoint"):
        source(tmp_path).advance(0, 1, old, old, 99, NOW)


@pytest.mark.parametrize("blocks", [0, 1, 2, 3, 4, 5, 7])
def test_a_split_s_position_names_the_files_of_its_blocks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, blocks: int
) -> None:
    """P11: at the edges of blocks (three splits): none, fewer than splits, as many, one more, twice as many and one."""
    monkeypatch.setattr(file_source, "_BLOCK", 4)
    expected = []
    for name, count in (("a", blocks), ("b", 1), ("c", blocks), ("d", 2)):
        lines = [f"{name}{i}" for i in range(count)] * 2
        expected += lines
        (tmp_path / name).write_text("".join(f"{line}\n" for line in lines))
    made, splits = source(tmp_path), 3
    found = []
    for split in range(splits):
        start = made.initial(split, splits)
        end = made.advance(split, splits, start, start, 99, NOW)
        found += [v for vs, _ in made.read(split, splits, start, end) for v in vs]
    assert sorted(found) == sorted(expected)


@pytest.mark.parametrize("parallelism", [1, 2, 3, 5])
@pytest.mark.parametrize("block", [7, 50, 10_000])
def test_blocks_are_dealt_to_all_subtasks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, parallelism: int, block: int
) -> None:
    """X1, F1: tiny batches, restarts in between, every line once."""
    monkeypatch.setattr(file_source, "_BLOCK", block)
    monkeypatch.setattr(files, "RECORD_BYTES", 5)
    expected = []
    for name in ("a", "b", "c.gz"):
        lines = [f"{name}-{i}" for i in range(40)]
        expected += lines
        data = "\n".join(lines).encode()
        (tmp_path / name).write_bytes(gzip.compress(data) if name.endswith("gz") else data)
    env = StreamExecutionEnvironment()
    stream = env.from_source(source(tmp_path), WatermarkStrategy.no_watermarks(), "files")
    collect(stream.set_parallelism(parallelism), "out")
    job = local_job(env, parallelism)
    batches = 0
    while not job.finished:
        job.run_batch(3, commit=batches % 3 != 1)
        if batches % 4 == 2:
            job.restart()
        batches += 1
    assert sorted(job.results["out"]) == sorted(expected)
    if parallelism == 1:
        assert job.results["out"] == expected


@pytest.mark.parametrize(("name", "pack"), [("a.gz", gzip.compress), ("a.bz2", bz2.compress), ("a.xz", lzma.compress)])
def test_compressed_files(tmp_path: Path, name: str, pack: Any) -> None:
    """X1: unpacked as they are read; damage is named."""
    lines = [f"line {i}" for i in range(50_000)]
    packed = pack("\n".join(lines).encode())
    (tmp_path / name).write_bytes(packed)
    assert everything(source(tmp_path)) == lines
    (tmp_path / name).write_bytes(packed[: len(packed) // 2])
    with pytest.raises(SourceError, match=rf"{name} is damaged or not of this format: "):
        everything(source(tmp_path))


def test_read_text_file(tmp_path: Path) -> None:
    """X1"""
    (tmp_path / "a").write_bytes("ü\nb".encode("latin-1"))
    env = StreamExecutionEnvironment()
    collect(env.read_text_file(str(tmp_path / "a"), "latin-1"), "out")
    job = local_job(env, 2)
    job.run()
    assert sorted(job.results["out"]) == ["b", "ü"]


def test_small_files_share_a_split_but_all_subtasks_have_work(tmp_path: Path) -> None:
    """P11: read at once."""
    for i in range(100):
        (tmp_path / f"{i:03}").write_text(f"{i}\n")
    made = source(tmp_path)
    assert 4 <= made.split_count(4, one_batch=True) <= 8
    splits = made.split_count(4, one_batch=True)
    found = [v for s in range(splits) for v in read(made, made.initial(s, splits), None, s)]
    assert found == [str(i) for i in range(100)]


def test_a_file_that_must_not_be_cut_is_one_split(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """X1"""
    monkeypatch.setattr(file_source, "_BLOCK", 2)
    (tmp_path / "a").write_text("1\n2\n3\n")
    builder = FileSource.for_record_stream_format(StreamFormat.text_line_format(), str(tmp_path))
    assert builder.build().split_count(1, one_batch=True) == 3
    builder.set_file_enumerator(FileEnumeratorProvider.default_non_splittable_file_enumerator())
    assert builder.build().split_count(1, one_batch=True) == 1


def test_a_split_assigner_is_accepted_and_said_to_have_no_effect() -> None:
    """P12"""
    compat.forget_warnings()
    builder = FileSource.for_record_stream_format(StreamFormat.text_line_format(), "x")
    with pytest.warns(UserWarning, match="set_split_assigner has no effect: Spark places the tasks that read"):
        builder.set_split_assigner(FileSplitAssignerProvider.locality_aware_split_assigner())


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: source(), ProgramError, "FileSource needs at least one path"),
        (
            lambda: source("/no/such/file").initial(0, 1),
            SourceError,
            "'/no/such/file' does not exist and matches no file",
        ),
        (lambda: source("hdfs://host/x"), ProgramError, "'hdfs://host/x' is not a local path; mount the file system"),
        (lambda: FileSource("text", ("x",)), TypeError, "FileSource takes a StreamFormat or BulkFormat, got str"),
        (
            lambda: everything(FileSource(StreamFormat.text_line_format(), (zst(),))),
            SourceError,
            "ending in .zst cannot",
        ),
        (lambda: source("x", charset="UTF-16"), ProgramError, "text_line_format cannot cut lines of UTF-16"),
        (lambda: source("x", charset="klingon"), LookupError, "unknown encoding: klingon"),
    ],
)
def test_mistakes_are_refused(call: Any, error: type[Exception], message: str) -> None:
    """P9"""
    with pytest.raises(error, match=message):
        call()


def test_a_line_that_cannot_be_decoded_names_the_source(tmp_path: Path) -> None:
    """P9"""
    (tmp_path / "a").write_bytes(b"good\n\xff\xfe\n")
    env = StreamExecutionEnvironment()
    collect(env.from_source(source(tmp_path), WatermarkStrategy.no_watermarks(), "files").uid("f"), "out")
    with pytest.raises(
        RecordError, match=r"Operator 'Source: files' \(uid f\): .*/a, line 2 \(byte 5\): UnicodeDecodeError: .*0xff"
    ):
        local_job(env).run()
