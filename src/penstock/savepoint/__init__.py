"""Savepoints on disk and what a job takes from them; no Spark in here."""
