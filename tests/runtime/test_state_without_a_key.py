"""Keyed state touched where there is no key, as in `open`, is refused by name (S1, P9)."""

from collections.abc import Callable, Iterable
from typing import Any

import pytest

from penstock.common import Time
from penstock.core.errors import KeylessStateError
from penstock.datastream import (
    KeyedProcessFunction,
    MapFunction,
    ProcessWindowFunction,
    RuntimeContext,
    StreamExecutionEnvironment,
)
from penstock.datastream.state import (
    ListStateDescriptor,
    MapStateDescriptor,
    ReducingStateDescriptor,
    StateTtlConfig,
    ValueStateDescriptor,
)
from penstock.datastream.window import GlobalWindows
from penstock.testing import collect, local_job

Touch = Callable[[Any], Any]
TOUCHES: dict[str, tuple[Callable[[], Any], list[Touch]]] = {
    "get_state": (lambda: ValueStateDescriptor("s"), [lambda s: s.value(), lambda s: s.update(1), lambda s: s.clear()]),
    "get_list_state": (
        lambda: ListStateDescriptor("s"),
        [lambda s: list(s.get()), lambda s: s.add(1), lambda s: s.update([1]), lambda s: s.add_all([1])],
    ),
    "get_map_state": (
        lambda: MapStateDescriptor("s"),
        [lambda s: s.get(1), lambda s: s.put(1, 1), lambda s: s.contains(1), lambda s: s.is_empty(), lambda s: list(s)],
    ),
    "get_reducing_state": (
        lambda: ReducingStateDescriptor("s", lambda a, b: a + b),
        [lambda s: s.get(), lambda s: s.add(1)],
    ),
}
CASES = [(getter, number) for getter, (_, touches) in TOUCHES.items() for number in range(len(touches))]


class Early(KeyedProcessFunction):
    def __init__(self, getter: str, touch: Touch, descriptor: Any) -> None:
        self.getter, self.touch, self.descriptor = getter, touch, descriptor

    def open(self, runtime_context: RuntimeContext) -> None:
        self.touch(getattr(runtime_context, self.getter)(self.descriptor))

    def process_element(self, value: Any, ctx: Any) -> Iterable[Any]:
        yield value


def run(build: Callable[[Any], Any]) -> None:
    env = StreamExecutionEnvironment()
    collect(build(env.from_collection([1]).key_by(lambda v: v)).uid("k"), "out")
    local_job(env).run()


MESSAGE = r"Operator '.*' \(uid k\): keyed state was read or changed where no record is being processed, .*In open\(\)"


@pytest.mark.parametrize("with_ttl", [False, True])
@pytest.mark.parametrize(("getter", "number"), CASES)
def test_state_cannot_be_touched_in_open(getter: str, number: int, with_ttl: bool) -> None:
    """S1, S2, P9"""
    make, touches = TOUCHES[getter]
    descriptor = make()
    if with_ttl:
        descriptor.enable_time_to_live(StateTtlConfig.new_builder(Time.seconds(1)).build())
    with pytest.raises(KeylessStateError, match=MESSAGE):
        run(lambda keyed: keyed.process(Early(getter, touches[number], descriptor)))


def touch(runtime_context: RuntimeContext) -> None:
    runtime_context.get_state(ValueStateDescriptor("s")).value()


class EarlyMap(MapFunction):
    def open(self, runtime_context: RuntimeContext) -> None:
        touch(runtime_context)

    def map(self, value: Any) -> Any:
        return value


class EarlyWindow(ProcessWindowFunction):
    def open(self, runtime_context: RuntimeContext) -> None:
        touch(runtime_context)

    def process(self, key: Any, context: Any, elements: Iterable[Any]) -> Iterable[Any]:
        return elements


@pytest.mark.parametrize(
    "build",
    [lambda keyed: keyed.map(EarlyMap()), lambda keyed: keyed.window(GlobalWindows.create()).process(EarlyWindow())],
    ids=["map", "window"],
)
def test_so_it_is_in_rich_functions_and_windows(build: Any) -> None:
    """S1, P9"""
    with pytest.raises(KeylessStateError, match=MESSAGE):
        run(build)
