"""Streams whose records are kept for later jobs (O1)."""

from __future__ import annotations

import os
import tempfile
from typing import TYPE_CHECKING, Any, TypeVar
from weakref import finalize

from penstock.api.data_stream import DataStream
from penstock.api.draft import Draft, Feed, upstream
from penstock.connectors.cache import CacheSink, CacheSource, forget
from penstock.core.config.options.tuning import CACHE_DIR
from penstock.core.errors import ProgramError
from penstock.core.scratch import scratch_folder
from penstock.core.specs import OperatorSpec, SinkSpec, SourceSpec, TransformSpec
from penstock.jobs.client import JobClient, JobStatus

if TYPE_CHECKING:
    from penstock.api.environment import StreamExecutionEnvironment

T = TypeVar("T")

__all__ = ["Cache", "CachedDataStream", "cached"]


def _same(value: Any) -> Any:
    return value


class Cache:
    """What a cached stream is to its environment: a node that computes until a job has filled the cache, then reads.

    The folder is local to the driver unless `penstock.cache.dir` names one that all workers reach.
    """

    def __init__(self, draft: Draft, root: str | None) -> None:
        self.draft = draft
        self._compute: tuple[OperatorSpec, tuple[Feed, ...]] = (draft.spec, draft.inputs)
        self._root = tempfile.mkdtemp(prefix="penstock-cache-", dir=root or scratch_folder())
        self._generation = 0
        self._filling: JobClient | None = None
        self._gone = finalize(self, forget, self._root)

    @property
    def folder(self) -> str:
        return os.path.join(self._root, str(self._generation))

    def settle(self) -> None:
        """If the job that filled the cache has ended well, read from it from now on; if not, try again."""
        if self._filling is None:
            return
        status = self._filling.status
        if status is JobStatus.FINISHED:
            self.draft.spec, self.draft.inputs = SourceSpec(CacheSource(self.folder)), ()
            self._filling = None
        elif status in (JobStatus.FAILED, JobStatus.CANCELED):
            self.invalidate()

    def wanted_by(self, drafts: list[Draft]) -> bool:
        """Whether a program computes the stream, and nobody does so already."""
        return bool(self.draft.inputs) and self._filling is None and self.draft in upstream(drafts)

    def filled_by(self, client: JobClient) -> None:
        self._filling = client

    def sink(self) -> SinkSpec:
        return SinkSpec(CacheSink(self.folder))

    def invalidate(self) -> None:
        """Forget the records; the next job computes them anew."""
        forget(self.folder)
        self._generation += 1
        self._filling = None
        self.draft.spec, self.draft.inputs = self._compute


class CachedDataStream(DataStream[T]):
    """Computed by the first job that uses it, read from its cache by the later ones."""

    def __init__(self, env: StreamExecutionEnvironment, cache: Cache) -> None:
        super().__init__(env, (Feed(cache.draft),))
        self._cache = cache

    def invalidate(self) -> None:
        """Give the cache up; the next job computes the stream anew."""
        self._cache.invalidate()


def cached(env: StreamExecutionEnvironment, feeds: tuple[Feed, ...]) -> CachedDataStream[Any]:
    """What `DataStream.cache` gives."""
    drafts = upstream([feed.source for feed in feeds])
    for draft in drafts:
        if isinstance(draft.spec, SourceSpec) and not draft.spec.source.bounded:
            raise ProgramError(f"cache() needs a bounded stream, but source '{draft.name}' never ends")
    draft = env._draft("Cache", TransformSpec("map", _same), feeds)
    env._drafts.remove(draft)
    cache = Cache(draft, env.get_configuration().get(CACHE_DIR) or None)
    env._caches.append(cache)
    return CachedDataStream(env, cache)
