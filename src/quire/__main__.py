"""Run the command line: `python -m quire` does what `quire` does."""

from quire.cli.start import main

if __name__ == "__main__":
    main()
