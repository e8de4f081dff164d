"""PySpark's ``transformWithState`` written by hand, grouped by the user's key; ``BENCH_VARIANT`` row, pandas or apply.

The last is the older ``applyInPandasWithState``.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from statistics import median
from typing import Any

from pyspark.sql import DataFrame, Row
from pyspark.sql.streaming.stateful_processor import StatefulProcessor, StatefulProcessorHandle

from benchmarks.jobs.long_list import key_metrics
from benchmarks.model import RATE, Outcome
from benchmarks.params import LongListParams, SumParams
from benchmarks.peers.processors import EMITTED, OUTPUT, summed_by_apply, summed_by_pandas, summed_by_row
from benchmarks.peers.spark_events import event_time
from benchmarks.peers.spark_query import collect, consume, indices, keyed, run_batches, session, versions
from benchmarks.worker import serve

SUMMED = {"row": summed_by_row, "pandas": summed_by_pandas, "apply": summed_by_apply}


def running_sum(params: SumParams) -> Outcome:
    """Records by the median time of a batch."""
    spark = session()
    summed = SUMMED[os.environ["BENCH_VARIANT"]]
    query = summed(keyed(indices(spark, params.batch_records), params.keys))
    batches = run_batches(query, "append", params.batches, consume)
    rate = params.batch_records * 1000 / median(batches.milliseconds[params.warmup_batches :])
    return Outcome({RATE: rate}, batches.answer, batches.milliseconds, versions(spark))


class Gather(StatefulProcessor):
    """Appends a batch to the key's list with one call; in the last batch reads the list and emits its size and sum."""

    def __init__(self, records: int) -> None:
        self.records = records

    def init(self, handle: StatefulProcessorHandle) -> None:
        self.items = handle.getListState("items", "item bigint")

    def handleInputRows(self, key: Any, rows: Iterator[Row], timerValues: Any) -> Iterator[Row]:
        items = [(row["index"],) for row in rows]
        if items[0][0] < self.records:
            self.items.appendList(items)
            return
        found = [item for (item,) in self.items.get()]
        yield EMITTED(len(found), sum(found))


def long_list(params: LongListParams) -> Outcome:
    """One batch more than asked for reads the list; it is not measured."""
    spark = session()
    frame: DataFrame = indices(spark, params.batch_records).selectExpr("0 AS key", "index")
    gather = Gather(params.batch_records * params.batches)
    query = frame.groupBy("key").transformWithState(gather, OUTPUT, "append", "none")
    batches = run_batches(query, "append", params.batches + 1, collect)
    times = batches.milliseconds[: params.batches]
    return Outcome(key_metrics(times), batches.answer, times, versions(spark))


if __name__ == "__main__":
    serve({"running-sum": running_sum, "long-list": long_list, "failed-logins": event_time})
