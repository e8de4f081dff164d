"""How Spark is started: Java, the JVM, the Python workers, the session and its settings."""
