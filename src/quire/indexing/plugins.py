"""The parts that a caller brings along: an embedder, a reranker, a counter, a judge, a writer.

Each is checked once, when the store is opened, and then stands where the configured part would.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from quire.core import guard
from quire.core.guard import OWN
from quire.core.types import EmbedSettings, JudgeSettings, Recipe, WriterSettings
from quire.core.types.settings import RerankSettings
from quire.embed.own import OwnEmbedder
from quire.errors import ConfigError, InputError
from quire.llm.own_writer import OwnWriter
from quire.ranking import OwnReranker
from quire.rendering import FORMATS
from quire.retrieval import COLLECTORS
from quire.rules.own_judge import OwnJudge
from quire.system import entry_points
from quire.tokens.own import OwnCounter


@dataclass(frozen=True, slots=True)
class OwnParts:
    """What a caller brings along; None: as the settings say."""

    embedder: OwnEmbedder | None = None
    reranker: OwnReranker | None = None
    counter: OwnCounter | None = None
    judge: OwnJudge | None = None
    writer: OwnWriter | None = None

    @property
    def settings(self) -> Mapping[str, Mapping[str, Any]]:
        """The settings that say that a part is the caller's own."""
        named = {
            "embed": None if self.embedder is None else self.embedder.name,
            "judge": None if self.judge is None else self.judge.name,
            "writer": None if self.writer is None else self.writer.name,
        }
        return {
            section: {"provider": OWN, "model": name}
            for section, name in named.items()
            if name is not None
        }


NO_PARTS = OwnParts()


def open_reranker(settings: RerankSettings, disabled: Collection[str] = ()) -> OwnReranker | None:
    """Open the reranker of the settings; return None if the provider is `none`."""
    match settings.provider:
        case "none":
            return None
        case "plugin":
            plugin, factory = entry_points.require_plugin(
                "rerankers", settings.model or "", disabled
            )
            return OwnReranker(guard.call(plugin.described, factory), prefix="plugin")
    raise ConfigError(
        f"unknown provider {settings.provider!r}",
        field="rerank.provider",
        value=settings.provider,
        allowed=("plugin", "none"),
    )


def name_plugins(recipe: Recipe, disabled: Collection[str]) -> dict[str, str]:
    """Return the plug-ins that a recipe uses, with their packages; refuse one that is disabled."""
    wanted = [("collectors", name) for name in recipe.sources if name not in COLLECTORS]
    if recipe.render.format not in FORMATS:
        wanted.append(("formats", recipe.render.format))
    found: dict[str, str] = {}
    for group, name in wanted:
        plugin = entry_points.get_plugin(group, name)
        if plugin is not None and entry_points.is_disabled(plugin, disabled):
            raise InputError(
                f"{plugin.described} is disabled",
                field="recipe",
                value=recipe.name,
                hint="take it out of [plugins] disable",
            )
        if plugin is not None:
            found[plugin.key] = plugin.package
    return found


def check_parts(
    *,
    embedder: Any = None,
    reranker: Any = None,
    counter: Any = None,
    judge: Any = None,
    writer: Any = None,
    timeouts: tuple[EmbedSettings, JudgeSettings, WriterSettings],
) -> OwnParts:
    """Check what a caller passes; refuse what cannot be used, by the name of its argument."""
    embed, judging, writing = timeouts
    return OwnParts(
        embedder=None if embedder is None else OwnEmbedder(embedder, embed.timeout),
        reranker=None if reranker is None else OwnReranker(reranker),
        counter=None if counter is None else OwnCounter(counter),
        judge=None if judge is None else OwnJudge(judge, judging.timeout),
        writer=None if writer is None else OwnWriter(writer, writing.timeout),
    )
