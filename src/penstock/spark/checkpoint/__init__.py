"""The checkpoint folder of a streaming job: its files, their integrity, who owns it, and where a job starts from."""
