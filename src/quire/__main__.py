"""`python -m quire` is the command `quire`."""

from quire.doors.cli import main

main()
