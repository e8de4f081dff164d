"""The event-time jobs in PySpark: native SQL wherever it can express them. Columns out: ``key, value, at``."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterator
from typing import Any

from pyspark.sql import DataFrame, Row, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.streaming.stateful_processor import StatefulProcessor, StatefulProcessorHandle

from benchmarks.events import (
    AS_THEY_COME,
    IN_A_ROW,
    JOIN,
    LINE_WORDS,
    LOGIN_SEED,
    SESSIONS,
    SHAPES,
    SLIDING,
    STEP_MS,
    TOP,
    TUMBLING,
    VOCABULARY,
    WORDS,
    answer_sql,
    cut_of,
    succeeded_sql,
)
from benchmarks.inputs import Answer, key_sql
from benchmarks.model import RATE, Outcome
from benchmarks.params import EventParams
from benchmarks.peers.spark_nexmark import NEXMARK
from benchmarks.peers.spark_query import indices, milliseconds, run_batches, session, versions

AFTER = 4
"""Batches that are run after the last that counts, so that everything up to the cut is emitted."""

_MS = "unix_millis({})"


def _events(spark: SparkSession, keys: int, batch: int, index: str = "index") -> DataFrame:
    """``key, at, time``: the event's key, its timestamp in ms and as Spark wants it, with a watermark."""
    frame = indices(spark, batch).selectExpr(f"{index} AS index")
    frame = frame.selectExpr(f"{key_sql('index', keys)} AS key", f"index * {STEP_MS}L AS at", "index")
    return frame.withColumn("time", F.expr("timestamp_millis(at)")).withWatermark("time", "0 seconds")


def tumbling(spark: SparkSession, batch: int) -> DataFrame:
    shape = SHAPES[TUMBLING]
    counts = _events(spark, shape.keys, batch).groupBy(F.window("time", milliseconds(shape.size_ms)), "key").count()
    return counts.selectExpr("key", "count AS value", f"{_MS.format('window.end')} AS at")


def sliding(spark: SparkSession, batch: int) -> DataFrame:
    """Two aggregations in a row: counts, then the first of each window."""
    shape = SHAPES[SLIDING]
    windows = F.window("time", milliseconds(shape.size_ms), milliseconds(shape.slide_ms))
    counts = _events(spark, shape.keys, batch).groupBy(windows, "key").count()
    best = counts.groupBy("window").agg(F.expr("collect_list(named_struct('less', -count, 'key', key)) AS found"))
    first = best.selectExpr(f"explode(slice(array_sort(found), 1, {TOP})) AS one", "window")
    return first.selectExpr("one.key AS key", "-one.less AS value", f"{_MS.format('window.end')} AS at")


def sessions(spark: SparkSession, batch: int) -> DataFrame:
    shape = SHAPES[SESSIONS]
    gap = F.session_window("time", milliseconds(shape.size_ms))
    counts = _events(spark, shape.keys, batch).groupBy(gap, "key").count()
    start, end = _MS.format("session_window.start"), _MS.format("session_window.end")
    return counts.selectExpr("key", f"({end} - {start}) * 1024L + count AS value", f"{end} AS at")


def interval_join(spark: SparkSession, batch: int) -> DataFrame:
    shape = SHAPES[JOIN]
    left = _events(spark, shape.keys, batch // 2, "index * 2L").alias("l")
    right = _events(spark, shape.keys, batch // 2, "index * 2L + 1L").alias("r")
    bound = f"INTERVAL '{shape.size_ms // 1000}' SECONDS"
    near = f"l.key = r.key AND l.time >= r.time - {bound} AND l.time <= r.time + {bound}"
    return left.join(right, F.expr(near)).selectExpr("l.at AS key", "r.at AS value", "greatest(l.at, r.at) AS at")


ALERT = Row("key", "value", "at")


class Failures(StatefulProcessor):
    """Counts failures in a row; the rows of a batch are sorted, batches are in order among themselves."""

    def init(self, handle: StatefulProcessorHandle) -> None:
        self.failures = handle.getValueState("failures", "failures bigint")

    def handleInputRows(self, key: Any, rows: Iterator[Row], timerValues: Any) -> Iterator[Row]:
        found = self.failures.get()
        failures, user = found[0] if found else 0, key[0]
        for at, fine in sorted((row.at, row.fine) for row in rows):
            failures = 0 if fine else failures + 1
            if failures == IN_A_ROW:
                failures = 0
                yield ALERT(user, at, at)
        self.failures.update((failures,))


def as_they_come(spark: SparkSession, batch: int) -> DataFrame:
    given = _events(spark, SHAPES[AS_THEY_COME].keys, batch).selectExpr(
        "key", "at", f"{succeeded_sql('index')} AS fine"
    )
    grouped = given.groupBy("key")
    return grouped.transformWithState(Failures(), "key bigint, value bigint, at bigint", "append", "none")


def word_count(spark: SparkSession, batch: int) -> DataFrame:
    """Native from the text on; the lines are made in the JVM."""
    number = key_sql("n", VOCABULARY).replace(f"% {VOCABULARY}L", "% draw")
    numbers = f"sequence(index * {LINE_WORDS}L, index * {LINE_WORDS}L + {LINE_WORDS - 1}L)"
    drawn = indices(spark, batch).selectExpr(f"explode({numbers}) AS n")
    drawn = drawn.selectExpr("n", f"{key_sql(f'(n + {LOGIN_SEED}L)', VOCABULARY)} + 1L AS draw")
    counts = drawn.selectExpr(f"concat('w', {number}) AS word").groupBy("word").count()
    return counts.selectExpr("cast(substr(word, 2) AS bigint) AS key", "count AS value", "0L AS at")


QUERIES: dict[str, Callable[[SparkSession, int], DataFrame]] = {
    TUMBLING: tumbling,
    SLIDING: sliding,
    SESSIONS: sessions,
    JOIN: interval_join,
    AS_THEY_COME: as_they_come,
    WORDS: word_count,
    **NEXMARK,
}
MODES = {WORDS: "update"}


def event_time(params: EventParams) -> Outcome:
    """Records by the median time of a batch."""
    spark = session()
    count, checksum = answer_sql(cut_of(params.what, params.records))

    def consume(emitted: DataFrame) -> Answer:
        row = emitted.selectExpr(count, checksum).collect()[0]
        return Answer(row[0], row[1])

    mode = MODES.get(params.what, "append")
    query = QUERIES[params.what](spark, params.batch_records)
    batches = run_batches(query, mode, params.batches + (AFTER if mode == "append" else 0), consume)
    times = batches.milliseconds[: params.batches]
    rate = params.batch_records * 1000 / statistics.median(times[params.warmup_batches :])
    return Outcome({RATE: rate}, batches.answer, times, versions(spark))
