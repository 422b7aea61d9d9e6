"""Embedding models: which ones can be used, what settings name them, and whether one is right."""

from __future__ import annotations

import time
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

from quire.core.types import EmbedSettings
from quire.embed import open_embedder
from quire.embed.calibrate import is_calibrated
from quire.embed.model_files import PREFIX_FILE, SHIPPED_IN, SHIPPED_NAME, load, load_shipped
from quire.embed.probe import PROBE, find_deviation
from quire.errors import InputError, MissingExtraError

NONE = "none"
PROBE_TIMES = 20
"""How often the probe is embedded to tell how long a text takes."""
KEYS = ("provider", "folder", "url", "model", "query_prefix")
"""The settings that say which model is used."""


@dataclass(frozen=True, slots=True)
class ModelChoice:
    """A model that can be used."""

    name: str
    about: str
    in_use: bool


@dataclass(frozen=True, slots=True)
class ModelCheck:
    """What a trial of a model showed."""

    model: str
    dimensions: int
    milliseconds: float
    """How long a sentence takes."""
    deviation: int | None
    """By how much its vectors differ from those that are known; None: none are known."""

    @property
    def is_right(self) -> bool:
        """Whether its vectors are those that are known, but for rounding."""
        return self.deviation is None or self.deviation <= 1


def list_models(settings: EmbedSettings) -> list[ModelChoice]:
    """List the shipped model, none, and the one of the settings if it is another."""
    local = settings.provider == "local"
    choices = [
        ModelChoice(SHIPPED_NAME, _describe_shipped(), in_use=local and settings.folder is None),
        ModelChoice(NONE, "search by words alone", in_use=settings.provider == NONE),
    ]
    if local and settings.folder is not None:
        choices.append(ModelChoice(settings.folder, "a folder", in_use=True))
    if settings.provider == "http":
        choices.append(ModelChoice(settings.model or "", f"asked at {settings.url}", in_use=True))
    return choices


def find_settings(name: str) -> dict[str, str | None]:
    """Return the keys of [embed] that stand for a model: the shipped one, none, or a folder."""
    values: dict[str, str | None] = dict.fromkeys(KEYS)
    if name == SHIPPED_NAME:
        return values | {"provider": "local"}
    if name == NONE:
        return values | {"provider": NONE}
    if not Path(name).is_dir():
        raise InputError(
            f"{name!r} is not a model",
            field="name",
            value=name,
            hint=f"name {SHIPPED_NAME}, {NONE}, or a folder with a model.onnx",
        )
    load(Path(name))  # a folder without a model is refused now, not at the next question
    return values | {"provider": "local", "folder": str(Path(name).resolve())}


def describe_folder(folder: str) -> list[str]:
    """Say what is missing in the folder of a model, or not known of it."""
    files = load(Path(folder))
    notes = []
    if not files.query_prefix:
        notes.append(
            f"it has no {PREFIX_FILE}: questions are embedded as they are, without a prefix"
        )
    if not is_calibrated(files.name):
        notes.append(
            "the range of its cosines is not known: similarities are its cosines as they are, so "
            "that `floor` of [sources.semantic], and what counts as relevant, mean something "
            "else than with the model that comes with Quire"
        )
    return notes


def check_model(settings: EmbedSettings) -> ModelCheck:
    """Load a model, which checks its files, compare its vectors with known ones, and time it."""
    embedder = open_embedder(settings)
    if embedder is None:
        raise InputError("no model is used here", hint=f"name one: {SHIPPED_NAME}, or a folder")
    deviation = find_deviation(embedder)
    started = time.perf_counter()
    for _ in range(PROBE_TIMES):
        embedder.embed([PROBE])
    milliseconds = (time.perf_counter() - started) * 1000 / PROBE_TIMES
    return ModelCheck(embedder.model, embedder.dims, round(milliseconds, 1), deviation)


def _describe_shipped() -> str:
    try:
        files = load_shipped()
    except MissingExtraError:
        return f"English; not installed: pip install {SHIPPED_IN}"
    megabytes = len(files.model.data) / 1e6
    return f"English; {megabytes:.0f} MB; {SHIPPED_IN} {metadata.version(SHIPPED_IN)}"
