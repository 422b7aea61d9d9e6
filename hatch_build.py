"""Make the README fit for PyPI: links and pictures of the repository become addresses."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface

_LINK = re.compile(r"(!?)\[([^\[\]]*)\]\(([^()\s#:]+)(#[^()\s]*)?\)")


def with_addresses(text: str, repository: str, version: str) -> str:
    """Return a page whose relative links lead to the files of a release on the forge."""

    def address(match: re.Match[str]) -> str:
        picture, label, path, anchor = match.groups(default="")
        kind = "raw" if picture else "blob"
        return f"{picture}[{label}]({repository}/{kind}/v{version}/{path}{anchor})"

    return _LINK.sub(address, text)


class CustomMetadataHook(MetadataHookInterface):
    """Set the readme of the distribution; hatchling finds this class by its base."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Set `readme` of the metadata."""
        root = Path(self.root)
        version: dict[str, str] = {}
        exec((root / "src/quire/_version.py").read_text("utf-8"), version)  # noqa: S102 - a line of our own
        text = (root / "README.md").read_text("utf-8")
        metadata["readme"] = {
            "content-type": "text/markdown",
            "text": with_addresses(text, metadata["urls"]["Source"], version["__version__"]),
        }
