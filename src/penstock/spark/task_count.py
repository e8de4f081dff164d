"""How many of a batch job's Spark tasks are done: all there is to see of a bounded job before its end."""

from __future__ import annotations

from typing import Any

__all__ = ["tasks_done"]


def tasks_done(spark: Any, job_group: str) -> int:
    """Completed tasks of all Spark jobs of a group, as far as Spark still knows."""
    tracker = spark.sparkContext.statusTracker()
    jobs = [tracker.getJobInfo(job) for job in tracker.getJobIdsForGroup(job_group)]
    stages = [tracker.getStageInfo(stage) for job in jobs if job is not None for stage in job.stageIds]
    return sum(stage.numCompletedTasks for stage in stages if stage is not None)
