"""What does `python -m quire` do? The same as the command `quire`."""

from quire.cli.start import main

if __name__ == "__main__":
    main()
