"""Context files and their rules (specification 2): check them, and ask which hold in a situation.

`check`, `list` and `test` read the files on disk; `situate` reads the store, as its viewer may, and
puts what holds on one page (the recipe `situation`).
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from contextlib import closing
from typing import Any

from quire import rules
from quire.core.aio import make_async
from quire.core.types import Context, Viewer
from quire.memory.authoring import OpenProject
from quire.recipes.protocol import Assemble
from quire.rules import project_files
from quire.rules.project_files import CheckedFiles, PlaceEvaluation, PlaceRules

SITUATION = "situation"
SITUATION_TOKENS = 4000


class ContextRules:
    """The context files of an open project, and the rules in them."""

    def __init__(self, project: OpenProject, assemble: Assemble) -> None:
        self._project = project
        self._assemble = assemble

    def check(self, paths: Sequence[str | os.PathLike[str]] = ()) -> CheckedFiles:
        """Check the context files below some paths, or of the whole project."""
        return project_files.check_files(self._project.config, paths)

    def test(
        self, situation: Mapping[str, Any], path: str | os.PathLike[str] | None = None
    ) -> PlaceEvaluation:
        """Evaluate which rules apply at a path, or at the root, in a situation, and why."""
        settings = self._project.config
        with closing(self._project.open_judge()) as judge:
            return project_files.evaluate_rules(
                settings, settings.root if path is None else path, situation, judge
            )

    def situate(
        self,
        situation: Mapping[str, Any],
        base: str = "",
        *,
        budget: int = SITUATION_TOKENS,
        viewer: Viewer | str | None = None,
        model: str | None = None,
    ) -> Context:
        """Assemble the contexts and rules that hold in a situation.

        Args:
            situation: What is going on: `tool`, `params`, `path`, `intent`, ...
            base: The context file, or the place, whose rules hold.
            budget: The token budget.
            viewer: Who reads; None for the configured viewer, or the owner.
            model: The model to count tokens for; None for the store's own counter, or o200k.
        """
        situation = rules.with_relative_path(
            self._project.config.root, rules.validate_situation(situation)
        )
        return self._assemble(
            rules.describe_situation(situation) or "anything",
            recipe=SITUATION,
            situation=situation,
            base=base,
            budget=budget,
            viewer=viewer,
            model=model,
            allow_empty=True,
        )

    situate_async = make_async(situate)

    # Last in the class: below it `list` would no longer mean the type.
    def list(self, path: str | os.PathLike[str] | None = None) -> PlaceRules:
        """List what applies at a path, or at the root, and the file that each part comes from."""
        settings = self._project.config
        return project_files.list_rules(settings, settings.root if path is None else path)
