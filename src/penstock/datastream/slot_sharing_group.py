"""Public names on PyFlink's path `pyflink.datastream.slot_sharing_group`."""

from penstock.core.program.slots import MemorySize, SlotSharingGroup

__all__ = ["MemorySize", "SlotSharingGroup"]
