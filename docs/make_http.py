"""Write `http.md`, the reference of the HTTP service, from its OpenAPI document."""  # noqa: INP001 - a script beside the documents

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from quire.server import openapi

TARGET = Path(__file__).with_name("http.md")
HEAD = """\
# HTTP service: REST API

<!-- `make reference` writes this page from the OpenAPI document; the tests check it. -->

How to run the service: [Operate the service](operate.md).

Send `Authorization: Bearer TOKEN` with each request: the token says who reads and writes. Bodies
and results are JSON. The service serves this reference as `/openapi.json`.

- **Errors** are problems (`application/problem+json`, RFC 9457) with the facts of the error:
  `error` (its name in Python), `field`, `value`, `allowed`, `hint`, and `request_id`, which is in
  the log as well. What you may not read answers as what does not exist.
- **Lists** come in pages: send `next` of a page as `cursor`. With `Accept: application/x-ndjson`
  you get the whole list, one item on a line, as it is written; `cursor` and `limit` hold there as
  well.
- **Writes** take an `Idempotency-Key`: a repeated request with the same key gets the first
  answer, for a day.
- **Answers with an `ETag`**: send it as `If-None-Match` and get 304 as long as the answer is the
  same. Lists and documents are not even read then, since nothing that you may read has changed.
- **Reading as another viewer** (`viewer`) is for an owner's token with the scope `admin` alone.

In Python use `quire.Client(url, token)` or `quire.AsyncClient`: they have the methods of an open
store.
"""


def page() -> str:
    """Return the whole page."""
    document = openapi.document()
    return "".join([HEAD, *_operations(document["paths"])])


def _operations(paths: dict[str, dict[str, Any]]) -> Iterator[str]:
    tags: dict[str, list[tuple[str, str, dict[str, Any]]]] = {}
    for path, methods in paths.items():
        for method, operation in methods.items():
            tags.setdefault(operation["tags"][0], []).append((method.upper(), path, operation))
    for tag, listed in tags.items():
        yield f"\n## {tag.capitalize()}\n"
        for method, path, operation in listed:
            yield "".join(_operation(method, path, operation))


def _operation(method: str, path: str, operation: dict[str, Any]) -> Iterator[str]:
    yield f"\n### {method} {path}\n\n{operation['summary']}"
    yield f" {operation['description']}\n" if "description" in operation else "\n"
    rows = [
        (each["name"], each["schema"], each.get("description", ""), each["required"])
        for each in operation.get("parameters", ())
        if each["in"] == "query"
    ]
    content = operation.get("requestBody", {}).get("content", {}).get("application/json", {})
    schema = content.get("schema", {})
    if schema.get("type") == "array":
        yield "\nThe body is a list of objects, or one object on a line (`application/x-ndjson`).\n"
        schema = schema["items"]
    required = schema.get("required", ())
    rows += [
        (name, each, each.get("description", ""), name in required)
        for name, each in schema.get("properties", {}).items()
    ]
    if rows:
        yield "\n| name | type | |\n|---|---|---|\n"
        for name, each, text, needed in rows:
            mark = " (required)" if needed else ""
            yield f"| `{name}`{mark} | {_type(each)} | {text.replace('|', '/')} |\n"
    if "example" in content:
        yield f"\n```json\n{json.dumps(content['example'])}\n```\n"


def _type(schema: dict[str, Any]) -> str:
    if "anyOf" in schema:
        return " or ".join(_type(each) for each in schema["anyOf"])
    kinds = schema.get("type", "any")
    names = kinds if isinstance(kinds, list) else [kinds]
    return " or ".join(names)


if __name__ == "__main__":
    argparse.ArgumentParser(description=__doc__).parse_args()
    TARGET.write_text(page(), "utf-8")
