"""Stores of other tools, and ours, read as data: nothing in them is run or changed."""

from __future__ import annotations

from keepset.readers.recognising import recognise, table_opener
from keepset.readers.table import Columns

__all__ = ["Columns", "recognise", "table_opener"]
