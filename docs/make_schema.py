"""Generate the JSON Schema of context files into the package; run it after a schema change."""  # noqa: INP001 - a script beside the documents

from __future__ import annotations

import argparse
import json
from pathlib import Path

import quire.rules
from quire.rules.schema import json_schema

TARGET = Path(quire.rules.__file__).with_name("context.schema.json")

if __name__ == "__main__":
    argparse.ArgumentParser(description=__doc__).parse_args()
    TARGET.write_text(json.dumps(json_schema(), indent=2) + "\n", "utf-8")
