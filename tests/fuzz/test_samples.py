"""Bad inputs come from good ones: each sample is taken as it is."""

from __future__ import annotations

import json

import pytest

from quire.core import toml
from quire.core.types import ContextFile
from quire.evaluation.questions import read_questions
from quire.ingest.read import build_document
from quire.integrations.hooks import payloads
from quire.memory import memory_lines as memories
from quire.rules import parse_context_file
from quire.rules.expressions import parse_expression
from quire.workspace import block_lines as blocks

from . import samples
from .targets import SMALL


@pytest.mark.parametrize(("path", "text"), samples.FILES, ids=lambda value: value[:20])
def test_files(path: str, text: str) -> None:
    assert build_document(path, text.encode(), SMALL).chunks


def test_settings() -> None:
    assert toml.parse(samples.SETTINGS.encode(), "x")


@pytest.mark.parametrize(("path", "text"), samples.CONTEXTS, ids=lambda value: value[:20])
def test_context_files(path: str, text: str) -> None:
    assert isinstance(parse_context_file(path, text), ContextFile)


@pytest.mark.parametrize("text", samples.EXPRESSIONS)
def test_expressions(text: str) -> None:
    assert parse_expression(text)


def test_lines() -> None:
    def lines(values: list[dict[str, object]]) -> str:
        return "\n".join(json.dumps(value) for value in values)

    assert len(blocks.parse(lines(samples.BLOCKS))) == 2
    assert len(memories.parse(lines(samples.MEMORIES), at=1)) == 2
    assert len(read_questions(lines(samples.QUESTIONS))) == 1


@pytest.mark.parametrize("payload", samples.HOOKS, ids=str)
def test_hooks(payload: dict[str, object]) -> None:
    assert payloads.parse(json.dumps(payload).encode()).session
