"""`python -m keepset.cli.demo` is the same as `keepset demo`."""

import sys

from keepset.cli.app import main

if __name__ == "__main__":
    main(["demo", *sys.argv[1:]])
