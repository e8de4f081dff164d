"""What a savepoint says of itself: `metadata.json`, which is written last (docs/savepoint-format.md)."""

from __future__ import annotations

import platform
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field

from penstock._version import __version__
from penstock.core.contracts.source import Position
from penstock.core.errors import SavepointError
from penstock.savepoint.sealed_json import Json, sealed, unsealed

__all__ = [
    "FORMAT",
    "ChannelNote",
    "ClockNote",
    "EdgeNote",
    "FileNote",
    "Metadata",
    "OperatorNote",
    "PlanNotes",
    "SourceNote",
    "VertexNote",
    "versions",
]

FORMAT = 3
"""Goes up by one when a reader of the version before could no longer understand what is written.

Format 1 had no checksum of the metadata, and wrote dataclasses and named tuples without the names of their fields.
Format 2 named Penstock's classes by their modules, and not by `penstock.pickled`.
"""

_SIGN = "penstock savepoint"


@dataclass(frozen=True, slots=True)
class OperatorNote:
    """An operator. `vertex`: uid of the head of its chain; `kind`: the class of its spec; `form`: how it lays out its
    state, if its kind has several ways; `blobs`: how many it has of each kind; `states`: the kinds of its keyed states,
    by name; `contents`: what its windows keep (`reduce`, `aggregate`, `records`); `mark`: tells operators apart that
    have generated uids. Savepoints of format 1 have none of the last three.
    """

    uid: str
    name: str
    vertex: str
    kind: str
    parallelism: int
    keyed: bool
    form: str = ""
    blobs: Mapping[str, int] = field(default_factory=dict)
    states: Mapping[str, str] = field(default_factory=dict)
    contents: str = ""
    mark: str = ""


@dataclass(frozen=True, slots=True)
class EdgeNote:
    """An input of a vertex. `sender`: uid of the head of the sending chain; `order`: tells equal inputs apart."""

    edge: int
    sender: str
    tag: str | None
    input: int
    order: int = 0

    @property
    def identity(self) -> tuple[str, str | None, int, int]:
        """By what the edge is found again in a changed program."""
        return (self.sender, self.tag, self.input, self.order)


@dataclass(frozen=True, slots=True)
class ChannelNote:
    """The last watermark of a channel; `status`: active, idle or ended."""

    edge: int
    sender: int
    mark: int
    status: str = "active"


@dataclass(frozen=True, slots=True)
class ClockNote:
    """A subtask's event time and its channels."""

    clock: int
    channels: tuple[ChannelNote, ...] = ()


@dataclass(frozen=True, slots=True)
class VertexNote:
    """A chain of operators and the clocks of its subtasks."""

    uid: str
    edges: tuple[EdgeNote, ...]
    subtasks: tuple[ClockNote, ...]


@dataclass(frozen=True, slots=True)
class SourceNote:
    """A source and where its splits stand. `kind`: its class, which alone understands its positions."""

    uid: str
    name: str
    kind: str
    splits: tuple[Position, ...]


@dataclass(frozen=True, slots=True)
class FileNote:
    """A file of state. `digest`: BLAKE2b of its bytes, 16 bytes long."""

    name: str
    rows: int
    size: int
    digest: str


@dataclass(frozen=True, slots=True)
class PlanNotes:
    """The part of the metadata that describes the plan; a checkpoint folder has it too, in its description."""

    job: str
    max_parallelism: int
    operators: tuple[OperatorNote, ...]
    vertices: tuple[VertexNote, ...]
    sources: tuple[SourceNote, ...]

    def to_json(self) -> Json:
        """The notes as a JSON object."""
        return asdict(self)

    @staticmethod
    def from_json(data: Json) -> PlanNotes:
        """The notes that `to_json` of this version or an earlier one made."""
        return PlanNotes(data["job"], data["max_parallelism"], *_notes(data))


@dataclass(frozen=True, slots=True)
class Metadata:
    """Everything about a savepoint but the state itself.

    `committed`: what its sinks had prepared has been committed. `drained`: event time had been brought to its end.

    >>> made = Metadata("5f1a", "counts", 7, 1700000000000, 128, (), (), (), ())
    >>> Metadata.decode(made.encode().encode(), "there") == made
    True
    """

    ident: str
    job: str
    batch: int
    time_ms: int
    max_parallelism: int
    operators: tuple[OperatorNote, ...]
    vertices: tuple[VertexNote, ...]
    sources: tuple[SourceNote, ...]
    files: tuple[FileNote, ...]
    committed: bool = True
    drained: bool = False
    versions: Mapping[str, str | None] = field(default_factory=lambda: versions())

    def encode(self) -> str:
        """The text of `metadata.json`."""
        return sealed({"format": FORMAT, "is": _SIGN, **asdict(self)})

    @staticmethod
    def decode(raw: bytes, where: str) -> Metadata:
        """Read the text back. Raises SavepointError if it is damaged, or of a later format than this version reads."""
        try:
            data, checked = unsealed(raw)
        except ValueError as error:
            raise _damaged(where, str(error)) from None
        try:
            found, sign = data.pop("format"), data.pop("is")
        except KeyError as error:
            raise SavepointError(f"{where} is not a savepoint of Penstock: it has no {error}") from None
        if sign != _SIGN:
            raise SavepointError(f"{where} is not a savepoint of Penstock: it is a {sign!r}")
        if checked != (found != 1):
            raise _damaged(where, "its checksum is missing" if not checked else f"its format is {found!r}")
        if found not in (1, 2, FORMAT):
            wrote = data.get("versions", {}).get("penstock")
            raise SavepointError(
                f"{where} has savepoint format {found} (written by Penstock {wrote}); this version of Penstock, "
                f"{__version__}, reads formats up to {FORMAT}. Use a version of Penstock that reads it"
            )
        return _decoded(data, where)

    def operator(self, uid: str) -> OperatorNote | None:
        """The operator with a uid."""
        return next((op for op in self.operators if op.uid == uid), None)

    def vertex(self, uid: str) -> VertexNote | None:
        """The chain to which the operator with a uid belonged."""
        note = self.operator(uid)
        return None if note is None else next((v for v in self.vertices if v.uid == note.vertex), None)

    def source(self, uid: str) -> SourceNote | None:
        """The source with a uid."""
        return next((s for s in self.sources if s.uid == uid), None)


def versions(spark: str | None = None) -> dict[str, str | None]:
    """The versions that go into the metadata; `spark` if Spark ran the job."""
    return {"penstock": __version__, "python": platform.python_version(), "spark": spark}


def _decoded(data: Json, where: str) -> Metadata:
    try:
        return Metadata(
            **{
                **data,
                **dict(zip(("operators", "vertices", "sources"), _notes(data), strict=True)),
                "files": tuple(FileNote(**file) for file in data["files"]),
            }
        )
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise _damaged(where, repr(error)) from None


def _damaged(where: str, what: str) -> SavepointError:
    return SavepointError(f"The savepoint is damaged: {where}: {what}. Restore the file from a copy")


def _notes(data: Json) -> tuple[tuple[OperatorNote, ...], tuple[VertexNote, ...], tuple[SourceNote, ...]]:
    return (
        tuple(OperatorNote(**op) for op in data["operators"]),
        tuple(map(_vertex, data["vertices"])),
        tuple(map(_source, data["sources"])),
    )


def _vertex(data: Json) -> VertexNote:
    clocks = (
        ClockNote(c["clock"], tuple(ChannelNote(**channel) for channel in c["channels"])) for c in data["subtasks"]
    )
    return VertexNote(data["uid"], tuple(EdgeNote(**e) for e in data["edges"]), tuple(clocks))


def _source(data: Json) -> SourceNote:
    return SourceNote(**{**data, "splits": tuple(map(Position.from_json, data["splits"]))})
