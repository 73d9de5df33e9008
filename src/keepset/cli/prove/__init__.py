"""What `keepset prove` shows of a proof: in the terminal, as a page, as JUnit's XML."""
