"""Public names on PyFlink's path `pyflink.datastream.checkpoint_config`."""

from penstock.core.state.checkpointing import CheckpointConfig

__all__ = ["CheckpointConfig"]
