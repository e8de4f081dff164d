"""Public names on PyFlink's path `pyflink.datastream.externalized_checkpoint_retention`."""

from penstock.core.state.checkpointing import ExternalizedCheckpointRetention

__all__ = ["ExternalizedCheckpointRetention"]
