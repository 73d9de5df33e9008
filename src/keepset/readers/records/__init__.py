"""Hosts that keep a run as rows of a few tables: sessions with messages, workflows with steps."""
