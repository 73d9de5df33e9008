"""Databases of others: opened to read, in short statements, and left as they are."""
