"""Runs the blocks of a page as one program."""

from __future__ import annotations

import contextlib
import doctest
import io
import json
import linecache
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

from click.testing import CliRunner

from penstock.cli import main
from tests.docs.pages import Block, blocks

__all__ = ["play"]

_CHECKER = doctest.OutputChecker()
_RUNS = ("python", "console")


class Player:
    """A page's namespace, which is `__main__` while it runs, and the folder in which it runs."""

    def __init__(self, page: Path, folder: Path) -> None:
        self._page, self._folder = page, folder
        self._module = ModuleType("__main__")

    def play(self, hosts: tuple[str, ...]) -> int:
        """Run the blocks for these hosts; gives how many there were."""
        played = 0
        with self._at_home():
            for block in blocks(self._page):
                if block.title is not None:
                    (self._folder / block.title).write_text(block.text, encoding="utf-8")
                elif block.language in _RUNS and block.host in hosts:
                    self._console(block) if block.language == "console" else self._python(block)
                    played += 1
        return played

    @contextlib.contextmanager
    def _at_home(self) -> Iterator[None]:
        main_before, folder_before = sys.modules["__main__"], Path.cwd()
        sys.modules["__main__"] = self._module
        os.chdir(self._folder)
        try:
            yield
        finally:
            sys.modules["__main__"] = main_before
            os.chdir(folder_before)

    def _where(self, block: Block) -> str:
        return f"{self._page.name}, line {block.line}"

    # -- Python -----------------------------------------------------------------------------------

    def _python(self, block: Block) -> None:
        printed = io.StringIO()
        with _settings(block.host), contextlib.redirect_stdout(printed):
            failure = self._run(block)
        if (failure is None) != (block.fails is None):
            raise AssertionError(f"{self._where(block)}: expected {block.fails or 'no failure'}") from failure
        if failure is not None:
            assert type(failure).__name__ == block.fails, f"{self._where(block)}: {failure!r}"
            printed.write(f"{failure}\n")
        self._compare(block, block.output or "", printed.getvalue())

    def _run(self, block: Block) -> Exception | None:
        name = f"<{self._where(block)}>"
        linecache.cache[name] = (len(block.text), None, block.text.splitlines(keepends=True), name)
        try:
            exec(compile(block.text, name, "exec"), vars(self._module))
        except Exception as error:
            return error
        return None

    # -- commands ---------------------------------------------------------------------------------

    def _console(self, block: Block) -> None:
        for command, expected in _commands(block.text):
            self._compare(block, expected, self._command(block, command))

    def _command(self, block: Block, command: str) -> str:
        program, *arguments = command.split()
        given: dict[str, str | None] = {}
        while "=" in program:
            name, _, given[name] = program.partition("=")
            program, *arguments = arguments
        if program == "python":
            program, arguments = "penstock", ["run", *arguments]
        assert program == "penstock", f"{self._where(block)}: only penstock and python are run, not {program}"
        before = sys.modules["__main__"]
        with _settings(block.host):
            done = CliRunner(env=given).invoke(main, arguments)
        sys.modules["__main__"] = before
        return done.stdout if done.exit_code == 0 else done.stdout + done.stderr

    def _compare(self, block: Block, expected: str, found: str) -> None:
        flags = doctest.ELLIPSIS
        assert _CHECKER.check_output(expected, found, flags), (
            f"{self._where(block)} gave\n{found}instead of\n{expected}"
        )


def _commands(text: str) -> Iterator[tuple[str, str]]:
    """Commands with their outputs."""
    for part in ("\n" + text).split("\n$ ")[1:]:
        command, _, output = part.partition("\n")
        yield command, output if output.endswith("\n") or not output else output + "\n"


@contextlib.contextmanager
def _settings(host: str) -> Iterator[None]:
    """What snippets run with unless they say otherwise: one subtask, so that results have one order."""
    before: Any = os.environ.get("PENSTOCK_CONF")
    os.environ["PENSTOCK_CONF"] = json.dumps({"penstock.host": host, "parallelism.default": "1"})
    try:
        yield
    finally:
        os.environ.pop("PENSTOCK_CONF")
        if before is not None:
            os.environ["PENSTOCK_CONF"] = before


def play(page: Path, folder: Path, hosts: tuple[str, ...]) -> int:
    """Run a page's blocks for these hosts, in order, in one namespace."""
    return Player(page, folder).play(hosts)
