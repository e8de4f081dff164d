"""A bounded stream as a Spark DataFrame: run, written to Parquet files, read back by Spark."""

from __future__ import annotations

import atexit
import shutil
import tempfile
from typing import Any

from penstock.api.data_stream import DataStream
from penstock.api.environment import StreamExecutionEnvironment
from penstock.connectors.files.buckets import BucketAssigner
from penstock.connectors.files.sink import FileSink, ParquetBulkWriters
from penstock.core.config.options.tuning import TMP_DIR
from penstock.core.errors import ProgramError
from penstock.core.functions.base import MapFunction
from penstock.core.program.specs import SourceSpec
from penstock.core.scratch import scratch_folder
from penstock.core.types.coercion import coerce
from penstock.core.types.row import Row
from penstock.core.types.type_info import TypeInformation, Types

__all__ = ["data_frame_of"]


class _AsRow(MapFunction):
    """Records as rows of a type; what has no fields of its own becomes the one column `f0`."""

    def __init__(self, row_type: TypeInformation, single: bool) -> None:
        self._type, self._single = row_type, single

    def map(self, value: object) -> Row:
        row: Row = coerce(self._type, (value,) if self._single else value)
        return row


def data_frame_of(stream: DataStream[object], schema: TypeInformation | None, alone: bool = False) -> Any:
    """Run the program and give this stream's records as a DataFrame.

    `alone`: run nothing but what the stream is made of; the rest of the program stays to be run.
    """
    env = stream.get_execution_environment()
    folder = _temporary_folder(env)
    rest, env._transformations = (env._transformations, []) if alone else ([], env._transformations)
    try:
        row_type = _to_parquet(stream, schema, folder)
        _refuse_endless(env)
        env.execute("to DataFrame")
    finally:
        env._transformations = rest
    from penstock.launch import read_frame

    return read_frame(env.get_spark_session(), folder, row_type)


def _temporary_folder(env: StreamExecutionEnvironment) -> str:
    """A folder that goes with this process; on a cluster `penstock.tmp-dir` must name one that all machines share."""
    parent = env.get_configuration().get(TMP_DIR)
    folder = tempfile.mkdtemp(prefix="penstock-frame-", dir=parent or scratch_folder())
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


def _to_parquet(stream: DataStream[object], schema: TypeInformation | None, folder: str) -> TypeInformation | None:
    row_type = schema
    if schema is not None:
        single = schema.name not in ("ROW", "TUPLE")
        names = schema.field_names or tuple(f"f{i}" for i in range(len(schema.params) or 1))
        row_type = Types.ROW_NAMED(list(names), [schema] if single else list(schema.params))
        stream = stream.map(_AsRow(row_type, single)).name("To row")
    files = FileSink.for_bulk_format(folder, ParquetBulkWriters.for_row_type(row_type))
    sink = files.with_bucket_assigner(BucketAssigner.base_path_bucket_assigner()).build()
    stream.sink_to(sink).name("To Parquet")
    return row_type


def _refuse_endless(env: StreamExecutionEnvironment) -> None:
    for node in env.get_stream_graph(clear=False).nodes:
        if isinstance(node.spec, SourceSpec) and not node.spec.source.bounded:
            raise ProgramError(
                f"'{node.name}' has no end, so its records never become a DataFrame or a table: use a bounded source, "
                "or a sink"
            )
