"""From logical graph to the line of stages: a visible list of passes."""
