"""Is what cannot be refused by name, before anything is looked up?"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from quire import Quire
from quire.core.types import Filter, Recipe, SourceSpec
from quire.errors import CallerError, ConfigError, InputError
from quire.pipeline import recipe as recipes
from quire.pipeline.request import Options, decide
from tests.conftest import Tree

DOCUMENTS = recipes.load("documents")


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"pack": "gredy"}, "pack: 'gredy' is no way of packing; there are greedy, interleaved"),
        ({"order": "best"}, "order: 'best' is no order; there are auto, grouped, packed, edges"),
        ({"overflow": "spill"}, "overflow: 'spill' is no overflow; there are skip, cut, stop"),
        ({"format": "yaml"}, "format: 'yaml' is no format; there are markers, json"),
        ({"recipe": "document"}, "there is no recipe 'document'; there are agent, documents"),
        ({"recipe": "x" * 5000}, "or name a TOML file"),
        ({"recipe": ""}, "there is no recipe ''"),
        ({"recipe": "\0"}, "there is no recipe"),
        ({"model": "nobody-1"}, "no token counter for the model 'nobody-1'"),
        ({"dedup": 1.5}, "fit.dedup is 1.5: it must be between 0 and 1"),
        ({"dedup": -0.1}, "fit.dedup is -0.1: it must be between 0 and 1"),
        ({"dedup": float("nan")}, "fit.dedup is nan"),
        ({"dedup": float("inf")}, "fit.dedup is inf"),
        ({"per_document": -1}, "fit.per_document is -1: it must be at least 0"),
        ({"recent": -1}, "rank.recent is -1: it must be between 0 and 1000"),
        ({"recent": 10**9}, "rank.recent is 1000000000"),
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
        ({"bugdet": 4000}, "unknown setting 'bugdet'; did you mean 'budget'?"),
        ({"budget": "much"}, "budget.total is 'much': expected a whole number"),
        ({"reserve": 5}, "budget.reserved is 5: expected whole numbers by name"),
        ({"hard": "yes"}, "budget.hard is 'yes': expected true or false"),
        ({"metadata": 1}, "render.metadata is 1: expected true or false"),
        ({"pack": None}, "fit.pack is None: expected a text"),
        ({"dedup": "all"}, "fit.dedup is 'all': expected a number"),
        ({"per_document": True}, "fit.per_document is True: expected a whole number"),
        ({"recipe": 5}, "recipe is 5: expected a name, a file or a Recipe"),
        ({"model": 5}, "model is 5: expected a name"),
        ({"viewer": 5}, "viewer is 5: expected a name or a Viewer"),
        ({"where": "*.md"}, "where is '*.md': expected a Filter"),
        ({"previous": "abc"}, "previous is 'abc': expected a list of chunk ids"),
        ({"as_of": "now"}, "as_of is 'now': expected seconds since 1970"),
        ({"exact": 1}, "exact is 1: expected True or False"),
        ({"allow_empty": None}, "allow_empty is None: expected True or False"),
    ],
)
def test_options_of_the_wrong_kind(options: dict[str, Any], said: str) -> None:
    with pytest.raises(CallerError) as refused:
        decide("quorum", options)  # type: ignore[arg-type]  # that is the point
    assert said in str(refused.value)


@pytest.mark.parametrize("query", ["", " ", "\n\t", 5, None])
def test_an_empty_question(query: Any) -> None:
    with pytest.raises(InputError, match="the query is empty: say what the context is for"):
        decide(query, {})


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"sources": {}}, "asks no source"),
        ({"sources": {"lexcal": SourceSpec()}}, "did you mean 'lexical'?"),
        ({"sources": {"lexical": SourceSpec(k=0)}}, "sources.lexical.k is 0"),
        (
            {"sources": {"lexical": SourceSpec(options={"whole": -1})}},
            "sources.lexical.options.whole is -1: it must be between 0 and 1000",
        ),
        (
            {"sources": {"lexical": SourceSpec(options={"long": True})}},
            "sources.lexical.options.long is True: expected a whole number",
        ),
        ({"sources": {"lexical": SourceSpec(weight=-1)}}, "sources.lexical.weight is -1"),
        ({"sources": {"lexical": SourceSpec(weight=10**40)}}, "between 0 and 1000"),
        ({"rank": replace(DOCUMENTS.rank, top=0)}, "rank.top is 0: it must be at least 1"),
        ({"rank": replace(DOCUMENTS.rank, constant=-1)}, "rank.constant is -1"),
        ({"rank": replace(DOCUMENTS.rank, deeper=-1)}, "rank.deeper is -1"),
        ({"rank": replace(DOCUMENTS.rank, reach=4)}, "rank.reach is 4: it must be between 0 and 3"),
        (
            {"rank": replace(DOCUMENTS.rank, fusion="max")},
            "fusion: 'max' is no fusion; there are sum, rrf",
        ),
        ({"budget": replace(DOCUMENTS.budget, overhead=-1)}, "the overhead is -1"),
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
        ({}, {"previous": []}),
        ({"dedup": 1}, {"dedup": 1.0}),
        ({"reserve": {"a": 1, "b": 2}}, {"reserve": {"b": 2, "a": 1}}),
        ({"recipe": "documents"}, {"recipe": DOCUMENTS}),
    ],
)
def test_askings_that_mean_the_same_are_the_same(one: Options, other: Options) -> None:
    assert decide("quorum", one).key == decide("quorum", other).key
    assert decide("quorum", one).key == decide(" quorum\n", other).key
    assert decide("quorum", one).key != decide("quorums", other).key


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
    with pytest.raises(ConfigError, match="sematic = false: it was not asked anyway"):
        recipes.load(str(tree.root / "mine.toml"))


def test_a_recipe_that_extends_nothing_has_the_defaults(tree: Tree) -> None:
    path = tree.write("own.toml", "[sources.lexical]\nk = 5\n")
    own = recipes.load(str(path))
    assert own == Recipe("own", sources={"lexical": SourceSpec(5)})
    assert decide("quorum", {"recipe": str(path)}).recipe.budget.available == 3200


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('extends = "self.toml"\n', ("in a circle", "self.toml > self.toml")),
        ('extends = "other.toml"\n', ("in a circle", "self.toml > other.toml > self.toml")),
        ('extends = "nowhere"\n', ("there is no recipe 'nowhere'",)),
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
        ("[fit]\npack = 'x'\n", ("pack: 'x' is no way of packing",)),
        ("", ("asks no source", 'extends = "documents"')),
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


def test_shipped_recipes_are_listed() -> None:
    assert "documents" in recipes.shipped()
    for name in recipes.shipped():
        assert recipes.load(name).about
        if name != "premortem":  # which needs a domain
            assert decide("quorum", {"recipe": name}).recipe.about


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
