"""A plain Python loop: the floor under every other peer. No engine, no durability, one core, input in memory."""

from __future__ import annotations

import gc
from time import perf_counter
from typing import Any

from benchmarks import events
from benchmarks.envs import DATA
from benchmarks.files import READERS, file_of, summed
from benchmarks.inputs import NOTHING, Answer, Record, checksum_of, records
from benchmarks.model import RATE, Outcome
from benchmarks.params import EventParams, FileParams, RuntimeParams, SumParams
from benchmarks.peers import functions
from benchmarks.worker import EVENT_JOBS, serve

CHUNK = 10_000


def running_sum(params: SumParams) -> Outcome:
    """Sums in a dict; each chunk of output goes to the same consumer as everywhere."""
    given = records(0, params.records, params.keys)
    gc.freeze()
    sums: dict[int, int] = {}
    answer, started = NOTHING, perf_counter()
    for first in range(0, params.records, CHUNK):
        if first == params.warmup:
            started = perf_counter()
        emitted = _add(sums, given[first : first + CHUNK])
        answer += Answer(len(emitted), checksum_of(emitted))
    return Outcome({RATE: (params.records - params.warmup) / (perf_counter() - started)}, answer)


def _add(sums: dict[int, int], given: list[Record]) -> list[Record]:
    emitted = []
    for key, value in given:
        sums[key] = total = sums.get(key, 0) + value
        emitted.append((key, total))
    return emitted


# -- the runtime's yardsticks: the same user functions, called by hand ------------------------------------


class DictState:
    """The smallest state that a function can be given: the values of all keys in a dict, and the current key."""

    def __init__(self) -> None:
        self.values: dict[int, Any] = {}
        self.key = 0

    def value(self) -> Any:
        return self.values.get(self.key)

    def update(self, value: Any) -> None:
        self.values[self.key] = value


class DictContext:
    """Stands for the runtime context: hands out the one state."""

    def __init__(self, state: DictState) -> None:
        self.state = state

    def get_state(self, descriptor: object) -> DictState:
        return self.state


def runtime(params: RuntimeParams) -> Outcome:
    """The best of some passes, as for the runtime itself, and with its setting of the cycle collector."""
    gc.set_threshold(50_000, 20, 20)
    measure = {"chain": _chain, "counter": _counter}[params.what]
    passes = [measure(params) for _ in range(params.passes)]
    seconds = min(seconds for seconds, _ in passes)
    return Outcome({RATE: params.records / seconds}, passes[0][1], [seconds for seconds, _ in passes])


def _chain(params: RuntimeParams) -> tuple[float, Answer]:
    first, keep, last = functions.FIRST, functions.KEEP, functions.LAST
    given = functions.chain_input(params.records)
    started = perf_counter()
    out = []
    for value in given:
        made = first(value)
        if keep(made):
            out.append(last(made))
    return perf_counter() - started, functions.chain_answer(out)


def _counter(params: RuntimeParams) -> tuple[float, Answer]:
    given = functions.counter_input(params.records, params.keys)
    state = DictState()
    function = functions.Counter()
    function.open(DictContext(state))
    call, extend = function.process_element, (out := list[Record]()).extend
    started = perf_counter()
    for record in given:
        state.key = record[0]
        extend(call(record, None))
    return perf_counter() - started, functions.counter_answer(out)


# -- the event-time jobs: the loops that make the answers ----------------------------------------------------


def event_time(params: EventParams) -> Outcome:
    """From the indices to the answer, no warm-up."""
    started = perf_counter()
    answer = events.expected(params.what, params.records)
    return Outcome({RATE: params.records / (perf_counter() - started)}, answer)


def of_file(params: FileParams) -> Outcome:
    """The csv and json of the standard library."""
    path = str(file_of(params.kind, params.records, DATA))
    started = perf_counter()
    answer = summed(READERS[params.kind](path))
    return Outcome({RATE: params.records / (perf_counter() - started)}, answer)


if __name__ == "__main__":
    serve({"running-sum": running_sum, "runtime": runtime, "files": of_file, **dict.fromkeys(EVENT_JOBS, event_time)})
