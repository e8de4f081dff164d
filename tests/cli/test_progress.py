"""Progress: figures, plain lines, and the table on a terminal that leaves the job's own output alone."""

import io
import os
import pty
import re
import subprocess
import sys
import threading
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from rich.console import Console

from penstock.cli.figures import Figures, Meter, VertexFigures, line, summary
from penstock.cli.live import Above, LiveDisplay
from penstock.cli.progress import Observer, PlainDisplay, _display
from penstock.jobs.client import JobStatus
from tests.cli.kit import penstock, script

PLAN = SimpleNamespace(
    name="words",
    vertices=[
        SimpleNamespace(vertex_id=0, name="Source: lines", parallelism=1),
        SimpleNamespace(vertex_id=1, name="count -> print", parallelism=2),
    ],
)


def _entry(vertex: int, subtask: int, records: int, out: int, **more: Any) -> dict[str, Any]:
    return {"vertex": vertex, "subtask": subtask, "in": records, "out": out, "time_ms": 4_000, **more}


class Job:
    """A client that says what it is told to say."""

    def __init__(self) -> None:
        self.status = JobStatus.RUNNING
        self.batches, self.restarts = 3, 1
        self.metrics: dict[str, Any] = {"subtasks": [], "batch_ms": []}

    def get_metrics(self) -> dict[str, Any]:
        return self.metrics


@pytest.fixture
def job() -> Job:
    made = Job()
    made.metrics = {
        "subtasks": [
            _entry(0, 0, 1_000, 1_000, lag_records=50, lag_ms=None),
            _entry(1, 0, 600, 60, watermark=3_000, late=0, operators={"u": {"name": "count", "numLateRecords": 7}}),
            _entry(1, 1, 400, 40, watermark=2_500, late=2),
        ],
        "batch_ms": [800, 400, 600],
        "last_failure": "the worker died\nwith a long story",
    }
    return made


# -- figures --------------------------------------------------------------------------------------------------


def test_figures_add_subtasks_up(job: Job) -> None:
    """G6, F13: records and late ones are sums, a vertex is as far behind as its last subtask."""
    meter = Meter(job, PLAN, 0)
    now = meter.read(5_000)
    assert now.vertices == (
        VertexFigures("Source: lines", 1, 1_000, 1_000, 200.0, None, 0, 50),
        VertexFigures("count -> print", 2, 1_000, 100, 200.0, 2_500, 9),
    )
    assert (now.batches, now.batch_ms, now.median_ms, now.restarts, now.checkpoint_age_ms) == (3, 600, 600, 1, 1_000)


def test_a_rate_is_that_of_the_last_ten_seconds(job: Job) -> None:
    meter = Meter(job, PLAN, 0)
    for second in range(1, 40):
        job.metrics["subtasks"] = [_entry(0, 0, 100 * second if second < 20 else 2_000, 0)]
        rate = meter.read(second * 1_000).vertices[0].rate
        if second == 15:
            assert rate == pytest.approx(100, rel=0.1)
    assert rate == 0


def test_a_watermark_that_says_nothing_has_no_lag(job: Job) -> None:
    """T4: before the first record, and after the last."""
    for mark in (-(1 << 63), (1 << 63) - 1):
        job.metrics["subtasks"] = [_entry(1, 0, 1, 1, watermark=mark)]
        assert Meter(job, PLAN, 0).read(10).vertices[1].lag_ms is None


def test_a_job_in_one_line_and_at_its_end(job: Job) -> None:
    now = Meter(job, PLAN, 0).read(5_000)
    assert line(now) == (
        "words: RUNNING for 5.0 s | 3 batches, last 0.6 s | Source: lines: 1,000 in (200/s), 1,000 out, 50 waiting | "
        "count -> print: 1,000 in (200/s), 100 out, 2.5 s behind, 9 late | checkpoint 1.0 s ago | "
        "1 restart(s): the worker died"
    )
    job.status = JobStatus.FINISHED
    assert summary(Meter(job, PLAN, 0).read(5_000)) == [
        "words: FINISHED after 5.0 s, 3 batches (median 0.6 s), 1 restart(s)",
        "  Source: lines  x1        1,000 in      1,000 out       200/s",
        "  count -> print x2        1,000 in        100 out       200/s   9 late",
    ]


# -- who watches ------------------------------------------------------------------------------------------------


class Recorder:
    every_ms = 50

    def __init__(self) -> None:
        self.seen: list[str] = []
        self.updated = threading.Event()

    def update(self, jobs: list[Figures]) -> None:
        self.seen.append("+".join(job.name for job in jobs))
        self.updated.set()

    def end(self, job: Figures) -> None:
        self.seen.append(f"end {job.status}")

    def close(self) -> None:
        self.seen.append("close")


class Ending(Recorder):
    """Lets both jobs end at once, once it has seen both: in the observer's thread, which looks at neither meanwhile."""

    def __init__(self, one: Job, other: Job) -> None:
        super().__init__()
        self.one, self.other = one, other

    def update(self, jobs: list[Figures]) -> None:
        if len(jobs) == 2:
            self.one.status, self.other.status = JobStatus.FINISHED, JobStatus.FAILED
            super().update(jobs)


def test_jobs_are_watched_until_they_end(job: Job) -> None:
    other = Job()
    shown = Ending(job, other)
    observer = Observer(shown)
    observer.watch(job, PLAN)
    observer.watch(other, SimpleNamespace(name="other", vertices=[]))
    shown.updated.wait()
    observer.close()
    assert "words+other" in shown.seen
    assert [text for text in shown.seen if text.startswith("end")] == ["end FINISHED", "end FAILED"]
    assert shown.seen.index("close") < shown.seen.index("end FINISHED"), "the table goes before the summary comes"


def test_a_job_that_is_left_running_is_left_alone(job: Job) -> None:
    shown = Recorder()
    observer = Observer(shown)
    observer.watch(job, PLAN)
    observer.close()
    assert not [text for text in shown.seen if text.startswith("end")]
    assert shown.seen[-1] == "close"


def test_figures_that_cannot_be_read_do_no_harm(job: Job) -> None:
    def broken() -> dict[str, Any]:
        raise RuntimeError("dictionary changed size during iteration")

    job.get_metrics = broken  # type: ignore[method-assign]
    shown = Recorder()
    observer = Observer(shown)
    observer.watch(job, PLAN)
    job.status = JobStatus.FINISHED
    observer.close()
    assert shown.seen == ["close", "close"]  # as the last job ends, and as the observer does


class _Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("stream", "term", "wanted", "plain", "expected"),
    [
        (_Terminal, "xterm", None, False, LiveDisplay),
        (_Terminal, "xterm", None, True, PlainDisplay),
        (_Terminal, "xterm", False, True, type(None)),
        (_Terminal, "dumb", None, False, type(None)),
        (_Terminal, "dumb", True, False, PlainDisplay),
        (io.StringIO, "xterm", None, False, type(None)),
        (io.StringIO, "xterm", None, True, PlainDisplay),
        (io.StringIO, "xterm", True, False, PlainDisplay),
    ],
)
def test_which_display_is_taken(
    monkeypatch: pytest.MonkeyPatch,
    stream: type[io.StringIO],
    term: str,
    wanted: bool | None,
    plain: bool,
    expected: type,
) -> None:
    monkeypatch.setenv("TERM", term)
    monkeypatch.setattr(sys, "stderr", stream())
    assert type(_display(wanted, plain)) is expected


# -- on a terminal ------------------------------------------------------------------------------------------------


def test_lines_go_above_the_table_unbroken() -> None:
    shown = io.StringIO()
    above = Above(Console(file=shown, force_terminal=True, width=20, highlight=False), io.StringIO())
    print("a line that is longer than the terminal is wide [bold]", file=above)
    above.write("half ")
    above.write("of it\nrest")
    assert shown.getvalue() == "a line that is longer than the terminal is wide [bold]\nhalf of it\n"
    above.finish()
    assert above._stream.getvalue() == "rest"  # type: ignore[attr-defined]


def test_the_table_has_a_row_for_each_vertex(job: Job) -> None:
    """G6, F12"""
    shown = io.StringIO()
    display = LiveDisplay(Console(file=shown, force_terminal=True, width=110, highlight=False))
    display.update([Meter(job, PLAN, 0).read(5_000)])
    display.close()
    display.close()
    text = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", shown.getvalue())
    assert re.search(r"words  RUNNING  5.0 s  batch 3 \(0.6 s\)  checkpoint 1.0 s ago  1 restart\(s\)", text)
    assert re.search(r"vertex +× +in +in/s +out +behind +waiting +late", text)
    assert re.search(r"Source: lines +1 +1,000 +200 +1,000 +- +50", text)
    assert re.search(r"count -> print +2 +1,000 +200 +100 +2.5 s +9", text)
    assert "the worker died" in text
    assert sys.stdout is not None
    assert not isinstance(sys.stdout, Above)


LONG = """
    import sys, time
    from pathlib import Path
    from penstock.datastream import StreamExecutionEnvironment

    def slowly(number):
        while len(sys.argv) > 1 and not Path(sys.argv[1]).exists():
            time.sleep(0.05)
        return number

    env = StreamExecutionEnvironment.get_execution_environment()
    env.from_sequence(1, 6).map(slowly).name("slowly").print()
    env.execute("numbers")
    print("went on")
"""


def _on_terminal(command: list[str], drawn: Path) -> tuple[int, str]:
    """Exit code, and what a terminal was sent; a file is made when that is a table."""
    master, slave = pty.openpty()
    process = subprocess.Popen(command, stdin=slave, stdout=slave, stderr=slave, env={**os.environ, "TERM": "xterm"})
    os.close(slave)
    chunks: list[bytes] = []
    while True:
        try:
            data = os.read(master, 65536)
        except OSError:
            break
        if not data:
            break
        chunks.append(data)
        if b"RUNNING" in b"".join(chunks):
            drawn.touch()
    os.close(master)
    return process.wait(), b"".join(chunks).decode()


def _plain(text: str) -> list[str]:
    return [line.rstrip() for line in re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", text).replace("\r", "\n").splitlines()]


@pytest.mark.process
def test_on_a_terminal_the_table_is_shown_and_the_jobs_output_is_whole(tmp_path: Path) -> None:
    drawn, options = tmp_path / "drawn", ("--host", "local", "-p", "1")
    command = [sys.executable, "-m", "penstock.cli", "run", *options]
    job = [script(tmp_path, LONG), str(drawn)]
    code, text = _on_terminal([*command, *job], drawn)
    lines = _plain(text)
    assert code == 0, text
    assert [line for line in lines if line.isdigit()] == ["1", "2", "3", "4", "5", "6"]
    assert any("numbers  RUNNING" in line for line in lines), "the table was never drawn"
    assert "went on" in lines
    assert any(line.startswith("numbers: FINISHED after") for line in lines)

    code, text = _on_terminal([*command, "--no-progress", *job], drawn)
    assert "RUNNING" not in text
    assert "FINISHED" not in text


def test_without_a_terminal_nothing_is_shown_unless_asked_for(tmp_path: Path) -> None:
    """A job's standard output is its own; progress goes to standard error."""
    job = script(tmp_path, LONG)
    args = ("run", job, "--host", "local", "-p", "1")
    numbers = "1\n2\n3\n4\n5\n6\nwent on\n"
    quiet = penstock(*args)
    assert quiet.stdout == numbers
    assert "FINISHED" not in quiet.stderr
    for option in ("--plain", "--progress"):
        shown = penstock(*args, option)
        assert shown.stdout == numbers
        assert re.search(r"^numbers: FINISHED after \d+\.\d s$", shown.stderr, re.MULTILINE)
        assert re.search(r"^  .*slowly -> Print to Std. Out x1 +6 in", shown.stderr, re.MULTILINE)
