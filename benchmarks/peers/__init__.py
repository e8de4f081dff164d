"""One module a peer, each run as a program of its own, and what they share."""
