"""The programs here are for type checkers: pytest must not import them, as it does to look for doctests."""

collect_ignore_glob = ["right/*.py", "wrong/*.py", "records.py"]
