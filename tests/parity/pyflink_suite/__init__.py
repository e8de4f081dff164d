"""PyFlink's own tests, run on Penstock."""
