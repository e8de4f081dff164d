"""What manages a running job from outside: its listing, the control channel, its client, restarts."""
