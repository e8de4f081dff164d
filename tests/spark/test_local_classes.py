"""Records of classes that only a function knows, in worker processes and back (P7)."""

import enum
from collections import namedtuple
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from penstock.datastream import KeyedProcessFunction, RuntimeContext
from penstock.datastream.state import ValueStateDescriptor
from tests.spark.test_hosts import SPARK_HOSTS, environment


class Latest(KeyedProcessFunction):
    """Gives each record with what was kept of its key, and whether that is of the class it was told."""

    def __init__(self, cls: type) -> None:
        self.cls = cls

    def open(self, runtime_context: RuntimeContext) -> None:
        self.kept = runtime_context.get_state(ValueStateDescriptor("kept"))

    def process_element(self, value: Any, ctx: KeyedProcessFunction.Context) -> Iterable[Any]:
        kept = self.kept.value()
        yield value, kept, isinstance(value, self.cls) and (kept is None or isinstance(kept, self.cls))
        self.kept.update(value)


@pytest.mark.spark
@SPARK_HOSTS
def test_records_state_and_keys_of_local_classes(host: str) -> None:
    """P7, G5: from a source in a worker over keyed state to the driver, which has the very class."""

    @dataclass
    class Record:
        n: int

    class Colour(enum.Enum):
        RED = 0
        BLUE = 1

    env = environment(host)
    stream = env.from_collection([Record(n) for n in range(6)]).map(lambda r: Record(r.n + 1)).rebalance()
    keyed = stream.map(lambda r: r).set_parallelism(1).key_by(lambda r: Colour(r.n % 2))
    found = list(keyed.process(Latest(Record)).execute_and_collect())
    texts = environment(host).from_collection([Record(1)]).rebalance().map(repr).execute_and_collect()
    assert list(texts) == [repr(Record(1))]
    assert all(same and type(value) is Record for value, _, same in found)
    assert sorted(value.n for value, _, _ in found) == [1, 2, 3, 4, 5, 6]
    assert sum(kept is None for _, kept, _ in found) == 2


@pytest.mark.spark
@SPARK_HOSTS
def test_classes_made_in_a_worker_reach_the_driver(host: str) -> None:
    """P7"""

    def parse(n: int) -> Any:
        return namedtuple("parsed", "n")(n)

    found = list(
        environment(host).from_collection([1, 2]).map(parse).rebalance().map(lambda r: r).execute_and_collect()
    )
    assert sorted(record.n for record in found) == [1, 2]


@pytest.mark.spark
def test_a_job_without_a_sink_runs(tmp_path: Path) -> None:
    """P9, P12: for what its function does."""
    for host in ("bounded", "streaming"):
        env = environment(host)
        folder = tmp_path / host
        folder.mkdir()
        env.from_collection([1, 2]).rebalance().map(lambda n, folder=folder: (folder / str(n)).touch()).name("Touch")
        with pytest.warns(RuntimeWarning, match="Operator 'Touch' has no sink"):
            env.execute()
        assert sorted(path.name for path in folder.iterdir()) == ["1", "2"]
