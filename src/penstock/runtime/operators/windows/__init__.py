"""The window operator and its parts."""
