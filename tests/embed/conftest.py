from collections.abc import Iterator

import pytest

from quire.core.types import EmbedSettings
from quire.embed.local import LocalEmbedder


@pytest.fixture(scope="session")
def shipped() -> Iterator[LocalEmbedder]:
    """The shipped model on one thread, opened once for all tests."""
    embedder = LocalEmbedder(EmbedSettings(threads=1))
    yield embedder
    embedder.close()
