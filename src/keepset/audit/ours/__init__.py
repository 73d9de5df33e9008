"""Our own stores, read for an audit: nothing is written, migrated, leased, loaded or resolved."""
