"""The names of `quire.core.types` are those of its modules, which are imported late."""

from __future__ import annotations

import ast
import inspect
import pickle

import pytest

from quire.core import types
from quire.core.types.records import Record


def test_type_checkers_see_the_names_that_are_there() -> None:
    tree = ast.parse(inspect.getsource(types))
    (checked,) = [node for node in tree.body if isinstance(node, ast.If)][:1]
    seen = {
        name.name: node.module
        for node in checked.body
        if isinstance(node, ast.ImportFrom)
        for name in node.names
    }
    assert sorted(seen) == sorted(types.__all__)
    assert {name: f"{types.__name__}.{module}" for name, module in types._MODULES.items()} == seen
    assert all(hasattr(types, name) for name in types.__all__)


def test_a_name_is_the_one_of_its_module() -> None:
    assert types.Record is Record
    assert pickle.loads(pickle.dumps(types.Record)) is Record


def test_an_unknown_name_is_refused() -> None:
    with pytest.raises(AttributeError, match="'nothing'"):
        getattr(types, "nothing")  # noqa: B009 - a type checker refuses the name
