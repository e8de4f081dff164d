"""Keyed state: handles and descriptors, time to live, backends."""
