"""Settings under Flink's older names, where Spark is what honours them."""

from pathlib import Path

import pytest

from penstock.common import Configuration
from penstock.core.errors import PenstockError
from penstock.datastream import MapFunction, StreamExecutionEnvironment

pytestmark = pytest.mark.spark


class FailsAndCounts(MapFunction):
    """Fails on its one record, and leaves a line in a file each time."""

    def __init__(self, seen: Path) -> None:
        self._seen = seen

    def map(self, value: int) -> int:
        with self._seen.open("a", encoding="utf-8") as file:
            print(value, file=file)
        raise ValueError("on purpose")


def test_a_job_writes_its_checkpoint_where_the_older_name_says(tmp_path: Path) -> None:
    """P12, S6"""
    folder = tmp_path / "checkpoint"
    conf = Configuration({"state.checkpoints.dir": str(folder), "restart-strategy": "none"})
    env = StreamExecutionEnvironment(conf).set_parallelism(1)
    assert list(env.from_collection([1, 2]).map(lambda n: n + 1).execute_and_collect()) == [2, 3]
    assert (folder / "penstock" / "job.json").is_file()


def test_a_job_without_restarts_under_the_older_name_fails_at_once(tmp_path: Path) -> None:
    """P12, F3"""
    seen = tmp_path / "seen"
    conf = Configuration({"state.checkpoints.dir": str(tmp_path / "checkpoint"), "restart-strategy": "none"})
    env = StreamExecutionEnvironment(conf).set_parallelism(1)
    env.from_collection([1]).map(FailsAndCounts(seen)).print()
    with pytest.raises(PenstockError, match="on purpose"):
        env.execute()
    assert seen.read_text(encoding="utf-8").splitlines() == ["1"]
