"""Hand-written ``transformWithState``: a running sum with one read and one write of state per key and batch."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pandas as pd
from pyspark.sql import DataFrame, Row
from pyspark.sql.streaming.state import GroupState, GroupStateTimeout
from pyspark.sql.streaming.stateful_processor import StatefulProcessor, StatefulProcessorHandle

OUTPUT = "key bigint, total bigint"
EMITTED = Row("key", "total")


class RowSum(StatefulProcessor):
    """Row by row."""

    def init(self, handle: StatefulProcessorHandle) -> None:
        self.total = handle.getValueState("total", "total bigint")

    def handleInputRows(self, key: Any, rows: Iterator[Row], timerValues: Any) -> Iterator[Row]:
        found = self.total.get()
        total, name = found[0] if found else 0, key[0]
        for row in rows:
            total += row.value
            yield EMITTED(name, total)
        self.total.update((total,))


class PandasSum(StatefulProcessor):
    """A frame at a time, without a loop over its rows."""

    def init(self, handle: StatefulProcessorHandle) -> None:
        self.total = handle.getValueState("total", "total bigint")

    def handleInputRows(self, key: Any, rows: Iterator[pd.DataFrame], timerValues: Any) -> Iterator[pd.DataFrame]:
        found = self.total.get()
        total = found[0] if found else 0
        for frame in rows:
            totals = frame["value"].cumsum() + total
            total = int(totals.iloc[-1])
            yield pd.DataFrame({"key": frame["key"], "total": totals})
        self.total.update((total,))


def summed_by_row(records: DataFrame) -> DataFrame:
    """The running sum of a frame of ``key, value``, grouped by key."""
    return records.groupBy("key").transformWithState(RowSum(), OUTPUT, "append", "none")


def summed_by_pandas(records: DataFrame) -> DataFrame:
    """The same with frames."""
    return records.groupBy("key").transformWithStateInPandas(PandasSum(), OUTPUT, "append", "none")


def _add(key: Any, frames: Iterator[pd.DataFrame], state: GroupState) -> Iterator[pd.DataFrame]:
    total = state.get[0] if state.exists else 0
    for frame in frames:
        totals = frame["value"].cumsum() + total
        total = int(totals.iloc[-1])
        yield pd.DataFrame({"key": frame["key"], "total": totals})
    state.update((total,))


def summed_by_apply(records: DataFrame) -> DataFrame:
    """The same with the older ``applyInPandasWithState``."""
    grouped = records.groupBy("key")
    return grouped.applyInPandasWithState(_add, OUTPUT, "total bigint", "append", GroupStateTimeout.NoTimeout)
