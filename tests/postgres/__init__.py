"""A PostgreSQL server for tests: its own files, on loopback."""
