"""Which rules apply here?

Context files say what holds below a folder, and which other contexts to bring in when. `read` reads
one, `chain` lists those that count at a place, `merge` puts them together, `evaluate` tells which
rules apply in a situation. All of that is pure; only a judge may ask a model, or a user.
"""

from __future__ import annotations

from collections.abc import Callable

from quire.core.protocols import Embedder, Judge
from quire.core.types import JudgeSettings
from quire.errors import ConfigError, EmbedError, EndpointError, MissingExtraError
from quire.rules.client_judge import ClientJudge, whom
from quire.rules.discovery import ENDINGS, PLAIN, candidates, form_of
from quire.rules.expression_eval import checked, parse, told
from quire.rules.inheritance import chain, essentials, folders, found, merge, mistakes
from quire.rules.parser import LONGEST, read
from quire.rules.priority import evaluate
from quire.rules.verdicts import NoJudge

__all__ = [
    "ENDINGS",
    "LONGEST",
    "PLAIN",
    "NoJudge",
    "asked_back",
    "candidates",
    "chain",
    "checked",
    "essentials",
    "evaluate",
    "folders",
    "form_of",
    "found",
    "merge",
    "mistakes",
    "open_judge",
    "parse",
    "read",
    "told",
]


def open_judge(settings: JudgeSettings, embedder: Callable[[], Embedder | None]) -> Judge:
    """Open the judge that the settings ask for; one that cannot be had says so of each sentence."""
    match settings.provider:
        case "none":
            return NoJudge("judge.provider is `none`")
        case "semantic":
            return _semantic(settings, embedder)
        case "llm":
            return _llm(settings)
        case "mcp":
            return ClientJudge(settings)
    raise ConfigError(
        f"judge.provider is {settings.provider!r}; it must be `semantic`, `llm`, `mcp` or `none`"
    )


def asked_back(settings: JudgeSettings) -> str:
    """Name who is asked in the call that runs, where that is the judge; else it is one for all."""
    return whom() if settings.provider == "mcp" else ""


def _semantic(settings: JudgeSettings, embedder: Callable[[], Embedder | None]) -> Judge:
    from quire.rules.semantic_judge import SemanticJudge

    try:
        opened = embedder()
    except (EmbedError, EndpointError, MissingExtraError) as error:
        return NoJudge(str(error))
    if opened is None:
        return NoJudge("judge.provider is `semantic`, but embed.provider is `none`")
    return SemanticJudge(opened, settings.threshold)


def _llm(settings: JudgeSettings) -> Judge:
    try:
        from quire.rules.llm_judge import LlmJudge

        return LlmJudge(settings)
    except ImportError as error:
        raise MissingExtraError(
            f"judge.provider is `llm`, but what it needs is not installed ({error}): "
            "pip install 'quire[http]', or set judge.provider to `semantic`"
        ) from error
