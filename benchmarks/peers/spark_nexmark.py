"""The Nexmark queries in Spark's native SQL. Columns out: ``key, value, at``.

Queries 4 and 6 are not among them: a running average in the order in which auctions closed is not for SQL over a
stream. The events are made in the JVM.
"""

from __future__ import annotations

from collections.abc import Callable

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from benchmarks.nexmark import sql
from benchmarks.nexmark.questions import GAP_MS, HOT_SIZE_MS, HOT_SLIDE_MS, LOCAL_STATES, WINDOW_MS
from benchmarks.peers.spark_query import indices, milliseconds

END = "unix_millis(window.end) AS at"


def _made(spark: SparkSession, batch: int, kind: str, columns: tuple[str, ...]) -> DataFrame:
    """Events of a kind, with a column ``time`` that has a watermark."""
    made = indices(spark, batch).where(kind).selectExpr(*columns)
    return made.withColumn("time", F.expr("timestamp_millis(at)")).withWatermark("time", "0 seconds")


def _bids(spark: SparkSession, batch: int) -> DataFrame:
    return _made(spark, batch, sql.IS_BID, sql.BID)


def _persons(spark: SparkSession, batch: int) -> DataFrame:
    return _made(spark, batch, sql.IS_PERSON, sql.PERSON)


def _auctions(spark: SparkSession, batch: int) -> DataFrame:
    return _made(spark, batch, sql.IS_AUCTION, sql.AUCTION)


def q0(spark: SparkSession, batch: int) -> DataFrame:
    return _bids(spark, batch).selectExpr("auction AS key", "price AS value", "at")


def q1(spark: SparkSession, batch: int) -> DataFrame:
    return _bids(spark, batch).selectExpr("auction AS key", "price * 908L div 1000L AS value", "at")


def q2(spark: SparkSession, batch: int) -> DataFrame:
    return q0(spark, batch).where("key % 123 = 0")


def q3(spark: SparkSession, batch: int) -> DataFrame:
    """A join without bounds: both sides are kept for good, as in the DataStream program."""
    persons = _persons(spark, batch).where(F.col("state").isin(*LOCAL_STATES)).alias("p")
    auctions = _auctions(spark, batch).where("category = 10").alias("a")
    joined = persons.join(auctions, F.expr("p.id = a.seller"))
    return joined.selectExpr("p.id AS key", "a.id AS value", "greatest(p.at, a.at) AS at")


def q5(spark: SparkSession, batch: int) -> DataFrame:
    windows = F.window("time", milliseconds(HOT_SIZE_MS), milliseconds(HOT_SLIDE_MS))
    counts = _bids(spark, batch).groupBy(windows, "auction").count()
    found = counts.groupBy("window").agg(
        F.max("count").alias("top"), F.expr("collect_list(struct(auction, count)) AS found")
    )
    best = found.selectExpr("explode(filter(found, one -> one.count = top)) AS one", "window")
    return best.selectExpr("one.auction AS key", "one.count AS value", END)


def q7(spark: SparkSession, batch: int) -> DataFrame:
    windows = F.window("time", milliseconds(WINDOW_MS))
    highest = _bids(spark, batch).groupBy(windows).agg(F.expr("max(struct(price, -at, auction)) AS best"))
    return highest.selectExpr("best.auction AS key", "best.price AS value", END)


def q8(spark: SparkSession, batch: int) -> DataFrame:
    windows = F.window("time", milliseconds(WINDOW_MS))
    persons = _persons(spark, batch).withColumn("window", windows).alias("p")
    auctions = _auctions(spark, batch).withColumn("window", windows).alias("a")
    new = persons.join(auctions, F.expr("p.id = a.seller AND p.window = a.window"), "left_semi")
    return new.selectExpr("id AS key", "at AS value", END)


def q11(spark: SparkSession, batch: int) -> DataFrame:
    counts = (
        _bids(spark, batch).groupBy(F.session_window("time", milliseconds(GAP_MS)).alias("window"), "bidder").count()
    )
    return counts.selectExpr("bidder AS key", "count AS value", END)


NEXMARK: dict[str, Callable[[SparkSession, int], DataFrame]] = {
    query.__name__: query for query in (q0, q1, q2, q3, q5, q7, q8, q11)
}
