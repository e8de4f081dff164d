"""A savepoint as rows of a job's first batch.

The rows go to the subtask that owns their state now, and along the line of stages to the stage where its uid lives.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from penstock.core.program.job import ChainedOperator, JobPlan, Vertex
from penstock.runtime.chunk import RESTORE, RESTORE_SEQ, ChunkRow
from penstock.runtime.codec import dumps, loads
from penstock.runtime.keyhash import subtask_of_group
from penstock.runtime.operator_state import SPLIT, list_blocks
from penstock.runtime.redistribute import Share, redistribute, split_items
from penstock.runtime.state.store_keys import StoreKeys
from penstock.runtime.task_root import root_key
from penstock.savepoint.blobs import KEYED, Blob
from penstock.savepoint.metadata import FileNote
from penstock.savepoint.restored_clocks import restored_root
from penstock.savepoint.savepoint import Savepoint

__all__ = ["page_rows", "restore_rows", "subtask_rows"]

ROW_BYTES = 1 << 20

_Entry = tuple[bytes, bytes]


def restore_rows(plan: JobPlan, savepoint: Savepoint) -> Iterator[ChunkRow]:
    """All rows of a savepoint, to which `plan` has been fitted; the local host reads them in its first batch."""
    yield from subtask_rows(plan, savepoint)
    for file in savepoint.metadata.files:
        yield from page_rows(plan, savepoint, file)


def page_rows(plan: JobPlan, savepoint: Savepoint, file: FileNote) -> Iterator[ChunkRow]:
    """The keyed state in one file. Blobs go as they are, since key groups move as a whole.

    State of operators that the plan does not have is left out.
    """
    heads = {v.uid: v for v in plan.vertices if v.operators[0].spec.is_keyed}
    waiting: dict[tuple[int, int], list[_Entry]] = defaultdict(list)
    sizes: dict[tuple[int, int], int] = defaultdict(int)
    for blob in savepoint.folder.read_blobs(file, KEYED):
        vertex = heads.get(blob.operator)
        if vertex is None:
            continue
        place = (vertex.vertex_id, subtask_of_group(blob.place, vertex.parallelism, plan.max_parallelism))
        waiting[place].append((blob.key, blob.value))
        sizes[place] += len(blob.value)
        if sizes[place] >= ROW_BYTES:
            yield _row(plan, *place, waiting.pop(place))
            del sizes[place]
    for place, entries in waiting.items():
        yield _row(plan, *place, entries)


def subtask_rows(plan: JobPlan, savepoint: Savepoint) -> Iterator[ChunkRow]:
    """What belongs to subtasks: their clocks, and operator state, distributed over the subtasks that there are now."""
    kept = _by_operator(savepoint.blobs({"operator", "list"}))
    for vertex in plan.vertices:
        if vertex.is_source:
            continue
        for subtask in range(vertex.parallelism):
            root = restored_root(plan, vertex, subtask, savepoint.metadata)
            entries = [(root_key(vertex, subtask), dumps(root))]
            for op in vertex.operators:
                entries.extend(_operator_entries(op, vertex, subtask, kept.get(op.uid), savepoint))
            yield _row(plan, vertex.vertex_id, subtask, entries)


class _Kept(NamedTuple):
    """The operator state of one operator: snapshots by subtask, and split lists by name and subtask."""

    states: dict[int, object]
    lists: dict[str, dict[int, list[object]]]


def _by_operator(blobs: Iterable[Blob]) -> dict[str, _Kept]:
    found: dict[str, _Kept] = defaultdict(lambda: _Kept({}, {}))
    for blob in sorted(blobs, key=lambda b: (b.operator, b.place, b.rest)):
        if blob.kind == "operator":
            found[blob.operator].states[blob.place] = loads(blob.value)
        elif (block := blob.list_block).mode == SPLIT:
            lists = found[blob.operator].lists.setdefault(block.name, {})
            lists.setdefault(blob.place, []).extend(loads(blob.value)[1])
    return found


def _operator_entries(
    op: ChainedOperator, vertex: Vertex, subtask: int, kept: _Kept | None, savepoint: Savepoint
) -> Iterator[_Entry]:
    note = savepoint.metadata.operator(op.uid)
    if kept is None or note is None:
        return
    names = StoreKeys.of(op.uid)
    metadata = savepoint.metadata
    share = Share(subtask, vertex.parallelism, note.parallelism, metadata.committed, metadata.drained)
    state = redistribute(op.spec, kept.states, share) if kept.states else None
    if state is not None:
        yield names.operator(subtask), dumps(state)
    for name, lists in kept.lists.items():
        for number, block in enumerate(list_blocks(split_items(lists, share))):
            yield names.list_block(subtask, SPLIT, number, name), block


def _row(plan: JobPlan, vertex_id: int, subtask: int, entries: list[_Entry]) -> ChunkRow:
    partition = plan.partition_of(plan.vertex(vertex_id), subtask)
    return ChunkRow(partition, vertex_id, 0, RESTORE_SEQ, RESTORE, dumps(entries))
