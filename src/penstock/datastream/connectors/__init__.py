"""Public names on PyFlink's path `pyflink.datastream.connectors`."""

from penstock.connectors.file_sink import FileSink
from penstock.connectors.file_source import FileSource
from penstock.connectors.sequences import NumberSequenceSource
from penstock.core.sink import Sink
from penstock.core.source import Source

__all__ = ["FileSink", "FileSource", "NumberSequenceSource", "Sink", "Source"]
