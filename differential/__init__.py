"""The same programs under PyFlink and under Penstock, results compared."""
