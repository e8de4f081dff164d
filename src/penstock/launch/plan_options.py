"""The part of a program's settings that its plan depends on."""

from __future__ import annotations

from penstock.core.checkpointing import CheckpointingMode
from penstock.core.config import Configuration
from penstock.core.dependencies import PythonDependencies
from penstock.core.errors import ConfigurationError
from penstock.core.execution_config import AUTO_UIDS, AUTO_WATERMARK_INTERVAL, OBJECT_REUSE, global_job_parameters
from penstock.core.guarantees import Guarantee
from penstock.core.job import RuntimeSettings
from penstock.core.known_settings import with_newest_names
from penstock.core.own_settings import check_own_settings
from penstock.core.poison import PoisonPolicy, poison_policy
from penstock.core.recovery import ACCEPT_CHANGED
from penstock.graph.stream_graph import StreamGraph
from penstock.launch.hosts import asked_host, find_host, is_batch
from penstock.plan.compile import PlanOptions
from penstock.plan.guarantees import MODE as CHECKPOINT_MODE

__all__ = ["local_options", "plan_options"]


def plan_options(
    conf: Configuration, host: str, parallelism: int, max_parallelism: int, batch: bool = False
) -> PlanOptions:
    """The options that settings come to, for a host by its name."""
    # BATCH goes key group by key group: little of its state is in use at a time, and a page is hardly written twice
    memory = (48 if batch else 256) << 20
    check_own_settings(conf)
    conf = with_newest_names(conf)
    dependencies = PythonDependencies.of(conf)
    settings = RuntimeSettings(
        batch_mode=batch,
        chunk_records=conf.get_integer("penstock.chunk.records", 8192),
        watermark_records=conf.get_integer("penstock.watermark.records", 1024),
        periodic_watermarks=conf.get_duration_ms(AUTO_WATERMARK_INTERVAL, 200) > 0 and not batch,
        per_record_watermarks=conf.get_boolean("penstock.watermark.per-record", False),
        object_reuse=conf.get_boolean(OBJECT_REUSE, False),
        page_bytes=conf.get_integer("penstock.state.page-bytes", (96 if batch else 12) << 10),
        state_budget_bytes=conf.get_integer("penstock.state.budget-bytes", memory),
        sort_budget_bytes=conf.get_integer("penstock.sort.budget-bytes", memory),
        source_buffer_records=conf.get_integer("penstock.source.buffer-records", 65_536),
        source_cancel_timeout_ms=conf.get_integer("penstock.source.cancel-timeout-ms", 5_000),
        job_parameters={**conf.to_dict(), **global_job_parameters(conf)},
        shipped_paths=dependencies.shipped_paths,
        in_archive_folder=bool(dependencies.archives),
        heavy_keys=conf.get_integer("penstock.metrics.heavy-keys", 0),
        poison=_poison(conf),
        count_late=conf.get_boolean("penstock.metrics.late-records", False),
        accept_changed_program=conf.get_boolean(ACCEPT_CHANGED, False),
    )
    chaining = conf.get_boolean("pipeline.operator-chaining.enabled", True)
    auto_uids = conf.get_boolean(AUTO_UIDS, True)
    asked = _asked_guarantee(conf)
    one_batch = find_host(host).capabilities.one_batch
    return PlanOptions(parallelism, max_parallelism, chaining, one_batch, settings, auto_uids, asked)


def local_options(graph: StreamGraph, conf: Configuration, parallelism: int, max_parallelism: int) -> PlanOptions:
    """What a program's settings mean to the local host when a test drives it batch by batch."""
    check_own_settings(conf)
    asked_host(conf)  # refuses an unknown name, though the test drives the local host in any case
    return plan_options(conf, "local", parallelism, max_parallelism, is_batch(graph, conf))


def _asked_guarantee(conf: Configuration) -> Guarantee | None:
    """What the mode of checkpoints asks for, if it was set; its default asks for nothing (F7)."""
    mode = conf.get_string(CHECKPOINT_MODE, "")
    if not mode:
        return None
    if mode.upper() not in CheckpointingMode.__members__:
        names = ", ".join(CheckpointingMode.__members__)
        raise ConfigurationError(f"{CHECKPOINT_MODE} must be one of {names}, got {mode!r}")
    return Guarantee[mode.upper()]


def _poison(conf: Configuration) -> PoisonPolicy:
    try:
        return poison_policy(conf.get_string("penstock.poison", "fail"))
    except ValueError as error:
        raise ConfigurationError(f"penstock.poison {error}") from None
