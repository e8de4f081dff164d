"""Slot sharing groups: accepted, and without effect: Spark places tasks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

__all__ = ["MemorySize", "SlotSharingGroup"]


@dataclass(frozen=True, slots=True, order=True, init=False)
class MemorySize:
    """A number of bytes.

    >>> MemorySize.of_mebi_bytes(3).get_kibi_bytes()
    3072
    """

    _bytes: int

    def __init__(self, bytes_size: int | None = None) -> None:
        if not isinstance(bytes_size, int) or bytes_size < 0:
            raise ValueError(f"A memory size is a number of bytes that is not negative, got {bytes_size!r}")
        object.__setattr__(self, "_bytes", bytes_size)

    @staticmethod
    def of_mebi_bytes(mebi_bytes: int) -> MemorySize:
        """So many MiB."""
        return MemorySize(mebi_bytes << 20)

    def get_bytes(self) -> int:
        """The size in bytes."""
        return self._bytes

    def get_kibi_bytes(self) -> int:
        """The size in whole KiB, rounded down."""
        return self._bytes >> 10

    def get_mebi_bytes(self) -> int:
        """The size in whole MiB, rounded down."""
        return self._bytes >> 20

    def get_gibi_bytes(self) -> int:
        """The size in whole GiB, rounded down."""
        return self._bytes >> 30

    def get_tebi_bytes(self) -> int:
        """The size in whole TiB, rounded down."""
        return self._bytes >> 40

    def __str__(self) -> str:
        return f"{self._bytes} bytes"


@dataclass(frozen=True)
class SlotSharingGroup:
    """A name and the resources asked for under it.

    >>> SlotSharingGroup.builder("heavy").set_cpu_cores(2.0).set_task_heap_memory_mb(100).build().get_cpu_cores()
    2.0
    """

    _name: str
    _cpu_cores: float | None = None
    _task_heap_memory: MemorySize | None = None
    _task_off_heap_memory: MemorySize | None = None
    _managed_memory: MemorySize | None = None
    _external_resources: Mapping[str, float] = field(default_factory=dict, hash=False)

    def get_name(self) -> str:
        """The group's name."""
        return self._name

    def get_managed_memory(self) -> MemorySize | None:
        """The managed memory that was asked for; None if nothing was."""
        return self._managed_memory

    def get_task_heap_memory(self) -> MemorySize | None:
        """The heap that was asked for; None if nothing was."""
        return self._task_heap_memory

    def get_task_off_heap_memory(self) -> MemorySize | None:
        """The memory off the heap that was asked for; None if nothing was."""
        return self._task_off_heap_memory

    def get_cpu_cores(self) -> float | None:
        """The cores that were asked for; None if nothing was."""
        return self._cpu_cores

    def get_external_resources(self) -> dict[str, float]:
        """The other resources that were asked for, by name."""
        return dict(self._external_resources)

    @staticmethod
    def builder(name: str) -> SlotSharingGroup.Builder:
        """Begin a group with resources."""
        return SlotSharingGroup.Builder(name)

    class Builder:
        """Collects what a group asks for."""

        def __init__(self, name: str) -> None:
            self._name = name
            self._cpu_cores: float | None = None
            self._memory: dict[str, MemorySize] = {}
            self._external: dict[str, float] = {}

        def set_cpu_cores(self, cpu_cores: float) -> SlotSharingGroup.Builder:
            """Ask for so many cores; must be positive."""
            if cpu_cores <= 0:
                raise ValueError(f"Slot sharing group '{self._name}': cpu cores must be positive, got {cpu_cores!r}")
            self._cpu_cores = cpu_cores
            return self

        def set_task_heap_memory(self, task_heap_memory: MemorySize) -> SlotSharingGroup.Builder:
            """Ask for so much heap; must be positive."""
            if task_heap_memory.get_bytes() == 0:
                raise ValueError(f"Slot sharing group '{self._name}': task heap memory must be positive, got 0 bytes")
            self._memory["_task_heap_memory"] = task_heap_memory
            return self

        def set_task_heap_memory_mb(self, task_heap_memory_mb: int) -> SlotSharingGroup.Builder:
            """Ask for so many MiB of heap; must be positive."""
            return self.set_task_heap_memory(MemorySize.of_mebi_bytes(task_heap_memory_mb))

        def set_task_off_heap_memory(self, task_off_heap_memory: MemorySize) -> SlotSharingGroup.Builder:
            """Ask for so much memory off the heap."""
            self._memory["_task_off_heap_memory"] = task_off_heap_memory
            return self

        def set_task_off_heap_memory_mb(self, task_off_heap_memory_mb: int) -> SlotSharingGroup.Builder:
            """Ask for so many MiB off the heap."""
            return self.set_task_off_heap_memory(MemorySize.of_mebi_bytes(task_off_heap_memory_mb))

        def set_managed_memory(self, managed_memory: MemorySize) -> SlotSharingGroup.Builder:
            """Ask for so much managed memory."""
            self._memory["_managed_memory"] = managed_memory
            return self

        def set_managed_memory_mb(self, managed_memory_mb: int) -> SlotSharingGroup.Builder:
            """Ask for so many MiB of managed memory."""
            return self.set_managed_memory(MemorySize.of_mebi_bytes(managed_memory_mb))

        def set_external_resource(self, name: str, value: float) -> SlotSharingGroup.Builder:
            """Ask for an amount of a resource by its name."""
            self._external[name] = value
            return self

        def build(self) -> SlotSharingGroup:
            """Cores and heap memory are asked for together; a group that asks for anything at all asks for them."""
            if self._cpu_cores is None and not self._memory and not self._external:
                return SlotSharingGroup(self._name)
            if self._cpu_cores is None or "_task_heap_memory" not in self._memory:
                raise ValueError(
                    f"Slot sharing group '{self._name}' needs both cpu cores and task heap memory, or no resources"
                )
            none = {"_task_off_heap_memory": MemorySize(0), "_managed_memory": MemorySize(0)}
            return SlotSharingGroup(
                self._name, self._cpu_cores, **{**none, **self._memory}, _external_resources=dict(self._external)
            )
