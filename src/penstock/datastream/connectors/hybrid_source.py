"""Public names on PyFlink's path `pyflink.datastream.connectors.hybrid_source`."""

from penstock.connectors.hybrid_source import HybridSource, HybridSourceBuilder

__all__ = ["HybridSource", "HybridSourceBuilder"]
