"""Format detection: which reader handles a file.

One table maps file suffixes and file names to a format and a language. A new format is one
function and one row. The id of a record follows from the path alone, so that the target of a link
is known without opening it. So does the kind (`document` or `code`), but for two: a JSON file
becomes a `conversation` only when its reader finds one in it, and a file without an ending becomes
`code` when its first line names an interpreter, or its first statement is one of source code.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from importlib import import_module

from quire.core import hashing
from quire.core.types import IngestSettings
from quire.ingest.types import ParsedFile, SourceFile


@dataclass(frozen=True, slots=True)
class Format:
    """A reader, and the kind of record that its files become."""

    name: str
    module: str
    """The module of this package that has the reader."""
    kind: str = "document"
    binary: bool = False
    """Whether the reader needs the bytes because the file is not text."""
    function: str = "read"

    def read(self, source: SourceFile, settings: IngestSettings) -> ParsedFile:
        """Read a file."""
        # The reader is imported for the first file of its kind: most processes only ask.
        reader = getattr(import_module(f"quire.ingest.{self.module}"), self.function)
        parsed: ParsedFile = reader(source, settings)
        return parsed


MARKDOWN = Format("markdown", "markdown")
RST = Format("rst", "rst")
GHERKIN = Format("gherkin", "gherkin")
HTML = Format("html", "html")
PDF = Format("pdf", "pdf", binary=True)
OFFICE = Format("office", "office", binary=True)
NOTEBOOK = Format("notebook", "notebook")
TEXT = Format("text", "text")
JSON = Format("json", "json")
LINES = Format("lines", "text", function="read_lines")
SVG = Format("svg", "svg")
LOCK = Format("lock", "lock")
CODE = Format("code", "code", kind="code")

FORMAT_TABLE = (
    # format, language, suffixes (with a dot) and file names
    (MARKDOWN, "markdown", ".md .markdown .mdown .mdx .mkd .qmd .rmd"),
    (RST, "rst", ".rst .rest"),
    (GHERKIN, "gherkin", ".feature"),
    (HTML, "html", ".html .htm .xhtml"),
    (PDF, "pdf", ".pdf"),
    (NOTEBOOK, "notebook", ".ipynb"),
    (OFFICE, "docx", ".docx .docm .dotx"),
    (OFFICE, "pptx", ".pptx .pptm .ppsx"),
    (OFFICE, "xlsx", ".xlsx .xlsm"),
    (OFFICE, "odt", ".odt"),
    (OFFICE, "odp", ".odp"),
    (OFFICE, "ods", ".ods"),
    (OFFICE, "epub", ".epub"),
    (OFFICE, "email", ".eml .mbox"),
    (TEXT, "text", ".txt .text .adoc .asciidoc .org .tex .textile .wiki .po .pot .srt"),
    (JSON, "json", ".json .jsonl .ndjson"),
    (LINES, "json", ".json5 .jsonc .geojson .webmanifest .har"),
    (LINES, "yaml", ".yaml .yml .clang-format .clang-tidy .cff"),
    (LINES, "toml", ".toml pipfile"),
    (
        LINES,
        "ini",
        ".ini .cfg .conf .properties .editorconfig .gitconfig .gitattributes .gitmodules",
    ),
    (LINES, "xml", ".xml .xsd .xsl .xslt .rss .atom .plist .csproj .vcxproj .resx .wsdl"),
    (SVG, "svg", ".svg"),
    (LOCK, "toml", "uv.lock poetry.lock pdm.lock cargo.lock"),
    (LOCK, "json", "package-lock.json npm-shrinkwrap.json packages.lock.json package.resolved"),
    (LOCK, "json", "pipfile.lock composer.lock flake.lock deno.lock"),
    (LOCK, "yaml", "pnpm-lock.yaml pubspec.lock podfile.lock"),
    (LOCK, "text", ".lock .lockfile go.sum"),
    (LINES, "csv", ".csv .tsv .psv"),
    (LINES, "diff", ".diff .patch"),
    (LINES, "log", ".log"),
    (LINES, "ignore", ".gitignore .quireignore .dockerignore .npmignore .prettierignore"),
    (CODE, "python", ".py .pyi .pyw .pyx .pxd .bzl .bazel sconstruct build wscript"),
    (CODE, "javascript", ".js .mjs .cjs .jsx"),
    (CODE, "typescript", ".ts .tsx .mts .cts"),
    (CODE, "vue", ".vue"),
    (CODE, "svelte", ".svelte"),
    (CODE, "go", ".go"),
    (CODE, "rust", ".rs"),
    (CODE, "java", ".java"),
    (CODE, "kotlin", ".kt .kts"),
    (CODE, "scala", ".scala .sc .sbt"),
    (CODE, "groovy", ".groovy .gradle jenkinsfile"),
    (CODE, "swift", ".swift"),
    (CODE, "dart", ".dart"),
    (CODE, "csharp", ".cs .csx"),
    (CODE, "fsharp", ".fs .fsi .fsx"),
    (CODE, "c", ".c .h"),
    (CODE, "cpp", ".cc .cpp .cxx .c++ .hh .hpp .hxx .h++ .ipp .tpp .inl .ino"),
    (CODE, "objective-c", ".m .mm"),
    (CODE, "cuda", ".cu .cuh"),
    (CODE, "php", ".php .phtml"),
    (CODE, "ruby", ".rb .rake .gemspec .podspec gemfile rakefile vagrantfile podfile brewfile"),
    (CODE, "perl", ".pl .pm .t"),
    (CODE, "lua", ".lua"),
    (CODE, "r", ".r"),
    (CODE, "julia", ".jl"),
    (CODE, "elixir", ".ex .exs"),
    (CODE, "erlang", ".erl .hrl"),
    (CODE, "haskell", ".hs .lhs"),
    (CODE, "ocaml", ".ml .mli"),
    (CODE, "clojure", ".clj .cljs .cljc .edn"),
    (CODE, "lisp", ".lisp .el .scm .rkt"),
    (CODE, "zig", ".zig"),
    (CODE, "nim", ".nim"),
    (CODE, "nix", ".nix"),
    (CODE, "shell", ".sh .bash .zsh .ksh .fish .bats .bashrc .zshrc .profile .bash_profile"),
    (CODE, "powershell", ".ps1 .psm1 .psd1"),
    (CODE, "batch", ".bat .cmd"),
    (CODE, "sql", ".sql .ddl"),
    (CODE, "css", ".css .scss .sass .less"),
    (CODE, "graphql", ".graphql .gql"),
    (CODE, "protobuf", ".proto"),
    (CODE, "thrift", ".thrift"),
    (CODE, "terraform", ".tf .tfvars .hcl"),
    (CODE, "solidity", ".sol"),
    (CODE, "assembly", ".asm .s"),
    (CODE, "fortran", ".f .f90 .f95 .for"),
    (CODE, "vim", ".vim .vimrc"),
    (CODE, "cmake", ".cmake cmakelists.txt"),
    (CODE, "make", ".mk .mak makefile gnumakefile justfile"),
    (CODE, "docker", ".dockerfile dockerfile containerfile"),
    (CODE, "template", ".jinja .jinja2 .j2 .erb .ejs .hbs .mustache .liquid"),
)

FORMATS_BY_SUFFIX = {
    suffix: (format_, language)
    for format_, language, suffixes in FORMAT_TABLE
    for suffix in suffixes.split()
}
"""Keys are suffixes and whole file names, in lower case."""

# Files with these suffixes are skipped without opening them.
BINARY_SUFFIX_LIST = (
    ".png .jpg .jpeg .gif .bmp .ico .icns .webp .tif .tiff .avif .heic .psd .ai .eps .xcf"
    " .mp3 .mp4 .m4a .m4v .wav .flac .ogg .ogv .opus .avi .mov .mkv .webm .wmv .aac"
    " .zip .gz .tgz .bz2 .xz .zst .7z .rar .tar .jar .war .ear .whl .egg .apk .ipa .deb .rpm .dmg"
    " .iso .img .exe .dll .so .dylib .a .o .obj .lib .pyc .pyo .pyd .class .wasm .node .bin .pdb"
    " .ttf .otf .woff .woff2 .eot .db .sqlite .sqlite3 .mdb .npy .npz .pkl .pickle .h5 .hdf5"
    " .parquet .arrow .feather .onnx .pt .pth .safetensors .gguf .ckpt .tflite .pb .mo .gmo"
    " .doc .xls .ppt .mobi .swf .blend .fbx .glb"
)
BINARY_SUFFIXES = frozenset(BINARY_SUFFIX_LIST.split())

SHEBANG = re.compile(r"#![ \t]*(?:\S*/)?(?:env[ \t]+(?:-\S+[ \t]+)*)?([A-Za-z]+)")
INTERPRETERS = {
    "python": "python",
    "pypy": "python",
    "sh": "shell",
    "bash": "shell",
    "dash": "shell",
    "zsh": "shell",
    "ksh": "shell",
    "fish": "shell",
    "node": "javascript",
    "deno": "typescript",
    "ruby": "ruby",
    "perl": "perl",
    "php": "php",
    "lua": "lua",
    "Rscript": "r",
    "make": "make",
}
_ABOVE = r"\A(?:[ \t]*+(?:(?://|#(?!include))[^\n]*+|@\w[^\n]*+)?\n)*+"
"""Blank lines, comments and decorators, which may stand above the first statement."""
BEGINNINGS = tuple(
    (language, re.compile(f"{_ABOVE}(?:{pattern})"))
    for language, pattern in (
        ("python", r"(?:async )?def \w+\([^\n]*\n|class \w+(?:\([^\n]*\))?:[ \t]*\n[ \t]"),
        ("python", r"from [\w.]+ import (?:[(*]|\w+(?: as \w+)?(?:, *\w+(?: as \w+)?)*+[ \t]*\n)"),
        ("javascript", r"(?:export )?(?:default )?(?:async )?function[ *]+\w+\([^\n]*\n"),
        ("go", r"package \w+\n\s*(?:import|func|type|var|const|//)\b|func (?:\([^)\n]*\) )?\w+\("),
        ("rust", r"(?:pub(?:\([^)\n]*\))? )?(?:async )?fn \w+[<(]"),
        ("java", r"(?:public|private|protected) [\w<>\[\], ]+\([^\n]*\)[^\n]*\{[ \t]*\n"),
        ("php", r"<\?php\b"),
        ("c", r"#include *[<\"]"),
    )
)
"""How source code of a language begins, as prose does not: at most one statement is looked at."""
BEGINNING = 4000
"""Characters in which that statement must stand."""


def format_names() -> tuple[str, ...]:
    """Return the names of all formats, sorted."""
    return tuple(sorted({format_.name for format_, _, _ in FORMAT_TABLE}))


def detect_kind(path: str) -> str:
    """Return the kind of a file, `document` or `code`, from its path alone."""
    return detect_format(path)[0].kind


@lru_cache(maxsize=4096)
def compute_record_id(path: str) -> str:
    """Return the id of the record that a file becomes, from its path alone."""
    return hashing.record_id(detect_kind(path), path)


def detect_format(path: str) -> tuple[Format, str]:
    """Return the format and language of a file from its path; the default is plain text."""
    name = path.rpartition("/")[2].lower()
    return FORMATS_BY_SUFFIX.get(name) or FORMATS_BY_SUFFIX.get(_suffix(name)) or (TEXT, "text")


def is_binary(path: str) -> bool:
    """Return whether the suffix of a path is one of a binary format without a reader."""
    return _suffix(path.rpartition("/")[2].lower()) in BINARY_SUFFIXES


def detect_text_format(path: str, content: str) -> tuple[Format, str]:
    """Return the format and language of a text; where the path is no help, by how it begins."""
    format_, language = detect_format(path)
    if "." not in path.rpartition("/")[2] and format_ is TEXT:
        shebang = SHEBANG.match(content)
        code = INTERPRETERS.get(shebang[1]) if shebang else _language_of_code(content)
        if code:
            return CODE, code
    return format_, language


def _language_of_code(content: str) -> str | None:
    """Return the language of a text that begins as source code does."""
    head = content[:BEGINNING]
    return next((name for name, begins in BEGINNINGS if begins.match(head)), None)


def _suffix(name: str) -> str:
    return name[name.rfind(".") :] if "." in name else ""
