"""Stores of other tools, and ours, read as data: nothing in them is run or changed."""
