"""Embedders: text to int8 vectors.

Texts with a similar meaning have vectors that lie close together. An embedder runs a model on this
machine (`local`), calls an OpenAI-compatible endpoint (`http`), or is absent (`none`): then Quire
searches by words alone.

This module imports nothing heavy, so that a command that embeds nothing starts fast.
"""

from __future__ import annotations

from quire.core.protocols import Embedder
from quire.core.types import EmbedSettings
from quire.embed.calibrate import similarity
from quire.embed.quantize import quantize, scale
from quire.errors import ConfigError, MissingExtraError

__all__ = ["open_embedder", "quantize", "scale", "similarity"]

PROVIDERS = ("local", "http", "none")


def open_embedder(settings: EmbedSettings) -> Embedder | None:
    """Open the embedder of the settings; return None if the provider is `none`."""
    match settings.provider:
        case "none":
            return None
        case "local":
            return _open_local(settings)
        case "http":
            return _open_http(settings)
    raise ConfigError(
        f"unknown provider {settings.provider!r}",
        field="embed.provider",
        value=settings.provider,
        allowed=PROVIDERS,
    )


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


def _missing(extra: str, error: ImportError) -> MissingExtraError:
    return MissingExtraError(
        f"a package that the provider `{extra}` needs is not installed ({error})",
        field="embed.provider",
        value=extra,
        hint=f"pip install 'quire-context[{extra}]', or set embed.provider to `none`",
    )
