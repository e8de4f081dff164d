"""Formats of files and messages: text, CSV, JSON, Avro, Parquet, ORC."""
