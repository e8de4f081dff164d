"""Flink's semantics in pure Python. Runs in workers; knows nothing of Spark."""
