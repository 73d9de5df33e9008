"""Other tools' stores, and ours, read as data: nothing in them is run, nothing in them is changed."""
