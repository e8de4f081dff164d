"""Keys of the state store are data on disk: their bytes stay, and what is made can be parsed."""

import pytest

from penstock.runtime.state.store_keys import BlobKind, ListBlock, StoreKeys, kind_of, parse_key, uid_hash

NAMES = StoreKeys.of("counter")
MADE = {
    BlobKind.ROOT: NAMES.root(7),
    BlobKind.OPERATOR: NAMES.operator(7),
    BlobKind.LIST: NAMES.list_block(7, b"U", 3, "offsets"),
    BlobKind.DIRECTORY: NAMES.group(7),
    BlobKind.PAGE: NAMES.page((7, 2, 1)),
    BlobKind.SEGMENT: NAMES.segment(7, 12),
}


@pytest.mark.parametrize("kind", BlobKind)
def test_a_key_says_whose_it_is_of_which_kind_and_where(kind: BlobKind) -> None:
    parsed = parse_key(MADE[kind])
    assert (parsed.uid_hash, parsed.kind, parsed.place) == (uid_hash("counter"), kind, 7)
    assert kind_of(MADE[kind]) is kind
    assert parsed.encode() == MADE[kind]


def test_pages_and_list_blocks_are_found_again() -> None:
    assert parse_key(MADE[BlobKind.PAGE]).page_id == (7, 2, 1)
    assert parse_key(MADE[BlobKind.LIST]).list_block == ListBlock(7, b"U", 3, "offsets")


def test_the_layout_is_that_of_older_checkpoints() -> None:
    assert uid_hash("counter").hex() == "dc6c407cf1ca86ef"
    assert {kind.value: key[8:].hex() for kind, key in MADE.items()} == {
        b"R": "5200000007",
        b"O": "4f00000007",
        b"L": "4c000000075500000003" + b"offsets".hex(),
        b"G": "4700000007",
        b"P": "50000000070200000001",
        b"S": "5300000007000000000000000c",
    }


def test_a_foreign_key_is_refused() -> None:
    assert kind_of(b"12345678?") is None
    with pytest.raises(ValueError, match="is not a key of a state store"):
        parse_key(b"12345678?")
