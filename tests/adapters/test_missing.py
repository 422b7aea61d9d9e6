"""An adapter whose framework is not installed says which extra installs it."""

from __future__ import annotations

import subprocess
import sys
from importlib.util import find_spec

import pytest

from quire import QuireError
from quire.adapters.extras import missing

ADAPTERS = {
    "langchain": ("langchain", "langchain_core"),
    "llamaindex": ("llamaindex", "llama_index"),
    "haystack": ("haystack", "haystack"),
    "pydantic_ai": ("pydantic-ai", "pydantic_ai"),
    "dspy": ("dspy", "dspy"),
    "openai_agents": ("openai-agents", "agents"),
}


def test_the_error_names_the_extra() -> None:
    script = "import sys\n" + "".join(
        f"sys.modules[{framework!r}] = None\n"
        f"try:\n    import quire.adapters.{adapter}\n"
        "except ImportError as error:\n    print(error)\n"
        for adapter, (_, framework) in ADAPTERS.items()
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    for line, (extra, _) in zip(done.stdout.splitlines(), ADAPTERS.values(), strict=True):
        assert f"pip install 'quire-context[{extra}]'" in line


def test_it_is_an_error_of_quire_and_an_import_error() -> None:
    error = missing("dspy", ImportError("No module named 'dspy'"))
    assert isinstance(error, QuireError)
    assert isinstance(error, ImportError)
    assert "No module named 'dspy'" in str(error)


@pytest.mark.parametrize("adapter", ADAPTERS)
def test_an_adapter_explains_what_it_exports(adapter: str) -> None:
    if find_spec(ADAPTERS[adapter][1]) is None:
        pytest.skip(f"{ADAPTERS[adapter][1]} is not installed (make test-adapters)")
    module = __import__(f"quire.adapters.{adapter}", fromlist=["_"])
    own = [
        each
        for name, each in vars(module).items()
        if name.lower().startswith("quire") and each.__module__ == module.__name__
    ]
    assert own
    assert all(each.__doc__ for each in own)
