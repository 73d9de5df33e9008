"""Runs as lines of JSON, which any program reads and which lose nothing."""
