"""`python -m keepset.cli` is the same as `keepset`."""

from keepset.cli.app import main

if __name__ == "__main__":
    main()
