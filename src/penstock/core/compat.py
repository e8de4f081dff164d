"""Settings that are accepted so that programs run unchanged, but do nothing here (P12).

The one registry: what is in it warns once when used and is listed in docs/parity.md; what does nothing and is not in
it is a mistake of ours.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Mapping
from fnmatch import fnmatchcase

from penstock.core.config import Configuration
from penstock.core.known_settings import flink_settings, nearest_known, newest_name, outdated, with_newest_names

__all__ = [
    "HONOURED",
    "NO_EFFECT",
    "CompatibilityWarning",
    "accept",
    "forget_warnings",
    "warn_about_settings",
    "warn_once",
]

_MICRO_BATCH = "a micro-batch is a checkpoint"
_KRYO = "records are pickled; there are no JVM serializers"
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
    {
        "execution.checkpointing.dir",
        "execution.checkpointing.interval",
        "execution.checkpointing.savepoint-dir",
        "execution.runtime-mode",
        "execution.state-recovery.ignore-unclaimed-state",
        "execution.state-recovery.path",
        "parallelism.default",
        "pipeline.auto-generate-uids",
        "pipeline.auto-watermark-interval",
        "pipeline.global-job-parameters",
        "pipeline.max-parallelism",
        "pipeline.name",
        "pipeline.object-reuse",
        "pipeline.operator-chaining.enabled",
        "python.archives",
        "python.executable",
        "python.files",
        "python.requirements",
        *(name for name in flink_settings() if name.startswith("restart-strategy.")),
    }
)
"""Settings of Flink that mean here what they mean there, under their newest names; older names are taken too."""

NO_EFFECT: dict[str, str] = {
    # of the configuration
    "execution.buffer-timeout.interval": "chunks are sent when they are full and at the end of a micro-batch",
    "execution.checkpointing.aligned-checkpoint-timeout": f"{_MICRO_BATCH}: there are no barriers to align",
    "execution.checkpointing.create-subdir": "the folder of the checkpoint is the job's own",
    "execution.checkpointing.externalized-checkpoint-retention": (
        "a checkpoint folder is the user's: it is always kept, and removed by nobody but the user"
    ),
    "execution.checkpointing.incremental": "checkpoints are always incremental",
    "execution.checkpointing.max-concurrent-checkpoints": f"{_MICRO_BATCH}, and they run one after the other",
    "execution.checkpointing.min-pause": f"{_MICRO_BATCH}: it costs no time of its own",
    "execution.checkpointing.mode": "AT_LEAST_ONCE is met by the exactly-once that every checkpoint gives",
    "execution.checkpointing.num-retained": "spark.sql.streaming.minBatchesToRetain says how many batches are kept",
    "execution.checkpointing.snapshot-compression": "the state store's files have a compression of their own",
    "execution.checkpointing.storage": "checkpoints are files: execution.checkpointing.dir says where",
    "execution.checkpointing.timeout": f"{_MICRO_BATCH}: it takes as long as the batch",
    "execution.checkpointing.tolerable-failed-checkpoints": (
        f"{_MICRO_BATCH}: a failed one is replayed as the restart strategy says"
    ),
    "execution.checkpointing.unaligned.enabled": f"{_MICRO_BATCH}: there are no barriers to overtake",
    "execution.checkpointing.unaligned.forced": f"{_MICRO_BATCH}: there are no barriers to overtake",
    "execution.state-recovery.claim-mode": "a savepoint is never claimed: it is read and left as it is",
    "metrics.latency.interval": "latency is the time of a batch, which JobExecutionResult.metrics has",
    "pipeline.classpaths": "there is no user code on the JVM; a jar goes to spark.jars",
    "pipeline.closure-cleaner-level": "functions are pickled by value with what they use",
    "pipeline.force-avro": _KRYO,
    "pipeline.force-kryo": _KRYO,
    "pipeline.generic-types": _KRYO,
    "pipeline.jars": "there is no user code on the JVM; a jar goes to spark.jars",
    "pipeline.operator-chaining.chain-operators-with-different-max-parallelism": (
        "the maximum parallelism is the job's, so operators never differ in it"
    ),
    "state.backend.type": "there is one backend: a cache in memory before Spark's RocksDB store",
    "state.changelog.enabled": "the state store writes changelogs already",
    "task.cancellation.interval": "a job is stopped between two batches",
    "task.cancellation.timeout": "a job is stopped between two batches",
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

_ANYWAY = {
    "execution.checkpointing.externalized-checkpoint-retention": "RETAIN_ON_CANCELLATION",
    "execution.checkpointing.max-concurrent-checkpoints": "1",
    "execution.checkpointing.min-pause": "0",
    "execution.checkpointing.mode": "EXACTLY_ONCE",
    "execution.checkpointing.snapshot-compression": "false",
    "execution.checkpointing.tolerable-failed-checkpoints": "0",
    "execution.checkpointing.unaligned.enabled": "false",
    "execution.checkpointing.unaligned.forced": "false",
    "metrics.latency.interval": "0",
    "pipeline.force-avro": "false",
    "pipeline.force-kryo": "false",
    "pipeline.generic-types": "true",
    "execution.checkpointing.incremental": "true",
    "execution.checkpointing.num-retained": "1",
    "execution.checkpointing.storage": "filesystem",
    "state.backend.type": "rocksdb",
    "state.changelog.enabled": "true",
}
"""Values that ask for what happens anyway: no reason to warn."""

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


def accept(conf: Configuration, key: str, value: str) -> None:
    """Note a setting of the registry, and warn unless it asks for what happens anyway."""
    conf.set_string(key, value)
    if _ANYWAY.get(key) != value:
        warn_once(key)


def warn_about_settings(conf: Configuration) -> None:
    """Say of every setting in a configuration that does nothing why, and of a misspelt one what may be meant."""
    for older, holds in outdated(conf):
        _say_once(f"{older} has no effect: {holds}, its newer name, is set as well and holds")
    given = conf.to_dict()
    for key, value in sorted(with_newest_names(conf).to_dict().items()):
        if newest_name(key) == key:
            _warn_about(key, value, _as_given(key, given))


def _as_given(key: str, given: Mapping[str, str]) -> str:
    """The name under which a program gave a setting, with the newest one where it is another."""
    older = next((old for old in flink_settings().get(key, ()) if key not in given and old in given), None)
    return f"{older} (now {key})" if older else key


def _warn_about(key: str, value: str, name: str) -> None:
    setting = next((pattern for pattern in NO_EFFECT if fnmatchcase(key, pattern)), None)
    if setting is not None:
        if _ANYWAY.get(key) != value:
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
