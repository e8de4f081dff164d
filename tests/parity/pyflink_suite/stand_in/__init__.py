"""What PyFlink's tests need beside Penstock: its base classes for tests, and the edge where its JVM begins."""
