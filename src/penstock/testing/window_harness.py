"""Runs windows in a harness: push records, watermarks and time, look at what fires."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from penstock.api.data_stream import DataStream
from penstock.api.keyed_stream import KeyedStream
from penstock.core.functions.base import KeySelector
from penstock.core.program.job import RuntimeSettings
from penstock.core.program.output_tag import OutputTag
from penstock.testing.harness import Snapshot, _Harness

__all__ = ["WindowHarness"]


class WindowHarness(_Harness):
    """Windows under test: `windows` makes them from a keyed stream.

    >>> from penstock.core.time.spans import Time
    >>> from penstock.core.windows.assigners import TumblingEventTimeWindows
    >>> def sums(keyed):
    ...     return keyed.window(TumblingEventTimeWindows.of(Time.milliseconds(10))).reduce(lambda a, b: a + b)
    >>> harness = WindowHarness(sums, lambda v: 0)
    >>> harness.push_all([(1, 3), (2, 9), (4, 10)])
    >>> harness.push_watermark(9)
    >>> harness.output_with_timestamps()
    [(3, 9)]
    >>> harness.end_input()
    >>> harness.output()
    [3, 4]
    >>> harness.assert_no_leaks()
    """

    def __init__(
        self,
        windows: Callable[[KeyedStream[Any]], DataStream[object]],
        key_selector: Callable[[Any], object] | KeySelector,
        *,
        tags: Iterable[OutputTag] = (),
        parallelism: int = 1,
        channels: int = 1,
        settings: RuntimeSettings | None = None,
        now_ms: int = 0,
        snapshot: Snapshot | None = None,
    ) -> None:
        super().__init__(
            lambda stream: windows(stream.key_by(key_selector)),
            tags,
            parallelism,
            channels,
            settings,
            now_ms,
            snapshot,
        )
