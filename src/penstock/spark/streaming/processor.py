"""A stage of the streaming host, as a stateful processor of Spark's."""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd
from pyspark.sql.streaming.stateful_processor import (
    MapState,
    StatefulProcessor,
    StatefulProcessorHandle,
    TimerValues,
)

from penstock.core.program.job import JobPlan
from penstock.core.time.clock import SystemClock
from penstock.runtime.chunk import ChunkRow
from penstock.runtime.operator_state import RunStart
from penstock.runtime.stage import StageTask, sorted_rows
from penstock.spark.failures import errors_travel
from penstock.spark.partition_labels import spark_partition
from penstock.spark.pickled_plan import PickledPlan
from penstock.spark.rows import from_columns, to_pandas
from penstock.spark.streaming.state_store import SparkStore, open_map_state

__all__ = ["StageProcessor"]

_KEPT: dict[tuple[str, int, int], StageTask] = {}
"""Stage tasks that this worker process keeps between batches, by run, level and partition: their pages stay decoded."""


class StageProcessor(StatefulProcessor):
    """Hands the rows of a partition to its `StageTask`. Spark makes one in a worker for each task."""

    def __init__(self, pickled: PickledPlan, level: int, start: RunStart) -> None:
        self._pickled, self._level, self._start = pickled, level, start
        self._run_id = start.run_id
        self._state: MapState | None = None

    def init(self, handle: StatefulProcessorHandle) -> None:
        """Called by Spark before the rows of a task: the state of the partition."""
        self._state = open_map_state(handle)

    def handleInputRows(
        self, key: tuple[int], rows: Iterator[pd.DataFrame], timerValues: TimerValues
    ) -> Iterator[pd.DataFrame]:
        """Called by Spark once for each partition and batch: a partition's rows have one label, which is the key."""
        assert self._state is not None
        with errors_travel():
            plan = self._pickled.load()
            partition = spark_partition(int(key[0]), plan.partitions)
            task = self._task(plan, partition)
            ordered = sorted_rows(_chunks(rows, partition), plan.settings.sort_budget_bytes)
            yield from to_pandas(task.run(ordered, SparkStore(self._state)), plan.partitions)

    def _task(self, plan: JobPlan, partition: int) -> StageTask:
        name = (self._run_id, self._level, partition)
        if name not in _KEPT:
            for other in [k for k in _KEPT if k[0] != self._run_id]:
                _KEPT.pop(other).close()
            _KEPT[name] = StageTask(plan, self._level, partition, SystemClock(), self._start)
        return _KEPT[name]

    def close(self) -> None:
        """Called by Spark after the task. Stage tasks are kept for the next batch; they end with the worker process."""


def _chunks(frames: Iterator[pd.DataFrame], partition: int) -> Iterator[ChunkRow]:
    for frame in frames:
        yield from from_columns((frame[c].tolist() for c in frame.columns), partition)
