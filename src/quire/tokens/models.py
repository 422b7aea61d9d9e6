"""The vocabulary of each model.

One table. A model belongs to the row with the longest prefix of its name that ends with a word:
`gpt-4` covers `gpt-4-turbo`, not `gpt-4o`. A row without a margin is exact: the model's makers, or
two independent sources, name that vocabulary. All other rows are estimates.
"""

from __future__ import annotations

import re
from typing import NamedTuple


class ModelRow(NamedTuple):
    """A group of models, and how their tokens are counted."""

    vocabulary: str
    prefixes: str
    """Prefixes of their names, separated by spaces."""
    margin: int | None = None
    """Percent to add; None if the count is exact."""
    note: str | None = None


_CLAUDE = (
    "an estimate: Anthropic publishes no tokenizer; o200k's count and {margin}%, by what others "
    "report ({report}), not measured here; text that is not in Latin script may take more"
)
_GEMINI = (
    "an estimate: Google publishes Gemma's vocabulary, not Gemini's; its own library counts "
    "Gemini's tokens with it"
)
_UNPUBLISHED = "an estimate: nothing published says that this model reads {vocabulary}'s vocabulary"

MODELS = (
    ModelRow("o200k", "gpt-4o chatgpt-4o gpt-4.1 gpt-4.5 gpt-5 gpt-oss o1 o3 o4 o200k_base"),
    ModelRow("cl100k", "gpt-4 gpt-3.5 gpt-35 text-embedding-3 text-embedding-ada-002 cl100k_base"),
    ModelRow(
        "o200k",
        "claude-1 claude-2 claude-3 claude-instant claude-haiku-4 claude-sonnet-4 claude-opus-4",
        30,
        _CLAUDE.format(margin=30, report="10 to 30% more"),
    ),
    ModelRow(
        "o200k",
        "claude claude-opus-4-7 claude-opus-4.7 claude-opus-4-8 claude-opus-4.8",
        70,
        _CLAUDE.format(margin=70, report="30% more, and since Opus 4.7 another 30%"),
    ),
    ModelRow("gemma2", "gemma-2 gemma2 gemma-1.1 gemma-2b gemma-7b"),
    ModelRow("gemma3", "gemma-3 gemma3 gemma-3n gemma3n"),
    ModelRow("gemma4", "gemma-4 gemma4"),
    ModelRow("gemma4", "gemma", 0, "an estimate: the name does not say which Gemma it is"),
    ModelRow("gemma2", "gemini-1.0 gemini-1.5", 0, _GEMINI),
    ModelRow("gemma3", "gemini-2.0 gemini-2.5 gemini-3-pro gemini-3-flash", 0, _GEMINI),
    ModelRow("gemma4", "gemini", 0, _GEMINI),
    ModelRow("llama3", "llama-3 llama3 llama-v3 llama-v3p1 llama-v3p2 llama-v3p3 meta-llama-3"),
    ModelRow(
        "llama3",
        "llama-4 llama4 meta-llama-4",
        10,
        "an estimate: Llama 4's vocabulary is not carried here; on pieces of 800 characters it "
        "gave at most 9% more tokens than Llama 3's",
    ),
    ModelRow("qwen", "qwen-1_8b qwen-7b qwen-14b qwen-72b qwen1.5 qwen2 qwen2.5 qwen3 qwq"),
    ModelRow(
        "qwen",
        "qwen qwen3.5 qwen3.6 qwen3.7 qwen3.8 qwen3.9",
        20,
        "an estimate: the vocabulary of Qwen 3.5 and later is not carried here; on pieces of 800 "
        "characters it gave at most 18% more tokens than Qwen 3's",
    ),
    ModelRow(
        "mistral-spm",
        "mistral-7b open-mistral-7b mixtral open-mixtral mathstral mistral-tiny-2312 "
        "mistral-tiny-2407 mistral-small-2312 mistral-small-2402 mistral-medium-2312 "
        "mistral-large-2402 mistral-large-2407 mistral-large-instruct-2407 mistral-large-2411 "
        "mistral-large-instruct-2411 pixtral-large-2411 pixtral-large-instruct-2411 "
        "codestral-2405 codestral-22b codestral-mamba mamba-codestral",
    ),
    ModelRow(
        "mistral-spm",
        "mistral-small-2409 mistral-small-instruct-2409",
        0,
        "an estimate: its model card names the vocabulary of 32,768 tokens, Mistral's library "
        "Tekken; counted with the former, which gives more tokens",
    ),
    ModelRow(
        "mistral-tekken",
        "mistral-nemo open-mistral-nemo pixtral-12b ministral-8b-2410 ministral-8b-instruct-2410 "
        "mistral-small-24b mistral-small-2501 mistral-small-3.1 mistral-small-2503 "
        "devstral-small-2505 magistral-small-2506",
    ),
    ModelRow(
        "mistral-tekken",
        "mistral ministral codestral devstral magistral pixtral voxtral",
        0,
        _UNPUBLISHED.format(vocabulary="Tekken"),
    ),
    ModelRow("deepseek", "deepseek-v3 deepseek-r1"),
    ModelRow("deepseek", "deepseek", 0, _UNPUBLISHED.format(vocabulary="DeepSeek V3")),
    ModelRow("llama3", "deepseek-r1-distill-llama", 0, _UNPUBLISHED.format(vocabulary="Llama 3")),
    ModelRow(
        "qwen",
        "deepseek-r1-distill-qwen deepseek-r1-0528-qwen3",
        0,
        _UNPUBLISHED.format(vocabulary="Qwen"),
    ),
)

_BY_PREFIX = {prefix: row for row in MODELS for prefix in row.prefixes.split()}
_WORD_END = re.compile(r"(?=[^a-z0-9])|$")
_AFTER_VENDOR = re.compile(r"(?<=[.:])")


def find_model(model: str) -> ModelRow | None:
    """Return the row of a model, by its name in lower case, with or without a vendor's."""
    model = model.rpartition("/")[2]
    # A vendor may precede the name (`us.anthropic.claude-…`, `ft:gpt-4o:…`), never follow it.
    starts = [0, *(match.start() for match in _AFTER_VENDOR.finditer(model))]
    return next((row for start in starts if (row := _match_longest_prefix(model[start:]))), None)


def _match_longest_prefix(model: str) -> ModelRow | None:
    ends = [match.start() for match in _WORD_END.finditer(model)]
    return next(
        (_BY_PREFIX[model[:end]] for end in reversed(ends) if model[:end] in _BY_PREFIX), None
    )
