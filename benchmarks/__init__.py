"""Benchmarks of Penstock against its peers: ``python -m benchmarks``."""
