from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from quire.core.types import Document, Entity, FileEntry, IngestSettings, Skipped
from quire.ingest import missing_grammars, read
from quire.ingest.grammar import extract
from quire.ingest.grammar.languages import GRAMMARS
from quire.ingest.grammar.parse import load_grammar

from .defined import DEFINED
from .reading import get_outline, read_entities, read_text

SOURCES = Path(__file__).parent / "sources"
ENTITIES = IngestSettings(code_max=300)


def source(name: str) -> str:
    return (SOURCES / f"{name}.txt").read_text(encoding="utf-8")


def sample(name: str) -> Document:
    return read_text(name, source(name), ENTITIES)


def by_name(document: Document) -> dict[str, Entity]:
    return {entity.qualified: entity for entity in reversed(get_outline(document).entities)}


def used(document: Document, kind: str, within: str = "") -> set[str]:
    outline = get_outline(document)
    return {
        reference.name
        for reference in outline.references
        if reference.kind == kind
        and (not within or outline.entities[reference.within].qualified == within)
    }


def test_every_grammar_of_the_table_is_installed_here_and_its_query_holds() -> None:
    assert missing_grammars() == ()
    assert all(load_grammar(name) is not None for name in GRAMMARS)


@pytest.mark.parametrize("name", DEFINED)
def test_what_a_real_file_defines(name: str, tmp_path: Path) -> None:
    file = tmp_path / name
    file.write_text(source(name), encoding="utf-8")
    size, mtime = file.stat().st_size, file.stat().st_mtime_ns
    result = read(FileEntry(name, str(file), size, mtime), ENTITIES)
    assert not isinstance(result, Skipped)
    document = result[0]
    lines = [
        f"{entity.kind} {entity.qualified} {entity.lines[0]}-{entity.lines[1]}"
        for entity in get_outline(document).entities
    ]
    assert lines == [line.strip() for line in DEFINED[name].strip().split("\n")]
    assert "".join(chunk.text for chunk in document.chunks) == source(name)


@pytest.mark.parametrize("name", DEFINED)
def test_a_definition_is_where_its_lines_say_and_says_its_name(name: str) -> None:
    document = sample(name)
    text = source(name)
    lines, data = text.split("\n"), text.encode()
    for entity in get_outline(document).entities[1:]:
        first, last = entity.lines
        inside = "\n".join(lines[first - 1 : last])
        assert data[entity.start : entity.end].decode().rstrip("\n") in inside
        assert entity.name in entity.signature
        assert entity.name in inside
        assert "\n" not in entity.signature


def test_signatures_stand_without_body_decorators_and_comments() -> None:
    assert {
        name: by_name(sample(name))[qualified].signature
        for name, qualified in {
            "shop.py": "Cart.Line.load",
            "shop.ts": "emptyCart",
            "shop.js": "Order.refund",
            "shop.go": "Cart.Total",
            "shop.rs": "Cart.add",
            "Shop.java": "Cart.total",
            "shop.c": "first_item",
            "shop.cpp": "shop.inner.Cart",
            "Shop.cs": "Shop.Carts.Cart.AddAsync",
            "shop.rb": "Shop.Shop.Error",
            "shop.php": "Cart.total",
            "shop.kt": "Cart.empty",
            "shop.swift": "Cart.total",
            "shop.scala": "Cart.add",
            "shop.sh": "build",
            "shop.sql": "cart_total",
        }.items()
    } == {
        "shop.py": "async def load(self, path: str) -> bytes",
        "shop.ts": "export const emptyCart = (owner: Owner): Cart<Item>",
        "shop.js": "Order.prototype.refund = function refund(amount)",
        "shop.go": "func (c *Cart) Total(ctx context.Context) (m.Amount, error)",
        "shop.rs": "pub(crate) async fn add(&mut self, item: &'a T) -> Result<(), Error>",
        "Shop.java": "public Amount total() throws TooMuch",
        "shop.c": "struct item *first_item(cart_t *cart)",
        "shop.cpp": "template <typename T> class Cart : public Base, private Payable",
        "Shop.cs": "public async Task<decimal> AddAsync(T item)",
        "shop.rb": "class Shop::Error < StandardError",
        "shop.php": "public function total(): float",
        "shop.kt": "fun empty(owner: Owner): Cart<Book>",
        "shop.swift": "public func total() throws -> Amount",
        "shop.scala": "def add(item: T)(implicit log: Log): Unit",
        "shop.sh": "build()",
        "shop.sql": "CREATE FUNCTION cart_total(cart INTEGER) RETURNS NUMERIC",
    }


SUMMED_UP = {
    "shop.py": ("Cart.total", ("@property", "@cached(ttl=60)")),
    "Shop.java": ("Cart.total", ("@Override", "@Cached(ttl = 60)")),
    "shop.php": ("Cart.total", ("#[Cached(60)]",)),
    "shop.kt": ("Cart.total", ("@Cached",)),
    "shop.swift": ("Cart.total", ("@discardableResult",)),
    "shop.scala": ("Cart.total", ("@cached",)),
    "shop.rb": ("Shop.Cart.total", ()),
}


@pytest.mark.parametrize("name", SUMMED_UP)
def test_a_comment_and_decorators_belong_to_what_is_below_them(name: str) -> None:
    qualified, decorators = SUMMED_UP[name]
    entity = by_name(sample(name))[qualified]
    assert entity.summary == "Sums up."
    assert entity.decorators == decorators
    first = source(name).split("\n")[entity.lines[0] - 1]
    assert "Sums up." in first  # the range begins with the comment


def test_free_attributes_and_decorators_before_a_member() -> None:
    cart = by_name(sample("shop.rs"))["Cart"]
    assert cart.decorators == ("#[derive(Debug, Clone)]", '#[serde(rename_all = "camelCase")]')
    assert cart.summary == "Holds items."
    add = by_name(sample("shop.ts"))["Cart.add"]
    assert (add.decorators, add.summary) == (("@log",), "Adds one.")
    assert by_name(sample("Shop.cs"))["Shop.Carts.Cart"].decorators == (
        "[Serializable]",
        '[Table("carts")]',
    )


@pytest.mark.parametrize(
    ("name", "path"),
    [
        ("total", ("total",)),
        ("Cart<T, Map<K, V>>::total", ("Cart", "total")),
        ("a::b::operator<<", ("a", "b", "operator<<")),
        ("operator bool", ("operatorbool",)),
        ("query.operator.total", ("query", "operator", "total")),
        ("Order.prototype.refund", ("Order", "refund")),
        ("module.exports.cancel", ("cancel",)),
        ("~Cart", ("~Cart",)),
    ],
)
def test_the_components_of_a_name(name: str, path: tuple[str, ...]) -> None:
    assert extract.split_name(name) == path


def test_a_function_of_one_line_with_an_arrow_is_its_own_declaration() -> None:
    text = (
        "const next = (x) => x + 1\nconst long = (x) => {\n  return x\n}\n"
        "const fields = { get: () => undefined, set: () => {} }\n"
    )
    signatures = {
        name: entity.signature for name, entity in by_name(read_text("a.js", text)).items()
    }
    assert signatures["next"] == "const next = (x) => x + 1"
    assert signatures["long"] == "const long = (x)"
    assert signatures["get"] == "get: () => undefined"
    assert signatures["set"] == "set: () => {}"
    document = read_text("a.cs", "class A {\n  int Five => 5;\n  int Six() { return 6; }\n}\n")
    assert by_name(document)["A.Five"].signature == "int Five => 5"
    assert by_name(document)["A.Six"].signature == "int Six()"


def test_a_function_inside_a_decorator_is_no_definition() -> None:
    text = (
        "@Component({\n  factory: function make() {\n    return 1;\n  },\n})\n"
        "export class Panel {\n  @on({ then: () => { go(); } })\n  open() {}\n}\n"
    )
    entities = get_outline(read_text("a.ts", text)).entities
    assert [(e.qualified, e.lines) for e in entities[1:]] == [
        ("Panel", (1, 9)),
        ("Panel.open", (7, 8)),
    ]
    assert entities[1].signature == "export class Panel"


def test_what_a_file_says_of_itself() -> None:
    summaries = {name: get_outline(sample(name)).entities[0].summary for name in DEFINED}
    assert summaries["shop.py"] == "Carts and what they cost."
    assert summaries["shop.go"] == "Package shop sells things."  # not the licence above it
    assert summaries["shop.rs"] == "Carts, borrowed and owned."
    assert summaries["shop.rb"] == "Carts in Ruby."
    assert summaries["shop.sh"] == "Ships the shop."
    assert summaries["shop.sql"] == "The tables of the shop."
    assert summaries["Shop.java"] == ""  # a licence alone
    assert all(summary for name, summary in summaries.items() if name != "Shop.java")


def test_calls_have_a_name_and_a_caller() -> None:
    assert used(sample("shop.py"), "call", "Cart.total") == {
        "rounded",
        "sum",
        "find_price",
        "cached",
    }
    assert used(sample("shop.go"), "call", "Cart.Total") >= {"priceOf", "Errorf", "Zero", "check"}
    assert used(sample("shop.rs"), "call", "Cart.add") == {"find_price", "println", "push", "Ok"}
    assert used(sample("shop.sh"), "call", "deploy_all") == {"list_hosts", "build", "ship"}
    assert used(sample("view.tsx"), "call", "List") >= {"Row", "map", "pick"}
    assert used(sample("view.tsx"), "call").isdisjoint({"ul", "li"})
    for name in (
        "shop.js",
        "shop.c",
        "shop.cpp",
        "shop.rb",
        "shop.swift",
        "Shop.java",
        "shop.scala",
    ):
        assert used(sample(name), "call") & {"findPrice", "find_price"}, name
    for name, called in {"shop.ts": "BookCart", "Shop.cs": "Find", "shop.php": "Guest",
                         "shop.kt": "priceOf", "shop.sql": "upper"}.items():  # fmt: skip
        assert called in used(sample(name), "call")


def test_base_classes_and_types_are_used() -> None:
    for name, bases in {
        "shop.py": {"Base", "Meta"},
        "shop.ts": {"Base", "Payable", "Item"},
        "shop.js": {"Base"},
        "Shop.java": {"Base", "Payable", "Comparable", "Item"},
        "shop.php": {"Base", "Payable", "Priced"},
        "shop.kt": {"Base", "Payable", "Item", "Owner"},
        "shop.swift": {"Base", "Payable", "Item"},
        "shop.scala": {"Base", "Payable", "Item"},
        "Shop.cs": {"Base", "IPayable", "Item"},
        "shop.cpp": {"Base", "Payable"},
        "shop.rb": {"Base", "Payable"},
        "shop.rs": {"Payable", "Item"},
        "shop.go": {"Base", "Item", "Owner"},
    }.items():
        assert used(sample(name), "use") >= bases, name
    # A name that is declared is not used by that.
    assert "Line" not in used(sample("Shop.java"), "use")


IMPORTED = {
    "shop.py": {"json", "path", "decimal", "Decimal", "ROUND_UP", "prices", "find_price"},
    "shop.ts": {"axios", "Config", "money-format", "Item", "item"},
    "view.tsx": {"React", "react", "useState", "Row", "row"},
    "shop.js": {"express", "prices", "findPrice", "defaults"},
    "shop.go": {"context", "money", "fmt"},
    "shop.rs": {"collections", "BTreeMap", "HashMap", "find_price", "super", "Cart"},
    "Shop.java": {"List", "findPrice", "models"},
    "shop.c": {"stdio", "prices"},
    "shop.cpp": {"vector", "prices"},
    "Shop.cs": {"System", "Generic", "PriceTable", "Prices"},
    "shop.rb": {"json", "prices"},
    "shop.php": {"Item", "Finder", "Table", "round_up", "legacy"},
    "shop.kt": {"max", "findPrice"},
    "shop.swift": {"Foundation", "Finder"},
    "shop.scala": {"mutable", "prices", "Finder", "Table"},
    "shop.sh": {"common", "prices"},
}


@pytest.mark.parametrize("name", IMPORTED)
def test_imports(name: str) -> None:
    assert used(sample(name), "import") == IMPORTED[name]


@pytest.mark.parametrize(
    ("path", "tested"),
    [
        ("tests/test_cart.py", "cart"),
        ("cart_test.go", "cart"),
        ("cart.test.ts", "cart"),
        ("cart.spec.js", "cart"),
        ("spec/cart_spec.rb", "cart"),
        ("CartTest.java", "Cart"),
        ("CartTests.cs", "Cart"),
        ("TestCart.java", "Cart"),
        ("cart.py", ""),
        ("latest.py", ""),
        ("contest.go", ""),
    ],
)
def test_a_file_of_tests_says_what_it_tests(path: str, tested: str) -> None:
    assert used(read_text(path, "\n"), "test") == ({tested} if tested else set())


def test_a_test_says_what_it_tests() -> None:
    text = "class TestCart:\n    def test_total_price(self):\n        assert total_price()\n"
    document = read_text("test_shop.py", text)
    assert used(document, "test", "TestCart") == {"Cart", "cart"}
    assert used(document, "test", "TestCart.test_total_price") == {"total_price"}
    assert used(read_text("shop.py", text), "test") == set()
    go = read_text("cart_test.go", "package shop\n\nfunc TestTotal(t *testing.T) {}\n")
    assert used(go, "test", "TestTotal") == {"Total", "total"}


def test_a_header_of_cpp_is_read_as_cpp_and_one_of_c_as_c() -> None:
    cpp = read_text(
        "a.h", "#ifndef A\n#define A\nclass Box {\n public:\n  int size();\n};\n#endif\n"
    )
    assert [e.qualified for e in get_outline(cpp).entities[1:]] == ["Box", "Box.size"]
    c = read_text(
        "b.h", "#ifndef B\n#define B\nstruct class { int new; };\nint *size(void);\n#endif\n"
    )
    assert [e.qualified for e in get_outline(c).entities[1:]] == ["class", "size"]


def test_broken_syntax_still_gives_what_can_be_had() -> None:
    text = source("Shop.java").replace("super(owner);", "super(owner;").removesuffix("}\n")
    names = {entity.name for entity in get_outline(read_text("Shop.java", text)).entities}
    assert {"Cart", "total", "Line", "count", "State", "free"} <= names
    python = "def one():\n    return (\n\nclass Two:\n    def three(self:\n        pass\n\ndef four():\n    pass\n"
    assert {e.name for e in get_outline(read_text("a.py", python)).entities} >= {"one", "four"}


def test_places_are_right_behind_characters_beyond_ascii() -> None:
    text = 'x = "žluťoučký 👩\u200d🚀"\n\n\ndef größe(größe):\n    """Wie groß."""\n    return größe\u00a0+ 1\n'
    document = read_text("a.py", text)
    entity = get_outline(document).entities[1]
    assert (entity.name, entity.lines, entity.summary) == ("größe", (4, 6), "Wie groß.")
    assert text.encode()[entity.start : entity.end].decode().startswith("def größe(größe):")


def test_a_language_without_a_grammar_is_read_by_its_lines() -> None:
    text = "module Shop\n\ntype Cart = int\n\nlocal function total(a)\n  return a\nend\n"
    entities = get_outline(read_text("a.lua", text)).entities
    assert [(e.kind, e.qualified) for e in entities[1:]] == [
        ("module", "Shop"),
        ("type", "Cart"),
        ("function", "total"),
    ]


WITHOUT_THE_EXTRA = """
import importlib.abc, sys
class Absent(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name.startswith("tree_sitter"):
            raise ModuleNotFoundError(name)
sys.meta_path.insert(0, Absent())
from quire.ingest.read import build_document
from quire.core.types import IngestSettings
text = open(sys.argv[1], "rb").read()
document = build_document("shop.py", text, IngestSettings(code_max=300))
assert b"".join(chunk.text.encode() for chunk in document.chunks) == text
print([chunk.title for chunk in document.chunks])
print([f"{entity.kind} {entity.qualified}" for entity in document.outline.entities])
"""


def test_without_the_extra_lines_and_indentation_tell() -> None:
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT_THE_EXTRA, str(SOURCES / "shop.py.txt")],
        capture_output=True,
        text=True,
        check=True,
    )
    titles, entities = done.stdout.splitlines()
    assert "'class Cart > def total'" in titles
    assert entities == str(
        [
            "file shop.py",
            "class Cart",
            "method Cart.__init__",
            "method Cart.total",
            "function Cart.total.rounded",
            "class Cart.Line",
            "method Cart.Line.load",
            "function pay",
        ]
    )


@pytest.mark.parametrize(
    ("docstring", "summary"),
    [
        (
            "\nrequests.utils\n~~~~~~~~~~~~~~\n\nUtility functions\nof all kinds.\n",
            "Utility functions\nof all kinds.",
        ),
        ("\n======\nUtils\n======\n\nOf all kinds.\n", "Of all kinds."),
        ("Utils\n=====\n", "Utils\n====="),
        ("Utils.\n\nOf all kinds.", "Utils."),
    ],
)
def test_a_title_is_no_summary_of_a_module(docstring: str, summary: str) -> None:
    assert read_entities("utils.py", f'"""{docstring}"""\n\nx = 1\n')[0].summary == summary


SAID = "".join(f"  Line {n} of what isn't said (twice) about {{it}}; more.\n" for n in range(350))


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.java", f"/**\n{SAID}*/\npublic class A {{ }}\n"),
        ("a.c", f"int x;\n/*\n{SAID}*/\nint A(void) {{ return 1; }}\n"),
        ("a.py", f'"""\n{SAID}"""\n\n\nclass A:\n    pass\n'),
        ("a.ts", f"const x = `\n{SAID}`;\nexport class A {{ }}\n"),
        ("a.rb", f"=begin\n{SAID}=end\nclass A\n  def b\n  end\nend\n"),
        ("a.php", f"<?php\n/*\n{SAID}*/\nclass A {{ }}\n"),
    ],
)
def test_a_comment_longer_than_a_step_of_parsing_hides_no_definition(name: str, text: str) -> None:
    (entity,) = [e for e in get_outline(read_text(name, text)).entities if e.name == "A"]
    assert entity.signature.endswith(("class A", "int A(void)"))
    assert "public" in entity.signature or not name.endswith("java")


ADAPTERS = """\
public final class Adapters {
  /** Reads a UUID. */
  @SuppressWarnings("unchecked")
  public static final Adapter<UUID> UUID =
      new Adapter<UUID>() {
        @Override
        public UUID read(Reader in) {
          return in.uuid();
        }
      };

  enum Policy {
    IDENTITY() {
      @Override
      public String translate(Field field) {
        return field.getName();
      }
    },
    OTHER
  }
}
"""


def test_a_method_of_a_class_without_a_name_is_named_by_the_field_that_holds_it() -> None:
    entities = by_name(read_text("Adapters.java", ADAPTERS))
    assert entities["Adapters.UUID"].summary == "Reads a UUID."
    assert entities["Adapters.UUID"].lines == (2, 10)
    assert "Adapters.UUID.read" in entities
    assert "Adapters.Policy.IDENTITY.translate" in entities


def test_the_first_paragraph_of_a_comment_of_rust_has_all_its_lines() -> None:
    text = "//! Extracts what\n//! the URL holds.\n\nmod de;\n\n/// Takes a\n/// path.\n///\n/// More.\n"
    document = read_text("path.rs", f"{text}struct Path;\n")
    assert get_outline(document).entities[0].summary == "Extracts what\nthe URL holds."
    assert by_name(document)["Path"].summary == "Takes a\npath."


def test_a_declaration_is_known_below_a_comment_of_any_length() -> None:
    document = read_text(
        "state.rs",
        f"{''.join(f'/// {line}' for line in SAID.splitlines(keepends=True))}struct State;\n",
    )
    assert by_name(document)["State"].attrs["declared"] == SAID.count("\n") + 1


def test_a_large_file_of_code_has_its_definitions() -> None:
    functions = "".join(
        f"int gate_{n}(int number)\n{{\n    return number + {n};\n}}\n\n" for n in range(10_000)
    )
    assert len(functions) > 500_000
    entities = by_name(read_text("gates.c", functions))
    assert entities["gate_9999"].signature == "int gate_9999(int number)"
