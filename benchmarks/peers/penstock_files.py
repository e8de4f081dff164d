"""Large files in Penstock: batch mode on the host that is chosen by itself."""

from __future__ import annotations

from operator import itemgetter
from typing import Any

from benchmarks.files import CSV, JSON
from benchmarks.machine import cores
from penstock.common import WatermarkStrategy
from penstock.datastream import RuntimeExecutionMode, Sink, StreamExecutionEnvironment
from penstock.datastream.connectors.file_system import FileSource
from penstock.datastream.formats.csv import CsvReaderFormat, CsvSchema
from penstock.datastream.formats.json import JsonReaderFormat


def sum_file(path: str, kind: str, sink: Sink) -> int:
    """One job; how many milliseconds it took."""
    env = StreamExecutionEnvironment.get_execution_environment()
    env.set_parallelism(cores()).set_runtime_mode(RuntimeExecutionMode.BATCH)
    source = FileSource.for_record_stream_format(FORMATS[kind](), path).build()
    rows: Any = env.from_source(source, WatermarkStrategy.no_watermarks(), "rows").map(PAIRS[kind])
    rows.key_by(itemgetter(0)).reduce(lambda a, b: (a[0], a[1] + b[1])).sink_to(sink)
    return env.execute("benchmark").get_net_runtime()


def _csv() -> CsvReaderFormat:
    columns = CsvSchema.builder().add_number_column("id").add_number_column("key").add_number_column("value")
    return CsvReaderFormat.for_schema(columns.add_string_column("text").disable_quote_char().build())


FORMATS: dict[str, Any] = {CSV: _csv, JSON: JsonReaderFormat.for_type_info}
PAIRS: dict[str, Any] = {CSV: itemgetter(1, 2), JSON: itemgetter("key", "value")}
