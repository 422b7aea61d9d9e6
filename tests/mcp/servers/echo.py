"""A server that knows nothing: it writes down what it is sent, and says what a file tells it to.

Each line that it is sent is answered with the next line of the file, as it is.
"""

import sys

heard, script = sys.argv[1:]
with open(heard, "wb", buffering=0) as out, open(script, "rb") as script_file:  # noqa: PTH123 - it starts fast
    for line in sys.stdin.buffer:
        out.write(line)
        sys.stdout.buffer.write(script_file.readline())
        sys.stdout.buffer.flush()
    sys.stdout.buffer.write(script_file.read())
sys.stderr.write("the echo ends\n")
sys.exit(7)
