"""Public names on PyFlink's path `pyflink.datastream.checkpointing_mode`."""

from penstock.core.state.checkpointing import CheckpointingMode

__all__ = ["CheckpointingMode"]
