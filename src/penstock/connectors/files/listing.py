"""Which files lie under the paths of a source."""

from __future__ import annotations

import glob
import os
from collections.abc import Iterator, Sequence
from hashlib import blake2b
from typing import NamedTuple

from penstock.core.errors import ProgramError, SourceError

__all__ = ["FoundFile", "edges", "fingerprint", "list_files", "local_path", "path_hash", "stat_file"]

_HIDDEN = (".", "_")
_EDGE_BYTES = 4096
EDGES = 6
"""How many bytes `edges` returns."""
PATH_HASH = 8
"""How many bytes `path_hash` returns."""


class FoundFile(NamedTuple):
    """A file as it was when it was listed."""

    path: str
    size: int
    mtime_ns: int


def local_path(path: str, name: str) -> str:
    """A path of this machine; other file systems are refused.

    >>> local_path("file:///data", "FileSource")
    '/data'
    """
    path = path.removeprefix("file://")
    if "://" in path:
        raise ProgramError(f"{name}: {path!r} is not a local path; mount the file system, or read it through Spark")
    return path


def list_files(paths: Sequence[str], may_be_missing: bool = False) -> list[FoundFile]:
    """Every file once, in the order of paths: folders with all below them, patterns, names; hidden ones left out."""
    found = sorted({file for path in paths for file in _expand(local_path(path, "FileSource"), may_be_missing)})
    return [f for f in map(stat_file, found) if f is not None]


def stat_file(path: str) -> FoundFile | None:
    """A file as it is now; None if it was taken away."""
    try:
        stat = os.stat(path)
    except FileNotFoundError:
        return None
    return FoundFile(path, stat.st_size, stat.st_mtime_ns)


def _expand(path: str, may_be_missing: bool) -> Iterator[str]:
    if os.path.isdir(path):
        yield from _below(path)
        return
    found = [path] if os.path.exists(path) else [m for m in glob.glob(path) if not _hidden(m)]
    if not found and not (may_be_missing and glob.has_magic(path)):
        raise SourceError(f"FileSource: {path!r} does not exist and matches no file")
    for match in found:
        yield from _below(match) if os.path.isdir(match) else [match]


def _hidden(path: str) -> bool:
    return os.path.basename(path).startswith(_HIDDEN)


def _below(folder: str) -> Iterator[str]:
    for place, folders, names in os.walk(folder):
        folders[:] = [f for f in folders if not f.startswith(_HIDDEN)]
        yield from (os.path.join(place, n) for n in names if not n.startswith(_HIDDEN))


def path_hash(path: str) -> bytes:
    """Stands for a path in positions, which must stay small."""
    return blake2b(path.encode("utf-8", "surrogateescape"), digest_size=PATH_HASH).digest()


def fingerprint(files: Sequence[FoundFile], times: bool) -> str:
    """Changes if a file is added, removed, renamed or gets another size; with `times` also if it is modified."""
    listed = "\n".join(f"{f.path}\t{f.size}" + (f"\t{f.mtime_ns}" if times else "") for f in files)
    return blake2b(listed.encode("utf-8", "surrogateescape"), digest_size=8).hexdigest()


def edges(path: str, upto: int) -> bytes:
    """Tells whether a file still begins with the same `upto` bytes: a hash of the first and the last 4 KiB of them.

    A file that was replaced, or rewritten from its beginning or its end, differs there; reading all of a large file
    again at every look would cost too much.
    """
    with open(path, "rb") as file:
        head = file.read(min(_EDGE_BYTES, upto))
        file.seek(max(len(head), upto - _EDGE_BYTES))
        tail = file.read(upto - file.tell())
    return blake2b(b"%d\0%b%b" % (upto, head, tail), digest_size=EDGES).digest()
