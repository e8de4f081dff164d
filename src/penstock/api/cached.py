"""Streams whose records are kept for later jobs."""

from __future__ import annotations

import os
import tempfile
from typing import TYPE_CHECKING, Any, TypeVar
from weakref import finalize

from penstock.api.data_stream import DataStream
from penstock.api.transformation import Transformation, TransformationInput, upstream
from penstock.connectors.cache import CacheSink, CacheSource, forget
from penstock.core.config.options.tuning import CACHE_DIR
from penstock.core.errors import ProgramError
from penstock.core.program.specs import OperatorSpec, SinkSpec, SourceSpec, TransformSpec
from penstock.core.scratch import scratch_folder
from penstock.jobs.client import JobClient, JobStatus

if TYPE_CHECKING:
    from penstock.api.environment import StreamExecutionEnvironment

T_co = TypeVar("T_co", covariant=True)

__all__ = ["Cache", "CachedDataStream", "cached"]


def _same(value: object) -> object:
    return value


class Cache:
    """A cached stream as its environment knows it: jobs compute it until one has filled the cache, later jobs read it.

    The folder is local to the driver unless `penstock.cache.dir` names one that all workers reach.
    """

    def __init__(self, transformation: Transformation, root: str | None) -> None:
        self.transformation = transformation
        self._compute: tuple[OperatorSpec, tuple[TransformationInput, ...]] = (
            transformation.spec,
            transformation.inputs,
        )
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
            self.transformation.spec, self.transformation.inputs = SourceSpec(CacheSource(self.folder)), ()
            self._filling = None
        elif status in (JobStatus.FAILED, JobStatus.CANCELED):
            self.invalidate()

    def wanted_by(self, transformations: list[Transformation]) -> bool:
        """Whether this program computes the stream and no earlier job has filled, or is filling, the cache."""
        return (
            bool(self.transformation.inputs)
            and self._filling is None
            and self.transformation in upstream(transformations)
        )

    def filled_by(self, client: JobClient) -> None:
        self._filling = client

    def sink(self) -> SinkSpec:
        return SinkSpec(CacheSink(self.folder))

    def invalidate(self) -> None:
        """Forget the records; the next job computes them anew."""
        forget(self.folder)
        self._generation += 1
        self._filling = None
        self.transformation.spec, self.transformation.inputs = self._compute


class CachedDataStream(DataStream[T_co]):
    """Computed by the first job that uses it, read from its cache by the later ones."""

    def __init__(self, env: StreamExecutionEnvironment, cache: Cache) -> None:
        super().__init__(env, (TransformationInput(cache.transformation),))
        self._cache = cache

    def invalidate(self) -> None:
        """Give the cache up; the next job computes the stream anew."""
        self._cache.invalidate()


def cached(env: StreamExecutionEnvironment, inputs: tuple[TransformationInput, ...]) -> CachedDataStream[Any]:
    """Called by `DataStream.cache`: the stream whose records the first job keeps for later ones."""
    transformations = upstream([read.source for read in inputs])
    for transformation in transformations:
        if isinstance(transformation.spec, SourceSpec) and not transformation.spec.source.bounded:
            raise ProgramError(f"cache() needs a bounded stream, but source '{transformation.name}' never ends")
    transformation = env._add_transformation("Cache", TransformSpec("map", _same), inputs)
    env._transformations.remove(transformation)
    cache = Cache(transformation, env.get_configuration().get(CACHE_DIR) or None)
    env._caches.append(cache)
    return CachedDataStream(env, cache)
