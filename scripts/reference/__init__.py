"""Writes the reference of the guide from the docstrings of the public names: `make reference`."""
