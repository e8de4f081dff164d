"""Jobs that are killed, and what they must have done all the same (F1)."""
