"""What `keepset import` and `keepset export` say of the runs that they move."""
