"""The child process that takes documents of binary formats apart, started by `reader_process`.

Their parsers are large, and the formats easy to abuse: a document of one kilobyte can ask for
gigabytes, or loop for hours. Here it can only end this process. It is a script of its own and
imports next to nothing, so that it starts fast.

A request is the name of a format and the bytes of a document, each with its length. The answer is
a series of frames, each of a kind, a length and a text: the pages in their order (of a PDF as text,
of others as HTML) and the title, or an error; and an end.
"""

from __future__ import annotations

import os
import struct
import sys
import threading
import time
from functools import cache, partial
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import IO, Any, NoReturn

LENGTHS = struct.Struct(">QQ")
FRAME = struct.Struct(">cQ")
PAGE, TITLE, NOT_OPENED, BROKEN, MISSING, END = b"P", b"T", b"O", b"B", b"M", b"E"
PDF = "pdf"
CHECK_INTERVAL = 0.1


class Watch:
    """Ends the process when it works too long, or has taken too much memory.

    The parent watches the time as well, and the system the memory; this is for the case that the
    parent is gone, and for systems that keep no limit of memory.
    """

    def __init__(self, memory: int, seconds: float) -> None:
        self._memory = memory
        self._seconds = seconds
        self._started: float | None = None

    def start(self) -> None:
        """Watch from now on, in a thread."""
        threading.Thread(target=self._run, daemon=True).start()

    def begin(self) -> None:
        """Note that a document is being read."""
        self._started = time.monotonic()

    def end(self) -> None:
        """Note that it has been read."""
        self._started = None

    def _run(self) -> NoReturn:
        from quire.system.platform import peak_memory

        # On Linux, a new process may start with the peak of the one that started it.
        limit = max(self._memory, peak_memory())
        while True:
            time.sleep(CHECK_INTERVAL)
            started = self._started
            if started is not None and time.monotonic() - started > self._seconds:
                os._exit(1)
            if peak_memory() > limit:
                os._exit(1)


def main(root: str, memory: int, seconds: float) -> None:
    """Answer requests until there are no more."""
    sys.path.append(root)
    from quire.system.platform import limit_memory

    limit_memory(memory)
    watch = Watch(memory, 2 * seconds)
    watch.start()
    requests = sys.stdin.buffer
    # Whatever else is printed must not come between the frames.
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    while len(header := requests.read(LENGTHS.size)) == LENGTHS.size:
        of_name, of_data = LENGTHS.unpack(header)
        name, data = requests.read(of_name).decode(), requests.read(of_data)
        watch.begin()
        (_answer_pdf if name == PDF else partial(_answer_office, name))(data, answers)
        _send(answers, END, "")
        answers.flush()
        watch.end()


def _answer_office(name: str, data: bytes, answers: IO[bytes]) -> None:
    office = _load_office()
    try:
        title, parts = office.convert(name, data)
        for part in parts:
            _send(answers, PAGE, part)
        _send(answers, TITLE, title)
    except office.NotReadableError as error:
        _send(answers, NOT_OPENED, str(error))
    except ImportError:
        _send(answers, MISSING, "")
    except MemoryError:
        os._exit(1)
    except Exception as error:  # noqa: BLE001 - whatever a parser of a broken file raises
        _send(answers, BROKEN, f"{type(error).__name__}: {error}")


@cache
def _load_office() -> ModuleType:
    """Load the module beside this one, without the package, which imports all other readers."""
    place = Path(__file__).with_name("office_html.py")
    spec = spec_from_file_location("quire_office_html", place)
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _answer_pdf(data: bytes, answers: IO[bytes]) -> None:
    import pypdfium2

    try:
        document = pypdfium2.PdfDocument(data)
    except pypdfium2.PdfiumError as error:
        _send(answers, NOT_OPENED, str(error))
    else:
        try:
            for index in range(len(document)):
                _send(answers, PAGE, _read_page(document[index]))
            _send(answers, TITLE, document.get_metadata_value("Title") or "")
        except pypdfium2.PdfiumError as error:
            _send(answers, BROKEN, str(error))
        finally:
            document.close()


def _read_page(page: Any) -> str:
    content = page.get_textpage()
    text = content.get_text_range()
    content.close()
    page.close()
    return str(text)


def _send(answers: IO[bytes], kind: bytes, text: str) -> None:
    data = text.encode("utf-8", "surrogatepass")
    answers.write(FRAME.pack(kind, len(data)) + data)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), float(sys.argv[3]))
