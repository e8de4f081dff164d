"""A program once it is written down: operator specs, exchanges, the physical job."""
