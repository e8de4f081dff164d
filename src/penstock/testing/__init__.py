"""Test kit: run jobs in process, without a JVM."""
