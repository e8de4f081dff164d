"""Complex event processing: what patterns, conditions and match functions are."""
