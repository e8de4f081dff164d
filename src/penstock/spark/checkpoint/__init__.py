"""The checkpoint folder of a streaming job: its files, their integrity, its owner, and where a job starts from."""
