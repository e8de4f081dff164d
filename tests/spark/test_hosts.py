"""What only the Spark hosts can get wrong: errors on their way back, results of nothing, settings (P8, P9)."""

from pathlib import Path
from threading import Lock
from typing import Any

import pytest

from penstock.common import Configuration, Encoder, JobStatus, Row
from penstock.core.errors import ConfigurationError, ProgramError, UserFunctionError
from penstock.datastream import DataStream, KeyedProcessFunction, MapFunction, StreamExecutionEnvironment
from penstock.datastream.connectors.file_system import FileSink, FileSource, StreamFormat

SPARK_HOSTS = pytest.mark.parametrize("host", ["bounded", "streaming"])


def environment(host: str, **conf: Any) -> StreamExecutionEnvironment:
    settings = {"penstock.host": host, "restart-strategy.type": "none", **conf}
    return StreamExecutionEnvironment(Configuration(settings)).set_parallelism(2)


def divide(value: int) -> float:
    return 1 / (value - 2)


class AtEnd(KeyedProcessFunction):
    def process_element(self, value: Any, ctx: Any) -> None:
        ctx.timer_service().register_event_time_timer(5)

    def on_timer(self, timestamp: int, ctx: Any) -> Any:
        yield ctx.get_current_key()


@pytest.mark.spark
@SPARK_HOSTS
@pytest.mark.parametrize("where", ["beside the source", "in a stage"])
def test_a_failing_function_is_reported_without_jvm_noise(host: str, where: str) -> None:
    """P9: the same text as in the local host."""
    stream: DataStream[int] = environment(host).from_collection([1, 2, 3])
    if where == "in a stage":
        stream = stream.rebalance()
    with pytest.raises(UserFunctionError) as caught:
        list(stream.map(divide).uid("m").execute_and_collect())
    text = str(caught.value)
    assert text.startswith("The map function of operator 'Map' (uid m) failed on record 2\nTraceback")
    assert text.endswith("ZeroDivisionError: division by zero")
    assert "java" not in text
    assert "pyspark" not in text


@pytest.mark.spark
@SPARK_HOSTS
def test_results_of_nothing_are_nothing_however_often_they_are_asked_for(host: str) -> None:
    """P8"""
    env = environment(host)
    stream = env.from_collection([1, 2, 3]).filter(lambda v: v > 5)
    results = stream.execute_and_collect()
    assert list(results) == []
    stream.print()
    client = env.execute_async("nothing")
    client.wait()
    assert list(client.results("results-2")) == []
    assert client.get_job_status().result() is JobStatus.FINISHED


@pytest.mark.spark
@SPARK_HOSTS
def test_collecting_keeps_the_order_of_a_stream_that_is_not_parallel(host: str) -> None:
    """P8, G4: through more than one chunk; a keyed stream shows its keys."""
    items = list(range(20_000))
    assert list(environment(host).from_collection(items).execute_and_collect()) == items
    keyed = environment(host).from_collection([1, 2, 3]).key_by(lambda v: [v % 2])
    assert list(keyed.execute_and_collect()) == [Row(f0=[1], f1=1), Row(f0=[0], f1=2), Row(f0=[1], f1=3)]


@pytest.mark.spark
@SPARK_HOSTS
def test_lists_are_keys_by_their_value(host: str) -> None:
    """G5: in workers that share nothing."""
    stream = environment(host).from_collection(list(range(1000))).rebalance().map(lambda v: v)
    pairs = stream.map(lambda v: (v % 7, v)).key_by(lambda pair: ["k", [pair[0]]])
    largest: dict[int, int] = {}
    for key, total in pairs.sum(1).execute_and_collect():
        largest[key] = max(total, largest.get(key, 0))
    assert largest == {start: sum(range(start, 1000, 7)) for start in range(7)}


@pytest.mark.spark
@SPARK_HOSTS
def test_files_to_files(host: str, tmp_path: Path) -> None:
    """F6, T5, X1, X2: one file, two readers, a watermark that reaches the end, exactly-once files."""
    (tmp_path / "in").write_text("".join(f"word{i % 7}\n" for i in range(100)))
    env = environment(host)
    source = FileSource.for_record_stream_format(StreamFormat.text_line_format(), str(tmp_path / "in")).build()
    from penstock.common import WatermarkStrategy

    lines = env.from_source(source, WatermarkStrategy.no_watermarks(), "lines")
    words = lines.disable_chaining().map(str.upper).key_by(lambda w: w).process(AtEnd())
    words.sink_to(FileSink.for_row_format(str(tmp_path / "out"), Encoder.simple_string_encoder()).build())
    env.execute("files to files")
    out = [f.read_text() for f in (tmp_path / "out").rglob("*") if f.is_file() and not f.name.startswith(".")]
    assert sorted("".join(out).split()) == [f"WORD{i}" for i in range(7)]


class HasLock(MapFunction):
    def __init__(self) -> None:
        self.lock = Lock()

    def map(self, value: Any) -> Any:
        return value


@pytest.mark.parametrize("host", ["local", "bounded"])
def test_a_function_that_cannot_travel_is_refused(host: str) -> None:
    """P9: before a JVM is started."""
    stream = environment(host).from_collection([1]).map(HasLock()).uid("m")
    with pytest.raises(
        ProgramError, match=r"Operator 'Map' \(uid m\) cannot be .*: TypeError: .*Create handles, locks"
    ):
        list(stream.execute_and_collect())


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("spark.speculation", "true"),
        ("spark.sql.streaming.stateStore.checkpointFormatVersion", "1"),
        ("spark.sql.shuffle.orderIndependentChecksum.enabled", "false"),
    ],
)
def test_settings_that_correctness_rests_on_are_refused(key: str, value: str) -> None:
    """F1, P9: before a JVM is started."""
    stream = environment("bounded", **{key: value}).from_collection([1])
    with pytest.raises(
        ConfigurationError, match=rf"{key} must be .* \(found {value}\): exactly-once results depend on it"
    ):
        list(stream.execute_and_collect())
