"""The run of PyFlink's own tests, on tests made for it: what passes, differs, is out of reach and fails."""

from pathlib import Path
from textwrap import dedent

import pytest

from tests.parity.pyflink_suite import judge, report, rewrite
from tests.parity.pyflink_suite.__main__ import main, run
from tests.parity.pyflink_suite.judge import Listed
from tests.parity.pyflink_suite.sources import VARIABLE, SourcesMissing, pyflink_sources
from tests.parity.pyflink_suite.stand_in.bridge import Missing, OutOfReach, take
from tests.parity.pyflink_suite.stand_in.java_text import java_text

TESTS = """
import pytest

from py4j.java_gateway import JavaObject

from pyflink.common import Configuration, Types, Row
from pyflink.common.serialization import SimpleStringSchema
from pyflink.datastream import DataStream
from pyflink.datastream.formats.json import JsonRowDeserializationSchema
from pyflink.common.watermark_strategy import TimestampAssigner, WatermarkStrategy
from pyflink.datastream.functions import (SourceFunction,
                                          JavaFunctionWrapper)
from pyflink.datastream.tests.test_util import DataStreamTestSinkFunction
from pyflink.java_gateway import get_gateway
from pyflink.table import StreamTableEnvironment
from pyflink.testing.test_case_utils import (PyFlinkBatchTestCase, PyFlinkStreamingTestCase, PyFlinkStreamTableTestCase,
                                             to_java_data_structure)
from pyflink.util.java_utils import get_j_env_configuration


class Wrapped(JavaFunctionWrapper):
    pass


class SecondsOfValues(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value * 1000


class Shared(object):
    def setUp(self):
        self.sink = DataStreamTestSinkFunction()

    def test_a_job(self):
        rows = self.env.from_collection([("a", 1.5, None)], Types.ROW([Types.STRING(), Types.FLOAT(), Types.INT()]))
        rows.add_sink(self.sink)
        rows.map(lambda r: r[0]).add_sink(self.sink)
        self.env.execute()
        self.assertEqual(sorted(self.sink.get_results()), ["+I[a, 1.5, null]", "a"])
        self.assertEqual(self.sink.get_results(), [])

    def test_settings(self):
        get_j_env_configuration(self.env._j_stream_execution_environment).setString("a.key", "x")
        conf = Configuration(j_configuration=get_j_env_configuration(self.env._j_stream_execution_environment))
        conf.set_integer("b.key", 1)
        self.assertEqual(self.env.get_configuration().get_string("a.key", ""), "x")
        self.assertEqual(self.env.get_configuration().get_string("b.key", ""), "1")

    def test_left_unexecuted(self):
        self.env.from_collection([1]).add_sink(self.sink)

    def test_gateway(self):
        with self.assertRaises(Exception):
            get_gateway().jvm.org.apache.flink.Thing()

    def test_java_input(self):
        jvm = get_gateway().jvm
        values, row = jvm.java.util.ArrayList(), jvm.org.apache.flink.types.Row(2)
        row.setField(0, "a")
        values.add(to_java_data_structure(row))
        row_type = Types.ROW([Types.STRING(), Types.INT()])
        env = self.env._j_stream_execution_environment
        DataStream(env.fromCollection(values, row_type.get_java_type_info())).add_sink(self.sink)
        self.env.execute()
        self.assertEqual(self.sink.get_results(), ["+I[a, null]"])
        self.assertIsInstance(self.env.from_collection([1]), DataStream)
        schema = JsonRowDeserializationSchema.builder().type_info(row_type).build()._j_deserialization_schema
        self.assertTrue(row.equals(schema.deserialize(b'{"f0": "a"}')))
        self.assertFalse(row.equals(schema.deserialize(b'{"f0": "b"}')))

    def test_java_schema(self):
        SimpleStringSchema()._j_serialization_schema.hashCode()

    def test_java_object(self):
        self.env.from_collection([1])._j_data_stream.map(None)

    def test_java_class(self):
        SourceFunction("org.example.Source")

    def test_missing_name(self):
        Wrapped(1)

    def test_java_watermarks(self):
        eventtime = get_gateway().jvm.org.apache.flink.api.common.eventtime
        generators = get_gateway().jvm.org.apache.flink.streaming.api.functions.python.eventtime
        supplier = generators.PerElementWatermarkGenerator.getSupplier()
        strategy = WatermarkStrategy(eventtime.WatermarkStrategy.forGenerator(supplier))
        self.assertIsInstance(strategy, WatermarkStrategy)
        self.assertFalse(isinstance(supplier, WatermarkStrategy))
        timed = self.env.from_collection([1, 3, 2]).assign_timestamps_and_watermarks(
            strategy.with_timestamp_assigner(SecondsOfValues()))
        timed.add_sink(self.sink)
        self.env.execute()
        self.assertEqual(sorted(self.sink.get_results()), ["1", "2", "3"])

    def test_java_graph(self):
        self.env._j_stream_execution_environment.getStreamGraph(True)

    def test_missing_method(self):
        self.env.register_cached_file("/f", "name")

    def test_missing_method_of_tables(self):
        StreamTableEnvironment.create(self.env).create_table("t", None)

    def test_misspelt_method(self):
        self.env.register_slot_sharing_grupo(None)

    def test_imports_inside(self):
        from pyflink.common import Duration
        self.assertEqual(Duration.of_millis(1), Duration.of_millis(1))

    @pytest.mark.skip(reason="theirs")
    def test_skipped(self):
        raise AssertionError

    def test_fails(self):
        self.assertEqual(1, 2)


class StreamingTests(Shared, PyFlinkStreamingTestCase):
    pass


class BatchTests(Shared, PyFlinkBatchTestCase):
    pass


class TableTests(PyFlinkStreamTableTestCase):
    def test_a_table(self):
        pass
"""


@pytest.fixture(scope="module")
def sources(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("pyflink")
    tests = folder / "datastream" / "tests"
    tests.mkdir(parents=True)
    (tests / "test_things.py").write_text(TESTS, encoding="utf-8")
    (tests / "test_util.py").write_text("raise AssertionError", encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def outcomes(sources: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[str, str]]:
    folder = tmp_path_factory.mktemp("run")
    assert rewrite.write(sources, folder) == ["datastream.test_things"]
    return run(folder, "local")


@pytest.mark.process
def test_every_case_ends_under_one_heading(outcomes: dict[str, tuple[str, str]]) -> None:
    found = {case.removeprefix("datastream.test_things."): outcome for case, outcome in outcomes.items()}
    for mode in ("StreamingTests", "BatchTests"):
        mine = {case.removeprefix(f"{mode}."): outcome for case, outcome in found.items() if case.startswith(mode)}
        assert mine == {
            "test_a_job": ("passed", ""),
            "test_settings": ("passed", ""),
            "test_left_unexecuted": ("passed", ""),
            "test_imports_inside": ("passed", ""),
            "test_gateway": ("out of reach", "uses the Java gateway"),
            "test_java_input": ("passed", ""),
            "test_java_watermarks": ("passed", ""),
            "test_java_schema": ("out of reach", "calls hashCode() of a Java schema"),
            "test_java_object": ("out of reach", "uses _j_data_stream, a Java object"),
            "test_java_class": ("out of reach", "uses SourceFunction(), a Java object"),
            "test_java_graph": ("out of reach", "calls getStreamGraph() of a Java environment"),
            "test_missing_method": ("out of reach", "uses StreamExecutionEnvironment.register_cached_file"),
            "test_missing_method_of_tables": ("out of reach", "uses StreamTableEnvironment.create_table"),
            "test_misspelt_method": (
                "failed",
                "AttributeError: [\"'Environment' object has no attribute 'register_slot_sharing_grupo'\"]",
            ),
            "test_missing_name": ("out of reach", "uses pyflink.datastream.functions.JavaFunctionWrapper"),
            "test_skipped": ("skipped", "PyFlink skips it"),
            "test_fails": ("failed", "AssertionError: ['1 != 2']"),
        }
    assert found["TableTests.test_a_table"] == ("out of reach", "tests the Table API")


@pytest.mark.process
def test_a_failure_fails_the_run_and_a_listed_one_does_not(
    sources: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.setenv(VARIABLE, str(sources))
    monkeypatch.setattr(report, "RESULTS", tmp_path / "RESULTS.md")
    monkeypatch.setattr(judge, "load", lambda: [Listed(("*.test_fails", "*.test_misspelt_*"), "one is not two")])
    assert main(["--record"]) == 0
    assert "| differ as listed | 4 |" in capsys.readouterr().out
    page = (tmp_path / "RESULTS.md").read_text(encoding="utf-8")
    assert "| datastream.test_things.BatchTests.test_fails | one is not two |" in page
    assert "| uses the Java gateway | 2 cases |" in page
    monkeypatch.setattr(judge, "load", list)
    assert main(["--only", "test_fails"]) == 1
    assert "FAILED datastream.test_things.BatchTests.test_fails: AssertionError" in capsys.readouterr().out


# -- the list is strict -------------------------------------------------------------------------------

RUN = {"m.A.good": ("passed", ""), "m.A.bad": ("failed", "1 != 2"), "m.A.java": ("out of reach", "uses it")}


def test_an_unlisted_difference_is_a_failure() -> None:
    verdict = judge.judge(RUN, [])
    assert (verdict.good, dict(verdict.failed), verdict.reachable) == (False, {"m.A.bad": "1 != 2"}, 2)


def test_a_listed_difference_is_not() -> None:
    verdict = judge.judge(RUN, [Listed(("m.A.bad",), "better so")])
    assert (verdict.good, dict(verdict.listed), dict(verdict.failed)) == (True, {"m.A.bad": "better so"}, {})


def test_a_listed_case_that_passes_or_is_gone_fails_the_run() -> None:
    verdict = judge.judge(RUN, [Listed(("m.A.*",), "better so"), Listed(("m.B.x",), "gone")])
    assert verdict.stale == (
        "m.A.good: listed as different, but passes",
        "m.B.x: listed, but there is no such case",
    )
    assert not verdict.good
    assert judge.judge(RUN, [Listed(("m.A.bad",), ""), Listed(("m.B.x",), "gone")], whole=False).good


def test_the_list_says_why() -> None:
    assert all(entry.cases and entry.reason for entry in judge.load())


# -- parts --------------------------------------------------------------------------------------------


def test_only_imports_of_pyflink_change() -> None:
    text = dedent(
        """
        import os
        from typing import List
        from pyflink.common import (Row,
                                    Types)
        NAME = "from pyflink.common import Row"
        def f():
            from pyflink.common.time import Time as T
            return T
        """
    )
    changed = rewrite.rewritten(text).splitlines()
    assert len(changed) == len(text.splitlines())
    assert changed[1:3] == ["import os", "from typing import List"]
    assert changed[3].endswith("; Row, Types, = _take('pyflink.common', 'Row'), _take('pyflink.common', 'Types'),")
    assert changed[5] == 'NAME = "from pyflink.common import Row"'
    assert changed[7].startswith("    from tests.")
    assert changed[7].endswith("; T, = _take('pyflink.common.time', 'Time'),")


def test_what_is_not_there_is_out_of_reach_only_when_used() -> None:
    missing = take("pyflink.table", "TableDescriptor")
    assert isinstance(missing, Missing)
    with pytest.raises(OutOfReach, match=r"uses pyflink\.table\.TableDescriptor"):
        missing.for_connector("x")


@pytest.mark.parametrize(
    ("value", "text"), [(0.1, "0.1"), (1.2300000190734863, "1.23"), (b"\xff\x01", "[-1, 1]"), (True, "true")]
)
def test_texts_of_java(value: object, text: str) -> None:
    assert java_text(value) == text


def test_a_folder_without_tests_is_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv(VARIABLE, str(tmp_path))
    with pytest.raises(SourcesMissing, match="is not the folder flink-python/pyflink of Flink's sources"):
        pyflink_sources()
    assert main([]) == 2
