"""Rows between stages: order, payloads, spilling."""

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.core.errors import RecordError
from penstock.runtime.chunk import (
    CONTROL,
    DATA,
    BatchInfo,
    ChunkRow,
    Collected,
    Payload,
    channel_id,
    decode_collected,
    decode_payload,
    encode_collected,
    encode_payload,
)
from penstock.runtime.stage import control_row, sorted_rows


def row(channel: int, seq: int, payload: bytes = b"") -> ChunkRow:
    return ChunkRow(0, 1, channel, seq, DATA, payload)


@given(st.integers(0, 3), st.lists(st.integers(0, 6), min_size=4, max_size=4), st.sampled_from([0, 30, 1 << 30]))
def test_order_in_a_channel_is_kept_and_channels_take_turns(seed: int, lengths: list[int], budget: int) -> None:
    """T2, G4: however Spark's shuffle mixed the rows, and also when payloads wait on disk."""
    rows = [row(c, s, b"%d/%d" % (c, s)) for c, n in enumerate(lengths) for s in range(n)]
    mixed = [*rows, control_row(0, 1, BatchInfo("run", 0, 0))]
    Random(seed).shuffle(mixed)
    first, *rest = sorted_rows(mixed, budget)
    assert first.kind == CONTROL
    assert rest == sorted(rows, key=lambda r: (r.seq, r.channel))


def test_channels_of_different_edges_and_senders_differ() -> None:
    ids = {channel_id(e, s) for e in range(50) for s in range(50)}
    assert len(ids) == 2500


def test_a_payload_comes_back_as_it_was() -> None:
    payload = Payload(["a", None], [1, None], [("k",), 2], [(0, -5), (2, 9)])
    assert decode_payload(encode_payload(payload, "op", "uid")) == payload


def test_an_unpicklable_record_is_named_with_its_operator() -> None:
    """P9"""
    with pytest.raises(
        RecordError, match=r"Operator 'Split' \(uid u1\) emitted a record that cannot be pickled: <func"
    ):
        encode_payload(Payload([1, lambda: 2], None, None, []), "Split", "u1")


def test_collected_records_travel_with_their_origin() -> None:
    collected = Collected("Print", 1, 2, [(1, "a"), {"b": 2}])
    assert decode_collected(encode_collected(collected, "Print", "u1")) == collected


def test_a_collected_record_that_cannot_be_pickled_is_named() -> None:
    with pytest.raises(RecordError, match=r"Operator 'Print' \(uid u1\) emitted a record that cannot be pickled"):
        encode_collected(Collected("Print", 0, 1, [lambda: 2]), "Print", "u1")
