"""Write the pages of `reference/` from the tables and types that the code itself uses.

Settings, recipes, MCP tools, receipts and the public names of Python: each page is a function of
this module, and the tests compare it with what is written.
"""  # noqa: INP001 - a script beside the documents

from __future__ import annotations

import argparse
import ast
import inspect
import json
import textwrap
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import MISSING, fields, is_dataclass
from importlib import resources
from pathlib import Path
from typing import Any, get_args, get_type_hints

import quire
from quire.config.settings import SECTIONS, TEMPLATE, Config
from quire.core.types import Budget, FitSpec, Intent, RankSpec, RenderSpec, Section, SourceSpec
from quire.core.types import settings as declared
from quire.core.types.settings import ALL, TRUST
from quire.engine import Quire
from quire.mcp.tools import TOOLS
from quire.receipts.schema import VERSION, json_schema

FOLDER = Path(__file__).parent / "reference"
RECIPES = ("documents", "entities", "agent", "premortem", "situation", "workspace", "tools")
TABLES: Mapping[str, type] = {
    "[budget]": Budget,
    "[sources.NAME]": SourceSpec,
    "[rank]": RankSpec,
    "[fit]": FitSpec,
    "[render]": RenderSpec,
    "[sections.NAME]": Section,
    "[intents.NAME]": Intent,
}
"""The tables of a recipe, and the types that they are read into."""


SETTINGS_HEAD = """
`quire init` writes the file below. Every setting is optional. A setting is looked up on the command
line, in a `QUIRE_*` variable (`QUIRE_EMBED_PROVIDER`: section and name in capitals), in the
project's `quire.toml`, and in your own `~/.config/quire/config.toml`, in this order. *Trust* says
whether the setting of a project counts only after `quire trust`
([when, and why](../guide/trust.md)).

## At the top

| setting | default | meaning | trust |
|---|---|---|---|
| `store` | `".quire/store.db"` | The store file. | sometimes |
| `space` | `"main"` | The part of the store that is used. | sometimes |
| `viewer` | | Who reads, unless a command says it; none: the owner. | sometimes |
"""
ACCESS = """
## [access] and [groups]

A glob of paths, with the users and `@groups` who may read what it matches; the last glob that
matches decides. `default` is for what none matches: `"public"` or `"owner"`. `[groups]` has the
members of each group. See [Access](../guide/access.md).
"""
RECIPES_HEAD = """
A recipe decides what a context looks like: which sources are searched, how they are ranked, what
counts as a duplicate, how the budget is spent, how the page is rendered. Choose one with
`--recipe NAME`. Your own is a TOML file, `--recipe FILE`, that extends another:

```toml
extends = "documents"

[fit]
per_document = 2
```

| recipe | |
|---|---|
"""
TOOLS_HEAD = """
`quire mcp` serves these tools to any MCP client
([how to set one up](../guide/mcp.md)). A tool acts as the viewer that the server
was started for; no argument changes that.

"""
RECEIPTS_HEAD = f"""
A receipt is one JSON object; this is version {VERSION}. Receipts of earlier versions stay readable.
What `verify` proves with it is in [Receipts](../explanation/receipts.md).

| schema | |
|---|---|
| [receipt.schema.json](receipt.schema.json) | a receipt, as `--receipt FILE` writes it |
| [context.schema.json](../../src/quire/rules/context.schema.json) | a context file of rules |
| `/openapi.json` of `quire serve` | the [HTTP service](../http.md) |

## Fields of a receipt

"""
PYTHON_HEAD = """
The names on this page are the public interface; every other name may change at any time
([stability](../stability.md)). The [guide](../guide/python.md) has examples.

## Open a store

::: quire.open

::: quire.Quire

## Attributes of an open store
"""


def written_by(what: str) -> str:
    """Return the comment that says where a page comes from, for whoever opens the file."""
    return f"<!-- `make reference` writes this page from {what}; the tests check it. -->\n"


def field_docs(kind: type) -> dict[str, str]:
    """Return the sentence below each field of a class, by the field's name."""
    (tree,) = ast.parse(textwrap.dedent(inspect.getsource(kind))).body
    assert isinstance(tree, ast.ClassDef)
    docs = {}
    for node, after in zip(tree.body, tree.body[1:], strict=False):
        if (
            isinstance(node, ast.AnnAssign)
            and isinstance(node.target, ast.Name)
            and isinstance(after, ast.Expr)
            and isinstance(after.value, ast.Constant)
        ):
            docs[node.target.id] = " ".join(str(after.value.value).split())
    return docs


def rows(head: Iterable[str], body: Iterable[Iterable[str]]) -> Iterator[str]:
    """Yield the lines of a table."""
    titles = list(head)
    yield f"| {' | '.join(titles)} |\n|{'---|' * len(titles)}\n"
    for row in body:
        cells = [cell.replace("|", "\\|").replace("\n", " ") for cell in row]
        yield f"| {' | '.join(cells)} |\n"


def default_of(item: Any, annotation: Any) -> str:
    """Return the default of a field as TOML has it; empty: there is none."""
    value = item.default
    if item.default_factory is not MISSING:
        value = item.default_factory()
    if value is MISSING or value is None or is_dataclass(value):
        return ""
    if value == ALL and "Limit" in str(annotation):
        return '`"all"`'
    return f"`{_as_toml(value)}`"


def _as_toml(value: Any) -> str:
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{name} = {_as_toml(each)}" for name, each in value.items()) + "}"
    if isinstance(value, tuple):
        return "[" + ", ".join(map(_as_toml, value)) + "]"
    return json.dumps(value, ensure_ascii=False)


def type_name(annotation: Any) -> str:
    """Return what a reader of TOML calls a type."""
    names = {str: "text", int: "number", float: "number", bool: "true or false"}
    if annotation in names:
        return names[annotation]
    inner = [part for part in get_args(annotation) if part not in (type(None), ...)]
    if getattr(annotation, "__origin__", None) is tuple:
        return "list"
    if hasattr(annotation, "__origin__"):
        return "table"
    return " or ".join(dict.fromkeys(map(type_name, inner))) or str(annotation)


def spec_table(kind: type) -> str:
    """Return the table of a class: its fields, their types, defaults and meanings."""
    hints, docs = get_type_hints(kind), field_docs(kind)
    body = (
        (
            f"`{each.name}`",
            type_name(hints[each.name]),
            default_of(each, each.type),
            docs.get(each.name, ""),
        )
        for each in fields(kind)
        if each.name != "name"
    )
    return "".join(rows(("setting", "type", "default", "meaning"), body))


# --- the pages ----------------------------------------------------------------------------------


def trust_of(item: Any) -> str:
    """Return whether a project must be trusted before a setting of its own file counts."""
    rule = item.metadata.get(TRUST, "safe")
    often = {"provider", "output_file", "store_file", "store_part", "protection", "sources"}
    return "no" if rule == "safe" else "sometimes" if rule in often else "yes"


def settings_page() -> str:
    """Return the page of `quire.toml`."""
    parts = [
        "# Settings: quire.toml\n\n",
        written_by("`core/types/settings.py`"),
        SETTINGS_HEAD,
    ]
    hints = get_type_hints(Config)
    for section in SECTIONS:
        kind = hints[section]
        docs, types = field_docs(kind), get_type_hints(kind)
        body = (
            (
                f"`{each.name}`",
                type_name(types[each.name]),
                default_of(each, each.type),
                docs.get(each.name, ""),
                trust_of(each),
            )
            for each in fields(kind)
        )
        about = (inspect.getdoc(kind) or "").splitlines()[0].partition(": ")[2]
        parts.append(f"\n## [{section}]\n\n{about[:1].upper()}{about[1:]}\n\n")
        parts += rows(("setting", "type", "default", "meaning", "trust"), body)
    parts.append(f"\n## [sources.NAME]\n\n{_first_line(declared.SourceSettings)}\n\n")
    parts.append(spec_table(declared.SourceSettings))
    parts.append(ACCESS)
    parts.append(f"\n## The file that `quire init` writes\n\n```toml\n{TEMPLATE}```\n")
    return "".join(parts)


def _first_line(kind: type) -> str:
    return (inspect.getdoc(kind) or "").splitlines()[0]


def recipes_page() -> str:
    """Return the page of recipes."""
    parts = [
        "# Recipes\n\n",
        written_by("`core/types/recipe.py` and `recipes/*.toml`"),
        RECIPES_HEAD,
    ]
    texts = {
        name: resources.files("quire.recipes").joinpath(f"{name}.toml").read_text("utf-8")
        for name in RECIPES
    }
    for name, text in texts.items():
        about = next(line for line in text.splitlines() if line.startswith("about"))
        parts.append(
            f"| [`{name}`](#the-recipe-{name}) | {json.loads(about.partition('= ')[2])} |\n"
        )
    for title, kind in TABLES.items():
        parts.append(f"\n## {title}\n\n{_first_line(kind)}\n\n{spec_table(kind)}")
    for name, text in texts.items():
        parts.append(f"\n## The recipe {name}\n\n```ini\n{text.rstrip()}\n```\n")
    return "".join(parts)


def tools_page() -> str:
    """Return the page of the MCP tools."""
    parts = [
        "# MCP tools\n\n",
        written_by("`mcp/tools.py`"),
        TOOLS_HEAD,
    ]
    listed = (
        (f"[`{tool.name}`](#{tool.name})", tool.title, "reads" if tool.read_only else "writes")
        for tool in TOOLS
    )
    parts += rows(("tool", "", ""), listed)
    for tool in TOOLS:
        schema = tool.input_schema()
        needed = schema.get("required", ())
        body = (
            (
                f"`{name}`" + (" (required)" if name in needed else ""),
                _json_type(each),
                each.get("description", ""),
            )
            for name, each in schema.get("properties", {}).items()
        )
        parts.append(f"\n## {tool.name}\n\n{tool.description}\n\n")
        parts += rows(("argument", "type", ""), body)
        returned = ", ".join(f"`{name}`" for name in tool.output_schema.get("properties", {}))
        parts.append(f"\nReturns {returned}.\n")
    return "".join(parts)


def _json_type(schema: Mapping[str, Any]) -> str:
    if "anyOf" in schema:
        return " or ".join(_json_type(each) for each in schema["anyOf"])
    kinds = schema.get("type", "any")
    names = kinds if isinstance(kinds, list) else [kinds]
    if "enum" in schema:
        return ", ".join(f"`{value}`" for value in schema["enum"])
    return " or ".join(names)


def receipts_page() -> str:
    """Return the page of receipts."""
    schema = json_schema()
    body = (
        (f"`{name}`", _json_type(each), "" if name in schema["required"] else "optional")
        for name, each in schema["properties"].items()
    )
    parts = [
        "# Receipts and JSON schemas\n\n",
        written_by("`receipts/schema.py`"),
        RECEIPTS_HEAD,
        *rows(("field", "type", ""), body),
    ]
    for name in ("request", "sources", "decisions"):
        inner = schema["properties"][name]
        inner = inner.get("items", inner)
        parts.append(f"\n## Fields of `{name}`\n\n")
        parts += rows(
            ("field", "type"),
            ((f"`{part}`", _json_type(each)) for part, each in inner["properties"].items()),
        )
    return "".join(parts)


SERVICES = {
    name: kind
    for name, kind in get_type_hints(Quire).items()
    if inspect.isclass(kind) and kind.__module__.startswith("quire.")
}
"""The attributes of an open store, each with a part of its methods."""


def python_page() -> str:
    """Return the page of the public names, which mkdocstrings fills in."""
    public = [name for name in quire.__all__ if name not in {"open", "Quire"}]
    titles = ("Functions", "Errors", "Classes", "Protocols", "Values")
    kinds: dict[str, list[str]] = {title: [] for title in titles}
    for name in sorted(public):
        kinds[_kind_of(getattr(quire, name))].append(name)
    parts = [
        "# Python reference\n\n",
        written_by("`quire.__all__`"),
        PYTHON_HEAD,
    ]
    for name, kind in SERVICES.items():
        parts.append(f"\n### q.{name}\n\n::: {kind.__module__}.{kind.__qualname__}\n")
        parts.append("    options:\n      show_root_heading: false\n      heading_level: 4\n")
    for title, names in kinds.items():
        parts.append(f"\n## {title}\n")
        parts += [f"\n::: quire.{name}\n" for name in names]
    return "".join(parts)


def _kind_of(value: Any) -> str:
    if not inspect.isclass(value):
        return "Functions" if inspect.isfunction(value) else "Values"
    if issubclass(value, Exception):
        return "Errors"
    if getattr(value, "_is_protocol", False):
        return "Protocols"
    return "Values" if is_dataclass(value) or not inspect.isfunction(value.__init__) else "Classes"


def files() -> dict[str, str]:
    """Return the content of each file of the folder, by its name."""
    return {
        "settings.md": settings_page(),
        "recipes.md": recipes_page(),
        "mcp.md": tools_page(),
        "receipts.md": receipts_page(),
        "receipt.schema.json": json.dumps(json_schema(), indent=2) + "\n",
        "python.md": python_page(),
    }


if __name__ == "__main__":
    argparse.ArgumentParser(description=__doc__).parse_args()
    for file, text in files().items():
        FOLDER.joinpath(file).write_text(text, "utf-8")
