"""`ExecutionConfig`: a view of the configuration under PyFlink's method names."""

from __future__ import annotations

import json
from collections.abc import Mapping

from penstock.core.config.compat import accept
from penstock.core.config.configuration import Configuration
from penstock.core.config.known_settings import with_newest_names
from penstock.core.config.option import ConfigOption
from penstock.core.config.options.accepted import (
    CANCELLATION_INTERVAL,
    CANCELLATION_TIMEOUT,
    CLOSURE_CLEANER,
    FORCE_AVRO,
    FORCE_KRYO,
    GENERIC_TYPES,
    LATENCY_INTERVAL,
    SNAPSHOT_COMPRESSION,
)
from penstock.core.config.options.job import (
    AUTO_UIDS,
    AUTO_WATERMARK_INTERVAL,
    JOB_PARAMETERS,
    MAX_PARALLELISM,
    OBJECT_REUSE,
    PARALLELISM,
)
from penstock.core.errors import ConfigurationError
from penstock.core.time.spans import Span, whole_ms

__all__ = ["ExecutionConfig"]


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
        """The configuration as it is now, with older names of settings translated to the newest ones."""
        return with_newest_names(self._conf)

    # -- settings with an effect ------------------------------------------------------------------

    def set_auto_watermark_interval(self, interval: int | Span) -> ExecutionConfig:
        """0 switches periodic watermarks off; otherwise they come at record counts and batch ends."""
        span_ms = _not_negative(whole_ms(interval), AUTO_WATERMARK_INTERVAL)
        self._conf.set_string(AUTO_WATERMARK_INTERVAL.key, f"{span_ms} ms")
        return self

    def get_auto_watermark_interval(self) -> int:
        """The interval of watermarks in milliseconds; 0 switches periodic watermarks off."""
        return self._said.get(AUTO_WATERMARK_INTERVAL)

    def set_parallelism(self, parallelism: int) -> ExecutionConfig:
        """-1: the environment's default."""
        if parallelism == self.PARALLELISM_DEFAULT:
            self._conf.remove_config(PARALLELISM.key)
        else:
            self._conf.set_integer(PARALLELISM.key, _positive(parallelism, PARALLELISM))
        return self

    def get_parallelism(self) -> int:
        """The parallelism of operators that name none; -1 if the program has not said."""
        return self._said.get(PARALLELISM) or self.PARALLELISM_DEFAULT

    def set_max_parallelism(self, max_parallelism: int) -> ExecutionConfig:
        """Number of key groups; fixed for the life of a job's state."""
        self._conf.set_integer(MAX_PARALLELISM.key, _positive(max_parallelism, MAX_PARALLELISM))
        return self

    def get_max_parallelism(self) -> int:
        """The largest parallelism that the job can be rescaled to."""
        return self._said.get(MAX_PARALLELISM)

    def enable_object_reuse(self) -> ExecutionConfig:
        """Records and state values are no longer copied: who changes one later changes what others see."""
        return self._flag(OBJECT_REUSE, True)

    def disable_object_reuse(self) -> ExecutionConfig:
        """Copy mutable records between chained operators; the default."""
        return self._flag(OBJECT_REUSE, False)

    def is_object_reuse_enabled(self) -> bool:
        """Whether chained operators share records instead of copies."""
        return self._said.get(OBJECT_REUSE)

    def enable_auto_generated_uids(self) -> ExecutionConfig:
        """Make uids for operators that have none; the default."""
        return self._flag(AUTO_UIDS, True)

    def disable_auto_generated_uids(self) -> ExecutionConfig:
        """Refuse programs in which an operator has no uid of its own."""
        return self._flag(AUTO_UIDS, False)

    def has_auto_generated_uids_enabled(self) -> bool:
        """Whether operators without a uid are given one."""
        return self._said.get(AUTO_UIDS)

    def set_global_job_parameters(self, global_job_parameters_dict: Mapping[str, object]) -> ExecutionConfig:
        """Set the parameters that functions read with `RuntimeContext.get_job_parameter`."""
        texts = {str(k): v if isinstance(v, str) else str(v) for k, v in global_job_parameters_dict.items()}
        self._conf.set_string(JOB_PARAMETERS.key, json.dumps(texts))
        return self

    def get_global_job_parameters(self) -> dict[str, str]:
        """The parameters that every function can read."""
        return dict(self._said.get(JOB_PARAMETERS))

    def _flag(self, option: ConfigOption[bool], value: bool) -> ExecutionConfig:
        self._conf.set_boolean(option.key, value)
        return self

    # -- settings without one ---------------------------------------------------------------------

    def enable_closure_cleaner(self) -> ExecutionConfig:
        """Accepted without effect: Python functions need no cleaning."""
        return self._accept(CLOSURE_CLEANER, "RECURSIVE")

    def disable_closure_cleaner(self) -> ExecutionConfig:
        """Accepted without effect: Python functions need no cleaning."""
        return self._accept(CLOSURE_CLEANER, "NONE")

    def is_closure_cleaner_enabled(self) -> bool:
        """What was set; it has no effect."""
        return self._said.get(CLOSURE_CLEANER) != "NONE"

    def set_latency_tracking_interval(self, interval: int | Span) -> ExecutionConfig:
        """Accepted without effect: Penstock sends no latency markers."""
        return self._accept(LATENCY_INTERVAL, str(whole_ms(interval)))

    def get_latency_tracking_interval(self) -> int:
        """The interval that was set, in milliseconds; it has no effect."""
        return self._said.get(LATENCY_INTERVAL)

    def set_task_cancellation_interval(self, interval: int | Span) -> ExecutionConfig:
        """Accepted without effect: Spark ends its own tasks."""
        return self._accept(CANCELLATION_INTERVAL, str(whole_ms(interval)))

    def get_task_cancellation_interval(self) -> int:
        """The interval that was set, in milliseconds; it has no effect."""
        return self._said.get(CANCELLATION_INTERVAL)

    def set_task_cancellation_timeout(self, timeout: int | Span) -> ExecutionConfig:
        """Accepted without effect: Spark ends its own tasks."""
        return self._accept(CANCELLATION_TIMEOUT, str(_not_negative(whole_ms(timeout), CANCELLATION_TIMEOUT)))

    def get_task_cancellation_timeout(self) -> int:
        """The time-out that was set, in milliseconds; it has no effect."""
        return self._said.get(CANCELLATION_TIMEOUT)

    def enable_force_kryo(self) -> ExecutionConfig:
        """Accepted without effect: records are pickled."""
        return self._accept(FORCE_KRYO, "true")

    def disable_force_kryo(self) -> ExecutionConfig:
        """Accepted without effect: records are pickled."""
        return self._accept(FORCE_KRYO, "false")

    def is_force_kryo_enabled(self) -> bool:
        """What was set; it has no effect."""
        return self._said.get(FORCE_KRYO)

    def enable_generic_types(self) -> ExecutionConfig:
        """Accepted without effect: records are pickled."""
        return self._accept(GENERIC_TYPES, "true")

    def disable_generic_types(self) -> ExecutionConfig:
        """Accepted without effect: records are pickled."""
        return self._accept(GENERIC_TYPES, "false")

    def has_generic_types_disabled(self) -> bool:
        """What was set; it has no effect."""
        return not self._said.get(GENERIC_TYPES)

    def enable_force_avro(self) -> ExecutionConfig:
        """Accepted without effect: records are pickled."""
        return self._accept(FORCE_AVRO, "true")

    def disable_force_avro(self) -> ExecutionConfig:
        """Accepted without effect: records are pickled."""
        return self._accept(FORCE_AVRO, "false")

    def is_force_avro_enabled(self) -> bool:
        """What was set; it has no effect."""
        return self._said.get(FORCE_AVRO)

    def set_use_snapshot_compression(self, use_snapshot_compression: bool) -> ExecutionConfig:
        """Accepted without effect: Spark compresses its own files."""
        return self._accept(SNAPSHOT_COMPRESSION, str(bool(use_snapshot_compression)).lower())

    def is_use_snapshot_compression(self) -> bool:
        """What was set; it has no effect."""
        return self._said.get(SNAPSHOT_COMPRESSION)

    def _accept(self, option: ConfigOption[object], value: str) -> ExecutionConfig:
        accept(self._conf, option, value)
        return self

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ExecutionConfig) and self._conf == other._conf

    def __hash__(self) -> int:
        return hash(self._conf)


def _positive(value: int, option: ConfigOption[object]) -> int:
    if not isinstance(value, int) or value < 1:
        raise ConfigurationError(f"{option.key} must be a whole number of at least 1, got {value!r}")
    return value


def _not_negative(value: int, option: ConfigOption[object]) -> int:
    if not isinstance(value, int) or value < 0:
        raise ConfigurationError(f"{option.key} must not be negative, got {value!r}")
    return value
