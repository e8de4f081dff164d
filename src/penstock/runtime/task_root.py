"""The root of a subtask: its memory between batches besides the state of its operators."""

from __future__ import annotations

from dataclasses import dataclass, field

from penstock.core.program.job import Vertex
from penstock.runtime.codec import dumps, loads
from penstock.runtime.state.kind_check import Probe
from penstock.runtime.state.page import Earliest
from penstock.runtime.state.store_keys import StoreKeys
from penstock.runtime.valve import ValveState

__all__ = ["TaskRoot", "root_key"]


def root_key(vertex: Vertex, subtask: int) -> bytes:
    """The key under which a subtask's root lies in the state store."""
    return StoreKeys.of(vertex.uid).root(subtask)


@dataclass(slots=True)
class TaskRoot:
    """Written at the end of every batch and read when a subtask is built; in the store it is a dict.

    `nonce` names the attempt that wrote it and `run_id` that attempt's run. `restored`: the root was made from a
    savepoint. `valve`: the watermarks of the input channels. The rest is what the keyed backend starts from: the
    earliest timers of each key group, its size (pages, their bytes, blobs), a probe and the kinds of its states.
    """

    nonce: bytes = b""
    run_id: str | None = None
    restored: bool = False
    valve: ValveState | None = None
    groups: dict[int, Earliest] = field(default_factory=dict)
    size: list[int] = field(default_factory=lambda: [0, 0, 0])
    probe: Probe | None = None
    states: dict[str, str] = field(default_factory=dict)

    @staticmethod
    def decode(blob: bytes | None) -> TaskRoot:
        """Read a root of this or an older version; a subtask without one starts from nothing."""
        if blob is None:
            return TaskRoot()
        saved = loads(blob)
        return TaskRoot(
            saved["nonce"],
            saved["run"],
            bool(saved.get("restored")),
            saved["valve"],
            saved.get("groups", {}),
            saved.get("size", [0, 0, 0]),
            saved.get("probe"),
            saved.get("states", {}),
        )

    def encode(self) -> bytes:
        """The root as the store keeps it. A root that a subtask writes is not a restored one any more."""
        return dumps(
            {
                "nonce": self.nonce,
                "run": self.run_id,
                "valve": self.valve,
                "groups": self.groups,
                "size": self.size,
                "probe": self.probe,
                "states": self.states,
            }
        )
