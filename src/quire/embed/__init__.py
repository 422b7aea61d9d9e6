"""Embedders: text to int8 vectors.

Texts with a similar meaning have vectors that lie close together. An embedder runs a model on this
machine (`local`), calls an OpenAI-compatible endpoint (`http`), or is absent (`none`): then Quire
searches by words alone.

This module imports nothing heavy, so that a command that embeds nothing starts fast.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from quire.core import guard
from quire.core.protocols import Embedder
from quire.core.types import EmbedSettings
from quire.embed.calibrate import is_english, similarity
from quire.embed.model_files import load_by_name
from quire.embed.own import OwnEmbedder
from quire.embed.quantize import quantize, scale
from quire.errors import ConfigError, EmbedError, InputError, MissingExtraError, PluginError
from quire.system import entry_points

__all__ = ["is_english", "open_by_name", "open_embedder", "quantize", "scale", "similarity"]

PROVIDERS = ("local", "http", "plugin", "none")


def open_embedder(settings: EmbedSettings, disabled: Collection[str] = ()) -> Embedder | None:
    """Open the embedder of the settings; return None if the provider is `none`.

    `disabled` names the plug-ins that are not used.
    """
    match settings.provider:
        case "none":
            return None
        case "local":
            return _open_local(settings)
        case "http":
            return _open_http(settings)
        case "plugin":
            return _open_plugin(settings, disabled)
    raise ConfigError(
        f"unknown provider {settings.provider!r}",
        field="embed.provider",
        value=settings.provider,
        allowed=PROVIDERS,
    )


def open_by_name(model: str, settings: EmbedSettings) -> Embedder | None:
    """Open the model that made vectors, so that they answer until others replace them.

    Only the shipped model, and those of older releases that are still installed: a path or an
    address in a store may have been written by somebody else. None if it cannot be opened.
    """
    try:
        files = load_by_name(model)
        if files is None:
            return None
        from quire.embed.local import LocalEmbedder

        embedder = LocalEmbedder(replace(settings, folder=None, query_prefix=None), files)
    except (ImportError, EmbedError, MissingExtraError):
        return None
    return embedder if embedder.model == model else None


def _open_local(settings: EmbedSettings) -> Embedder:
    try:
        from quire.embed.local import LocalEmbedder

        return LocalEmbedder(settings)
    except ImportError as error:
        raise _missing("local", error) from error


def _open_http(settings: EmbedSettings) -> Embedder:
    try:
        from quire.embed.http import HttpEmbedder

        return HttpEmbedder(settings)
    except ImportError as error:
        raise _missing("http", error) from error


def _open_plugin(settings: EmbedSettings, disabled: Collection[str]) -> Embedder:
    if not settings.model:
        raise ConfigError("required with the provider `plugin`", field="embed.model")
    try:
        plugin, factory = entry_points.require_plugin("embedders", settings.model, disabled)
        given = guard.call(plugin.described, factory)
        return OwnEmbedder(given, settings.timeout, prefix="plugin")
    except (PluginError, InputError) as error:
        raise EmbedError(str(error)) from error


def _missing(extra: str, error: ImportError) -> MissingExtraError:
    return MissingExtraError(
        f"a package that the provider `{extra}` needs is not installed ({error})",
        field="embed.provider",
        value=extra,
        hint=f"pip install 'quire-context[{extra}]', or set embed.provider to `none`",
    )
