"""Live operators, one family a file."""
