"""Files: sources, sinks, watched folders."""
