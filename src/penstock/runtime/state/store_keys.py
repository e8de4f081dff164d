"""The keys of a state store: they are made and parsed here and nowhere else.

A key is the hash of an operator's uid (8 bytes), one letter for the kind of blob, the key group or the subtask that the
blob belongs to (4 bytes), and what tells blobs of the same kind and place apart. Keys are data on disk: checkpoints and
savepoints hold them, so this layout does not change.
"""

from __future__ import annotations

from enum import Enum
from hashlib import blake2b
from typing import NamedTuple

__all__ = ["BlobKind", "ListBlock", "PageId", "StoreKey", "StoreKeys", "kind_of", "parse_key", "uid_hash"]

_HASH_BYTES = 8
_PLACE = slice(_HASH_BYTES + 1, _HASH_BYTES + 5)
_REST = _PLACE.stop

PageId = tuple[int, int, int]
"""(key group, depth, low bits of the hash): a page holds the keys whose hash ends in these bits."""


class BlobKind(Enum):
    """The kinds of blob, by their letter in keys."""

    ROOT = b"R"
    """What a subtask of a vertex remembers besides state: its clock, its attempt, the timers of its key groups."""
    OPERATOR = b"O"
    """What an operator keeps for itself, one blob for each subtask."""
    LIST = b"L"
    """A block of a list of operator state."""
    DIRECTORY = b"G"
    """The pages of a key group."""
    PAGE = b"P"
    """State and timers of many keys of a key group."""
    SEGMENT = b"S"
    """A part of a long list or of a large map of one key."""


class ListBlock(NamedTuple):
    """Which block of which list of operator state a key names."""

    subtask: int
    mode: bytes
    block: int
    name: str


class StoreKey(NamedTuple):
    """A parsed key. `place` is a key group for pages, directories and segments, and a subtask for the other kinds.

    >>> parse_key(StoreKeys.of("counter").page((3, 1, 0))).page_id
    (3, 1, 0)
    """

    uid_hash: bytes
    kind: BlobKind
    place: int
    rest: bytes

    def encode(self) -> bytes:
        """The key as the store has it."""
        return b"%b%b%b%b" % (self.uid_hash, self.kind.value, self.place.to_bytes(4, "big"), self.rest)

    @property
    def page_id(self) -> PageId:
        """The page that a key of kind `PAGE` names."""
        return (self.place, self.rest[0], int.from_bytes(self.rest[1:5], "big"))

    @property
    def list_block(self) -> ListBlock:
        """The block that a key of kind `LIST` names."""
        rest = self.rest
        return ListBlock(self.place, rest[:1], int.from_bytes(rest[1:5], "big"), rest[5:].decode())


_KINDS = {kind.value: kind for kind in BlobKind}


def uid_hash(uid: str) -> bytes:
    """The first bytes of every key of an operator: state is found by uid."""
    return blake2b(uid.encode(), digest_size=_HASH_BYTES).digest()


def kind_of(key: bytes) -> BlobKind | None:
    """The kind of blob that a key names, None if it is not a key of ours.

    >>> kind_of(StoreKeys.of("counter").root(0))
    <BlobKind.ROOT: b'R'>
    """
    return _KINDS.get(key[_HASH_BYTES : _HASH_BYTES + 1])


def parse_key(key: bytes) -> StoreKey:
    """A key taken apart; raises ValueError for a key that `StoreKeys` did not make."""
    kind = kind_of(key)
    if kind is None:
        raise ValueError(f"{key.hex()} is not a key of a state store")
    return StoreKey(key[:_HASH_BYTES], kind, int.from_bytes(key[_PLACE], "big"), key[_REST:])


class StoreKeys:
    """Makes the keys of one operator's blobs."""

    def __init__(self, prefix: bytes) -> None:
        self.prefix = prefix

    @staticmethod
    def of(uid: str) -> StoreKeys:
        """The keys of the operator with this uid."""
        return StoreKeys(uid_hash(uid))

    def root(self, subtask: int) -> bytes:
        """The key of a subtask's root."""
        return b"%bR%b" % (self.prefix, subtask.to_bytes(4, "big"))

    def operator(self, subtask: int) -> bytes:
        """The key of what the operator keeps for itself in a subtask."""
        return b"%bO%b" % (self.prefix, subtask.to_bytes(4, "big"))

    def list_block(self, subtask: int, mode: bytes, block: int, name: str) -> bytes:
        """The key of a block of a list of operator state; `mode` is one byte, for split or union lists."""
        where = b"%b%b%b" % (subtask.to_bytes(4, "big"), mode, block.to_bytes(4, "big"))
        return b"%bL%b%b" % (self.prefix, where, name.encode())

    def group(self, group: int) -> bytes:
        """The key of the directory of a key group."""
        return b"%bG%b" % (self.prefix, group.to_bytes(4, "big"))

    def page(self, page: PageId) -> bytes:
        """The key of a page."""
        group, depth, bits = page
        return b"%bP%b%b%b" % (
            self.prefix,
            group.to_bytes(4, "big"),
            bytes((depth,)),
            bits.to_bytes(4, "big"),
        )

    def segment(self, group: int, number: int) -> bytes:
        """The key of a segment of a key group."""
        return b"%bS%b%b" % (self.prefix, group.to_bytes(4, "big"), number.to_bytes(8, "big"))
