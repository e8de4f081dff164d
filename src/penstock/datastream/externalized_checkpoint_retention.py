"""Public names on PyFlink's path `pyflink.datastream.externalized_checkpoint_retention`."""

from penstock.core.checkpointing import ExternalizedCheckpointRetention

__all__ = ["ExternalizedCheckpointRetention"]
