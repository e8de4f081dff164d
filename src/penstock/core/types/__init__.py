"""Type information, rows and serializers."""
