"""Settings that are accepted so that programs run unchanged, but do nothing here.

The one registry: what is in it warns once when used and is listed in docs/parity.md; what does nothing and is not in
it is a mistake of ours.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Mapping
from fnmatch import fnmatchcase
from typing import Any

from penstock.core.config import ConfigOption, Configuration
from penstock.core.config.known_settings import flink_settings, nearest_known, newest_name, outdated, with_newest_names
from penstock.core.config.options.accepted import ACCEPTED_OPTIONS
from penstock.core.config.table import ALL_OPTIONS

__all__ = [
    "HONOURED",
    "NO_EFFECT",
    "CompatibilityWarning",
    "accept",
    "forget_warnings",
    "warn_about_settings",
    "warn_once",
    "why_without_effect",
]

_MICRO_BATCH = "a micro-batch is a checkpoint"
_SLOTS = "Spark places tasks; a stage's subtasks run on any executor"
_ROCKS = "state lives in Spark's RocksDB store; tune it with spark.sql.streaming.stateStore.rocksdb.*"
_THREADS = "Spark chooses how files are copied"
_HADOOP = "files are read and written without Hadoop"
_ROLLED = "files are closed at the end of every micro-batch"
_WIDTH = "a text column holds texts of any length: they are neither padded nor cut"
_LENGTH = "a column of bytes holds values of any length: they are neither padded nor cut"
_FRACTION = "a column of times or timestamps has microseconds"
_PROCESSES = "it is about Flink's own processes; Spark's are set with spark.*"

_NO_USE = "it is a setting of Flink that Penstock has no use for"

HONOURED = frozenset(
    key for key, option in ALL_OPTIONS.items() if not option.no_effect and not key.startswith(("penstock.", "spark."))
)
"""Settings of Flink that mean here what they mean there, under their newest names; older names are taken too."""

NO_EFFECT: dict[str, str] = {
    **{option.key: option.no_effect for option in ACCEPTED_OPTIONS},
    # of the configuration, many at a time
    "cluster.*": _PROCESSES,
    "heartbeat.*": _PROCESSES,
    "high-availability*": _PROCESSES,
    "jobmanager.*": _PROCESSES,
    "python.fn-execution.*": "Python functions run in Spark's workers, a micro-batch at a time",
    "rest.*": _PROCESSES,
    "state.backend.rocksdb.*": _ROCKS,
    "taskmanager.*": _PROCESSES,
    # of single calls
    "CheckpointStorage.file_state_size_threshold": "Spark decides what is a file of the checkpoint",
    "CheckpointStorage.max_state_size": "state is never kept on the driver",
    "CheckpointStorage.write_buffer_size": "Spark writes the files of a checkpoint",
    "DataStream.set_buffer_timeout": "chunks are sent when they are full and at the end of a micro-batch",
    "DataStream.set_max_parallelism": (
        "key groups are the job's (env.set_max_parallelism); an operator's own maximum only bounds its parallelism"
    ),
    "DataStream.set_uid_hash": "state is matched by uid alone: give the operator its old uid",
    "DataStream.slot_sharing_group": _SLOTS,
    "CsvSchemaBuilder.set_strict_headers": "without set_use_header() no header is read",
    "DataTypes.BINARY.length": _LENGTH,
    "DataTypes.CHAR.length": _WIDTH,
    "DataTypes.FIELD.description": "types carry names alone",
    "DataTypes.TIME.precision": _FRACTION,
    "DataTypes.TIMESTAMP.precision": _FRACTION,
    "DataTypes.TIMESTAMP_LTZ.precision": _FRACTION,
    "DataTypes.VARBINARY.length": _LENGTH,
    "DataTypes.VARCHAR.length": _WIDTH,
    "DataTypes.bridged_to": "values are Python's: there are no Java classes to choose from",
    "DataTypes.nullable": "a column may hold None",
    "EmbeddedRocksDBStateBackend.set_db_storage_paths": "Spark's local directories hold the working state",
    "EmbeddedRocksDBStateBackend.set_number_of_transfer_threads": _THREADS,
    "EmbeddedRocksDBStateBackend.set_options": _ROCKS,
    "EmbeddedRocksDBStateBackend.set_predefined_options": _ROCKS,
    "FileSink.enable_compact": (
        "files are published as they were written; for fewer files take a lower sink parallelism or longer batches"
    ),
    "FileSink.with_bucket_check_interval": _ROLLED,
    "FileSourceBuilder.set_split_assigner": "Spark places the tasks that read",
    "JdbcConnectionOptions.with_driver_name": "the address says which driver is used, and it is Python's",
    "JdbcExecutionOptions.with_batch_interval_ms": "rows are written at the latest when their micro-batch ends",
    "OrcBulkWriters.hadoop_config": _HADOOP,
    "OrcBulkWriters.writer_properties": "of ORC's own orc.compress, orc.stripe.size and orc.row.index.stride are known",
    "ParquetBulkWriters.hadoop_config": _HADOOP,
    "ParquetColumnarRowInputFormat.hadoop_config": _HADOOP,
    "RollingPolicy.inactivity_interval": _ROLLED,
    "RollingPolicy.rollover_interval": _ROLLED,
    "StateBackend.using_asynchronous_snapshots": f"{_MICRO_BATCH}: state is written when the batch ends",
    "StateTtlConfig.cleanup_in_rocksdb_compact_filter": (
        "the store does not know single entries; expired ones are removed by sweeps (see cleanup_incrementally)"
    ),
    "WatermarkStrategy.with_watermark_alignment": (
        "sources are read batch by batch, and a batch takes a bounded number of records from each of them"
    ),
    "StreamExecutionEnvironment.set_python_executable": "the local host runs functions in the program's own process",
    "StreamExecutionEnvironment.register_slot_sharing_group": _SLOTS,
}
"""Setting -> why it does nothing. Keys of the configuration (`*`: all that begin so), and calls without a key."""

_warned: set[str] = set()


class CompatibilityWarning(UserWarning):
    """A setting was accepted that has no effect here."""


def warn_once(setting: str) -> None:
    """Say that a setting of the registry has no effect; once in the life of the process.

    >>> forget_warnings()
    >>> with warnings.catch_warnings(record=True) as seen:
    ...     warnings.simplefilter("always")
    ...     warn_once("DataStream.set_uid_hash")
    ...     warn_once("DataStream.set_uid_hash")
    >>> [str(w.message) for w in seen]
    ['DataStream.set_uid_hash has no effect: state is matched by uid alone: give the operator its old uid']
    """
    _say_once(f"{setting} has no effect: {NO_EFFECT[setting]}")


def _say_once(message: str) -> None:
    if message not in _warned:
        _warned.add(message)
        warnings.warn(message, CompatibilityWarning, stacklevel=_level_of_program())


def _level_of_program() -> int:
    """How far up the stack the first caller is that is not of this package."""
    level, frame = 1, sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith("penstock."):
        level, frame = level + 1, frame.f_back
    return level


def accept(conf: Configuration, option: ConfigOption[Any], value: str) -> None:
    """Note a setting of the registry, and warn unless it asks for what happens anyway."""
    conf.set_string(option.key, value)
    if option.asks_nothing != value:
        warn_once(option.key)


def warn_about_settings(conf: Configuration) -> None:
    """Say of every setting in a configuration that does nothing why, and of a misspelt one what may be meant."""
    for older, holds in outdated(conf):
        _say_once(f"{older} has no effect: {holds}, its newer name, is set as well and holds")
    given = conf.to_dict()
    for key, value in sorted(with_newest_names(conf).to_dict().items()):
        if newest_name(key) == key:
            _warn_about(key, value, _as_given(key, given))


def why_without_effect(key: str) -> str:
    """Why a setting of Flink that Penstock does not honour does nothing; `key` is its newest name.

    >>> why_without_effect("pipeline.force-kryo")
    'records are pickled; there are no JVM serializers'
    """
    return next((why for pattern, why in NO_EFFECT.items() if fnmatchcase(key, pattern)), _NO_USE)


def _as_given(key: str, given: Mapping[str, str]) -> str:
    """The name under which a program gave a setting, with the newest one where it is another."""
    older = next((old for old in flink_settings().get(key, ()) if key not in given and old in given), None)
    return f"{older} (now {key})" if older else key


def _warn_about(key: str, value: str, name: str) -> None:
    setting = next((pattern for pattern in NO_EFFECT if fnmatchcase(key, pattern)), None)
    if setting is not None:
        if key not in ALL_OPTIONS or ALL_OPTIONS[key].asks_nothing != value:
            _say_once(f"{name if setting == key else setting} has no effect: {NO_EFFECT[setting]}")
    elif key in flink_settings():
        if key not in HONOURED:
            _say_once(f"{name} has no effect: {_NO_USE}")
    elif (near := nearest_known(key)) is not None:
        owner = "Spark" if key.startswith("spark.") else "Flink"
        _say_once(
            f"{key} is not a setting of {owner}" + (f": did you mean '{near}'?" if near else " and has no effect")
        )


def forget_warnings() -> None:
    """As if nothing had been warned about; for tests."""
    _warned.clear()
