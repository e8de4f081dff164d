"""The two hosts on Spark, as the table of hosts has them.

This module is imported for every job, also for those on the local host: PySpark is imported by `start`, and only after
the JVM has been told to start, so that both load at the same time.
"""

from __future__ import annotations

from penstock.core.config import Configuration
from penstock.core.program.job import JobPlan
from penstock.jobs.client import JobClient
from penstock.jobs.host import HostCapabilities

__all__ = ["BoundedHost", "StreamingHost"]


class BoundedHost:
    """Runs a job whose whole input is there as one Spark batch job. Sinks publish at the end; no state is kept."""

    name = "bounded"
    capabilities = HostCapabilities(batch=True, one_batch=True, automatic=True, listed=True)

    def start(self, plan: JobPlan, conf: Configuration, job_id: str) -> JobClient:
        _begin_jvm(plan, conf)
        from penstock.spark.bounded import start_bounded

        return start_bounded(plan, conf, job_id)


class StreamingHost:
    """Runs a job in micro-batches of Structured Streaming. Every batch is a checkpoint, from which the job goes on."""

    name = "streaming"
    capabilities = HostCapabilities(unbounded=True, durable=True, savepoints=True, automatic=True, listed=True)

    def start(self, plan: JobPlan, conf: Configuration, job_id: str) -> JobClient:
        _begin_jvm(plan, conf)
        from penstock.spark.streaming.job import start_streaming

        return start_streaming(plan, conf, job_id)


def _begin_jvm(plan: JobPlan, conf: Configuration) -> None:
    from penstock.spark.startup.jvm import begin_jvm

    begin_jvm(conf, plan.partitions)
