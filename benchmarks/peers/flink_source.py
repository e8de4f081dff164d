"""Where PyFlink's records come from: each is made from its number, and the moment of the first is noted."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from pyflink.common import Types, WatermarkStrategy
from pyflink.datastream import StreamExecutionEnvironment
from pyflink.datastream.connectors.number_seq import NumberSequenceSource
from pyflink.datastream.functions import MapFunction

NOTE = "first-record"
"""A file in the temporary folder of the run, which all its processes share."""


class Make(MapFunction):  # type: ignore[misc]
    """A record from its number."""

    def __init__(self, make: Callable[[int], Any]) -> None:
        self.make, self.begun = make, False

    def map(self, value: int) -> Any:
        if not self.begun:
            self.begun = True
            with suppress(FileExistsError), open(Path(tempfile.gettempdir(), NOTE), "x", encoding="utf-8") as file:
                file.write(str(time.time()))
        return self.make(value)


def numbers(env: StreamExecutionEnvironment, count: int) -> Any:
    """From 0 on."""
    source = NumberSequenceSource(0, count - 1)
    return env.from_source(source, WatermarkStrategy.no_watermarks(), "indices", Types.LONG())


def made(env: StreamExecutionEnvironment, count: int, make: Callable[[int], Any], kind: Any = None) -> Any:
    """The records with the numbers from 0 on."""
    return numbers(env, count).map(Make(make), kind)


def begun_at() -> float:
    """When the first record of this run was made."""
    return float(Path(tempfile.gettempdir(), NOTE).read_text(encoding="utf-8"))
