"""What `keepset audit` shows of a store: in the terminal, as a page."""
