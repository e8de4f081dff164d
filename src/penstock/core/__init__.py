"""Leaf package: what programs are made of. Standard library only."""
