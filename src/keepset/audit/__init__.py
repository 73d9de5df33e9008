"""What is in an existing store that does not belong there, and what it costs; it is only read."""
