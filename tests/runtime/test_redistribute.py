"""S3, F4: operator state dealt out to another number of subtasks."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.connectors.files.sink import Encoder, FileSink
from penstock.core.program.specs import BroadcastSpec, FunctionSinkSpec, OperatorSpec, SinkSpec, TimestampsSpec
from penstock.core.time.watermarks import WatermarkStrategy
from penstock.runtime.redistribute import Share, redistribute, split_items
from penstock.runtime.valve import ValveState

FILE_SINK = SinkSpec(FileSink.for_row_format("/x", Encoder.json_encoder()).build())


@given(lists=st.lists(st.lists(st.integers(), max_size=6), min_size=1, max_size=5), parallelism=st.integers(1, 7))
def test_lists_are_split_evenly_and_in_order(lists: list[list[int]], parallelism: int) -> None:
    dealt = [split_items(dict(enumerate(lists)), Share(s, parallelism, len(lists))) for s in range(parallelism)]
    assert sum(dealt, []) == sum(lists, [])  # noqa: RUF017 - short
    if parallelism == len(lists):
        assert dealt == lists
    else:
        assert max(map(len, dealt)) - min(map(len, dealt)) <= 1


@pytest.mark.parametrize("spec", [FILE_SINK, FunctionSinkSpec(print)])
def test_what_is_prepared_goes_to_the_first_subtask_in_a_new_generation(spec: OperatorSpec) -> None:
    """F6: every start from a savepoint is a new generation; what was committed is not committed again."""
    states = {0: (["a", "b"], "run 1", 4), 2: ["c"]}
    assert [redistribute(spec, states, Share(s, 2, 3)) for s in range(2)] == [["a", "b", "c"], None]
    assert redistribute(spec, states, Share(0, 2, 3, committed=True)) is None
    assert redistribute(spec, {0: ([], "run 1", 4)}, Share(0, 2, 3)) is None


def test_broadcast_state_goes_to_all() -> None:
    spec = BroadcastSpec.__new__(BroadcastSpec)
    states = {0: {"rules": {1: 2}}, 1: {"rules": {1: 2}}}
    assert [redistribute(spec, states, Share(s, 5, 2)) for s in range(5)] == [states[0]] * 5


def test_generators_go_with_their_split() -> None:
    """T7: generators of source splits; the clock is the least that any had reached."""
    spec = TimestampsSpec(WatermarkStrategy.no_watermarks())
    first = (ValveState({(0, 0): 10, (0, 2): 30}, frozenset({(0, 2)}), frozenset(), 10), {(0, 0): "a", (0, 2): "c"})
    other = (ValveState({(0, 1): 7}, frozenset(), frozenset({(0, 1)}), 7), {(0, 1): "b"})
    valve, watches = redistribute(spec, {0: first, 1: other}, Share(2, 3, 2))
    assert watches == {(0, 0): "a", (0, 1): "b", (0, 2): "c"}
    assert valve == ValveState({(0, 0): 10, (0, 1): 7, (0, 2): 30}, frozenset({(0, 2)}), frozenset({(0, 1)}), 7)
    same, _ = redistribute(spec, {0: first, 1: other}, Share(0, 2, 2))
    assert same.clock == 10
    assert redistribute(spec, {0: first}, Share(0, 1, 1, drained=True)) is None
