"""The job as workers get it: pickled by value, with the classes of the script that is being run (P7)."""

from __future__ import annotations

import base64
import pickle
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

from pyspark import cloudpickle

from penstock.core.errors import PenstockError, ProgramError
from penstock.core.job import JobPlan
from penstock.runtime.local_classes import define_with, enter_job
from penstock.runtime.memory import raise_gc_threshold
from penstock.runtime.reachable import unimportable_classes
from penstock.spark.daemon import spare_full_collections
from penstock.spark.dependencies import enter_worker

__all__ = ["Bundle", "carried_error", "errors_travel", "make_bundle"]


@dataclass(frozen=True, slots=True)
class Bundle:
    """Pickled plan; loaded once per worker process."""

    data: bytes
    digest: str

    def load(self) -> JobPlan:
        plan = _LOADED.get(self.digest)
        if plan is None:
            _LOADED.clear()
            plan = _LOADED[self.digest] = _load(self.data)
        define_with(_dumps)
        enter_job(plan)
        return plan


_LOADED: dict[str, JobPlan] = {}


def make_bundle(plan: JobPlan) -> Bundle:
    """Pickle a plan; what cannot be pickled is named."""
    try:
        job = _dumps((_script_classes(), sys.path, _dumps((plan, _qualified_names(plan)))))
    except Exception as error:
        raise _unpicklable(plan, error) from error
    data = pickle.dumps((plan.settings.shipped_paths, plan.settings.in_archive_folder, job))
    return Bundle(data, blake2b(data, digest_size=16).hexdigest())


def _dumps(value: Any) -> bytes:
    data: bytes = cloudpickle.dumps(value)  # type: ignore[no-untyped-call]
    return data


def _unpicklable(plan: JobPlan, error: Exception) -> ProgramError:
    for vertex in plan.vertices:
        for op in vertex.operators:
            try:
                _dumps(op.spec)
            except Exception as inner:
                return ProgramError(
                    f"Operator '{op.name}' (uid {op.uid}) cannot be sent to workers: {type(inner).__name__}: {inner}. "
                    "Create handles, locks and connections in open() instead of keeping them in the function"
                )
    return ProgramError(f"The job cannot be sent to workers: {type(error).__name__}: {error}")


def _script_classes() -> dict[str, type]:
    """Classes defined in the script being run: records of them are pickled by reference to `__main__`."""
    main = sys.modules["__main__"]
    return {n: c for n, c in vars(main).items() if isinstance(c, type) and c.__module__ == "__main__"}


def _qualified_names(plan: JobPlan) -> list[tuple[type, str]]:
    """Classes that are sent by value lose the qualified name by which their records are known, and shown."""
    return [(cls, cls.__qualname__) for cls in unimportable_classes(plan)]


def _load(data: bytes) -> JobPlan:
    shipped_paths, in_archive_folder, job = pickle.loads(data)
    enter_worker(shipped_paths, in_archive_folder)
    classes, path, plan = pickle.loads(job)
    main = sys.modules["__main__"]
    for name, cls in classes.items():
        setattr(main, name, cls)
    sys.path.extend(p for p in path if p not in sys.path)
    raise_gc_threshold()
    spare_full_collections()
    loaded: JobPlan
    loaded, names = pickle.loads(plan)
    for cls, name in names:
        cls.__qualname__ = name
    return loaded


# -- errors on their way from workers to the driver -------------------------------------------------

_MARK = re.compile(r"PENSTOCK\[([A-Za-z0-9+/=]+)\]")


@contextmanager
def errors_travel() -> Iterator[None]:
    """In a worker: wrap our own errors so that they survive the way through the JVM."""
    try:
        yield
    except PenstockError as error:
        packed = base64.b64encode(pickle.dumps(error)).decode()
        raise RuntimeError(f"PENSTOCK[{packed}]\n{error}") from None


def carried_error(text: str) -> PenstockError | None:
    """On the driver: the error a worker sent, if the text of the failure holds one."""
    found = _MARK.search(text)
    if found is None:
        return None
    error = pickle.loads(base64.b64decode(found.group(1)))
    assert isinstance(error, PenstockError)
    return error
