"""Impossible requests are refused by name, before anything is looked up."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from quire import Quire
from quire.core.types import Filter, Options, Recipe, SourceSpec
from quire.errors import CallerError, ConfigError, InputError
from quire.pipeline import recipe as recipes
from quire.pipeline.request import resolve
from tests.conftest import Tree

DOCUMENTS = recipes.load("documents")


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"pack": "gredy"}, "pack: unknown packing strategy 'gredy'; did you mean 'greedy'?"),
        (
            {"order": "best"},
            "order: unknown order 'best'; choose from auto, grouped, packed, edges",
        ),
        ({"overflow": "spill"}, "overflow: unknown overflow 'spill'; choose from skip, cut, stop"),
        ({"format": "yaml"}, "format: unknown format 'yaml'; choose from markers, markdown"),
        ({"recipe": "document"}, "recipe: unknown recipe 'document'; did you mean 'documents'?"),
        ({"recipe": "x" * 5000}, "or name a TOML file"),
        ({"recipe": ""}, "unknown recipe ''; choose from agent, documents"),
        ({"recipe": "\0"}, "unknown recipe"),
        ({"model": "nobody-1"}, "no token counter for the model 'nobody-1'"),
        ({"dedup": 1.5}, "dedup: must be between 0 and 1, not 1.5"),
        ({"dedup": -0.1}, "dedup: must be between 0 and 1, not -0.1"),
        ({"dedup": float("nan")}, "dedup: must be between 0 and 1, not nan"),
        ({"dedup": float("inf")}, "dedup: must be between 0 and 1, not inf"),
        ({"per_document": -1}, "per_document: must be at least 0, not -1"),
        ({"recent": -1}, "recent: must be between 0 and 1000, not -1"),
        ({"recent": 10**9}, "recent: must be between 0 and 1000, not 1000000000"),
    ],
)
def test_what_cannot_be_is_refused_by_name(
    library: Quire, options: dict[str, Any], said: str
) -> None:
    for query in ("quorum", "xyzzy"):
        with pytest.raises(CallerError) as refused:
            library.assemble(query, **options)
        assert said in str(refused.value)
        assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"bugdet": 4000}, "unknown option 'bugdet'; did you mean 'budget'?"),
        ({"budget": "much"}, "budget: expected a whole number, not 'much'"),
        ({"reserve": 5}, "reserve: expected whole numbers by name, not 5"),
        ({"hard": "yes"}, "hard: expected true or false, not 'yes'"),
        ({"metadata": 1}, "metadata: expected true or false, not 1"),
        ({"pack": None}, "pack: expected a text, not None"),
        ({"dedup": "all"}, "dedup: expected a number, not 'all'"),
        ({"per_document": True}, "per_document: expected a whole number, not True"),
        ({"recipe": 5}, "recipe: expected a name, a file, a mapping or a Recipe, not 5"),
        ({"model": 5}, "model: expected a name, not 5"),
        ({"viewer": 5}, "viewer: expected a name or a Viewer, not 5"),
        ({"where": "*.md"}, "where: at character 1: '*.md' is not understood"),
        ({"where": 3}, "where: expected a condition on metadata, or a Filter, not 3"),
        ({"previous": "abc"}, "previous: expected a list of chunk ids, not 'abc'"),
        ({"as_of": "now"}, "as_of: expected a date such as 2026-01-31"),
        ({"as_of": 1.5}, "as_of: expected a date, or seconds since 1970, not 1.5"),
        ({"since": "yesterday"}, "since: expected a date such as 2026-01-31"),
        ({"paths": "docs/**"}, "paths: expected a list of globs, not 'docs/**'"),
        (
            {"paths": ["*"], "where": Filter(since=5)},
            "paths: cannot be combined with a Filter as `where`",
        ),
        ({"exact": 1}, "exact: expected true or false, not 1"),
        ({"allow_empty": None}, "allow_empty: expected true or false, not None"),
    ],
)
def test_options_of_the_wrong_kind(options: dict[str, Any], said: str) -> None:
    with pytest.raises(CallerError) as refused:
        resolve("quorum", options)  # type: ignore[arg-type]  # that is the point
    assert said in str(refused.value)


@pytest.mark.parametrize("query", ["", " ", "\n\t", 5, None])
def test_an_empty_question(query: Any) -> None:
    with pytest.raises(InputError, match="the query is empty; say what the context is for"):
        resolve(query, {})


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"sources": {}}, "has no sources"),
        ({"sources": {"lexcal": SourceSpec()}}, "did you mean 'lexical'?"),
        ({"sources": {"lexical": SourceSpec(k=0)}}, "sources.lexical.k: must be at least 1, not 0"),
        (
            {"sources": {"lexical": SourceSpec(options={"whole": -1})}},
            "sources.lexical.options.whole: must be between 0 and 1000, not -1",
        ),
        (
            {"sources": {"lexical": SourceSpec(options={"long": True})}},
            "sources.lexical.options.long: expected a whole number, not True",
        ),
        (
            {"sources": {"lexical": SourceSpec(weight=-1)}},
            "sources.lexical.weight: must be between 0 and 1000, not -1",
        ),
        ({"sources": {"lexical": SourceSpec(weight=10**40)}}, "between 0 and 1000"),
        ({"rank": replace(DOCUMENTS.rank, top=0)}, "rank.top: must be at least 1, not 0"),
        (
            {"rank": replace(DOCUMENTS.rank, constant=-1)},
            "rank.constant: must be at least 0, not -1",
        ),
        ({"rank": replace(DOCUMENTS.rank, deeper=-1)}, "rank.deeper: must be at least 0, not -1"),
        ({"rank": replace(DOCUMENTS.rank, reach=4)}, "rank.reach: must be between 0 and 3, not 4"),
        (
            {"rank": replace(DOCUMENTS.rank, fusion="max")},
            "rank.fusion: unknown fusion 'max'; choose from sum, rrf",
        ),
        (
            {"budget": replace(DOCUMENTS.budget, overhead=-1)},
            "budget.overhead: must be at least 0, not -1",
        ),
    ],
)
def test_a_recipe_made_by_hand(library: Quire, changed: dict[str, Any], said: str) -> None:
    with pytest.raises(CallerError) as refused:
        library.assemble("quorum", recipe=replace(DOCUMENTS, **changed))
    assert said in str(refused.value)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({}, {"recipe": "documents"}),
        ({}, {"budget": 4000}),
        ({}, {"model": "gpt-4o"}),
        ({}, {"where": Filter()}),
        ({"kinds": ["code"]}, {"where": Filter(kinds=("code",))}),
        ({"paths": ("*.md",)}, {"where": Filter(paths=("*.md",))}),
        ({"since": "1970-01-02"}, {"where": Filter(since=86_400)}),
        ({"until": "1970-01-01"}, {"where": Filter(until=86_399)}),
        ({"since": 5, "until": None}, {"where": Filter(since=5)}),
        ({}, {"previous": []}),
        ({"dedup": 1}, {"dedup": 1.0}),
        ({"reserve": {"a": 1, "b": 2}}, {"reserve": {"b": 2, "a": 1}}),
        ({"recipe": "documents"}, {"recipe": DOCUMENTS}),
    ],
)
def test_askings_that_mean_the_same_are_the_same(one: Options, other: Options) -> None:
    assert resolve("quorum", one).key == resolve("quorum", other).key
    assert resolve("quorum", one).key == resolve(" quorum\n", other).key
    assert resolve("quorum", one).key != resolve("quorums", other).key


# --- recipes -----------------------------------------------------------------------------------


def test_a_recipe_of_ones_own_extends_another(tree: Tree) -> None:
    tree.write(
        "recipes/mine.toml",
        'extends = "documents"\nabout = "Mine."\n[budget]\ntotal = 1234\n[sources.lexical]\nk = 7\n'
        '[fit]\npack = "optimal"\n',
    )
    tree.write("recipes/more.toml", 'extends = "mine.toml"\n[fit]\nper_document = 2\n')
    mine = recipes.load(str(tree.root / "recipes/mine.toml"))
    assert (mine.name, mine.about, mine.budget.total) == ("mine", "Mine.", 1234)
    assert mine.budget == replace(DOCUMENTS.budget, total=1234)
    assert mine.sources == {
        **DOCUMENTS.sources,
        "lexical": replace(DOCUMENTS.sources["lexical"], k=7),
    }
    assert mine.fit == replace(DOCUMENTS.fit, pack="optimal")
    assert (mine.rank, mine.render) == (DOCUMENTS.rank, DOCUMENTS.render)
    more = recipes.load(str(tree.root / "recipes/more.toml"))
    assert more.fit == replace(mine.fit, per_document=2)
    assert (more.name, more.budget) == ("more", mine.budget)


def test_a_recipe_from_the_command_line(tree: Tree) -> None:
    tree.write("a.md", "quorum vote\n")
    tree.write("mine.toml", 'extends = "documents"\n[budget]\ntotal = 20\nreserved = {}\n')
    tree.index()
    done = tree.call("assemble", "quorum", "--recipe", "mine.toml", "--json")
    assert '"available": 20' in done.stdout
    # What is typed goes before what the recipe says.
    done = tree.call("assemble", "quorum", "--recipe", "mine.toml", "--budget", "33", "--json")
    assert '"available": 33' in done.stdout


def test_a_recipe_may_leave_out_a_source(tree: Tree) -> None:
    tree.write("mine.toml", 'extends = "documents"\n[sources]\nsemantic = false\n')
    recipe = recipes.load(str(tree.root / "mine.toml"))
    assert "semantic" not in recipe.sources
    assert recipe.sources["lexical"] == recipes.load("documents").sources["lexical"]
    tree.write("mine.toml", 'extends = "documents"\n[sources]\nsematic = false\n')
    with pytest.raises(
        ConfigError, match="sematic = false leaves out what the recipe does not have; did you mean"
    ):
        recipes.load(str(tree.root / "mine.toml"))


def test_a_recipe_that_extends_nothing_has_the_defaults(tree: Tree) -> None:
    path = tree.write("own.toml", "[sources.lexical]\nk = 5\n")
    own = recipes.load(str(path))
    assert own == Recipe("own", sources={"lexical": SourceSpec(5)})
    assert resolve("quorum", {"recipe": str(path)}).recipe.budget.available == 3200


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('extends = "self.toml"\n', ("in a circle", "self.toml > self.toml")),
        ('extends = "other.toml"\n', ("in a circle", "self.toml > other.toml > self.toml")),
        ('extends = "nowhere"\n', ("self.toml: extends: unknown recipe 'nowhere'",)),
        ("extends = 5\n", ("extends: expected a text that is not empty, not 5",)),
        ("[bugdet]\ntotal = 5\n", ("'bugdet'", "did you mean 'budget'?")),
        ("[budget]\ntotl = 5\n", ("[budget]", "'totl'", "did you mean 'total'?")),
        ('[budget]\ntotal = "5"\n', ("[budget] total: expected a whole number, not '5'",)),
        ("[budget]\ntotal = -5\n", ("[budget] total: must be at least 0, not -5",)),
        ("[budget]\nreserved = 5\n", ("[budget] reserved: expected a table, not 5",)),
        ('[budget]\nreserved = { a = "x" }\n', ("reserved.a: expected a whole number, not 'x'",)),
        ("[budget]\nhard = 1\n", ("[budget] hard: expected true or false, not 1",)),
        ("[fit]\npack = 1\n", ("[fit] pack: expected a text, not 1",)),
        ('[fit]\ndedup = "x"\n', ("[fit] dedup: expected a number, not 'x'",)),
        ("fit = 5\n", ("[fit]: expected a table, not 5",)),
        ("[sources]\nlexical = 5\n", ("[sources.lexical]: expected a table, not 5",)),
        ("[sources.lexical]\nkk = 5\n", ("[sources.lexical]", "'kk'", "'k'")),
        ("sources = 5\n", ("[sources]: expected a table, not 5",)),
        ("about = 5\n", ("about: expected a text, not 5",)),
        ("[budget\n", ("not valid TOML",)),
        ("\udcff", ("not UTF-8 text",)),
        ("[fit]\npack = 'x'\n", ("fit.pack: unknown packing strategy 'x'",)),
        ("", ("has no sources", 'extends = "documents"')),
        (
            'extends = "documents"\n[sources.lexcal]\nk = 5\n',
            ("'lexcal'", "did you mean 'lexical'?"),
        ),
    ],
)
def test_a_recipe_that_is_wrong(tree: Tree, text: str, said: tuple[str, ...]) -> None:
    tree.write("a.md", "quorum vote\n")
    tree.index()
    tree.write("self.toml", text.encode("utf-8", "surrogateescape"))
    tree.write("other.toml", 'extends = "self.toml"\n')
    done = tree.call("assemble", "quorum", "--recipe", "self.toml")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.count("\n") == 1
    for part in said:
        assert part in done.stderr


def test_recipes_that_extend_each_other_too_often(tree: Tree) -> None:
    for number in range(12):
        tree.write(f"{number}.toml", f'extends = "{number + 1}.toml"\n')
    with pytest.raises(ConfigError, match="circle"):
        recipes.load(str(tree.root / "0.toml"))


def test_a_recipe_comes_back_from_its_receipt(library: Quire) -> None:
    made = replace(DOCUMENTS, about="", fit=replace(DOCUMENTS.fit, dedup=0.5, per_document=3))
    receipt: Any = library.assemble("quorum", recipe=made).receipt
    assert recipes.from_data(receipt["recipe"]) == made
    assert recipes.recipe_hash(made) != recipes.recipe_hash(DOCUMENTS)


def test_sections_may_come_first(tree: Tree) -> None:
    tree.write(
        "mine.toml",
        'extends = "agent"\nfirst = ["commits", "notes"]\n[sections.notes]\nkinds = ["document"]\n',
    )
    names = [section.name for section in recipes.load(str(tree.root / "mine.toml")).sections]
    assert names[:3] == ["commits", "notes", "memories"]
    assert sorted(names) == sorted({*names})
    for wrong, why in (('["nots"]', "does not have: 'nots'"), ("3", "expected a list of texts")):
        tree.write("wrong.toml", f'extends = "agent"\nfirst = {wrong}\n')
        with pytest.raises(ConfigError, match=why):
            recipes.load(str(tree.root / "wrong.toml"))


def test_calls_of_tools_wait_for_few_items() -> None:
    """A section of `agent` that `tools` does not name would search the rules as well."""
    contexts, *others = recipes.load("tools").sections
    assert (contexts.name, contexts.sources) == ("contexts", ("rules",))
    for section in others:
        assert section.k <= 5
        assert set(section.sources) == {"defined", "lexical", "semantic"}


def test_shipped_recipes_are_listed() -> None:
    assert "documents" in recipes.shipped()
    for name in recipes.shipped():
        assert recipes.load(name).about
        if name != "premortem":  # which needs a domain
            assert resolve("quorum", {"recipe": name}).recipe.about


@pytest.mark.parametrize("name", recipes.shipped())
def test_a_recipe_by_words_asks_for_no_meaning(name: str) -> None:
    loaded = recipes.load(name)
    found = recipes.by_words(loaded)
    assert set(found.sources) == set(loaded.sources) - {"semantic"}
    kept = {section.name: section for section in found.sections}
    for section in loaded.sections:
        if section.sources == ("semantic",):
            assert section.name not in kept, "without a source of its own it would ask all"
        else:
            assert set(kept[section.name].sources) == set(section.sources) - {"semantic"}
