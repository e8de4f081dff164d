"""PyFlink's base classes for tests, on Penstock. The host is that of the run: `penstock.host`."""

from __future__ import annotations

import shutil
import tempfile
import unittest
from typing import Any

from penstock.datastream import RuntimeExecutionMode, StreamExecutionEnvironment
from tests.parity.pyflink_suite.stand_in.bridge import Environment, OutOfReach
from tests.parity.pyflink_suite.stand_in.java import to_java_data_structure

__all__ = ["to_java_data_structure"]


def on_windows() -> bool:
    return False


class PyFlinkTestCase(unittest.TestCase):
    """A test with a temporary folder."""

    tempdir: str

    @classmethod
    def setUpClass(cls) -> None:
        cls.tempdir = tempfile.mkdtemp(prefix="pyflink-suite-")

    @classmethod
    def tearDownClass(cls) -> None:
        shutil.rmtree(cls.tempdir, ignore_errors=True)

    @classmethod
    def assert_equals(cls, actual: list[Any], expected: list[Any]) -> None:
        assert sorted(actual) == sorted(expected)


class PyFlinkITTestCase(PyFlinkTestCase):
    """With an environment that all tests of the class share; what a test leaves unexecuted goes with it."""

    env: StreamExecutionEnvironment
    mode = RuntimeExecutionMode.STREAMING

    @classmethod
    def setUpClass(cls) -> None:
        super().setUpClass()
        cls.env = Environment()
        cls.env.set_parallelism(2)
        cls.env.set_runtime_mode(cls.mode)

    def run(self, result: unittest.TestResult | None = None) -> unittest.TestResult | None:
        try:
            return super().run(result)
        finally:
            self.env.close()


class PyFlinkStreamingTestCase(PyFlinkITTestCase):
    """In STREAMING mode."""


class PyFlinkBatchTestCase(PyFlinkITTestCase):
    """In BATCH mode."""

    mode = RuntimeExecutionMode.BATCH


class PyFlinkUTTestCase(PyFlinkTestCase):
    """With an environment of each test's own."""

    def setUp(self) -> None:
        self.env = Environment()
        self.env.set_parallelism(2)


class _OfTables(PyFlinkTestCase):
    @classmethod
    def setUpClass(cls) -> None:
        raise OutOfReach("tests the Table API")


class PyFlinkStreamTableTestCase(_OfTables):
    """Of the Table API."""


class PyFlinkBatchTableTestCase(_OfTables):
    """Of the Table API."""


class PythonAPICompletenessTestCase:
    """Compares PyFlink with Flink's Java classes."""

    def test_completeness(self) -> None:
        raise OutOfReach("compares PyFlink with Java classes")

    test_methods = test_completeness
