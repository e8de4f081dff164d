"""Tasks of a bounded job that are done, from what Spark's tracker says."""

from types import SimpleNamespace

from penstock.spark.bounded import tasks_done


class Tracker:
    def getJobIdsForGroup(self, group: str) -> list[int]:
        return {"mine": [1, 2, 3]}.get(group, [])

    def getJobInfo(self, job: int) -> SimpleNamespace | None:
        return {1: SimpleNamespace(stageIds=[10, 11]), 2: SimpleNamespace(stageIds=[12])}.get(job)

    def getStageInfo(self, stage: int) -> SimpleNamespace | None:
        return {10: SimpleNamespace(numCompletedTasks=3), 12: SimpleNamespace(numCompletedTasks=1)}.get(stage)


def test_tasks_are_counted_as_far_as_spark_knows_them() -> None:
    """Jobs and stages that Spark has forgotten, or not begun, do not count."""
    spark = SimpleNamespace(sparkContext=SimpleNamespace(statusTracker=Tracker))
    assert tasks_done(spark, "mine") == 4
    assert tasks_done(spark, "other") == 0
