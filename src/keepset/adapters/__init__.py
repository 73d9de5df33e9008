"""Adapters: keepset inside a host framework; each is imported only by who uses that host."""
