"""SQL databases: statements, dialects, and the sink."""
