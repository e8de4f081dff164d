"""The plan as workers get it: pickled by value, with the classes of the script that is being run."""

from __future__ import annotations

import pickle
import sys
from collections.abc import Callable
from dataclasses import dataclass
from hashlib import blake2b

from pyspark import cloudpickle

from penstock.core.errors import ProgramError
from penstock.core.program.job import JobPlan
from penstock.runtime.local_classes import define_with, enter_job
from penstock.runtime.memory import raise_gc_threshold
from penstock.runtime.reachable import unimportable_classes
from penstock.spark.dependencies import enter_worker
from penstock.spark.startup.daemon import spare_full_collections

__all__ = ["PickledPlan", "pickle_plan"]


@dataclass(frozen=True, slots=True)
class PickledPlan:
    """A pickled plan; small to copy, since Spark sends it along with every task's function."""

    data: bytes
    digest: str

    def load(self) -> JobPlan:
        """The plan; called in a worker at the start of each task, unpickled once in each process."""
        plan = _LOADED.get(self.digest)
        if plan is None:
            _LOADED.clear()
            plan = _LOADED[self.digest] = _load(self.data)
        define_with(_dumps)
        enter_job(plan)
        return plan


_LOADED: dict[str, JobPlan] = {}


def pickle_plan(plan: JobPlan) -> PickledPlan:
    """Pickle a plan on the driver. Raises ProgramError, which names the operator that cannot be pickled."""
    try:
        job = _dumps((_script_classes(), sys.path, _dumps((plan, _qualified_names(plan)))))
    except Exception as error:
        raise _unpicklable(plan, error) from error
    data = pickle.dumps((plan.settings.shipped_paths, plan.settings.in_archive_folder, job))
    return PickledPlan(data, blake2b(data, digest_size=16).hexdigest())


_dumps: Callable[[object], bytes] = cloudpickle.dumps


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
    """Classes that the script being run defines: records of them are pickled by reference to `__main__`."""
    main = sys.modules["__main__"]
    return {n: c for n, c in vars(main).items() if isinstance(c, type) and c.__module__ == "__main__"}


def _qualified_names(plan: JobPlan) -> list[tuple[type, str]]:
    """Classes that are pickled by value, with the qualified name that they lose: their records are known by it."""
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
