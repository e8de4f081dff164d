"""Durations and moments, watermark strategies, the clock."""
