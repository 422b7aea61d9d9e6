"""Good inputs, from which bad ones are made."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

SOURCES = Path(__file__).parents[1] / "ingest" / "sources"

MARKDOWN = """---
title: The harbour
date: 2026-01-02
tags: [sea, "rope"]
---
# Harbour

Ships rest here. See [[Tides#Low|the tides]] and [the bar](../bar.md#top).

- [ ] R-1: The bell MUST ring at low tide. ^abc
  1. nested `code`

| tide | hour |
|------|-----:|
| low  | 5    |

```python
def lift(load): return load
```

> quoted
<div>html & more</div>

Setext
======
"""
RST = """Harbour
=======

.. note:: Ships rest.

:ref:`tides` and ``code``.

.. code-block:: python

    lift()

+---+---+
| a | b |
+---+---+
"""
GHERKIN = "@sea\nFeature: Tides\n  Scenario Outline: low\n    Given a <ship>\n    Examples:\n      | ship |\n      | Wren |\n"
HTML = (
    "<!doctype html><html><head><title>T</title><style>a{}</style></head><body><h1>Harbour</h1>"
    "<p>Ships &amp; <b>ropes</b><pre>code\n</pre><ul><li>one<li>two</ul><table><tr><td>a</table>"
    "<script>var a='</p>'</script><a href='x'>l</a></body></html>"
)
CHAT = [
    {"role": "user", "content": "When is low tide?"},
    {
        "role": "assistant",
        "content": [{"type": "text", "text": "At five."}],
        "timestamp": 1700000000,
    },
]
CHATGPT = [
    {
        "title": "Tides",
        "create_time": 1700000000.5,
        "mapping": {
            "a": {"id": "a", "parent": None, "children": ["b"], "message": None},
            "b": {
                "id": "b",
                "parent": "a",
                "children": [],
                "message": {
                    "author": {"role": "user"},
                    "create_time": 1700000001,
                    "content": {"content_type": "text", "parts": ["When?"]},
                },
            },
        },
        "current_node": "b",
    }
]
SLACK = [{"type": "message", "user": "U1", "text": "hi <@U2>", "ts": "1700000000.0001"}]
CLAUDE_CODE = (
    json.dumps({"type": "user", "message": {"role": "user", "content": "fix"}, "timestamp": "2026-01-01T00:00:00Z", "sessionId": "s", "uuid": "u"})
    + "\n"
    + json.dumps({"type": "assistant", "message": {"role": "assistant", "content": [{"type": "tool_use", "name": "Bash", "input": {"command": "ls"}}]}, "uuid": "v", "parentUuid": "u"})
    + "\n"
)  # fmt: skip

NOTEBOOK = {
    "metadata": {"kernelspec": {"language": "python"}},
    "cells": [
        {"cell_type": "markdown", "source": ["# Tides\n", "Low at five."]},
        {"cell_type": "code", "source": "tide()", "outputs": [{"data": {"text/plain": ["5"]}}]},
    ],
}
MAIL = (
    "From: Ann <ann@example.org>\nSubject: =?utf-8?q?Gezeiten_=C3=BC?=\nMIME-Version: 1.0\n"
    'Content-Type: multipart/alternative; boundary="b"\n\n--b\nContent-Type: text/plain; '
    "charset=utf-8\nContent-Transfer-Encoding: quoted-printable\n\nLow tide=\n is at 5.\n--b\n"
    "Content-Type: text/html\n\n<p>Low</p>\n--b--\n"
)

FILES: tuple[tuple[str, str], ...] = (
    ("notes/harbour.md", MARKDOWN),
    ("notes/harbour.rst", RST),
    ("tides.feature", GHERKIN),
    ("page.html", HTML),
    ("plain.txt", "Ships rest.\n\nThe tide turns. It is 3.5 m high! Why?\n" * 3),
    ("chat.json", json.dumps(CHAT)),
    ("conversations.json", json.dumps(CHATGPT)),
    ("slack.json", json.dumps(SLACK)),
    ("session.jsonl", CLAUDE_CODE),
    ("tides.ipynb", json.dumps(NOTEBOOK)),
    ("tides.eml", MAIL),
    ("tides.mbox", f"From a@b Mon\n{MAIL}\nFrom a@b Tue\n{MAIL}"),
    ("data.csv", "a,b\n1,2\n"),
    ("settings.yaml", "a: [1, 2]\nb: {c: d}\n"),
    ("a.diff", "--- a\n+++ b\n@@ -1 +1 @@\n-x\n+y\n"),
    *(
        (path.name.removesuffix(".txt"), path.read_text("utf-8"))
        for path in sorted(SOURCES.glob("*.txt"))
    ),
)

SETTINGS = """\
# the settings of a project
store = ".quire/store.db"
viewer = "ann"

[ingest]
ignore = ["*.log", "build/"]
secrets = false
max_bytes = 100000
target = 400

[embed]
provider = "none"
timeout = 2.5

[groups]
dev = ["ann", "bob"]

[access]
"hr/**" = ["ann", "@dev"]

[judge]
provider = "semantic"

[audit]
file = ".quire/audit.jsonl"
"""

CONTEXT_YAML = """\
metadata:
  name: Payments
  type: module
intent_context:
  business_goal: Never charge twice
  intent_type: maintenance
behavior_rules:
  - trigger: a charge fails
    action: retry once
injection_rules:
  - name: migrations
    condition: path matches 'migrations/**' and not (user.kind in ['a', "b"])
    inject: [../guides/database, /docs/sql.md]
    priority: 5
    on_error: apply
  - name: privacy
    condition: {says: personal data is involved}
    inject: [../guides/privacy]
extends: ../base
"""
CONTEXT_TOML = """\
[metadata]
name = "Payments"
[[behavior_rules]]
trigger = "a charge fails"
action = "retry once"
"""
CONTEXT_MARKDOWN = f"---\n{CONTEXT_YAML}---\n# Payments\n\nProse.\n"
CONTEXTS = (
    ("pay/.context.yaml", CONTEXT_YAML),
    ("pay/pay.context.toml", CONTEXT_TOML),
    ("pay/.context.md", CONTEXT_MARKDOWN),
)
EXPRESSIONS = (
    "amount > 100 and not (user.kind in ['a', \"b\"])",
    "a == 'x' or b != 3.5 and c matches ['z', '**/*.py']",
    "has(file.path) and x <= -1 or tags contains 'x'",
)
GLOBS = ("*.log\n!keep.log\n/build/**\n[a-z]?*\\*\n# c\n**/x/**/y\n[!a]\n[[:alpha:]]\n",)

BLOCKS: list[dict[str, Any]] = [
    {"id": "a", "type": "page", "text": "Plan", "parent": None, "position": 1, "created": "2026-01-01"},
    {"id": "b", "type": "todo", "text": "Do", "parent": "a", "properties": {"status": "open", "n": 1},
     "relations": {"blocks": ["a"]}, "access": ["ann"], "links": ["a"], "mentions": ["bob"]},
]  # fmt: skip
MEMORIES: list[dict[str, Any]] = [
    {"id": "0" * 31 + "a", "content": "The bell rings.", "category": "decision", "created": "2026-01-01"},
    {"content": "Ropes wear.", "share": ["ann"], "created": "2026-01-02T03:04:05Z", "importance": 0.5},
]  # fmt: skip
QUESTIONS: list[dict[str, Any]] = [
    {"query": "When is low tide?", "expect": ["docs/tides.md:1-3", {"path": "a.md", "lines": [1, 2], "excerpt": "x"}]}
]  # fmt: skip

HOOKS: tuple[dict[str, Any], ...] = (
    {"session_id": "abc", "cwd": "/p", "hook_event_name": "PostToolUse", "tool_name": "Bash",
     "tool_input": {"command": "npm test | tail"}, "tool_response": {"stdout": "1 failed", "stderr": "w", "exit_code": 1}},
    {"session_id": "s", "hook_event_name": "UserPromptSubmit", "prompt": "Fix the crane", "cwd": "/p"},
    {"conversation_id": "c", "workspace_roots": ["/p"], "hook_event_name": "sessionStart", "prompt": "x"},
    {"toolName": "bash", "toolArgs": '{"command": "make"}', "toolResult": {"resultType": "failure", "textResultForLlm": "E"}, "sessionId": "z"},
)  # fmt: skip
MESSAGES: tuple[Any, ...] = (
    {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "search", "arguments": {"query": "tide"}}},
    {"jsonrpc": "2.0", "id": "x", "result": {"content": [{"type": "text", "text": "a"}], "isError": False}},
    [{"jsonrpc": "2.0", "id": 2, "result": {"content": []}}, {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 2}}],
)  # fmt: skip
