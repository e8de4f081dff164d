"""Files as a source: whatever the cuts, every line once (X1, F11)."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.common import WatermarkStrategy
from penstock.connectors import file_source
from penstock.connectors.file_source import FileSource, StreamFormat
from penstock.core.errors import ProgramError, SourceError, UserFunctionError
from penstock.core.source import Position, SourceClock
from penstock.datastream import StreamExecutionEnvironment
from penstock.testing import collect, local_job

NOW = SourceClock(0, 0)


def source(*paths: Path | str, charset: str = "UTF-8") -> FileSource:
    text = StreamFormat.text_line_format(charset)
    return FileSource.for_record_stream_format(text, *map(str, paths)).process_static_file_set().build()


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


def test_folders_are_read_in_order_without_hidden_files(tmp_path: Path) -> None:
    """X1"""
    for name in ("b", "a", ".hidden", "_SUCCESS", "deep/c", ".secret/d"):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(name)
    made = source(tmp_path)
    assert read(made, made.initial(0, 1), made.advance(0, 1, made.initial(0, 1), made.initial(0, 1), 99, NOW)) == [
        "a",
        "b",
        "deep/c",
    ]
    assert read(source(f"file://{tmp_path}/a"), Position([0, 0, ""]), Position([1, 0, ""])) == ["a"]
    assert read(source(tmp_path / "[ab]"), Position([0, 0, ""]), Position([2, 0, ""])) == ["a", "b"]


def test_an_empty_folder_ends_at_once(tmp_path: Path) -> None:
    """T4"""
    assert source(tmp_path).initial(0, 1).ended


def test_changed_files_are_refused(tmp_path: Path) -> None:
    """F8: positions would point elsewhere."""
    (tmp_path / "a").write_text("1\n2\n")
    (tmp_path / "b").write_text("3\n4\n")
    made = source(tmp_path)
    position = made.advance(0, 1, made.initial(0, 1), made.initial(0, 1), 10, NOW)
    (tmp_path / "a").write_text("1\n2\n2.5\n")
    with pytest.raises(SourceError, match=r"FileSource\(.*\) have changed since the checkpoint: of the 2 file"):
        source(tmp_path).advance(0, 1, Position(position.at), position, 10, NOW)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: source(), ProgramError, "FileSource needs at least one path"),
        (
            lambda: source("/no/such/file").initial(0, 1),
            SourceError,
            "'/no/such/file' does not exist and matches no file",
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
    with pytest.raises(UserFunctionError, match=r"Reading of operator 'Source: files' \(uid f\) failed\n(.|\n)*0xff"):
        local_job(env).run()
