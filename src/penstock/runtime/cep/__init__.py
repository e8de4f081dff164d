"""Complex event processing: the automaton at work."""
