"""The specifications are tested with the fixtures of the packages that hold them up."""

from tests.pipeline.conftest import library, library_tree
from tests.recipes.conftest import kept_shop, loaded, model, own_shop, shop, wordy

__all__ = [
    "kept_shop",
    "library",
    "library_tree",
    "loaded",
    "model",
    "own_shop",
    "shop",
    "wordy",
]
