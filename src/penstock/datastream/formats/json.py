"""Public names on PyFlink's path `pyflink.datastream.formats.json`."""

from penstock.connectors.formats.json import JsonReaderFormat, JsonRowDeserializationSchema, JsonRowSerializationSchema

__all__ = ["JsonReaderFormat", "JsonRowDeserializationSchema", "JsonRowSerializationSchema"]
