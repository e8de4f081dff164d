"""Modules that have moved: what was pickled under the old path is found under the new one.

Checkpoints and savepoints of older versions name modules, and so may pickles of users. `MOVED` is consulted when a
module of an old path is imported, and when a name is missing from a package that has taken the place of a module. It
holds paths as they were: a script that renames modules everywhere must leave this file alone, but for the new paths.
Entries are never removed.

New pickles do not need it: see `penstock/pickled.py`.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType
from typing import Any

__all__ = ["MOVED", "install"]

MOVED: dict[str, tuple[str, ...]] = {
    "penstock.connectors.buckets": ("penstock.connectors.files.buckets",),
    "penstock.connectors.encoders": ("penstock.connectors.files.encoders",),
    "penstock.connectors.file_ledger": ("penstock.connectors.files.ledger",),
    "penstock.connectors.file_listing": ("penstock.connectors.files.listing",),
    "penstock.connectors.file_sink": ("penstock.connectors.files.sink",),
    "penstock.connectors.file_source": ("penstock.connectors.files.source",),
    "penstock.connectors.file_writer": ("penstock.connectors.files.writer",),
    "penstock.connectors.watched_files": ("penstock.connectors.files.watched",),
    "penstock.core.async_function": ("penstock.core.functions.asynchronous",),
    "penstock.core.attendant": ("penstock.jobs.registration",),
    "penstock.core.checkpoint_storage": ("penstock.core.state.checkpoint_storage",),
    "penstock.core.checkpointed": ("penstock.core.functions.checkpointed",),
    "penstock.core.checkpointing": ("penstock.core.state.checkpointing",),
    "penstock.core.client": ("penstock.jobs.client",),
    "penstock.core.clock": ("penstock.core.time.clock",),
    "penstock.core.co_functions": ("penstock.core.functions.connected",),
    "penstock.core.compat": ("penstock.core.config.compat",),
    "penstock.core.config_options": ("penstock.core.config.option",),
    "penstock.core.conform": ("penstock.core.types.coercion",),
    "penstock.core.data_types": ("penstock.core.types.data_types",),
    "penstock.core.dependencies": ("penstock.core.program.dependencies",),
    "penstock.core.evictors": ("penstock.core.windows.evictors",),
    "penstock.core.execution_config": ("penstock.core.config.execution_config",),
    "penstock.core.execution_mode": ("penstock.core.program.execution_mode",),
    "penstock.core.functions": ("penstock.core.functions.base",),
    "penstock.core.futures": ("penstock.jobs.futures",),
    "penstock.core.guarantees": ("penstock.core.contracts.guarantees",),
    "penstock.core.intervals": ("penstock.core.program.specs",),
    "penstock.core.job": ("penstock.core.program.job",),
    "penstock.core.join_functions": ("penstock.core.functions.join",),
    "penstock.core.known_settings": ("penstock.core.config.known_settings",),
    "penstock.core.marks": ("penstock.core.program.marks",),
    "penstock.core.output_tag": ("penstock.core.program.output_tag",),
    "penstock.core.partition": ("penstock.core.program.partition",),
    "penstock.core.poison": ("penstock.core.program.poison",),
    "penstock.core.python_source": ("penstock.core.contracts.python_source",),
    "penstock.core.recovery": ("penstock.core.config.recovery",),
    "penstock.core.restart": ("penstock.jobs.restart",),
    "penstock.core.restart_strategies": ("penstock.jobs.restart_strategies",),
    "penstock.core.rich": ("penstock.core.functions.rich",),
    "penstock.core.rolling": ("penstock.core.functions.internal",),
    "penstock.core.row": ("penstock.core.types.row",),
    "penstock.core.running_jobs": ("penstock.jobs.listing",),
    "penstock.core.serializer": ("penstock.core.types.serializer",),
    "penstock.core.sink": ("penstock.core.contracts.sink",),
    "penstock.core.sink_function": ("penstock.core.functions.sink",),
    "penstock.core.slots": ("penstock.core.program.slots",),
    "penstock.core.source": ("penstock.core.contracts.source",),
    "penstock.core.source_function": ("penstock.core.functions.source",),
    "penstock.core.specs": ("penstock.core.program.specs",),
    "penstock.core.stamped": ("penstock.core.functions.internal",),
    "penstock.core.starting": ("penstock.core.contracts.starting_offsets",),
    "penstock.core.state": ("penstock.core.state.keyed",),
    "penstock.core.state_backend": ("penstock.core.state.backends",),
    "penstock.core.subscript": ("penstock.core.types.subscript",),
    "penstock.core.time": ("penstock.core.time.spans",),
    "penstock.core.transactions": ("penstock.core.contracts.transactions",),
    "penstock.core.triggers": ("penstock.core.windows.triggers",),
    "penstock.core.ttl": ("penstock.core.state.ttl",),
    "penstock.core.type_variables": ("penstock.core.types.type_variables",),
    "penstock.core.types": ("penstock.core.types.type_info",),
    "penstock.core.watermark": ("penstock.core.time.watermarks",),
    "penstock.core.window_assigners": ("penstock.core.windows.assigners",),
    "penstock.core.window_functions": ("penstock.core.functions.window",),
    "penstock.core.windows": ("penstock.core.windows.window",),
    "penstock.runtime.alike": ("penstock.runtime.record_packing",),
    "penstock.runtime.driver": ("penstock.runtime.batch_output", "penstock.runtime.commit_coordinator"),
    "penstock.runtime.intake": ("penstock.runtime.source_task",),
    "penstock.runtime.live": ("penstock.runtime.source_function_runner",),
    "penstock.runtime.live_buffer": ("penstock.runtime.source_function_buffer",),
    "penstock.runtime.metrics_book": ("penstock.runtime.metrics_aggregator",),
    "penstock.runtime.operators.poison": ("penstock.runtime.operators.guarded",),
    "penstock.runtime.operators.shaped": ("penstock.runtime.operators.coercion",),
}
"""Old path of a module -> where its names are now, tried in order."""


class _Finder(MetaPathFinder):
    """Knows old paths. It comes first, since a package may have taken the place of a module of the same name."""

    def __init__(self, moved: dict[str, tuple[str, ...]]) -> None:
        self._moved = moved
        self._parents = {old.rsplit(".", n)[0] for old in moved for n in range(1, old.count(".") + 1)}

    def find_spec(self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None) -> Any:
        moved = fullname in self._moved
        if not moved and fullname not in self._parents:
            return None
        found = PathFinder.find_spec(fullname, path, target)
        if found is None:
            return ModuleSpec(fullname, _Alias(self._forward(fullname)), is_package=fullname in self._parents)
        if moved and found.loader is not None:
            _extend(found.loader, self._forward(fullname))
        return found

    def _forward(self, old: str) -> Callable[[str], Any]:
        def lookup(name: str) -> Any:
            if not name.startswith("__"):
                for module in self._moved.get(old, ()):
                    found = import_module(module)
                    if hasattr(found, name):
                        return getattr(found, name)
            raise AttributeError(f"module {old!r} has no attribute {name!r}")

        return lookup


class _Alias(Loader):
    """Stands for a module that is gone."""

    def __init__(self, lookup: Callable[[str], Any]) -> None:
        self._lookup = lookup

    def exec_module(self, module: ModuleType) -> None:
        module.__dict__["__getattr__"] = self._lookup


def _extend(loader: Any, lookup: Callable[[str], Any]) -> None:
    """Let the package that this loader loads find the names of the module that it has taken the place of."""
    execute = loader.exec_module

    def exec_module(module: ModuleType) -> None:
        execute(module)
        module.__dict__.setdefault("__getattr__", lookup)

    loader.exec_module = exec_module


def install(moved: dict[str, tuple[str, ...]] = MOVED) -> MetaPathFinder:
    """Make old paths importable in this process."""
    finder = _Finder(moved)
    sys.meta_path.insert(0, finder)
    return finder


install()
