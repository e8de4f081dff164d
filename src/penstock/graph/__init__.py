"""The logical graph of a program, and how it is shown."""
