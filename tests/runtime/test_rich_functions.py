"""X5: the `Rich…Function` names of Java books; each knows its runtime context whenever it is called."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from penstock.common import Time
from penstock.datastream import (
    AsyncDataStream,
    RichAggregateFunction,
    RichAllWindowFunction,
    RichAsyncFunction,
    RichCoFlatMapFunction,
    RichCoGroupFunction,
    RichCoMapFunction,
    RichFilterFunction,
    RichFlatJoinFunction,
    RichFlatMapFunction,
    RichFunction,
    RichJoinFunction,
    RichMapFunction,
    RichReduceFunction,
    RichWindowFunction,
    StreamExecutionEnvironment,
)
from penstock.datastream.state import ValueStateDescriptor
from penstock.datastream.window import CountTrigger, GlobalWindows, PurgingTrigger
from penstock.testing import collect, local_job


class Where(RichFunction):
    """What all of them ask; none of them has an `open` of its own."""

    def where(self) -> tuple[int, int]:
        context = self.get_runtime_context()
        return context.get_index_of_this_subtask(), context.get_number_of_parallel_subtasks()


class Map(Where, RichMapFunction):
    def map(self, value: Any) -> Any:
        return self.where()


class FlatMap(Where, RichFlatMapFunction):
    def flat_map(self, value: Any) -> Iterator[Any]:
        yield self.where()


class Filter(Where, RichFilterFunction):
    def filter(self, value: Any) -> bool:
        return self.where() == (0, 1)


class Reduce(Where, RichReduceFunction):
    def reduce(self, value1: Any, value2: Any) -> Any:
        return value1[0], self.where()


class Aggregate(Where, RichAggregateFunction):
    def create_accumulator(self) -> Any:
        return None

    def add(self, value: Any, accumulator: Any) -> Any:
        return self.where()

    def get_result(self, accumulator: Any) -> Any:
        return accumulator

    def merge(self, acc_a: Any, acc_b: Any) -> Any:
        raise AssertionError


class CoMap(Where, RichCoMapFunction):
    def map1(self, value: Any) -> Any:
        return self.where()

    map2 = map1


class CoFlatMap(Where, RichCoFlatMapFunction):
    def flat_map1(self, value: Any) -> Iterator[Any]:
        yield self.where()

    flat_map2 = flat_map1


class Join(Where, RichJoinFunction):
    def join(self, first: Any, second: Any) -> Any:
        return self.where()


class FlatJoin(Where, RichFlatJoinFunction):
    def join(self, first: Any, second: Any) -> Iterator[Any]:
        yield self.where()


class CoGroup(Where, RichCoGroupFunction):
    def co_group(self, first: Any, second: Any) -> Iterator[Any]:
        yield self.where()


class Window(Where, RichWindowFunction):
    def apply(self, key: Any, window: Any, inputs: Any) -> Iterator[Any]:
        yield self.where()


class AllWindow(Where, RichAllWindowFunction):
    def apply(self, window: Any, inputs: Any) -> Iterator[Any]:
        yield self.where()


class Async(Where, RichAsyncFunction):
    async def async_invoke(self, value: Any) -> list[Any]:
        return [self.where()]


def keyed(stream: Any) -> Any:
    return stream.key_by(lambda value: value[0])


def windowed(stream: Any) -> Any:
    return keyed(stream).window(GlobalWindows.create()).trigger(PurgingTrigger.of(CountTrigger.of(1)))


def joined(stream: Any) -> Any:
    both = stream.join(stream).where(lambda value: value[0]).equal_to(lambda value: value[0])
    return both.window(GlobalWindows.create()).trigger(PurgingTrigger.of(CountTrigger.of(2)))


def grouped(stream: Any) -> Any:
    both = stream.co_group(stream).where(lambda value: value[0]).equal_to(lambda value: value[0])
    return both.window(GlobalWindows.create()).trigger(PurgingTrigger.of(CountTrigger.of(2)))


@pytest.mark.parametrize(
    "build",
    [
        lambda s: s.map(Map()),
        lambda s: keyed(s).map(Map()),
        lambda s: s.flat_map(FlatMap()),
        lambda s: s.filter(Filter()).map(lambda value: (0, 1)),
        lambda s: keyed(s.union(s)).reduce(Reduce()).filter(lambda value: value[1] is not None).map(lambda v: v[1]),
        lambda s: windowed(s).aggregate(Aggregate()),
        lambda s: s.connect(s).map(CoMap()),
        lambda s: s.connect(s).flat_map(CoFlatMap()),
        lambda s: joined(s).apply(Join()),
        lambda s: joined(s).apply(FlatJoin()),
        lambda s: grouped(s).apply(CoGroup()),
        lambda s: windowed(s).apply(Window()),
        lambda s: s.window_all(GlobalWindows.create()).trigger(CountTrigger.of(1)).apply(AllWindow()),
        lambda s: AsyncDataStream.ordered_wait(s, Async(), Time.seconds(5)),
    ],
)
def test_a_rich_function_knows_where_it_runs(build: Callable[[Any], Any]) -> None:
    """X5"""
    env = StreamExecutionEnvironment()
    collect(build(env.from_collection([("a", None)])), "out")
    job = local_job(env)
    job.run(())
    assert set(job.results["out"]) == {(0, 1)}


class Opened(RichMapFunction):
    """With an `open` that does not call its super's, and one above it that does."""

    def open(self, runtime_context: Any) -> None:
        assert self.get_runtime_context() is runtime_context
        self.count = runtime_context.get_state(ValueStateDescriptor("count"))

    def map(self, value: Any) -> Any:
        self.count.update((self.count.value() or 0) + 1)
        return self.get_runtime_context().get_task_name(), self.count.value()


class OpenedAgain(Opened):
    def open(self, runtime_context: Any) -> None:
        super().open(runtime_context)


@pytest.mark.parametrize("function", [Opened(), OpenedAgain()])
def test_a_rich_function_knows_its_context_in_open(function: Opened) -> None:
    """X5: and has the state of the current key."""
    env = StreamExecutionEnvironment()
    collect(keyed(env.from_collection([("a", 1), ("b", 1), ("a", 1)])).map(function).name("counting"), "out")
    job = local_job(env)
    job.run(())
    names, counts = zip(*job.results["out"], strict=True)
    assert sorted(counts) == [1, 1, 2]
    assert "counting" in names[0]


def test_before_open_there_is_no_context() -> None:
    """X5"""
    with pytest.raises(RuntimeError, match=r"known from open\(\) on"):
        Opened().get_runtime_context()
