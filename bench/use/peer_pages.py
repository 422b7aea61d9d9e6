"""What others answer: run by the Python of their own environment, which has no Quire.

`python peer_pages.py aider|llamaindex FOLDER TOKENS` answers each line of JSON that it is given, a
question, with a line of JSON, the text that it would give a language model.

- aider: the map of the repository (`RepoMap`) for a question: words of it that are names are given
  as mentioned, as aider does, and no file is in the chat.
- llamaindex: `SentenceSplitter` and `BM25Retriever` as they come, each node under its path.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

MAX_FILE = 1_000_000
NODES = 50


def files(folder: Path) -> list[Path]:
    """List the text files of a checkout that git knows."""
    listed = subprocess.run(
        ["git", "-C", str(folder), "ls-files", "-z"], check=True, capture_output=True
    )
    paths = [folder / name for name in sorted(filter(None, listed.stdout.decode().split("\0")))]
    return [
        path
        for path in paths
        if path.is_file() and not path.is_symlink() and path.stat().st_size <= MAX_FILE
    ]


def aider(folder: Path, tokens: int) -> Callable[[str], str]:
    """Aider: the map of a repository."""
    from aider.io import InputOutput
    from aider.repomap import RepoMap

    class Model:
        def token_count(self, text: str) -> int:
            return len(text) // 4

    made = RepoMap(
        map_tokens=tokens,
        root=str(folder),
        main_model=Model(),
        io=InputOutput(pretty=False, yes=True),
        map_mul_no_files=1,
    )
    names = [str(path) for path in files(folder)]

    def ask(question: str) -> str:
        words = set(re.split(r"\W+", question))
        fitting = {
            str(Path(name).relative_to(folder)) for name in names if Path(name).stem in words
        }
        return made.get_repo_map([], names, fitting, words) or ""

    return ask


def llamaindex(folder: Path, tokens: int) -> Callable[[str], str]:
    """LlamaIndex: BM25 over the nodes of its splitter."""
    from llama_index.core import Document
    from llama_index.core.node_parser import SentenceSplitter
    from llama_index.retrievers.bm25 import BM25Retriever

    documents = []
    for path in files(folder):
        try:
            text = path.read_text("utf-8")
        except UnicodeDecodeError:
            continue
        documents.append(Document(text=text, metadata={"path": str(path.relative_to(folder))}))
    small = SentenceSplitter(chunk_size=tokens, chunk_overlap=20)
    nodes = small.get_nodes_from_documents(documents)
    found = BM25Retriever.from_defaults(nodes=nodes, similarity_top_k=min(NODES, len(nodes)))

    def ask(question: str) -> str:
        return "\n\n".join(
            f"{one.node.metadata['path']}\n{one.node.get_content()}"
            for one in found.retrieve(question)
        )

    return ask


PEERS = {"aider": aider, "llamaindex": llamaindex}


def main() -> None:
    """Answer questions until there are no more."""
    answers, sys.stdout = sys.stdout, sys.stderr  # peers print what they are doing
    ask = PEERS[sys.argv[1]](Path(sys.argv[2]), int(sys.argv[3]))
    for line in sys.stdin:
        print(json.dumps(ask(json.loads(line))), file=answers, flush=True)


if __name__ == "__main__":
    main()
