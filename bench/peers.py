"""How do others assemble a context from the same chunks, with the same vectors?

`python -m bench.peers NAME CHUNKS DEPTH TOKENS` builds one of them; then each line of JSON that it
is given holds questions, and each line that it gives tells how long they took. The peers want other
versions of packages than Quire does, so that they live in an environment of their own
(bench/peers.txt); BENCH_PEERS names its Python.

They get their own BM25 and the fastest exact search that they offer, FAISS; LlamaIndex also runs
with the vector store that it takes by default, and Haystack with its in-memory store. What was
found is joined in its order, each piece under its path, until the next would pass the budget.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from bench import synthetic, synthetic_vectors
from bench.fresh import Fresh
from bench.process import peak_mib
from bench.question_model import QuestionModel
from quire import tokens
from quire.core.types import Chunk

Ask = Callable[[str], Sequence[tuple[str, str]]]
"""Gives path and text of what was found for a question, best first."""
Vectors = np.ndarray[Any, np.dtype[np.float32]]


def langchain(chunks: Sequence[Chunk], vectors: Vectors, model: QuestionModel, depth: int) -> Ask:
    """LangChain: EnsembleRetriever over BM25Retriever and FAISS, weights .5 and .5."""
    from langchain_classic.retrievers import EnsembleRetriever
    from langchain_community.retrievers import BM25Retriever
    from langchain_community.vectorstores import FAISS
    from langchain_community.vectorstores.utils import DistanceStrategy
    from langchain_core.embeddings import Embeddings

    class Questions(Embeddings):  # type: ignore[misc]  # installed elsewhere
        def embed_documents(self, texts: list[str]) -> list[list[float]]:
            return [_floats(vector) for vector in model.embed(texts)]

        def embed_query(self, text: str) -> list[float]:
            return _floats(model.embed_query(text))

    texts = [chunk.text for chunk in chunks]
    paths = [{"source": chunk.path} for chunk in chunks]
    words = BM25Retriever.from_texts(texts, metadatas=paths, k=depth)
    meaning = FAISS.from_embeddings(
        zip(texts, vectors, strict=True),
        Questions(),
        metadatas=paths,
        distance_strategy=DistanceStrategy.MAX_INNER_PRODUCT,
    )
    both = EnsembleRetriever(
        retrievers=[words, meaning.as_retriever(search_kwargs={"k": depth})], weights=[0.5, 0.5]
    )
    return lambda question: [
        (found.metadata["source"], found.page_content) for found in both.invoke(question)
    ]


def llamaindex(
    chunks: Sequence[Chunk],
    vectors: Vectors,
    model: QuestionModel,
    depth: int,
    *,
    with_faiss: bool = True,
) -> Ask:
    """LlamaIndex: QueryFusionRetriever (reciprocal rank) over BM25Retriever and vectors."""
    from llama_index.core import StorageContext, VectorStoreIndex
    from llama_index.core.embeddings import BaseEmbedding
    from llama_index.core.llms import MockLLM
    from llama_index.core.retrievers import QueryFusionRetriever
    from llama_index.core.retrievers.fusion_retriever import FUSION_MODES
    from llama_index.core.schema import TextNode
    from llama_index.retrievers.bm25 import BM25Retriever

    class Questions(BaseEmbedding):  # type: ignore[misc]  # installed elsewhere
        def _get_query_embedding(self, query: str) -> list[float]:
            return _floats(model.embed_query(query))

        async def _aget_query_embedding(self, query: str) -> list[float]:
            return self._get_query_embedding(query)

        def _get_text_embedding(self, text: str) -> list[float]:
            return _floats(model.embed([text])[0])

    nodes = [
        TextNode(
            id_=chunk.id,
            text=chunk.text,
            metadata={"file_path": chunk.path},
            embedding=vector.tolist(),
        )
        for chunk, vector in zip(chunks, vectors, strict=True)
    ]
    kept = StorageContext.from_defaults()
    if with_faiss:
        import faiss
        from llama_index.vector_stores.faiss import FaissVectorStore

        store = FaissVectorStore(faiss_index=faiss.IndexFlatIP(synthetic_vectors.DIMS))
        kept = StorageContext.from_defaults(vector_store=store)
    index = VectorStoreIndex(nodes, storage_context=kept, embed_model=Questions())
    words = BM25Retriever.from_defaults(nodes=nodes, similarity_top_k=depth)
    both = QueryFusionRetriever(
        [index.as_retriever(similarity_top_k=depth), words],
        similarity_top_k=2 * depth,
        num_queries=1,
        mode=FUSION_MODES.RECIPROCAL_RANK,
        use_async=False,
        llm=MockLLM(),
    )
    return lambda question: [
        (found.node.metadata["file_path"], found.node.get_content())
        for found in both.retrieve(question)
    ]


def haystack(chunks: Sequence[Chunk], vectors: Vectors, model: QuestionModel, depth: int) -> Ask:
    """Haystack: BM25 and vectors of its in-memory store, joined by reciprocal rank."""
    from haystack import Document
    from haystack.components.joiners import DocumentJoiner
    from haystack.components.retrievers.in_memory import (
        InMemoryBM25Retriever,
        InMemoryEmbeddingRetriever,
    )
    from haystack.document_stores.in_memory import InMemoryDocumentStore

    store = InMemoryDocumentStore(embedding_similarity_function="dot_product")
    store.write_documents(
        [
            Document(
                id=chunk.id,
                content=chunk.text,
                meta={"file_path": chunk.path},
                embedding=vector.tolist(),
            )
            for chunk, vector in zip(chunks, vectors, strict=True)
        ]
    )
    words = InMemoryBM25Retriever(store, top_k=depth)
    meaning = InMemoryEmbeddingRetriever(store, top_k=depth)
    join = DocumentJoiner(join_mode="reciprocal_rank_fusion", top_k=2 * depth)

    def ask(question: str) -> list[tuple[str, str]]:
        by_words = words.run(query=question)["documents"]
        by_meaning = meaning.run(query_embedding=_floats(model.embed_query(question)))["documents"]
        found = join.run(documents=[by_words, by_meaning])["documents"]
        return [(each.meta["file_path"], each.content) for each in found]

    return ask


PEERS: dict[str, Callable[[Sequence[Chunk], Vectors, QuestionModel, int], Ask]] = {
    "langchain": langchain,
    "llamaindex": llamaindex,
    "llamaindex-default": partial(llamaindex, with_faiss=False),
    "haystack": haystack,
}


def joined(found: Sequence[tuple[str, str]], budget: int) -> tuple[str, int]:
    """Join pieces until the next one would pass the budget; gives the text and its tokens."""
    counter = tokens.open_counter()
    parts: list[str] = []
    used = 0
    for path, text in found:
        part = f"# {path}\n{text}\n"
        cost = counter.count(part)
        if used + cost > budget:
            break
        parts.append(part)
        used += cost
    return "".join(parts), used


def built(name: str, size: int, depth: int, model: QuestionModel) -> tuple[Ask, float]:
    """Build a peer over made-up chunks; gives how it is asked, and the seconds that it took."""
    chunks = [chunk for made in synthetic.documents(size) for chunk in made.chunks]
    vectors = np.frombuffer(b"".join(synthetic_vectors.World().texts(size)), np.int8).reshape(
        size, -1
    )
    start = time.perf_counter()
    ask = PEERS[name](chunks, vectors.astype(np.float32), model, depth)
    return ask, time.perf_counter() - start


def measured(ask: Ask, questions: Sequence[str], budget: int) -> dict[str, list[float]]:
    """Ask each question once; gives the seconds, the processors' seconds and the tokens."""
    told: dict[str, list[float]] = {"seconds": [], "cpu": [], "tokens": []}
    for question in questions:
        begin, busy = time.perf_counter(), time.process_time()
        _, spent = joined(ask(question), budget)
        told["seconds"].append(time.perf_counter() - begin)
        told["cpu"].append(time.process_time() - busy)
        told["tokens"].append(spent)
    return told


def serve(name: str, size: int, depth: int, budget: int) -> None:
    """Answer line by line: `{}` when it is built, then questions."""
    out, sys.stdout = sys.stdout, sys.stderr  # a peer that prints must not be taken for an answer
    model = QuestionModel(Fresh().all)
    ask, seconds = built(name, size, depth, model)
    for line in sys.stdin:
        words = json.loads(line)
        model.at_work = words.get("at_work", False)
        told = measured(ask, words.get("questions", ()), budget)
        print(
            json.dumps({**told, "build_seconds": seconds, "peak_mib": peak_mib()}),
            file=out,
            flush=True,
        )


def _floats(vector: bytes) -> list[float]:
    given: list[float] = np.frombuffer(vector, np.int8).astype(np.float32).tolist()
    return given


if __name__ == "__main__":
    serve(sys.argv[1], *map(int, sys.argv[2:]))
