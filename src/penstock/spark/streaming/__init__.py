"""The streaming host: Structured Streaming in micro-batches, each of which is a checkpoint."""
