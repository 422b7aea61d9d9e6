"""Rules of context files: which contexts apply at a place, in a situation.

Context files state rules for a folder and all below it, and which other contexts to inject when.
`parse_context_file` parses one, `resolve_chain` lists those that apply at a place, `merge` combines
them, and `evaluate` decides which rules apply in a situation. All of that is pure; only a judge may
ask a model or a user. `evaluator` applies it to a store, `project_files` to the disk.
"""

from __future__ import annotations

from collections.abc import Callable

from quire.core.protocols import Embedder, Judge
from quire.core.types import JudgeSettings
from quire.errors import ConfigError, EmbedError, EndpointError, MissingExtraError
from quire.rules.client_judge import ClientJudge, current_client
from quire.rules.inheritance import find_broken_extends, merge, resolve_chain
from quire.rules.parser import parse_context_file
from quire.rules.places import resolve_place, with_relative_path
from quire.rules.priority import evaluate
from quire.rules.situation import describe_situation, parse_situation, validate_situation
from quire.rules.verdicts import NOT_SET_UP, NoJudge

__all__ = [
    "PROVIDERS",
    "NoJudge",
    "client_identity",
    "describe_situation",
    "evaluate",
    "find_broken_extends",
    "merge",
    "open_judge",
    "parse_context_file",
    "parse_situation",
    "resolve_chain",
    "resolve_place",
    "validate_situation",
    "with_relative_path",
]

PROVIDERS = ("semantic", "llm", "mcp", "none")
"""The judges that `judge.provider` can name."""


def open_judge(settings: JudgeSettings, embedder: Callable[[], Embedder | None]) -> Judge:
    """Open the configured judge; one that is unavailable fails each sentence with the reason."""
    match settings.provider:
        case "none":
            return NoJudge(f"{NOT_SET_UP} `none`")
        case "semantic":
            return _open_semantic(settings, embedder)
        case "llm":
            return _open_llm(settings)
        case "mcp":
            return ClientJudge(settings)
    raise ConfigError(
        f"unknown judge {settings.provider!r}",
        field="judge.provider",
        value=settings.provider,
        allowed=PROVIDERS,
    )


def client_identity(settings: JudgeSettings) -> str:
    """Return which client judges in the running call; "" if the judge is the same for all calls."""
    return current_client() if settings.provider == "mcp" else ""


def _open_semantic(settings: JudgeSettings, embedder: Callable[[], Embedder | None]) -> Judge:
    from quire.rules.semantic_judge import SemanticJudge

    try:
        opened = embedder()
    except (EmbedError, EndpointError, MissingExtraError) as error:
        return NoJudge(str(error))
    if opened is None:
        return NoJudge(f"{NOT_SET_UP} `semantic`, but embed.provider is `none`")
    return SemanticJudge(opened, settings.threshold)


def _open_llm(settings: JudgeSettings) -> Judge:
    try:
        from quire.rules.llm_judge import LlmJudge

        return LlmJudge(settings)
    except ImportError as error:
        raise MissingExtraError(
            f"a package that the judge `llm` needs is not installed ({error})",
            field="judge.provider",
            value=settings.provider,
            hint="pip install 'quire-context[http]', or set judge.provider to `semantic`",
        ) from error
