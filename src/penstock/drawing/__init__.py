"""Graphs as text, JSON, Mermaid, SVG and HTML."""
