"""Public names on PyFlink's path `pyflink.datastream.connectors.file_system`."""

from penstock.connectors.file_sink import FileSink, OutputFileConfig
from penstock.connectors.file_source import FileSource, FileSourceBuilder, StreamFormat

__all__ = ["FileSink", "FileSource", "FileSourceBuilder", "OutputFileConfig", "StreamFormat"]
