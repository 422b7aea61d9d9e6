"""Endpoints of rules: what holds in a situation, what applies at a place, and checks."""

from __future__ import annotations

from typing import Any

from quire.core.json_schema import Schema
from quire.core.serialize import all_members
from quire.server import schemas
from quire.server.endpoint import Call, Endpoint
from quire.server.schemas import PATH, PATHS, body


def situate(call: Call) -> Any:
    """Assemble the rules and contexts that hold in a situation."""
    context = call.quire.rules.situate(
        call.arguments["situation"], **call.take("base", "budget", "model"), viewer=call.viewer
    )
    call.keep(context)
    return context


def list_rules(call: Call) -> Any:
    """List what applies at a place."""
    return _as_sent(call, call.quire.rules.list(call.place(call.arguments.get("path", ""))))


def check_rules(call: Call) -> Any:
    """Check the context files below some paths, or of the whole project."""
    paths = [call.place(path) for path in call.arguments.get("path", ())]
    return _as_sent(call, call.quire.rules.check(paths))


def test_rules(call: Call) -> Any:
    """Evaluate which rules apply at a place."""
    place = call.place(call.arguments.get("path", ""))
    return _as_sent(call, call.quire.rules.test(call.arguments["situation"], place))


def _as_sent(call: Call, report: Any) -> Any:
    """Return a report with all of its fields, if the client asks for them."""
    return all_members(report) if call.arguments.get("whole") else report


_WHOLE: Schema = {"type": "boolean", "description": "All fields, as the Python client reads them."}
_SITUATION: Schema = {
    "type": "object",
    "description": "What is going on: tool, params, path, intent, task and more.",
}

ENDPOINTS = (
    Endpoint(
        "POST",
        "/v1/rules/situate",
        "situate",
        "Assemble the contexts and rules that hold in a situation.",
        situate,
        schemas.CONTEXT,
        tag="rules",
        body=body(
            {
                "situation": _SITUATION,
                "base": schemas.option_schema("base"),
                "budget": schemas.option_schema("budget"),
                "model": schemas.option_schema("model"),
            },
            "situation",
        ),
        example={"situation": {"tool": "edit", "path": "README.md"}},
    ),
    Endpoint(
        "GET",
        "/v1/rules",
        "list_rules",
        "List what applies at a path, and the file that each part comes from.",
        list_rules,
        {"type": "object"},
        owner=True,
        parameters={"path": PATH, "whole": _WHOLE},
        tag="rules",
    ),
    Endpoint(
        "GET",
        "/v1/rules/check",
        "check_rules",
        "Check the context files below some paths, or of the whole project.",
        check_rules,
        {"type": "object"},
        owner=True,
        parameters={"path": PATHS, "whole": _WHOLE},
        tag="rules",
    ),
    Endpoint(
        "POST",
        "/v1/rules/test",
        "test_rules",
        "Evaluate which rules apply at a path in a situation, and why.",
        test_rules,
        {"type": "object"},
        owner=True,
        tag="rules",
        body=body({"situation": _SITUATION, "path": PATH, "whole": _WHOLE}, "situation"),
        example={"situation": {"tool": "edit"}},
    ),
)
