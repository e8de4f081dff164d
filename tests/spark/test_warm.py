"""Python workers are there before the first task of a job asks for them."""

import sys
import threading
from typing import Any

import pytest

from penstock.datastream import StreamExecutionEnvironment
from penstock.spark.startup.workers import warm_workers

pytestmark = pytest.mark.spark


def spark_context() -> Any:
    return StreamExecutionEnvironment.get_execution_environment().get_spark_session().sparkContext


def finish() -> None:
    for thread in threading.enumerate():
        if thread.name == "penstock-warm":
            thread.join()


def known(context: Any, module: str) -> list[bool]:
    return list(context.parallelize(range(2), 2).map(lambda _: module in sys.modules).collect())


def test_workers_have_imported_the_module() -> None:
    context = spark_context()
    assert not any(known(context, "wave"))
    warm_workers(context, "wave")
    finish()
    assert any(known(context, "wave"))


def test_a_module_that_is_not_there_stops_nobody() -> None:
    context = spark_context()
    warm_workers(context, "penstock.no_such_module")
    finish()
    assert context.parallelize([1, 2]).sum() == 3
