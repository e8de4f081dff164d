"""Settings that change how fast a job runs and what it takes of a machine, never what it computes."""

from __future__ import annotations

from penstock.core.config.option import ON_SPARK, STREAMING
from penstock.core.config.values import duration_ms, folder, one_of, setting, size, whole

__all__ = [
    "BATCH_MAX_BYTES",
    "BATCH_MAX_RECORDS",
    "BATCH_TARGET",
    "CACHE_DIR",
    "CHUNK_RECORDS",
    "JVM_COMPILER",
    "SORT_BUDGET",
    "SOURCE_BUFFER",
    "SOURCE_CANCEL_TIMEOUT",
    "STATE_BUDGET",
    "STATE_PAGE",
    "TMP_DIR",
    "TUNING_OPTIONS",
]

BATCH_TARGET = setting(
    "penstock.batch.target-ms",
    duration_ms(),
    10_000,
    "How long a micro-batch should take at most; what is read of the sources follows it. 0: it does not.",
    STREAMING,
)
BATCH_MAX_RECORDS = setting(
    "penstock.batch.max-records",
    whole(1),
    500_000,
    "Records of a source split in a micro-batch.",
    STREAMING,
    per_uid=True,
)
BATCH_MAX_BYTES = setting(
    "penstock.batch.max-bytes",
    size(),
    256 << 20,
    "Bytes that a source split may send on in a micro-batch.",
    STREAMING,
    per_uid=True,
)
CHUNK_RECORDS = setting("penstock.chunk.records", whole(1), 8192, "Records that travel together between stages.")
# BATCH goes key group by key group: little of its state is in use at a time, and a page is hardly written twice
STATE_PAGE = setting(
    "penstock.state.page-bytes",
    size(),
    12 << 10,
    "How large a page of state becomes before it is split.",
    batch_default=96 << 10,
)
STATE_BUDGET = setting(
    "penstock.state.budget-bytes",
    size(),
    256 << 20,
    "Memory of a worker for pages of state that are in use; the rest stays in the state store.",
    batch_default=48 << 20,
)
SORT_BUDGET = setting(
    "penstock.sort.budget-bytes",
    size(),
    256 << 20,
    "Memory of a worker for sorting what a stage is sent; the rest waits in temporary files.",
    batch_default=48 << 20,
)
SOURCE_BUFFER = setting(
    "penstock.source.buffer-records", whole(1), 65_536, "Records that a source function may be ahead of its job."
)
SOURCE_CANCEL_TIMEOUT = setting(
    "penstock.source.cancel-timeout-ms",
    whole(0),
    5000,
    "How long a source function may take to return after cancel(), in milliseconds.",
)
JVM_COMPILER = setting(
    "penstock.jvm.compiler",
    one_of("quick", "full"),
    "quick",
    "How an embedded JVM compiles; full is for jobs that leave much work to Spark's SQL.",
    ON_SPARK,
)
TMP_DIR = setting(
    "penstock.tmp-dir",
    folder(),
    "",
    "Where rows of DataFrames wait; on a cluster a folder that all machines share.",
    default_text="a scratch folder of this machine",
)
CACHE_DIR = setting(
    "penstock.cache.dir",
    folder(),
    "",
    "Where cached streams are kept; on a cluster a folder that all machines share.",
    default_text="a scratch folder of this machine",
)

TUNING_OPTIONS = (
    BATCH_TARGET,
    BATCH_MAX_RECORDS,
    BATCH_MAX_BYTES,
    CHUNK_RECORDS,
    STATE_PAGE,
    STATE_BUDGET,
    SORT_BUDGET,
    SOURCE_BUFFER,
    SOURCE_CANCEL_TIMEOUT,
    JVM_COMPILER,
    TMP_DIR,
    CACHE_DIR,
)
