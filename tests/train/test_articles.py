"""Pairs of scientific articles and of statements, and what the mix leaves out of them."""

import json
import random
from pathlib import Path

from train import articles, filters, mix

ABSTRACT = " ".join(
    f"The {number} experiment showed that cells of kind {number} divide when they are warm."
    for number in ("first", "second", "third", "fourth", "fifth", "sixth")
)
FOUND = "Warm cells of the second kind divide twice as often as cold cells do"
ARTICLE = f"""<article><front>
<article-id pub-id-type="publisher-id">00012</article-id>
<article-title>Warmth and <italic>division</italic></article-title>
<license xlink:href="http://creativecommons.org/licenses/by/4.0/"><license-p/></license>
<abstract><p>{ABSTRACT}</p></abstract>
<abstract abstract-type="plain-language-summary"><title>Digest</title>
<p>Bodies are made of parts that multiply faster when the weather is hot.</p></abstract>
</front><body>
<sec><title>Results</title><sec><title>{FOUND}</title>
<p>{"We counted them <xref ref-type='bibr'>x</xref> in a dish. " * 12}
(<xref ref-type="bibr" rid="b1">Miller, 2003</xref>) ends here.</p></sec></sec>
<sec><title>Materials and methods of the experiments that were made with these cells here</title>
<p>{"We bought them. " * 40}</p></sec>
</body></article>"""


def test_an_article_gives_claims_and_findings_without_citations() -> None:
    made = list(articles.article_pairs(ARTICLE, "a/b", random.Random(1)))
    asked = {pair.question for pair in made}
    assert {
        "Warmth and division",
        "Bodies are made of parts that multiply faster when the weather is hot.",
        FOUND,
    } <= asked
    assert not any("Materials" in question for question in asked)
    (finding,) = [pair for pair in made if pair.question == FOUND]
    assert "Miller" not in finding.passage
    assert "We counted them" in finding.passage
    assert {pair.origin for pair in made} == {"a/b:00012"}


def test_an_article_under_another_licence_gives_nothing() -> None:
    other = ARTICLE.replace("licenses/by/4.0", "licenses/by-nc/4.0")
    assert list(articles.article_pairs(other, "a/b", random.Random(1))) == []


def test_nothing_is_kept_of_an_article_of_which_a_part_is_in_an_evaluation_set(
    tmp_path: Path,
) -> None:
    rows = [pair.record() for pair in articles.article_pairs(ARTICLE, "a/b", random.Random(1))]
    other = {**rows[0], "r": "a/b:00013", "p": "Something else altogether. " * 20}
    file = tmp_path / "harvested.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in [*rows, other]), "utf-8")
    known = filters.EvaluationTexts()
    known.add_text(ABSTRACT)
    told = mix.keep_file(file, tmp_path / "kept.jsonl", known)
    kept = [json.loads(line) for line in (tmp_path / "kept.jsonl").read_text().splitlines()]
    assert [row["r"] for row in kept] == ["a/b:00013"]
    assert told["of an article that is in an evaluation set"] == 1


def test_two_summaries_of_a_paper_are_a_pair_of_statements() -> None:
    row = {
        "source": ABSTRACT.split(". "),
        "target": [
            "Cells divide when it is warm, as six experiments show.",
            "Warmth makes all six kinds of cells divide more often.",
        ],
    }
    made = list(articles.summary_pairs(json.dumps(row), "a/b", random.Random(0)))
    assert [pair.kind for pair in made] == ["science", "science", "statement"]
    assert made[-1].question != made[-1].passage


def test_a_message_says_what_changed_twice() -> None:
    message = (
        "Keep idle connections open for longer\n\n"
        "Sockets that nobody used were closed after one second. Nobody wanted that at all, ever.\n"
    )
    (pair,) = articles.statement_pairs([message, "Bump version\n\nx"], "a/b", random.Random(0))
    assert pair.passage == "Sockets that nobody used were closed after one second."
