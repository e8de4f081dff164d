"""U13: a state machine: has an even number of zeros come so far?

Two states and a bit of keyed state say it better than a pattern: after every digit of a machine the answer comes out.

    penstock run examples/even_zeros.py
"""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

from penstock.common import Types
from penstock.datastream import DataStream, KeyedProcessFunction, RuntimeContext, StreamExecutionEnvironment
from penstock.datastream.state import ValueStateDescriptor

EVEN, ODD = "even", "odd"
NEXT = {(EVEN, 0): ODD, (ODD, 0): EVEN, (EVEN, 1): EVEN, (ODD, 1): ODD}


def generated(machines: int = 3, digits: int = 30, seed: int = 13) -> list[tuple[str, int]]:
    """Digits of several machines, mixed."""
    random = Random(seed)
    return [(f"m{random.randrange(machines)}", random.randint(0, 1)) for _ in range(digits)]


class EvenZeros(KeyedProcessFunction[str, tuple[str, int], tuple[str, int, str]]):
    """The state of a machine is the state of the automaton; a machine begins with no zeros, which is even."""

    def open(self, runtime_context: RuntimeContext) -> None:
        self.state = runtime_context.get_state(ValueStateDescriptor("state", Types.STRING()))

    def process_element(
        self, value: tuple[str, int], ctx: KeyedProcessFunction.Context[str]
    ) -> Iterator[tuple[str, int, str]]:
        machine, digit = value
        state = NEXT[self.state.value() or EVEN, digit]
        self.state.update(state)
        yield machine, digit, state


def even_zeros(digits: DataStream[tuple[str, int]]) -> DataStream[tuple[str, int, str]]:
    """For every digit: (machine, digit, even or odd)."""
    return digits.key_by(lambda value: value[0]).process(EvenZeros()).name("even zeros")


def main() -> None:
    env = StreamExecutionEnvironment.get_execution_environment()
    even_zeros(env.from_collection(generated())).print()
    env.execute("even zeros")


if __name__ == "__main__":
    main()
