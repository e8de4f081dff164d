"""Keyed state and timers in pages."""
