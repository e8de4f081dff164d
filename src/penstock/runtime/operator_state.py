"""Operator state: the lists of a subtask, in the store as blocks of items."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from hashlib import blake2b

from penstock.core.errors import ProgramError, StateError
from penstock.core.functions.base import KeyedStateStore
from penstock.core.functions.checkpointed import (
    CheckpointedFunction,
    FunctionInitializationContext,
    FunctionSnapshotContext,
    OperatorStateStore,
)
from penstock.core.program.job import ChainedOperator
from penstock.core.state.keyed import ListState, ListStateDescriptor
from penstock.runtime.chunk import BatchInfo
from penstock.runtime.codec import decode, dumps, encode, loads
from penstock.runtime.failures import NO_RECORD, user_failure
from penstock.runtime.state.collections import item_size
from penstock.runtime.state.store import StateStore
from penstock.runtime.state.store_keys import BlobKind, StoreKeys, kind_of, parse_key
from penstock.runtime.values import Record, Stored

__all__ = ["SPLIT", "FunctionState", "Place", "RunStart", "gather_union", "list_blocks"]

BLOCK_BYTES = 32 << 10
SPLIT, UNION = b"S", b"U"


@dataclass(frozen=True, slots=True)
class RunStart:
    """The union lists that a run starts from, as the last durable batch left them, with the items of all subtasks.

    They are keyed by the hash of the operator's uid and the name of the state; None if the host cannot read them. A
    subtask that is built again within the run gets its own items, since the others still work with theirs. `attempt`
    counts the restarts of the job.
    """

    run_id: str
    union: Mapping[tuple[bytes, str], list[Stored]] | None = field(default_factory=dict)
    attempt: int = 0


def gather_union(blobs: Iterable[tuple[bytes, bytes]]) -> dict[tuple[bytes, str], list[Stored]]:
    """Union lists in the blobs of all subtasks' stores, in order of subtask."""
    found: dict[tuple[bytes, str], list[Stored]] = {}
    for key, blob in sorted(blobs):
        if kind_of(key) is BlobKind.LIST:
            parsed = parse_key(key)
            if (block := parsed.list_block).mode == UNION:
                found.setdefault((parsed.uid_hash, block.name), []).extend(loads(blob)[1])
    return found


@dataclass(frozen=True, slots=True)
class Place:
    """The operator and the subtask that a function runs in. `run_id`: the run that wrote the restored state, if any."""

    operator: ChainedOperator
    names: StoreKeys
    subtask: int
    parallelism: int
    run_id: str | None
    start: RunStart | None


class _OperatorList(ListState[Record]):
    """Items of this subtask, each encoded by itself."""

    def __init__(self, items: list[Stored]) -> None:
        self.items = items
        self.changed = False

    def get(self) -> Iterable[Record]:
        return list(map(decode, self.items))

    def add(self, value: Record) -> None:
        self.add_all([value])

    def add_all(self, values: Iterable[Record]) -> None:
        self.items = self.items + list(map(encode, values))
        self.changed = True

    def update(self, values: Iterable[Record]) -> None:
        self.items = list(map(encode, values))
        self.changed = True

    def clear(self) -> None:
        self.update([])


@dataclass(slots=True)
class _Stored:
    """A list, and a digest of each of its blocks in the store."""

    state: _OperatorList
    mode: bytes
    name: str
    digests: list[bytes]


class FunctionState(OperatorStateStore, FunctionInitializationContext, FunctionSnapshotContext):
    """The operator state of one function in one subtask, and the contexts it is given."""

    def __init__(self, function: CheckpointedFunction, place: Place, store: StateStore, keyed: KeyedStateStore) -> None:
        self._function, self._place, self._keyed = function, place, keyed
        self.store = store
        self._states: dict[str, _Stored] = {}
        self._batch = BatchInfo("", 0, 0)

    # -- the function's life ------------------------------------------------------------------------

    def initialize(self) -> None:
        """Call the function's `initialize_state`: once, before `open`."""
        self._call("initialize_state()", self._function.initialize_state)

    def save(self, batch: BatchInfo) -> None:
        """Call the function's `snapshot_state`, and write the lists that have changed."""
        self._batch = batch
        self._call("snapshot_state()", self._function.snapshot_state)
        for stored in self._states.values():
            if stored.state.changed:
                self._write(stored)

    def _call(self, what: str, method: Callable[[FunctionState], None]) -> None:
        operator = self._place.operator
        try:
            method(self)
        except Exception as error:
            raise user_failure(operator.name, operator.uid, what, NO_RECORD, error) from error

    # -- contexts -----------------------------------------------------------------------------------

    def is_restored(self) -> bool:
        """Whether an earlier run left state."""
        return self._place.run_id is not None

    def get_operator_state_store(self) -> OperatorStateStore:
        """Where the function gets its lists."""
        return self

    def get_keyed_state_store(self) -> KeyedStateStore:
        """Where the function gets keyed state, if its input is keyed."""
        return self._keyed

    def get_checkpoint_id(self) -> int:
        """The number of the checkpoint that is being made: Flink counts from 1, batches from 0."""
        return self._batch.batch_id + 1

    def get_checkpoint_timestamp(self) -> int:
        """The processing time of the batch."""
        return self._batch.processing_time_ms

    # -- lists --------------------------------------------------------------------------------------

    def get_registered_state_names(self) -> set[str]:
        """The names of the lists that the function has asked for."""
        return set(self._states)

    def get_list_state(self, state_descriptor: ListStateDescriptor) -> ListState[Record]:
        """A list that is split among subtasks when their number changes."""
        return self._list(state_descriptor, SPLIT)

    def get_union_list_state(self, state_descriptor: ListStateDescriptor) -> ListState[Record]:
        """A list that every subtask is given whole when a run starts."""
        return self._list(state_descriptor, UNION)

    def _list(self, descriptor: ListStateDescriptor, mode: bytes) -> ListState[Record]:
        self._check(descriptor, mode)
        if descriptor.name not in self._states:
            self._states[descriptor.name] = self._load(descriptor.name, mode)
        return self._states[descriptor.name].state

    def _check(self, descriptor: ListStateDescriptor, mode: bytes) -> None:
        place = self._place
        where = f"Operator '{place.operator.name}' (uid {place.operator.uid})"
        if not isinstance(descriptor, ListStateDescriptor):
            raise ProgramError(f"{where}: {type(descriptor).__name__} given where a ListStateDescriptor is needed")
        if descriptor.ttl_config is not None:
            raise ProgramError(
                f"{where} gives the operator state {descriptor.name!r} a time to live: only keyed state can have one"
            )
        known = self._states.get(descriptor.name)
        if known is not None and known.mode != mode:
            raise ProgramError(
                f"{where} uses the state name {descriptor.name!r} for a list and for a union list: "
                "give each a name of its own"
            )
        if mode == UNION and place.parallelism > 1 and (place.start is None or place.start.union is None):
            raise ProgramError(
                f"{where} asks for the union list state {descriptor.name!r} at parallelism {place.parallelism}, which "
                "this host cannot put together after a restart: call set_parallelism(1) on it, or use get_list_state"
            )

    def _load(self, name: str, mode: bytes) -> _Stored:
        """The subtask's own items; of a union list, at the start of a run, the items of all subtasks."""
        place = self._place
        self._refuse_other_mode(name, mode)
        own, digests = self._read(name, mode)
        stored = _Stored(_OperatorList(own), mode, name, digests)
        if mode == UNION and place.parallelism > 1 and self.is_restored():
            assert place.start is not None
            assert place.start.union is not None
            if place.run_id != place.start.run_id:
                stored.state.items = list(place.start.union.get((place.names.prefix, name), ()))
                stored.state.changed = True
        return stored

    def _refuse_other_mode(self, name: str, mode: bytes) -> None:
        """Refuse a list that was written in the other mode: it would not be found, and start empty."""
        place, other = self._place, UNION if mode == SPLIT else SPLIT
        gathered = place.start.union if place.start is not None and place.start.union is not None else {}
        in_union = mode == SPLIT and self.is_restored() and bool(gathered.get((place.names.prefix, name)))
        if in_union or self.store.get_many([self._key(name, other, 0)])[0] is not None:
            now, before = ("a list", "a union list") if mode == SPLIT else ("a union list", "a list")
            raise StateError(
                f"Operator '{place.operator.name}' (uid {place.operator.uid}) uses the operator state {name!r} as "
                f"{now}, but its checkpoint or savepoint holds {before} under that name, which would be lost: ask for "
                f"{before} as before, or give {now} another name"
            )

    # -- the store ----------------------------------------------------------------------------------

    def _key(self, name: str, mode: bytes, block: int) -> bytes:
        return self._place.names.list_block(self._place.subtask, mode, block, name)

    def _read(self, name: str, mode: bytes) -> tuple[list[Stored], list[bytes]]:
        first = self.store.get_many([self._key(name, mode, 0)])[0]
        if first is None:
            return [], []
        count = loads(first)[0]
        rest = self.store.get_many([self._key(name, mode, block) for block in range(1, count)])
        blobs = [first, *(blob for blob in rest if blob is not None)]
        assert len(blobs) == count, f"a block of the operator state {name!r} is missing from the state store"
        return [item for blob in blobs for item in loads(blob)[1]], list(map(_digest, blobs))

    def _write(self, stored: _Stored) -> None:
        """Write the blocks that differ from those in the store; an empty list has none."""
        blobs = list_blocks(stored.state.items)
        digests = list(map(_digest, blobs))
        old = stored.digests
        self.store.delete_many(self._key(stored.name, stored.mode, i) for i in range(len(blobs), len(old)))
        self.store.put_many(
            (self._key(stored.name, stored.mode, i), blob)
            for i, blob in enumerate(blobs)
            if i >= len(old) or old[i] != digests[i]
        )
        stored.digests, stored.state.changed = digests, False


def _digest(blob: bytes) -> bytes:
    return blake2b(blob, digest_size=16).digest()


def list_blocks(items: list[Stored]) -> list[bytes]:
    """The blocks in which the store keeps a list."""
    blocks = _blocks(items)
    return [dumps((len(blocks), block)) for block in blocks]


def _blocks(items: list[Stored]) -> list[list[Stored]]:
    blocks: list[list[Stored]] = []
    room = 0
    for item in items:
        if room <= 0:
            blocks.append([])
            room = BLOCK_BYTES
        blocks[-1].append(item)
        room -= item_size(item)
    return blocks
