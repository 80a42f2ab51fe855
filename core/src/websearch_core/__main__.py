"""The command line: ``python -m websearch_core``."""

from ._cli import main

if __name__ == "__main__":
    main()
