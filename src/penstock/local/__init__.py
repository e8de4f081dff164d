"""The local host: a job in this process, without a JVM."""
