"""Contexts whose format is a plug-in that fails: they are rendered by a format of Quire's own."""

from __future__ import annotations

from dataclasses import replace

from quire.core.types import Failure
from quire.errors import PluginError
from quire.pipeline.request import ResolvedRequest
from quire.pipeline.retrieve import Retrieved
from quire.rendering import FORMATS

FORMAT = "format"
OWN_FORMAT = "markers"


def with_own_format(
    request: ResolvedRequest, retrieved: Retrieved, error: PluginError
) -> tuple[ResolvedRequest, Retrieved]:
    """Return a request with a format of Quire's own, and the failure of the plug-in.

    An error that is not that of a format is raised again.
    """
    recipe = request.recipe
    if recipe.render.format in FORMATS:
        raise error
    rendering = replace(recipe.render, format=OWN_FORMAT)
    failed = {*retrieved.failed, Failure(FORMAT, str(error))}
    return (
        replace(request, recipe=replace(recipe, render=rendering)),
        replace(
            retrieved,
            failed=tuple(sorted(failed, key=lambda failure: (failure.source, failure.reason))),
        ),
    )
