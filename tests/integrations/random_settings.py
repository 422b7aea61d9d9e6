"""Random settings as people write them: any layout, comments, other entries."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import strategies as st

NAMES = st.sampled_from(["a", "other", "model", "deep key", "ünï", "a.b", "quirel", "args"])
PLAIN = (
    st.none() | st.booleans() | st.integers(-5, 5) | st.sampled_from(["", "x", "// no", 'q"', "é"])
)
VALUES = st.recursive(
    PLAIN,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3),
    max_leaves=6,
)
SERVERS = st.dictionaries(NAMES, st.dictionaries(NAMES, VALUES, max_size=2), max_size=3)
HOOK = st.fixed_dictionaries(
    {"command": st.sampled_from(["lint.sh", "quire index", "hook prompt"])}
)
GROUP = st.fixed_dictionaries({"hooks": st.lists(HOOK, max_size=2)})
_BLANKS = ["", "", "", " ", "\n", "\n    ", "\t", " \n\n"]
_COMMENTS = [" // own { line\n", "/* in, between */", "/* over\n two */"]


def settings(servers: str, events: list[str]) -> st.SearchStrategy[dict[str, Any]]:
    """Return settings of a client with these names for its servers and events."""
    hooks = st.dictionaries(
        st.sampled_from([*events, "Stop"]), st.lists(HOOK | GROUP, max_size=2), max_size=3
    )
    known = st.fixed_dictionaries({}, optional={servers: SERVERS, "hooks": hooks})
    return st.builds(
        lambda more, known, first: {**known, **more} if first else {**more, **known},
        st.dictionaries(NAMES, VALUES, max_size=3),
        known,
        st.booleans(),
    )


@st.composite
def layout(draw: st.DrawFn, value: Any, *, comments: bool, top: bool = True) -> str:
    """Write a value in a random layout."""
    gaps = st.sampled_from(_BLANKS + (_COMMENTS if comments else []))

    def gap() -> str:
        return draw(gaps)

    def below(part: Any) -> str:
        return draw(layout(part, comments=comments, top=False))

    if top and draw(st.booleans()):  # as programs write it
        text = json.dumps(value, indent=draw(st.sampled_from([None, 2, 4, "\t"])))
    elif isinstance(value, dict | list):
        opening, closing = ("{", "}") if isinstance(value, dict) else ("[", "]")
        parts = (
            [f"{json.dumps(key)}{gap()}:{gap()}{below(part)}" for key, part in value.items()]
            if isinstance(value, dict)
            else [below(part) for part in value]
        )
        body = ",".join(f"{gap()}{part}{gap()}" for part in parts)
        if parts and comments and draw(st.booleans()):
            body += f",{gap()}"
        text = f"{opening}{body or gap()}{closing}"
    else:
        text = json.dumps(value, ensure_ascii=draw(st.booleans()))
    if top:
        end = draw(st.sampled_from(["", "\n", "\n\n"]))
        text = f"{gap()}{text}{end}"
        text = text.replace("\n", draw(st.sampled_from(["\n", "\r\n"])))
        text = draw(st.sampled_from(["", "\ufeff"])) + text
    return text


TABLES = st.sampled_from(
    [
        'model = "o9"  # the new one\n',
        "[features]\nhooks = true\n",
        "[mcp_servers.other]\ncommand = 'x'\nargs = [\n  \"[mcp_servers.quire]\",\n]\n",
        '[mcp_servers.other.env]\nKEY = """\n[mcp_servers.quire]\ncommand = "no"\n"""\n',
        "# a remark\n\n",
        "[[profiles]]\nname = 'a'\n[[profiles]]\nname = 'b'\n",
        '["mcp_servers"."third one"]\nurl = "http://localhost"\n',
        "[projects.'/a b/c']\ntrust_level = 'trusted'",
    ]
)


@st.composite
def tables(draw: st.DrawFn) -> str:
    """Return a TOML text: keys first, then tables in any order, each at most once."""
    picked = draw(st.lists(TABLES, unique=True, max_size=6))
    text = "\n".join(sorted(picked, key=lambda part: part.startswith("[")))
    return text.replace("\n", draw(st.sampled_from(["\n", "\r\n"])))
