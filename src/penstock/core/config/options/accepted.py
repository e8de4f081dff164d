"""Settings of Flink that programs may give, so that they run unchanged, and that do nothing here.

Each says why. A job that sets one is warned once, unless the value asks for what happens anyway (`asks_nothing`).
"""

from __future__ import annotations

from typing import Any, TypeVar

from penstock.core.config.option import ConfigOption, Values
from penstock.core.config.values import chosen, duration_ms, flag, listed, setting, text

__all__ = [
    "ACCEPTED_OPTIONS",
    "ALIGNED_TIMEOUT",
    "BUFFER_TIMEOUT",
    "CANCELLATION_INTERVAL",
    "CANCELLATION_TIMEOUT",
    "CHAIN_DIFFERENT_MAXIMA",
    "CHANGELOG",
    "CHECKPOINT_MODE",
    "CHECKPOINT_TIMEOUT",
    "CLASSPATHS",
    "CLOSURE_CLEANER",
    "FORCE_AVRO",
    "FORCE_KRYO",
    "GENERIC_TYPES",
    "INCREMENTAL",
    "JARS",
    "LATENCY_INTERVAL",
    "MAX_CONCURRENT",
    "MIN_PAUSE",
    "RETENTION",
    "SNAPSHOT_COMPRESSION",
    "STATE_BACKEND",
    "TOLERABLE_FAILURES",
    "UNALIGNED",
    "UNALIGNED_FORCED",
]

T = TypeVar("T")
D = TypeVar("D")

_MICRO_BATCH = "a micro-batch is a checkpoint"
_KRYO = "records are pickled; there are no JVM serializers"
_NO_JAVA = "there is no user code on the JVM; a jar goes to spark.jars"
_BARRIERS = f"{_MICRO_BATCH}: there are no barriers to overtake"
_BETWEEN = "a job is stopped between two batches"
_ANY = Values(int, "a whole number", int)


def _accepted(
    key: str, values: Values[T], default: D, why: str, asks_nothing: str | None = None
) -> ConfigOption[T | D]:
    """A setting that does nothing, and why."""
    return setting(key, values, default, f"No effect: {why}.", no_effect=why, asks_nothing=asks_nothing)


def _timeout(given: str) -> int:
    """Milliseconds; -1 in Flink means that buffers wait until they are full."""
    return -1 if given == "-1" else duration_ms().read(given)


BUFFER_TIMEOUT = _accepted(
    "execution.buffer-timeout.interval",
    Values(int, f"{duration_ms().expected}, or -1", _timeout, duration_ms().written),
    100,
    "chunks are sent when they are full and at the end of a micro-batch",
)
ALIGNED_TIMEOUT = _accepted(
    "execution.checkpointing.aligned-checkpoint-timeout",
    duration_ms(),
    0,
    f"{_MICRO_BATCH}: there are no barriers to align",
)
RETENTION = _accepted(
    "execution.checkpointing.externalized-checkpoint-retention",
    chosen(("DELETE_ON_CANCELLATION", "RETAIN_ON_CANCELLATION", "NO_EXTERNALIZED_CHECKPOINTS")),
    "NO_EXTERNALIZED_CHECKPOINTS",
    "a checkpoint folder is the user's: it is always kept, and removed by nobody but the user",
    "RETAIN_ON_CANCELLATION",
)
INCREMENTAL = _accepted(
    "execution.checkpointing.incremental", flag(), True, "checkpoints are always incremental", "true"
)
MAX_CONCURRENT = _accepted(
    "execution.checkpointing.max-concurrent-checkpoints",
    _ANY,
    1,
    f"{_MICRO_BATCH}, and they run one after the other",
    "1",
)
MIN_PAUSE = _accepted(
    "execution.checkpointing.min-pause", duration_ms(), 0, f"{_MICRO_BATCH}: it costs no time of its own", "0"
)
CHECKPOINT_MODE = _accepted(
    "execution.checkpointing.mode",
    chosen(("EXACTLY_ONCE", "AT_LEAST_ONCE")),
    "EXACTLY_ONCE",
    "AT_LEAST_ONCE is met by the exactly-once that every checkpoint gives",
    "EXACTLY_ONCE",
)
SNAPSHOT_COMPRESSION = _accepted(
    "execution.checkpointing.snapshot-compression",
    flag(),
    False,
    "the state store's files have a compression of their own",
    "false",
)
CHECKPOINT_TIMEOUT = _accepted(
    "execution.checkpointing.timeout", duration_ms(), 600_000, f"{_MICRO_BATCH}: it takes as long as the batch"
)
TOLERABLE_FAILURES = _accepted(
    "execution.checkpointing.tolerable-failed-checkpoints",
    _ANY,
    0,
    f"{_MICRO_BATCH}: a failed one is replayed as the restart strategy says",
    "0",
)
UNALIGNED = _accepted("execution.checkpointing.unaligned.enabled", flag(), False, _BARRIERS, "false")
UNALIGNED_FORCED = _accepted("execution.checkpointing.unaligned.forced", flag(), False, _BARRIERS, "false")
LATENCY_INTERVAL = _accepted(
    "metrics.latency.interval",
    duration_ms(),
    0,
    "latency is the time of a batch, which JobExecutionResult.metrics has",
    "0",
)
CLASSPATHS = _accepted("pipeline.classpaths", listed(";"), "", _NO_JAVA)
JARS = _accepted("pipeline.jars", listed(";"), "", _NO_JAVA)
CLOSURE_CLEANER = _accepted(
    "pipeline.closure-cleaner-level", text(), "RECURSIVE", "functions are pickled by value with what they use"
)
FORCE_AVRO = _accepted("pipeline.force-avro", flag(), False, _KRYO, "false")
FORCE_KRYO = _accepted("pipeline.force-kryo", flag(), False, _KRYO, "false")
GENERIC_TYPES = _accepted("pipeline.generic-types", flag(), True, _KRYO, "true")
CHAIN_DIFFERENT_MAXIMA = _accepted(
    "pipeline.operator-chaining.chain-operators-with-different-max-parallelism",
    flag(),
    True,
    "the maximum parallelism is the job's, so operators never differ in it",
)
STATE_BACKEND = _accepted(
    "state.backend.type",
    text(),
    "rocksdb",
    "there is one backend: a cache in memory before Spark's RocksDB store",
    "rocksdb",
)
CHANGELOG = _accepted("state.changelog.enabled", flag(), None, "the state store writes changelogs already", "true")
CANCELLATION_INTERVAL = _accepted("task.cancellation.interval", duration_ms(), 30_000, _BETWEEN)
CANCELLATION_TIMEOUT = _accepted("task.cancellation.timeout", duration_ms(), 180_000, _BETWEEN)

# settings that no method of PyFlink reads or writes
_CREATE_SUBDIR = _accepted(
    "execution.checkpointing.create-subdir", flag(), None, "the folder of the checkpoint is the job's own"
)
_NUM_RETAINED = _accepted(
    "execution.checkpointing.num-retained",
    _ANY,
    1,
    "spark.sql.streaming.minBatchesToRetain says how many batches are kept",
    "1",
)
_STORAGE = _accepted(
    "execution.checkpointing.storage",
    text(),
    "filesystem",
    "checkpoints are files: execution.checkpointing.dir says where",
    "filesystem",
)
_CLAIM_MODE = _accepted(
    "execution.state-recovery.claim-mode",
    text(),
    "NO_CLAIM",
    "a savepoint is never claimed: it is read and left as it is",
)

ACCEPTED_OPTIONS: tuple[ConfigOption[Any], ...] = (
    BUFFER_TIMEOUT,
    ALIGNED_TIMEOUT,
    _CREATE_SUBDIR,
    RETENTION,
    INCREMENTAL,
    MAX_CONCURRENT,
    MIN_PAUSE,
    CHECKPOINT_MODE,
    _NUM_RETAINED,
    SNAPSHOT_COMPRESSION,
    _STORAGE,
    CHECKPOINT_TIMEOUT,
    TOLERABLE_FAILURES,
    UNALIGNED,
    UNALIGNED_FORCED,
    _CLAIM_MODE,
    LATENCY_INTERVAL,
    CLASSPATHS,
    CLOSURE_CLEANER,
    FORCE_AVRO,
    FORCE_KRYO,
    GENERIC_TYPES,
    JARS,
    CHAIN_DIFFERENT_MAXIMA,
    STATE_BACKEND,
    CHANGELOG,
    CANCELLATION_INTERVAL,
    CANCELLATION_TIMEOUT,
)
