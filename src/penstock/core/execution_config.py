"""`ExecutionConfig`: a view of the configuration under PyFlink's method names."""

from __future__ import annotations

import json
from collections.abc import Mapping

from penstock.core.compat import accept
from penstock.core.config import Configuration
from penstock.core.errors import ConfigurationError
from penstock.core.known_settings import with_newest_names
from penstock.core.time import Span, whole_ms

__all__ = ["AUTO_UIDS", "AUTO_WATERMARK_INTERVAL", "OBJECT_REUSE", "ExecutionConfig", "global_job_parameters"]

AUTO_WATERMARK_INTERVAL = "pipeline.auto-watermark-interval"
AUTO_UIDS = "pipeline.auto-generate-uids"
OBJECT_REUSE = "pipeline.object-reuse"
JOB_PARAMETERS = "pipeline.global-job-parameters"
_CLOSURE_CLEANER = "pipeline.closure-cleaner-level"


class ExecutionConfig:
    """How a program runs; every setter writes a key of the configuration it belongs to.

    >>> conf = Configuration()
    >>> ExecutionConfig(conf).set_auto_watermark_interval(500).get_auto_watermark_interval()
    500
    >>> conf.to_dict()
    {'pipeline.auto-watermark-interval': '500 ms'}
    """

    PARALLELISM_DEFAULT = -1
    PARALLELISM_UNKNOWN = -2

    def __init__(self, configuration: Configuration) -> None:
        self._conf = configuration

    @property
    def _said(self) -> Configuration:
        """What the configuration says now, under the newest names."""
        return with_newest_names(self._conf)

    # -- settings with an effect ------------------------------------------------------------------

    def set_auto_watermark_interval(self, interval: int | Span) -> ExecutionConfig:
        """0 switches periodic watermarks off; otherwise they come at record counts and batch ends (T9)."""
        self._conf.set_string(
            AUTO_WATERMARK_INTERVAL, f"{_not_negative(whole_ms(interval), AUTO_WATERMARK_INTERVAL)} ms"
        )
        return self

    def get_auto_watermark_interval(self) -> int:
        return self._said.get_duration_ms(AUTO_WATERMARK_INTERVAL, 200)

    def set_parallelism(self, parallelism: int) -> ExecutionConfig:
        """-1: the environment's default."""
        if parallelism == self.PARALLELISM_DEFAULT:
            self._conf.remove_config("parallelism.default")
        else:
            self._conf.set_integer("parallelism.default", _positive(parallelism, "parallelism.default"))
        return self

    def get_parallelism(self) -> int:
        return self._said.get_integer("parallelism.default", self.PARALLELISM_DEFAULT)

    def set_max_parallelism(self, max_parallelism: int) -> ExecutionConfig:
        """Number of key groups; fixed for the life of a job's state."""
        self._conf.set_integer("pipeline.max-parallelism", _positive(max_parallelism, "pipeline.max-parallelism"))
        return self

    def get_max_parallelism(self) -> int:
        return self._said.get_integer("pipeline.max-parallelism", 128)

    def enable_object_reuse(self) -> ExecutionConfig:
        """Records and state values are no longer copied: who changes one later changes what others see (S7)."""
        return self._flag(OBJECT_REUSE, True)

    def disable_object_reuse(self) -> ExecutionConfig:
        return self._flag(OBJECT_REUSE, False)

    def is_object_reuse_enabled(self) -> bool:
        return self._said.get_boolean(OBJECT_REUSE, False)

    def enable_auto_generated_uids(self) -> ExecutionConfig:
        return self._flag(AUTO_UIDS, True)

    def disable_auto_generated_uids(self) -> ExecutionConfig:
        """Refuse programs in which an operator has no uid of its own."""
        return self._flag(AUTO_UIDS, False)

    def has_auto_generated_uids_enabled(self) -> bool:
        return self._said.get_boolean(AUTO_UIDS, True)

    def set_global_job_parameters(self, global_job_parameters_dict: Mapping[str, object]) -> ExecutionConfig:
        """What functions get from `RuntimeContext.get_job_parameter`."""
        texts = {str(k): v if isinstance(v, str) else str(v) for k, v in global_job_parameters_dict.items()}
        self._conf.set_string(JOB_PARAMETERS, json.dumps(texts))
        return self

    def get_global_job_parameters(self) -> dict[str, str]:
        return global_job_parameters(self._said)

    def _flag(self, key: str, value: bool) -> ExecutionConfig:
        self._conf.set_boolean(key, value)
        return self

    # -- settings without one ---------------------------------------------------------------------

    def enable_closure_cleaner(self) -> ExecutionConfig:
        return self._accept(_CLOSURE_CLEANER, "RECURSIVE")

    def disable_closure_cleaner(self) -> ExecutionConfig:
        return self._accept(_CLOSURE_CLEANER, "NONE")

    def is_closure_cleaner_enabled(self) -> bool:
        return self._said.get_string(_CLOSURE_CLEANER, "RECURSIVE") != "NONE"

    def set_latency_tracking_interval(self, interval: int | Span) -> ExecutionConfig:
        return self._accept("metrics.latency.interval", str(whole_ms(interval)))

    def get_latency_tracking_interval(self) -> int:
        return self._said.get_duration_ms("metrics.latency.interval", 0)

    def set_task_cancellation_interval(self, interval: int | Span) -> ExecutionConfig:
        return self._accept("task.cancellation.interval", str(whole_ms(interval)))

    def get_task_cancellation_interval(self) -> int:
        return self._said.get_duration_ms("task.cancellation.interval", 30_000)

    def set_task_cancellation_timeout(self, timeout: int | Span) -> ExecutionConfig:
        return self._accept(
            "task.cancellation.timeout", str(_not_negative(whole_ms(timeout), "task.cancellation.timeout"))
        )

    def get_task_cancellation_timeout(self) -> int:
        return self._said.get_duration_ms("task.cancellation.timeout", 180_000)

    def enable_force_kryo(self) -> ExecutionConfig:
        return self._accept("pipeline.force-kryo", "true")

    def disable_force_kryo(self) -> ExecutionConfig:
        return self._accept("pipeline.force-kryo", "false")

    def is_force_kryo_enabled(self) -> bool:
        return self._said.get_boolean("pipeline.force-kryo", False)

    def enable_generic_types(self) -> ExecutionConfig:
        return self._accept("pipeline.generic-types", "true")

    def disable_generic_types(self) -> ExecutionConfig:
        return self._accept("pipeline.generic-types", "false")

    def has_generic_types_disabled(self) -> bool:
        return not self._said.get_boolean("pipeline.generic-types", True)

    def enable_force_avro(self) -> ExecutionConfig:
        return self._accept("pipeline.force-avro", "true")

    def disable_force_avro(self) -> ExecutionConfig:
        return self._accept("pipeline.force-avro", "false")

    def is_force_avro_enabled(self) -> bool:
        return self._said.get_boolean("pipeline.force-avro", False)

    def set_use_snapshot_compression(self, use_snapshot_compression: bool) -> ExecutionConfig:
        return self._accept("execution.checkpointing.snapshot-compression", str(bool(use_snapshot_compression)).lower())

    def is_use_snapshot_compression(self) -> bool:
        return self._said.get_boolean("execution.checkpointing.snapshot-compression", False)

    def _accept(self, key: str, value: str) -> ExecutionConfig:
        accept(self._conf, key, value)
        return self

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ExecutionConfig) and self._conf == other._conf

    def __hash__(self) -> int:
        return hash(self._conf)


def global_job_parameters(conf: Configuration) -> dict[str, str]:
    """Parameters of the job: a JSON object, or `key:value,key:value` as Flink's configuration files have it."""
    text = conf.get_string(JOB_PARAMETERS, "").strip()
    if text.startswith("{"):
        return {str(k): str(v) for k, v in json.loads(text).items()}
    pairs = [pair.partition(":") for pair in text.split(",") if pair.strip()]
    if any(not colon for _, colon, _ in pairs):
        raise ConfigurationError(f"{JOB_PARAMETERS} must be of the form key:value,key:value, got {text!r}")
    return {key.strip(): value.strip() for key, _, value in pairs}


def _positive(value: int, key: str) -> int:
    if not isinstance(value, int) or value < 1:
        raise ConfigurationError(f"{key} must be a whole number of at least 1, got {value!r}")
    return value


def _not_negative(value: int, key: str) -> int:
    if not isinstance(value, int) or value < 0:
        raise ConfigurationError(f"{key} must not be negative, got {value!r}")
    return value
