"""Run the command line as `python -m qa`."""

from qa.cli import main

if __name__ == "__main__":
    main()
