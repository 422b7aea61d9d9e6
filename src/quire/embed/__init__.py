"""What does this text mean?

An embedder turns text into a vector of int8 numbers; texts that mean the same lie close
together. It runs a model on this machine (`local`), asks an OpenAI-compatible endpoint
(`http`), or is absent (`none`): then Quire searches by words alone.

Only standard modules are loaded here: a command that embeds nothing pays for nothing.
"""

from __future__ import annotations

from quire.core.protocols import Embedder
from quire.core.types import EmbedSettings
from quire.embed.calibrate import similarity
from quire.embed.quantise import quantise, scale
from quire.errors import ConfigError, MissingExtraError

__all__ = ["open_embedder", "quantise", "scale", "similarity"]


def open_embedder(settings: EmbedSettings) -> Embedder | None:
    """Open the embedder that the settings ask for; None if they ask for none."""
    match settings.provider:
        case "none":
            return None
        case "local":
            return _open_local(settings)
        case "http":
            return _open_http(settings)
    raise ConfigError(
        f"embed.provider is {settings.provider!r}; it must be `local`, `http` or `none`"
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
        f"embed.provider is `{extra}`, but what it needs is not installed ({error}): "
        f"pip install 'quire[{extra}]', or set embed.provider to `none`"
    )
