"""The part of a program's settings that its plan depends on."""

from __future__ import annotations

import os

from penstock.core.config import Configuration
from penstock.core.config.known_settings import with_newest_names
from penstock.core.config.options.accepted import CHECKPOINT_MODE
from penstock.core.config.options.checkpoints import ACCEPT_CHANGED
from penstock.core.config.options.job import (
    AUTO_UIDS,
    AUTO_WATERMARK_INTERVAL,
    CHAINING,
    HEAVY_KEYS,
    JOB_PARAMETERS,
    LATE_RECORDS,
    OBJECT_REUSE,
    PER_RECORD_WATERMARKS,
    POISON,
    WATERMARK_RECORDS,
)
from penstock.core.config.options.tuning import (
    CHUNK_RECORDS,
    SORT_BUDGET,
    SOURCE_BUFFER,
    SOURCE_CANCEL_TIMEOUT,
    STATE_BUDGET,
    STATE_PAGE,
)
from penstock.core.config.table import check_settings
from penstock.core.contracts.guarantees import Guarantee
from penstock.core.program.dependencies import PythonDependencies
from penstock.core.program.job import RuntimeSettings
from penstock.core.program.poison import poison_policy
from penstock.graph.stream_graph import StreamGraph
from penstock.launch.hosts import asked_host, find_host, is_batch
from penstock.plan.compile import PlanOptions

__all__ = ["default_parallelism", "local_options", "plan_options"]


def default_parallelism() -> int:
    """The parallelism of a program that sets none: the number of cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def plan_options(
    conf: Configuration, host: str, parallelism: int, max_parallelism: int, batch: bool = False
) -> PlanOptions:
    """The options that settings come to, for a host by its name."""
    check_settings(conf)
    conf = with_newest_names(conf)
    return PlanOptions(
        parallelism,
        max_parallelism,
        conf.get(CHAINING),
        find_host(host).capabilities.one_batch,
        _runtime_settings(conf, batch),
        conf.get(AUTO_UIDS),
        _asked_guarantee(conf),
    )


def _runtime_settings(conf: Configuration, batch: bool) -> RuntimeSettings:
    dependencies = PythonDependencies.of(conf)
    return RuntimeSettings(
        batch_mode=batch,
        chunk_records=conf.get(CHUNK_RECORDS),
        watermark_records=conf.get(WATERMARK_RECORDS),
        periodic_watermarks=conf.get(AUTO_WATERMARK_INTERVAL) > 0 and not batch,
        per_record_watermarks=conf.get(PER_RECORD_WATERMARKS),
        object_reuse=conf.get(OBJECT_REUSE),
        page_bytes=conf.get(STATE_PAGE, STATE_PAGE.default_in(batch)),
        state_budget_bytes=conf.get(STATE_BUDGET, STATE_BUDGET.default_in(batch)),
        sort_budget_bytes=conf.get(SORT_BUDGET, SORT_BUDGET.default_in(batch)),
        source_buffer_records=conf.get(SOURCE_BUFFER),
        source_cancel_timeout_ms=conf.get(SOURCE_CANCEL_TIMEOUT),
        job_parameters={**conf.to_dict(), **conf.get(JOB_PARAMETERS)},
        shipped_paths=dependencies.shipped_paths,
        in_archive_folder=bool(dependencies.archives),
        heavy_keys=conf.get(HEAVY_KEYS),
        poison=poison_policy(conf.get(POISON)),
        count_late=conf.get(LATE_RECORDS),
        accept_changed_program=conf.get(ACCEPT_CHANGED),
    )


def local_options(graph: StreamGraph, conf: Configuration, parallelism: int, max_parallelism: int) -> PlanOptions:
    """What a program's settings mean to the local host when a test drives it batch by batch."""
    check_settings(conf)
    asked_host(conf)  # refuses an unknown name, though the test drives the local host in any case
    return plan_options(conf, "local", parallelism, max_parallelism, is_batch(graph, conf))


def _asked_guarantee(conf: Configuration) -> Guarantee | None:
    """The guarantee that the mode of checkpoints asks for, if it was set; its default asks for nothing."""
    return Guarantee[conf.get(CHECKPOINT_MODE)] if conf.contains_key(CHECKPOINT_MODE.key) else None
