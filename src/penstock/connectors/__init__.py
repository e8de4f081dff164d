"""Descriptions of sources and sinks."""
