"""Cases that run jobs of their own: what the driver gets, files, names."""

from __future__ import annotations

import tempfile
from pathlib import Path

from pyflink.common import Encoder, Row, Types, WatermarkStrategy
from pyflink.datastream import RuntimeContext
from pyflink.datastream.connectors.file_system import (
    FileSink,
    FileSource,
    OutputFileConfig,
    RollingPolicy,
    StreamFormat,
)
from pyflink.datastream.functions import MapFunction, Partitioner

from differential.programs.kit import Program

PROGRAM = Program()


def written(env, stream):
    """The lines that a job wrote. `execute_and_collect` does not tell PyFlink's custom partitioners their number."""
    folder = Path(tempfile.mkdtemp())
    stream.sink_to(FileSink.for_row_format(str(folder), Encoder.simple_string_encoder()).build())
    env.execute("written")
    files = [p for p in folder.rglob("*") if p.is_file()]
    return [line for path in files for line in path.read_text(encoding="utf-8").splitlines()]


class Where(MapFunction):
    """Where each record arrived, and as the how manieth."""

    def open(self, runtime_context: RuntimeContext):
        self.at, self.count = runtime_context.get_index_of_this_subtask(), 0

    def map(self, value):
        self.count += 1
        return f"{self.at} {value} {self.count:03}"


def numbers(env, draw):
    return env.from_collection([draw.randint(0, 999) for _ in range(24)])


@PROGRAM.values
def partition_custom_with_a_lambda(env, draw):
    sent = numbers(env, draw).partition_custom(lambda key, n: key % n, lambda n: n // 3)
    return sorted(written(env, sent.map(Where(), Types.STRING()).set_parallelism(3)))


class Last(Partitioner):
    def partition(self, key, num_partitions):
        return num_partitions - 1 if key > 500 else 0


@PROGRAM.values
def partition_custom_with_a_class(env, draw):
    sent = numbers(env, draw).partition_custom(Last(), lambda n: n)
    return sorted(written(env, sent.map(Where(), Types.STRING()).set_parallelism(3)))


@PROGRAM.values
def collected_objects(env, draw):
    items = [None, 1, 2.5, "text", b"bytes", (1, "a"), [1, 2], {"a": 1}, Row(1, "a"), Row(x=1)]
    with env.from_collection(items[1:]).map(lambda v: v).execute_and_collect() as results:
        return list(results)


@PROGRAM.values
def collected_typed(env, draw):
    kind = Types.TUPLE([Types.LONG(), Types.STRING(), Types.DOUBLE(), Types.BOOLEAN()])
    records = [(draw.randint(0, 9), "é", draw.random(), True) for _ in range(5)]
    with env.from_collection(records, kind).execute_and_collect("named") as results:
        return list(results)


@PROGRAM.values
def collected_with_a_limit(env, draw):
    return env.from_collection(list(range(20)), Types.LONG()).execute_and_collect("few", 5)


@PROGRAM.values
def next_and_close(env, draw):
    results = env.from_collection([1, 2, 3], Types.LONG()).execute_and_collect()
    first = next(results)
    results.close()
    return [first, type(results).__name__]


@PROGRAM.values
def text_files(env, draw):
    folder = Path(tempfile.mkdtemp())
    lines = [" ".join(draw.choice(["to", "be", "ü", ""]) for _ in range(4)) for _ in range(20)]
    (folder / "in.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    source = FileSource.for_record_stream_format(StreamFormat.text_line_format(), str(folder / "in.txt")).build()
    stream = env.from_source(source, WatermarkStrategy.no_watermarks(), "lines", Types.STRING())
    sink = (
        FileSink.for_row_format(str(folder / "out"), Encoder.simple_string_encoder())
        .with_output_file_config(OutputFileConfig.builder().with_part_prefix("pre").with_part_suffix(".txt").build())
        .with_rolling_policy(RollingPolicy.default_rolling_policy())
        .build()
    )
    stream.map(lambda line: line.upper(), Types.STRING()).sink_to(sink).name("files")
    env.execute("text files")
    written = [p for p in (folder / "out").rglob("*") if p.is_file()]
    texts = [line for path in written for line in path.read_text(encoding="utf-8").splitlines()]
    return [len(written), *(p.name.startswith("pre") and p.suffix == ".txt" for p in written), *texts]


@PROGRAM.values
def a_folder_of_files(env, draw):
    folder = Path(tempfile.mkdtemp())
    (folder / "deep").mkdir()
    for name in ("a.txt", "b.txt", "deep/c.txt", ".hidden", "_hidden"):
        (folder / name).write_text("\n".join(f"{name} {draw.randint(0, 99)}" for _ in range(5)), encoding="utf-8")
    source = FileSource.for_record_stream_format(StreamFormat.text_line_format(), str(folder)).process_static_file_set()
    stream = env.from_source(source.build(), WatermarkStrategy.no_watermarks(), "lines")
    with stream.execute_and_collect() as results:
        return sorted(results)


@PROGRAM.values
def a_strategy_without_assigner_where_there_are_no_timestamps(env, draw):
    stream = env.from_collection([1, 2], Types.LONG())
    stamped = stream.assign_timestamps_and_watermarks(WatermarkStrategy.for_monotonous_timestamps())
    with stamped.map(lambda n: n, Types.LONG()).execute_and_collect() as results:
        return list(results)


@PROGRAM.values
def two_jobs_of_one_environment(env, draw):
    results = []
    for name in ("one", "two"):
        with (
            env.from_collection([name], Types.STRING())
            .map(lambda v: v + "!", Types.STRING())
            .execute_and_collect() as it
        ):
            results += list(it)
    return results
