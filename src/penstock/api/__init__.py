"""The public API: environments, streams and what is called on them."""
