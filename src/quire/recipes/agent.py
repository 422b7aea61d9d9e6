"""Pages for agents (specification 4): what is known of a task, and what went wrong before.

Both are recipes like any other (`agent`, `premortem`); this is how they are asked for.
"""

from __future__ import annotations

from collections.abc import Sequence

from quire.core.aio import make_async
from quire.core.types import (
    Context,
    FormattedContext,
    Options,
    Recipe,
    Viewer,
    to_formatted_context,
)
from quire.memory import vocabulary
from quire.memory.authoring import OpenProject
from quire.pipeline import recipe as recipes
from quire.recipes.protocol import Assemble

AGENT = "agent"
AGENT_ITEMS = 20
AGENT_TOKENS = 2000
PREMORTEM = "premortem"
PREMORTEM_ITEMS = 10
PREMORTEM_TOKENS = 1500


class AgentContexts:
    """Pages for agents from an open store."""

    def __init__(self, project: OpenProject, assemble: Assemble) -> None:
        self._project = project
        self._assemble = assemble

    def assemble_context(
        self,
        query: str,
        context_types: Sequence[str] | None = None,
        limit: int = AGENT_ITEMS,
        max_tokens: int = AGENT_TOKENS,
        *,
        hard: bool = True,
        viewer: Viewer | str | None = None,
        model: str | None = None,
    ) -> FormattedContext:
        """Put what is known of a task on one page: memories, code, documents, experiences and more.

        Args:
            query: The task or question.
            context_types: The sections to fill, by name; None for all.
            limit: The most items in each section.
            max_tokens: The token budget of the page.
            hard: Whether the budget is a hard limit.
            viewer: Who reads; None for the configured viewer, or the owner.
            model: The model to count tokens for; None for the store's own counter, or o200k.
        """
        options: Options = {
            "recipe": AGENT,
            "limit": limit,
            "budget": max_tokens,
            "hard": hard,
            "viewer": viewer,
            "model": model,
            "allow_empty": True,
        }
        if context_types is not None:
            options["types"] = context_types
        return to_formatted_context(self._assemble(query, **options))

    def premortem(
        self,
        domain: str,
        strategy: str | None = None,
        *,
        limit: int = PREMORTEM_ITEMS,
        budget: int = PREMORTEM_TOKENS,
        hard: bool = True,
        viewer: Viewer | str | None = None,
        model: str | None = None,
        meaning: bool = True,
        shared_only: bool = False,
    ) -> Context:
        """Assemble what went wrong before in a domain, and with a strategy.

        Without `meaning` the search is lexical only. With `shared_only`, what other users wrote
        for themselves is left out.
        """
        vocabulary.check_attempt(domain, strategy, self._project.config.learn)
        recipe = fill_recipe(recipes.load(PREMORTEM), domain, strategy)
        return self._assemble(
            _query_of(domain, strategy),
            recipe=recipe if meaning else recipes.by_words(recipe),
            limit=limit,
            budget=budget,
            hard=hard,
            viewer=viewer,
            model=model,
            allow_empty=True,
            shared_only=shared_only,
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
        model: str | None = None,
    ) -> FormattedContext:
        """Put past failures of a domain on one page, before it fails again."""
        return to_formatted_context(
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

    assemble_context_async = make_async(assemble_context)
    premortem_async = make_async(premortem)
    get_premortem_context_async = make_async(get_premortem_context)


def fill_recipe(recipe: Recipe, domain: str, strategy: str | None = None) -> Recipe:
    """Fill a recipe's placeholders in; sources that need a strategy go where there is none."""
    attempt = domain if strategy is None else f"{domain} using {strategy}"
    terms = {"domain": domain, "query": _query_of(domain, strategy), "attempt": attempt}
    return recipes.fill(recipe, terms if strategy is None else {**terms, "strategy": strategy})


def _query_of(domain: str, strategy: str | None) -> str:
    return domain if strategy is None else f"{domain} with {strategy}"
