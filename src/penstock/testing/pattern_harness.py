"""Runs one pattern in a harness."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from penstock.api.data_stream import DataStream
from penstock.api.pattern_stream import CEP, PatternStream
from penstock.core.cep.builder import Pattern
from penstock.core.functions.base import KeySelector
from penstock.core.program.job import RuntimeSettings
from penstock.core.program.output_tag import OutputTag
from penstock.testing.harness import Snapshot, _Harness

__all__ = ["PatternHarness"]


class PatternHarness(_Harness):
    """A pattern under test; `attach` says what to do with its matches.

    >>> pattern = Pattern.begin("low").where(lambda v: v < 3).next("high").where(lambda v: v > 7)
    >>> harness = PatternHarness(pattern, lambda found: found.select(lambda match: match["high"]))
    >>> harness.push_all([(9, 2), (1, 1)])
    >>> harness.push_watermark(2)
    >>> harness.output_with_timestamps()
    [([9], 2)]
    >>> harness.assert_no_leaks()
    """

    def __init__(
        self,
        pattern: Pattern,
        attach: Callable[[PatternStream], DataStream[Any]],
        key_selector: Callable[[Any], Any] | KeySelector | None = None,
        *,
        comparator: Any = None,
        tags: Iterable[OutputTag] = (),
        parallelism: int = 1,
        channels: int = 1,
        settings: RuntimeSettings | None = None,
        now_ms: int = 0,
        snapshot: Snapshot | None = None,
    ) -> None:
        def build(stream: DataStream[Any]) -> DataStream[Any]:
            keyed = stream if key_selector is None else stream.key_by(key_selector)
            return attach(CEP.pattern(keyed, pattern, comparator))

        super().__init__(build, tags, parallelism, channels, settings, now_ms, snapshot)
