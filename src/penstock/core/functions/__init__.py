"""Functions that users write, and the contexts they are given."""
