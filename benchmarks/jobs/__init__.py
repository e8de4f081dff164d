"""What is measured: one module a job."""
