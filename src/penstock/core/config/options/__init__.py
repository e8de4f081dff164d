"""Every setting that Penstock reads, a file for each subject; `core/config/table.py` has them in one table."""
