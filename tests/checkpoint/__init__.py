"""Checkpoints that are damaged, or not this job's (F8)."""
