"""A table on a terminal that stays below what the job prints."""

from __future__ import annotations

import io
import sys
from collections.abc import Callable
from typing import Any, TextIO

from penstock.cli.figures import Figures, VertexFigures, count, failure, seconds, summary

__all__ = ["Above", "LiveDisplay"]


class Above(io.TextIOBase):
    """Stands for standard output or error: whole lines go above the table, with their colours, unbroken."""

    def __init__(self, console: Any, stream: TextIO) -> None:
        self._console, self._stream, self._open = console, stream, ""

    def write(self, text: str) -> int:
        *lines, self._open = (self._open + text).split("\n")
        if lines:
            self._print("\n".join(lines))
        return len(text)

    def _print(self, text: str) -> None:
        from rich.text import Text

        self._console.print(Text.from_ansi(text), soft_wrap=True)

    def finish(self) -> None:
        """Flush a last line that has no line end."""
        if self._open:
            self._stream.write(self._open)
            self._stream.flush()
            self._open = ""

    def isatty(self) -> bool:
        return True

    def fileno(self) -> int:
        return self._stream.fileno()

    @property
    def encoding(self) -> str:  # type: ignore[override]
        return self._stream.encoding


class LiveDisplay:
    """Drawn by rich on standard error; standard output passes above it where it is a terminal too."""

    every_ms = 500

    def __init__(self, console: Any = None) -> None:
        from rich.console import Console

        self._console = console or Console(file=sys.stderr, highlight=False)
        self._live: Any = None
        self._saved: list[tuple[str, TextIO, Above]] = []

    def update(self, jobs: list[Figures]) -> None:
        from rich.console import Group

        shown = Group(*(panel(job) for job in jobs))
        if self._live is None:
            self._start(shown)
        else:
            self._live.update(shown, refresh=True)

    def _start(self, shown: Any) -> None:
        from rich.live import Live

        self._live = Live(
            shown,
            console=self._console,
            auto_refresh=False,
            transient=True,
            redirect_stdout=False,
            redirect_stderr=False,
        )
        self._live.start(refresh=True)
        for name in ("stdout", "stderr"):
            stream = getattr(sys, name)
            if stream.isatty():
                above = Above(self._console, stream)
                self._saved.append((name, stream, above))
                setattr(sys, name, above)

    def end(self, job: Figures) -> None:
        head, *rows = summary(job)
        colour = {"FINISHED": "green", "FAILED": "red"}.get(job.status, "yellow")
        self._console.print(head, style=f"bold {colour}", soft_wrap=True, markup=False)
        for row in rows:
            self._console.print(row, style="dim", soft_wrap=True, markup=False)

    def close(self) -> None:
        if self._live is None:
            return
        self._live.stop()
        self._live = None
        for name, stream, above in self._saved:
            if getattr(sys, name) is above:
                setattr(sys, name, stream)
            above.finish()
        self._saved = []


_COLUMNS: tuple[tuple[str, Callable[[VertexFigures], str]], ...] = (
    ("×", lambda vertex: str(vertex.parallelism)),
    ("in", lambda vertex: count(vertex.records_in)),
    ("in/s", lambda vertex: count(vertex.rate)),
    ("out", lambda vertex: count(vertex.records_out)),
    ("behind", lambda vertex: seconds(vertex.lag_ms)),
    ("waiting", lambda vertex: count(vertex.waiting) if vertex.waiting else ""),
    ("late", lambda vertex: count(vertex.late) if vertex.late else ""),
)
_ALWAYS = ("×", "in", "in/s", "out", "behind")
"""The other columns are there when a vertex has something to say in them."""


def panel(job: Figures) -> Any:
    """One job: a head line and a row for each vertex."""
    from rich import box
    from rich.panel import Panel
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, padding=(0, 2, 0, 0), expand=True)
    table.add_column("vertex", ratio=1, no_wrap=True, overflow="ellipsis")
    shown = [column for column in _COLUMNS if column[0] in _ALWAYS or any(column[1](v) for v in job.vertices)]
    for name, _ in shown:
        table.add_column(name, justify="right", no_wrap=True)
    for vertex in job.vertices:
        table.add_row(vertex.name, *(cell(vertex) for _, cell in shown))
    below = Text(failure(job), "red", no_wrap=True, overflow="ellipsis") if job.restarts else None
    return Panel(
        table,
        title=_head(job),
        title_align="left",
        box=box.ROUNDED,
        border_style="dim",
        subtitle=below,
        subtitle_align="left",
    )


def _head(job: Figures) -> Any:
    from rich.text import Text

    colour = "green" if job.status == "RUNNING" else "yellow"
    head = Text.assemble((job.name, "bold"), "  ", (job.status, colour), f"  {seconds(job.elapsed_ms)}")
    if job.tasks:
        head.append(f"  {job.tasks[0]} of {job.tasks[1]} tasks")
    if job.batches:
        head.append(f"  batch {job.batches} ({seconds(job.batch_ms)})")
    if job.checkpoint_age_ms is not None:
        head.append(f"  checkpoint {seconds(job.checkpoint_age_ms)} ago")
    if job.restarts:
        head.append(f"  {job.restarts} restart(s)", style="red")
    return head
