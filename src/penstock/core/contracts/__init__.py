"""Contracts of sources and sinks, and the guarantee that a path between them can give."""
