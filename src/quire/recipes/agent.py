"""What should an agent know before it goes on?

Three pages: what is known of a task, from all that there is (`agent`), what went wrong before in a
domain (`premortem`), and which rules hold in a situation (`situation`). They are recipes like any
other; this says how they are asked for.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, Unpack

from quire import rules
from quire.core.aio import waiting
from quire.core.types import Context, FormattedContext, Recipe, Viewer, formatted
from quire.memory import vocabulary
from quire.memory.authoring import Noting
from quire.pipeline import recipe as recipes
from quire.pipeline.request import DEFAULT_MODEL, Options

AGENT = "agent"
PREMORTEM = "premortem"
ITEMS = 20
TOKENS = 2000
PREMORTEM_ITEMS = 10
PREMORTEM_TOKENS = 1500
SITUATION = "situation"
SITUATION_TOKENS = 4000


class Advising(Noting):
    """Pages for agents, of an open store."""

    @abstractmethod
    def assemble(self, query: str, **options: Unpack[Options]) -> Context:
        """Assemble one context for a question."""

    def assemble_context(
        self,
        query: str,
        context_types: Sequence[str] | None = None,
        limit: int = ITEMS,
        max_tokens: int = TOKENS,
        *,
        hard: bool = True,
        viewer: Viewer | str | None = None,
        model: str = DEFAULT_MODEL,
    ) -> FormattedContext:
        """Put what is known of a task on one page: memories, code, experiences, values, commits."""
        asked: Options = {
            "recipe": AGENT,
            "limit": limit,
            "budget": max_tokens,
            "hard": hard,
            "viewer": viewer,
            "model": model,
            "allow_empty": True,
        }
        if context_types is not None:
            asked["types"] = context_types
        return formatted(self.assemble(query, **asked))

    def premortem(
        self,
        domain: str,
        strategy: str | None = None,
        *,
        limit: int = PREMORTEM_ITEMS,
        budget: int = PREMORTEM_TOKENS,
        hard: bool = True,
        viewer: Viewer | str | None = None,
        model: str = DEFAULT_MODEL,
        meaning: bool = True,
    ) -> Context:
        """Tell what went wrong before in a domain, and with a strategy.

        Without `meaning` it is looked for by words alone.
        """
        vocabulary.check_attempt(domain, strategy, self.config.learn)
        recipe = filled(recipes.load(PREMORTEM), domain, strategy)
        return self.assemble(
            _said(domain, strategy),
            recipe=recipe if meaning else recipes.by_words(recipe),
            limit=limit,
            budget=budget,
            hard=hard,
            viewer=viewer,
            model=model,
            allow_empty=True,
        )

    def get_premortem_context(
        self,
        domain: str,
        strategy: str | None = None,
        limit: int = PREMORTEM_ITEMS,
        max_tokens: int = PREMORTEM_TOKENS,
        *,
        hard: bool = True,
        viewer: Viewer | str | None = None,
        model: str = DEFAULT_MODEL,
    ) -> FormattedContext:
        """Put past failures of a domain on one page, before it fails again."""
        return formatted(
            self.premortem(
                domain,
                strategy,
                limit=limit,
                budget=max_tokens,
                hard=hard,
                viewer=viewer,
                model=model,
            )
        )

    def situate(
        self,
        situation: Mapping[str, Any],
        base: str = "",
        *,
        budget: int = SITUATION_TOKENS,
        viewer: Viewer | str | None = None,
        model: str = DEFAULT_MODEL,
    ) -> Context:
        """Tell which contexts and rules hold in a situation, at a place or for a context."""
        return self.assemble(
            rules.told(rules.checked(situation)) or "anything",
            recipe=SITUATION,
            situation=situation,
            base=base,
            budget=budget,
            viewer=viewer,
            model=model,
            allow_empty=True,
        )

    assemble_context_async = waiting(assemble_context)
    get_premortem_context_async = waiting(get_premortem_context)
    situate_async = waiting(situate)


def filled(recipe: Recipe, domain: str, strategy: str | None = None) -> Recipe:
    """Let a recipe speak of a domain and a strategy; what asks for one that is unknown goes."""
    terms = {"domain": domain, "query": _said(domain, strategy)}
    return recipes.fill(recipe, terms if strategy is None else {**terms, "strategy": strategy})


def _said(domain: str, strategy: str | None) -> str:
    return domain if strategy is None else f"{domain} with {strategy}"
