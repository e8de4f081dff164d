"""State with a time to live so long that nothing expires, and so short that all does."""

from __future__ import annotations

import time

from pyflink.common import Time, Types
from pyflink.datastream import RuntimeContext
from pyflink.datastream.functions import KeyedProcessFunction
from pyflink.datastream.state import (
    ListStateDescriptor,
    MapStateDescriptor,
    StateTtlConfig,
    ValueStateDescriptor,
)

from differential.programs.kit import Program

PROGRAM = Program()


class Kept(KeyedProcessFunction):
    def __init__(self, keep, pause_s=0.0):
        self.keep, self.pause_s = keep, pause_s

    def open(self, runtime_context: RuntimeContext):
        config = (
            StateTtlConfig.new_builder(self.keep)
            .set_update_type(StateTtlConfig.UpdateType.OnCreateAndWrite)
            .set_state_visibility(StateTtlConfig.StateVisibility.NeverReturnExpired)
            .build()
        )
        value = ValueStateDescriptor("value", Types.LONG())
        numbers = ListStateDescriptor("list", Types.LONG())
        names = MapStateDescriptor("map", Types.LONG(), Types.STRING())
        for descriptor in (value, numbers, names):
            descriptor.enable_time_to_live(config)
        self.value = runtime_context.get_state(value)
        self.numbers = runtime_context.get_list_state(numbers)
        self.names = runtime_context.get_map_state(names)

    def process_element(self, value, ctx: KeyedProcessFunction.Context):
        time.sleep(self.pause_s)
        yield value[0], self.value.value(), list(self.numbers.get()), sorted(self.names.items())
        self.value.update((self.value.value() or 0) + value[1])
        self.numbers.add(value[1])
        self.names.put(value[1], "x")


def records(draw, count):
    return [(draw.choice("ab"), draw.randint(0, 5)) for _ in range(count)]


@PROGRAM.stream()
def nothing_expires_in_an_hour(env, draw):
    return env.from_collection(records(draw, 20)).key_by(lambda r: r[0], Types.STRING()).process(Kept(Time.hours(1)))
