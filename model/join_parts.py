"""Join the parts of the weights while the wheel is built; the result must have the known hash."""  # noqa: INP001 - a hook of the build, no package

from __future__ import annotations

import hashlib
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

NAME = "model.onnx"


class JoinParts(BuildHookInterface):  # type: ignore[type-arg, misc]  # hatchling is not typed here
    """Put `model.onnx` into the wheel."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:  # noqa: ARG002 - hatchling passes it
        """Join the parts beside the tree, so that nothing in it changes."""
        weights = Path(self.root) / "weights"
        parts = sorted(weights.glob(f"{NAME}.[0-9][0-9]"))
        data = b"".join(part.read_bytes() for part in parts)
        expected = (weights / f"{NAME}.sha256").read_text("utf-8").split()[0]
        found = hashlib.sha256(data).hexdigest()
        if found != expected:
            message = f"the joined parts of {NAME} have the sha256 {found}, not {expected}"
            raise ValueError(message)
        self._folder = tempfile.TemporaryDirectory(prefix="quire-context-model-")
        joined = Path(self._folder.name) / NAME
        joined.write_bytes(data)
        build_data["force_include"][str(joined)] = f"quire_context_model/{NAME}"

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:  # noqa: ARG002 - hatchling passes them
        """Remove the joined file."""
        self._folder.cleanup()
