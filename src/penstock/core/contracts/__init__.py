"""What sources and sinks must be able to do, and what a path between them can promise."""
