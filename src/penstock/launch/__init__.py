"""Where program, plan and host meet. Imported late, by `execute()` and the command line."""

from penstock.core.config.base import base_configuration
from penstock.launch.execute import WATCHERS, launch
from penstock.launch.hosts import choose_host, host_names
from penstock.launch.plan_options import default_parallelism, local_options, plan_options
from penstock.launch.plans import PlannedOnly, execution_plan, explain, planned
from penstock.launch.spark_access import (
    append_to_table,
    checkpoint_to_savepoint,
    java_version,
    queried_tables,
    read_frame,
    spark_session,
    try_spark,
)

__all__ = [
    "WATCHERS",
    "PlannedOnly",
    "append_to_table",
    "base_configuration",
    "checkpoint_to_savepoint",
    "choose_host",
    "default_parallelism",
    "execution_plan",
    "explain",
    "host_names",
    "java_version",
    "launch",
    "local_options",
    "plan_options",
    "planned",
    "queried_tables",
    "read_frame",
    "spark_session",
    "try_spark",
]
