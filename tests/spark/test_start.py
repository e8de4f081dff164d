"""A Spark that cannot be started is told in words, without the JVM's trace."""

import pytest
from pyspark.sql import SparkSession

from penstock.core.errors import ConfigurationError
from penstock.spark.startup.session import _created

JVM = """An error occurred while calling None.org.apache.spark.api.java.JavaSparkContext.
: org.apache.spark.SparkException: Could not parse Master URL: 'moon'
\tat org.apache.spark.SparkContext$.createTaskScheduler(SparkContext.scala:3218)
\tat org.apache.spark.SparkContext.<init>(SparkContext.scala:613)
"""


def start() -> SparkSession:
    raise RuntimeError(JVM)


def test_a_master_that_is_none_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """P9: what Spark says, and what to look at."""
    monkeypatch.delenv("PENSTOCK_JVM_TRACE", raising=False)
    with pytest.raises(ConfigurationError) as caught:
        _created(start, "moon")
    message = str(caught.value)
    assert message.startswith("Spark could not be started on moon: ")
    assert "Could not parse Master URL: 'moon'" in message
    assert "Is --master right, does it run" in message
    assert "at org.apache" not in message
