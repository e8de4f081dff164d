"""Settings of a whole job: where it runs, how parallel, with which semantics, under which name."""

from __future__ import annotations

import json

from penstock.core.config.option import Values
from penstock.core.config.values import chosen, duration_ms, flag, one_of, setting, text, whole

__all__ = [
    "AUTO_UIDS",
    "AUTO_WATERMARK_INTERVAL",
    "CHAINING",
    "HEAVY_KEYS",
    "HOST",
    "JOB_NAME",
    "JOB_OPTIONS",
    "JOB_PARAMETERS",
    "LATE_RECORDS",
    "MAX_PARALLELISM",
    "OBJECT_REUSE",
    "PARALLELISM",
    "PER_RECORD_WATERMARKS",
    "PLAN_ONLY",
    "POISON",
    "RUNTIME_MODE",
    "WATERMARK_RECORDS",
]


def _pairs(given: str) -> dict[str, str]:
    """A JSON object, or `key:value,key:value` as Flink's configuration files have it."""
    given = given.strip()
    if given.startswith("{"):
        return {str(key): str(value) for key, value in json.loads(given).items()}
    pairs = [pair.partition(":") for pair in given.split(",") if pair.strip()]
    if any(not colon for _, colon, _ in pairs):
        raise ValueError(given)
    return {key.strip(): value.strip() for key, _, value in pairs}


HOST = setting(
    "penstock.host",
    text("auto or the name of a host"),  # the table of hosts is in launch, which refuses other names
    "auto",
    "What runs the job; auto: bounded if all its input is and nothing durable is asked for, else streaming.",
)
PLAN_ONLY = setting(
    "penstock.plan-only",
    flag(),
    False,
    "The program is left at its first execute(). Set by `penstock plan`.",
    internal=True,
)
POISON = setting(
    "penstock.poison",
    one_of("fail", "skip", "side-output"),
    "fail",
    "What happens to a record on which a function raises.",
)
LATE_RECORDS = setting(
    "penstock.metrics.late-records", flag(), False, "Late records are counted, which costs time per record."
)
HEAVY_KEYS = setting(
    "penstock.metrics.heavy-keys",
    whole(0),
    0,
    "How many of the heaviest keys the metrics show: skew has a name then. 0: none are looked for.",
)
WATERMARK_RECORDS = setting("penstock.watermark.records", whole(1), 1024, "Records between two periodic watermarks.")
PER_RECORD_WATERMARKS = setting(
    "penstock.watermark.per-record",
    flag(),
    False,
    "A watermark follows every record, so that which records are late can be reproduced.",
)
RUNTIME_MODE = setting(
    "execution.runtime-mode",
    chosen(("STREAMING", "BATCH", "AUTOMATIC")),
    "STREAMING",
    "Streaming or batch semantics; AUTOMATIC: batch if all sources are bounded.",
)
PARALLELISM = setting(
    "parallelism.default",
    whole(1),
    None,
    "Subtasks of operators that do not say.",
    default_text="the cores of the machine",
)
MAX_PARALLELISM = setting(
    "pipeline.max-parallelism",
    whole(1),
    128,
    "The number of key groups, and so the largest parallelism. Fixed for the life of a job's state.",
)
JOB_NAME = setting("pipeline.name", text(), "Penstock Job", "The name of a job for which execute() has none.")
JOB_PARAMETERS = setting(
    "pipeline.global-job-parameters",
    Values(dict, "of the form key:value,key:value", _pairs, lambda _: ""),
    dict[str, str](),
    "Parameters that functions get from their RuntimeContext; a JSON object or key:value,key:value.",
)
OBJECT_REUSE = setting(
    "pipeline.object-reuse",
    flag(),
    False,
    "Records and state values are not copied: functions promise not to change a record after emitting it.",
)
AUTO_UIDS = setting(
    "pipeline.auto-generate-uids",
    flag(),
    True,
    "Operators without a uid get one that is made from the program; false: they are refused.",
)
AUTO_WATERMARK_INTERVAL = setting(
    "pipeline.auto-watermark-interval",
    duration_ms(),
    200,
    "0 switches periodic watermarks off. Otherwise they come at record counts and at the end of a batch.",
)
CHAINING = setting(
    "pipeline.operator-chaining.enabled",
    flag(),
    True,
    "Neighbouring operators run in one task, without an exchange between them.",
)

JOB_OPTIONS = (
    HOST,
    PLAN_ONLY,
    POISON,
    LATE_RECORDS,
    HEAVY_KEYS,
    WATERMARK_RECORDS,
    PER_RECORD_WATERMARKS,
    RUNTIME_MODE,
    PARALLELISM,
    MAX_PARALLELISM,
    JOB_NAME,
    JOB_PARAMETERS,
    OBJECT_REUSE,
    AUTO_UIDS,
    AUTO_WATERMARK_INTERVAL,
    CHAINING,
)
