"""Watched files that grow, or change in other ways, after they were read (X1, F1, F8)."""

from __future__ import annotations

import base64
import csv
import gzip
import io
import json
import os
import warnings
from hashlib import blake2b
from pathlib import Path
from typing import Any

import pyarrow
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyarrow import parquet

from penstock.common import Duration, Types, WatermarkStrategy
from penstock.connectors.files import listing as file_listing
from penstock.connectors.files import watched as watched_files
from penstock.connectors.files.source import BulkFormat, FileSource, StreamFormat
from penstock.connectors.formats import files
from penstock.connectors.formats.files import FileFormat
from penstock.core.contracts.source import Position, SourceClock
from penstock.core.contracts.starting_offsets import StartingOffsets
from penstock.core.errors import RecordError, SourceError
from penstock.core.time.clock import ManualClock
from penstock.datastream import StreamExecutionEnvironment
from penstock.datastream.connectors.hybrid_source import HybridSource
from penstock.datastream.formats.csv import CsvReaderFormat, CsvSchema
from penstock.datastream.formats.json import JsonReaderFormat
from penstock.datastream.formats.parquet import ParquetColumnarRowInputFormat
from penstock.testing import LocalJob, collect, local_job
from tests.effort import examples

TEXT = StreamFormat.text_line_format()


def watched(path: Path, file_format: FileFormat = TEXT, start: StartingOffsets | None = None) -> FileSource:
    make: Any = (
        FileSource.for_bulk_file_format if isinstance(file_format, BulkFormat) else FileSource.for_record_stream_format
    )
    builder = make(file_format, str(path)).monitor_continuously(Duration.of_millis(1000))
    return builder.start_from(start or StartingOffsets.earliest()).build()  # type: ignore[no-any-return]


class Watch:
    """A driver that looks at a folder, one batch after the other, and can be started again from its position."""

    def __init__(self, made: FileSource) -> None:
        self.made, self.now_ms = made, 0
        self.position = made.initial(0, 1)

    def batch(self, limit: int = 99, later_ms: int = 1000, commit: bool = True) -> list[Any]:
        """What the next batch reads; twice, since a batch may be read again."""
        self.now_ms += later_ms
        end = self.made.advance(0, 1, self.position, self.position, limit, SourceClock(self.now_ms, 0))
        if end == self.position:
            return []
        found, again = ([v for vs, _ in self.made.read(0, 1, self.position, end) for v in vs] for _ in range(2))
        assert found == again
        if commit:
            self.position = end
        return found if commit else []

    def restart(self) -> None:
        """A new driver knows nothing but the position, as it stands in the log."""
        self.made._memory = watched_files._Memory()  # type: ignore[attr-defined]
        self.position = Position.from_json(json.loads(json.dumps(self.position.to_json())))

    def notices(self) -> list[str]:
        return [notice.text for notice in self.made.notices(self.position)]


def append(path: Path, data: bytes | str) -> None:
    with open(path, "ab") as file:
        file.write(data.encode() if isinstance(data, str) else data)


# -- growing -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("restart", [False, True])
def test_lines_that_are_added_later_are_read(tmp_path: Path, restart: bool) -> None:
    """X1, F1: also after a restart."""
    append(tmp_path / "a", "1\n2\n")
    watch = Watch(watched(tmp_path))
    assert watch.batch() == ["1", "2"]
    append(tmp_path / "a", "3\n")
    append(tmp_path / "b", "x\n")
    if restart:
        watch.restart()
    assert sorted(watch.batch()) == ["3", "x"]
    assert watch.batch() == []
    append(tmp_path / "a", "4\n")
    assert watch.batch() == ["4"]


@pytest.mark.parametrize("end", [b"\n", b"\r\n"])
def test_an_unfinished_last_line_waits_for_its_end(tmp_path: Path, end: bytes) -> None:
    """X1: also one that is cut inside of a character, or of its line end."""
    watch = Watch(watched(tmp_path))
    data = b"eins" + end + "zwölf".encode() + end
    for i in range(len(data)):
        append(tmp_path / "a", data[i : i + 1])
        expected = {3 + len(end): ["eins"], len(data) - 1: ["zwölf"]}.get(i, [])
        assert watch.batch() == expected, i
        watch.restart()


def test_other_charsets(tmp_path: Path) -> None:
    """X1"""
    watch = Watch(watched(tmp_path, StreamFormat.text_line_format("latin-1")))
    append(tmp_path / "a", b"\xfc\n\xe4")
    assert watch.batch() == ["ü"]
    append(tmp_path / "a", b"\xf6\n")
    assert watch.batch() == ["äö"]


def test_json_lines(tmp_path: Path) -> None:
    """X1"""
    watch = Watch(watched(tmp_path, JsonReaderFormat.for_type_info()))
    append(tmp_path / "a", '{"n": 1}\n{"n": ')
    assert watch.batch() == [{"n": 1}]
    append(tmp_path / "a", '2}\n{"n": 3}\n')
    assert watch.batch() == [{"n": 2}, {"n": 3}]


def csv_format(**more: bool) -> CsvReaderFormat:
    builder = CsvSchema.builder().add_string_column("name").add_number_column("number")
    if more.get("header"):
        builder.set_use_header()
    if more.get("skip"):
        builder.set_skip_first_data_row()
    if more.get("comments"):
        builder.set_allow_comments()
    if more.get("plain"):
        builder.disable_quote_char()
    return CsvReaderFormat.for_schema(builder.build())


@pytest.mark.parametrize("skip", [False, True])
@pytest.mark.parametrize("comments", [False, True])
@pytest.mark.parametrize("plain", [False, True])
def test_a_csv_header_is_skipped_once_wherever_the_file_is_cut(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, skip: bool, comments: bool, plain: bool
) -> None:
    """X1, P11: byte by byte, with tiny batches; a header that is longer than a batch is still one."""
    monkeypatch.setattr(files, "RECORD_BYTES", 1)
    text = ('# a "comment\n' if comments else "") + "name,number\nfirst,0\n" + "a,1\nb,2\n"
    watch = Watch(watched(tmp_path, csv_format(header=True, skip=skip, comments=comments, plain=plain)))
    found = []
    for i, char in enumerate(text):
        append(tmp_path / "a.csv", char)
        found += watch.batch(1 + i % 3)
        watch.restart()
    while more := watch.batch(1):
        found += more
    for _ in range(len(text)):
        found += watch.batch(1)
    assert [(r.name, r.number) for r in found] == [("first", 0), ("a", 1), ("b", 2)][skip:]


def test_a_csv_head_across_the_edge_of_a_batch_in_a_file_that_is_read_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """P11: header and first row are longer than what a batch reads, whatever the batch."""
    (tmp_path / "a.csv").write_text("# comment\nname,number\nskipped,0\na,1\nb,2\n")
    for size in range(1, 45):
        monkeypatch.setattr(files, "RECORD_BYTES", size)
        for plain in (False, True):
            made = FileSource(csv_format(header=True, skip=True, comments=True, plain=plain), (str(tmp_path),))
            position, found = made.initial(0, 1), []
            while not position.ended:
                end = made.advance(0, 1, position, position, 1, SourceClock(0, 0))
                found += [v for vs, _ in made.read(0, 1, position, end) for v in vs]
                position = end
            assert [r.name for r in found] == ["a", "b"], (size, plain)


@pytest.mark.parametrize("text", ["name,number", "name,number\n", "name,number\nskipped,"])
def test_a_csv_file_that_is_all_head_has_no_records(tmp_path: Path, text: str) -> None:
    """X1: read once."""
    (tmp_path / "a.csv").write_text(text)
    made = FileSource(csv_format(header=True, skip=True), (str(tmp_path),))
    start = made.initial(0, 1)
    end = made.advance(0, 1, start, start, 9, SourceClock(0, 0))
    assert [v for vs, _ in made.read(0, 1, start, end) for v in vs] == []


def test_a_csv_header_that_is_cut_off_is_refused_by_its_place(tmp_path: Path) -> None:
    """X1: read once."""
    (tmp_path / "a.csv").write_text('"na')
    made = FileSource(csv_format(header=True), (str(tmp_path),))
    start = made.initial(0, 1)
    end = made.advance(0, 1, start, start, 9, SourceClock(0, 0))
    with pytest.raises(RecordError, match=r"a\.csv, line 1 .*unexpected end of data"):
        list(made.read(0, 1, start, end))


def test_a_csv_record_waits_for_its_closing_quote(tmp_path: Path) -> None:
    """X1: a line end inside of quotes ends no record."""
    watch = Watch(watched(tmp_path, csv_format()))
    append(tmp_path / "a.csv", 'x,1\n"two\n')
    assert [tuple(r) for r in watch.batch()] == [("x", 1)]
    append(tmp_path / "a.csv", 'lines ""and\n')
    assert watch.batch() == []
    append(tmp_path / "a.csv", 'quotes""",2\ny,3')
    assert [tuple(r) for r in watch.batch()] == [('two\nlines "and\nquotes"', 2)]
    append(tmp_path / "a.csv", "\n")
    assert [tuple(r) for r in watch.batch()] == [("y", 3)]


def test_a_malformed_csv_record_is_reported_and_does_not_wait_for_ever(tmp_path: Path) -> None:
    """P9"""
    append(tmp_path / "a.csv", 'x,1\n"y"z,2\n')
    watch = Watch(watched(tmp_path, csv_format()))
    with pytest.raises(Exception, match=r"a\.csv, line 2 \(byte 4\)"):
        watch.batch()


# -- the oracle --------------------------------------------------------------------------------------------

names = st.text(st.sampled_from("ab,\"'#\n\r ü€"), max_size=6)


def csv_text(rows: list[tuple[str, int]], end: str, quotes: bool) -> bytes:
    out = io.StringIO()
    quoting = csv.QUOTE_NONNUMERIC if quotes else csv.QUOTE_NONE
    csv.writer(out, lineterminator=end, quoting=quoting).writerows(rows)
    return out.getvalue().encode()


@settings(max_examples=examples(150), deadline=None)
@given(data=st.data(), kind=st.sampled_from(["text", "csv", "plain csv", "csv header", "json"]))
def test_appends_in_pieces_with_looks_and_restarts_give_exactly_the_records(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject, kind: str
) -> None:
    """F1, F11: whatever the pieces, the batches, the batches that are lost, and the restarts."""
    folder = tmp_path_factory.mktemp("tailed")
    end = data.draw(st.sampled_from(["\n", "\r\n"]))
    made_format: Any = {
        "text": TEXT,
        "json": JsonReaderFormat.for_type_info(Types.ROW_NAMED(["name", "number"], [Types.STRING(), Types.INT()])),
    }.get(kind) or csv_format(plain=kind == "plain csv", header=kind == "csv header")
    safe = names.map(lambda s: "".join(c for c in s if c not in '\r\n,"')) if kind in ("text", "plain csv") else names
    contents: dict[str, bytes] = {}
    expected: dict[str, list[Any]] = {}
    for name in ("a", "b", "c"):
        rows = [(f"{name}{i}{data.draw(safe)}", i) for i in range(data.draw(st.integers(0, 6)))]
        contents[name] = b"name,number\n" if kind == "csv header" and rows else b""
        expected[name] = rows
        if kind == "text":
            contents[name] = "".join(row[0] + end for row in rows).encode()
        elif kind == "json":
            contents[name] = "".join(json.dumps({"name": n, "number": i}) + end for n, i in rows).encode()
        else:
            contents[name] += csv_text(rows, end, kind != "plain csv")
    watch, found = Watch(watched(folder, made_format)), []
    left = dict(contents)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(files, "RECORD_BYTES", data.draw(st.sampled_from([1, 3, 64])))
        patch.setattr(watched_files, "_FILES_A_BATCH", 2)
        patch.setattr(file_listing, "_EDGE_BYTES", data.draw(st.sampled_from([1, 4, 4096])))
        while any(left.values()):
            name = data.draw(st.sampled_from([n for n, rest in left.items() if rest]))
            piece = data.draw(st.integers(1, 40))
            append(folder / name, left[name][:piece])
            left[name] = left[name][piece:]
            for _ in range(data.draw(st.integers(0, 2))):
                found += watch.batch(
                    data.draw(st.integers(1, 5)), data.draw(st.sampled_from([0, 500, 1000])), data.draw(st.booleans())
                )
            if data.draw(st.booleans()):
                watch.restart()
        for _ in range(200):
            found += watch.batch(50)
    by_file: dict[str, list[Any]] = {"a": [], "b": [], "c": []}
    for value in found:
        text = value if kind == "text" else value.name
        by_file[text[0]].append(text if kind == "text" else (value.name, value.number))
    assert by_file == ({n: [r[0] for r in rows] for n, rows in expected.items()} if kind == "text" else expected)


@pytest.mark.parametrize("count", [0, 1, 7, 8, 9, 17])
def test_at_the_edges_of_the_bytes_that_are_compared_and_of_what_is_read_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, count: int
) -> None:
    """P11: files of 0, 1, n-1, n, n+1 and 2n+1 bytes, for both constants."""
    monkeypatch.setattr(file_listing, "_EDGE_BYTES", 8)
    monkeypatch.setattr(files, "_READ_BYTES", 8)
    line = "x" * (count - 1) + "\n" if count else ""
    (tmp_path / "a").write_text(line)
    watch = Watch(watched(tmp_path))
    assert watch.batch() == line.splitlines()
    append(tmp_path / "a", "y" * count)
    assert watch.batch() == []
    append(tmp_path / "a", "\n")
    assert watch.batch() == ["y" * count]
    assert watch.notices() == []
    if count:
        for at in {0, count // 2, count - 1} if count <= 16 else {0, count - 1}:
            changed = bytearray((tmp_path / "a").read_bytes())
            changed[at] = ord("z")
            assert file_listing.edges(str(tmp_path / "a"), count) != _edges_of(tmp_path, changed, count)


def _edges_of(folder: Path, data: bytes, upto: int) -> bytes:
    (folder / ".other").write_bytes(data)
    return file_listing.edges(str(folder / ".other"), upto)


# -- other changes -----------------------------------------------------------------------------------------


def change(path: Path, how: str) -> None:
    match how:
        case "shortened":
            path.write_text("1\n")
        case "rewritten":
            path.write_text("3\n4\n")
        case "rewritten and longer":
            path.write_text("3\n4\n5\n")
        case "replaced":
            (path.parent / ".new").write_text("5\n6\n7\n")
            (path.parent / ".new").replace(path)
        case "emptied and written again":
            path.write_text("")
            path.write_text("7\n8\n9\n")


CHANGES = ["shortened", "rewritten", "rewritten and longer", "replaced", "emptied and written again"]


@pytest.mark.parametrize("how", CHANGES)
@pytest.mark.parametrize("restart", [False, True])
def test_a_file_that_did_not_just_grow_is_reported_once_and_left_alone(tmp_path: Path, how: str, restart: bool) -> None:
    """F8: also when it was changed while the job was away."""
    append(tmp_path / "a", "1\n2\n")
    watch = Watch(watched(tmp_path))
    watch.batch()
    change(tmp_path / "a", how)
    if restart:
        watch.restart()
    assert watch.batch() == []
    what = r"was shortened from 4 to 2 bytes" if how == "shortened" else "was replaced or rewritten"
    (notice,) = watch.notices()
    assert notice == (
        f"{tmp_path}/a {what}, after it had been read. It is left alone from now on: give new contents another name"
    )
    for _ in range(3):
        before = watch.position
        append(tmp_path / "a", "more\n")
        watch.restart()
        assert watch.batch() == []
        assert watch.position == before, "said once"
    append(tmp_path / "b", "new\n")
    assert watch.batch() == ["new"]


def test_a_file_that_was_away_at_a_look_is_a_new_one(tmp_path: Path) -> None:
    """F11"""
    append(tmp_path / "a", "1\n2\n")
    watch = Watch(watched(tmp_path))
    watch.batch()
    (tmp_path / "a").unlink()
    assert watch.batch() == []
    append(tmp_path / "a", "3\n4\n")
    assert watch.batch() == ["3", "4"]
    assert watch.notices() == []


@pytest.mark.parametrize("how", ["touched", "copied and moved back", "saved anew with a line more"])
def test_a_file_whose_beginning_is_the_same_has_not_changed(tmp_path: Path, how: str) -> None:
    """F1: whatever its time and number say."""
    append(tmp_path / "a", "1\n2\n")
    watch = Watch(watched(tmp_path))
    watch.batch()
    if how == "touched":
        os.utime(tmp_path / "a", (5, 5))
    else:
        (tmp_path / ".a").write_bytes((tmp_path / "a").read_bytes() + (b"3\n" if "more" in how else b""))
        (tmp_path / ".a").replace(tmp_path / "a")
    assert watch.batch() == (["3"] if "more" in how else [])
    assert watch.notices() == []


@pytest.mark.parametrize("kind", ["parquet", "gz"])
@pytest.mark.parametrize("how", ["grown", "replaced", "touched"])
def test_formats_that_cannot_be_tailed(tmp_path: Path, kind: str, how: str) -> None:
    """F8: a change is reported, whatever it is."""
    path = tmp_path / f"a.{kind}"

    def write(*values: int) -> None:
        if kind == "gz":
            path.write_bytes(gzip.compress("".join(f"{v}\n" for v in values).encode(), mtime=0))
        else:
            parquet.write_table(pyarrow.Table.from_pylist([{"n": v} for v in values]), path)

    write(1, 2)
    watch = Watch(watched(tmp_path, TEXT if kind == "gz" else ParquetColumnarRowInputFormat()))
    assert len(watch.batch()) == 2
    before = watch.position
    match how:
        case "grown":
            write(1, 2, 3, 4, 5, 6)
        case "replaced":
            write(3, 4)
        case _:
            os.utime(path, (5, 5))
    assert watch.batch() == []
    if how == "touched":
        assert watch.position == before
        return
    (notice,) = watch.notices()
    assert notice.startswith(str(path))
    assert ("has grown from" in notice) == (how == "grown")
    assert "It is left alone from now on" in notice


def test_a_change_is_told_and_counted_when_its_batch_is_durable(tmp_path: Path) -> None:
    """G6, F8: once, though the batch is tried twice."""
    clock = ManualClock()
    job = watching(tmp_path, clock)
    append(tmp_path / "a", "1\n")
    job.run_batch(99)
    change(tmp_path / "a", "replaced")
    clock.advance_ms(1000)
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        job.run_batch(99, commit=False)
        assert not seen
        job.run_batch(99)
        clock.advance_ms(1000)
        job.run_batch(99)
    (warning,) = seen
    assert "Source 'Source: watched' (uid w): " in str(warning.message)
    assert "/a was replaced or rewritten, after it had been read" in str(warning.message)
    assert job.commits.metrics.totals()["w"]["changed_files"] == 1
    assert job.results["out"] == ["1"]


def watching(folder: Path, clock: ManualClock, made: Any = None) -> LocalJob:
    env = StreamExecutionEnvironment()
    stream = env.from_source(made or watched(folder), WatermarkStrategy.no_watermarks(), "watched").uid("w")
    collect(stream.set_parallelism(1), "out")
    return local_job(env, 2, clock=clock)


def test_a_change_behind_a_hybrid_source_is_told_too(tmp_path: Path) -> None:
    """F8"""
    (tmp_path / "old").mkdir()
    (tmp_path / "new").mkdir()
    append(tmp_path / "old" / "a", "0\n")
    append(tmp_path / "new" / "a", "1\n")
    once = FileSource.for_record_stream_format(TEXT, str(tmp_path / "old")).build()
    clock = ManualClock()
    job = watching(tmp_path, clock, HybridSource.builder(once).add_source(watched(tmp_path / "new")).build())
    for _ in range(4):
        job.run_batch(99)
        clock.advance_ms(1000)
    assert job.results["out"] == ["0", "1"]
    change(tmp_path / "new" / "a", "replaced")
    with pytest.warns(RuntimeWarning, match="a was replaced or rewritten"):
        job.run_batch(99)


def test_a_line_that_waits_for_long_is_told_of_once(tmp_path: Path) -> None:
    """P9: the writer may never write the last line end."""
    append(tmp_path / "a", "1\nhalf")
    watch = Watch(watched(tmp_path))
    assert watch.batch() == ["1"]
    assert watch.batch() == []
    assert watch.notices() == []
    watch.batch(later_ms=60_000)
    assert watch.notices() == [
        f"{tmp_path}/a does not end in a line end: its last 4 byte(s) are kept back until one is there"
    ]
    before = watch.position
    watch.batch(later_ms=60_000)
    assert watch.position == before
    append(tmp_path / "a", " a line\n")
    assert watch.batch() == ["half a line"]


def test_a_file_that_changes_between_plan_and_read_is_refused(tmp_path: Path) -> None:
    """F8: growing is no change."""
    for how in CHANGES:
        (tmp_path / "a").write_text("1\n2\n")
        made = watched(tmp_path)
        start = made.initial(0, 1)
        end = made.advance(0, 1, start, start, 99, SourceClock(0, 0))
        append(tmp_path / "a", "3\n")
        assert [v for vs, _ in made.read(0, 1, start, end) for v in vs] == ["1", "2"]
        change(tmp_path / "a", how)
        with pytest.raises(SourceError, match=r"/a was (shortened from 4 to 2 bytes before|modified after the source)"):
            list(made.read(0, 1, start, end))


def test_a_file_that_is_taken_away_before_its_rest_was_read_is_refused(tmp_path: Path) -> None:
    """F8"""
    append(tmp_path / "a", "".join(f"{'x' * 60}{i}\n" for i in range(9)))
    watch = Watch(watched(tmp_path))
    assert watch.batch(2)
    (tmp_path / "a").unlink()
    with pytest.raises(SourceError, match="/a was found by the source but is gone now: restore it"):
        watch.batch(2)


def test_a_file_that_never_stops_growing_lets_others_have_their_turn(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """G4: the rest of a file is read up to where it ended when it was begun."""
    monkeypatch.setattr(files, "RECORD_BYTES", 2)
    append(tmp_path / "hot", "1\n" * 5)
    watch = Watch(watched(tmp_path))
    found = watch.batch(3)
    append(tmp_path / "cold", "x\n")
    os.utime(tmp_path / "cold", (5, 5))
    for _ in range(4):
        append(tmp_path / "hot", "1\n" * 4)
        found += watch.batch(3)
    assert "x" in found


# -- where to start, and older positions -------------------------------------------------------------------


@pytest.mark.parametrize("quoted", [False, True])
def test_from_the_latest_lines_that_come_later_are_read(tmp_path: Path, quoted: bool) -> None:
    """F11: also the rest of the record that was being written."""
    append(tmp_path / "a", 'old,1\n"hal' if quoted else "old,1\nhal")
    watch = Watch(watched(tmp_path, csv_format(plain=not quoted), StartingOffsets.latest()))
    assert watch.batch() == []
    append(tmp_path / "a", 'f\nnew",2\n' if quoted else "f new,2\n")
    assert [r.number for r in watch.batch()] == [2]


def old_position(made: FileSource, stretches: list[list[Any]], *begun: Path) -> Position:
    hashes = sorted(blake2b(str(path).encode(), digest_size=8).digest() for path in begun)
    return Position({"files": stretches, "begun": base64.b85encode(b"".join(hashes)).decode()})


def test_positions_of_the_older_form_are_read_on_from(tmp_path: Path) -> None:
    """F4: they say which files were begun, and the stretches of their batch."""
    for name in ("long ago", "done", "half", "new"):
        (tmp_path / name).write_text(f"{name} 1\n{name} 2\n")
    made = watched(tmp_path)
    stretches = []
    for name, stop in (("done", 14), ("half", 7)):
        stat = (tmp_path / name).stat()
        stretches.append([str(tmp_path / name), stat.st_size, stat.st_mtime_ns, 0, stop])
    watch = Watch(made)
    begun = (tmp_path / n for n in ("long ago", "done", "half", "taken away"))
    watch.position = old_position(made, stretches, *begun)
    append(tmp_path / "done", "done 3\n")
    found = watch.batch(0) + watch.batch(99)
    assert sorted(found) == ["done 3", "half 2", "new 1", "new 2"]
    append(tmp_path / "long ago", "long ago 3\n")
    watch.restart()
    assert watch.batch() == ["long ago 3"]


def test_a_batch_of_an_older_position_is_read_again_as_it_was(tmp_path: Path) -> None:
    """F1: to its end, also without a line end; it must not have changed."""
    (tmp_path / "a").write_text("1\n2")
    stat = (tmp_path / "a").stat()
    made = watched(tmp_path)
    end = old_position(made, [[str(tmp_path / "a"), 3, stat.st_mtime_ns, 0, 3]], tmp_path / "a")
    assert [v for vs, _ in made.read(0, 1, made.initial(0, 1), end) for v in vs] == ["1", "2"]
    append(tmp_path / "a", "2\n3\n")
    with pytest.raises(SourceError, match="had 3 bytes when the source found it and has 7 now"):
        list(made.read(0, 1, made.initial(0, 1), end))
    watch = Watch(made)
    watch.position = end
    assert watch.batch(0) + watch.batch() == ["3"], "the line that had been read without its end is not read again"


def test_a_position_stays_small(tmp_path: Path) -> None:
    """F13: 25 characters for each file that lies there."""
    for i in range(200):
        append(tmp_path / f"{i}", "x\n")
    watch = Watch(watched(tmp_path))
    watch.batch(1000)
    append(tmp_path / "0", "y\n")
    watch.batch()
    assert len(json.dumps(watch.position.to_json())) < 200 * 25 + 300
