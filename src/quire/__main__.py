"""What does `python -m quire` do? The same as the command `quire`."""

from quire.doors.start import main

if __name__ == "__main__":
    main()
