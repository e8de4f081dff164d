"""A MariaDB server for tests: its own files, on loopback."""
