"""What a program is made of once it is written down: operator specs, exchanges, the physical job."""
