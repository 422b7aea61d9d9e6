"""Pairs made from source files, commits and pages."""

import random

from train import facts, git, pairs, prose_pairs, talk, wording
from train.definitions import first_sentence, read_definitions, split_words

SOURCE = '''import os


class Pool:
    def acquire(self, wait: float) -> int:
        """Take an idle connection from the pool.

        Waits at most `wait` seconds.
        """
        for one in self.idle:
            if one.alive:
                return one
        raise TimeoutError(wait)

    def release(self, one: int) -> None:
        """Give a connection back so that others can use it."""
        self.idle.append(one)
        self.busy.remove(one)
        self.notify()


def helper(a):
    b = a + 1
    c = b + 1
    return c
'''
LOG = (
    "abc\x02Fix acquire for closed connections (#12)\n\nIt returned connections that the server "
    "had closed.\n\nSigned-off-by: A <a@b.c>\n\x03\n"
    ":100644 100644 1111111 2222222 M\tsrc/pool.py\n\n"
    "diff --git a/src/pool.py b/src/pool.py\n--- a/src/pool.py\n+++ b/src/pool.py\n"
    "@@ -11 +11 @@ def\n-            if one.alive:\n+            if one.alive and one.open:\n"
)


def test_definitions_have_their_description_apart() -> None:
    acquire, release, helper = read_definitions(SOURCE, "pool.py")
    assert acquire.qualified == "Pool.acquire"
    assert (acquire.first, acquire.last) == (4, 13)
    assert acquire.bare.startswith("def acquire(self, wait: float) -> int:\n    for one in")
    assert "idle connection" not in acquire.bare
    assert "idle connection" in acquire.code
    assert release.doc == "Give a connection back so that others can use it."
    assert not helper.doc


def test_a_first_sentence_is_without_mark_up() -> None:
    assert first_sentence("Return the :class:`~a.B` of it. More.") == "Return the a.B of it."
    assert first_sentence("Opens {@link Door} fast\n@param x y") == "Opens Door fast"


def test_names_are_split_into_words() -> None:
    assert split_words("parseHTTPHeader") == split_words("parse_http_header") == "parse http header"


def test_code_pairs_have_neighbours_as_negatives() -> None:
    made = list(pairs.code_pairs(SOURCE, "pool.py", "a/b", random.Random(0)))
    assert len(made) == 2
    assert all(one.kind == "code-py" and one.negatives for one in made)
    assert all("idle connection from" not in text for one in made for text in one.negatives)


def test_a_commit_gives_the_functions_it_changed_as_they_were() -> None:
    commit = git.parse_commit(LOG)
    assert commit is not None
    assert commit.hunks == {"src/pool.py": [(10, 11)]}
    (pair,) = pairs.commit_pairs(commit, {"src/pool.py": SOURCE}, "a/b", random.Random(0))
    assert "def acquire" in pair.passage
    assert "one.open" not in pair.passage
    assert "Signed-off" not in pair.question
    assert "#12" not in pair.question
    assert all("def acquire" not in text for text in pair.negatives)


def test_lines_that_are_added_belong_to_the_function_around_them() -> None:
    added = LOG.replace("@@ -11 +11 @@", "@@ -11,0 +12,2 @@")
    commit = git.parse_commit(added)
    assert commit is not None
    changed, _ = pairs.changed_definitions(commit, {"src/pool.py": SOURCE})
    assert [one.name for _, _, one in changed] == ["acquire"]
    behind = git.parse_commit(LOG.replace("@@ -11 +11 @@", "@@ -13,0 +14,2 @@"))
    assert behind is not None
    assert not pairs.changed_definitions(behind, {"src/pool.py": SOURCE})[0]


def test_routine_commits_give_nothing() -> None:
    commit = git.parse_commit(LOG.replace("Fix acquire", "Bump version"))
    assert commit is not None
    assert not list(pairs.commit_pairs(commit, {"src/pool.py": SOURCE}, "a/b", random.Random(0)))


def test_other_words_never_replace_a_word_by_part_of_an_expression() -> None:
    rng = random.Random(1)
    stop = "of to in for on with and or is as by from at if not up out over again back"
    assert wording.other_words(stop, rng, 1.0) == stop
    assert wording.other_words("delete the directory", rng, 1.0) != "delete the directory"


def test_markdown_is_split_at_headings_outside_of_code() -> None:
    page = "# Pods\n\nIntro.\n\n## Restart policy\n\nText.\n\n```sh\n# no heading\n```\n"
    sections = prose_pairs.markdown_sections(page, "x")
    assert [(one.title, one.heading) for one in sections] == [
        ("Pods", ""),
        ("Pods", "Restart policy"),
    ]
    assert "no heading" in sections[1].text


def test_two_linked_sections_answer_one_question() -> None:
    section = prose_pairs.Section
    pages = {
        "a": [section("Install guide", "First steps", "See the Release notes. " * 20)],
        "b": [section("Release notes", "Version two", "All that has changed. " * 20)],
    }
    made = list(prose_pairs.linked_pairs(pages, "a/b", random.Random(0)))
    assert len({one.question for one in made}) == 1
    assert {"See" in one.passage for one in made} == {True, False}


def test_facts_reach_over_two_hops() -> None:
    page = (
        '{"Geography": {"Climate": {"text": "'
        + "hot and dry " * 8
        + '"}, "Terrain": {"text": "'
        + "flat " * 20
        + '"}}, "Government": {"Country name": {"conventional short form": '
        '{"text": "Chad"}}, "Capital": {"name": {"text": "N\'Djamena"}, "time difference": '
        '{"text": "UTC+1 (6 hours ahead of Washington, DC, during Standard Time)"}}}}'
    )
    made = list(facts.fact_pairs([page], "x", random.Random(0)))
    assert any(one.kind == "hops" and "capital is N'Djamena" in one.question for one in made)
    assert all("Chad" not in one.question for one in made if one.kind == "hops")


def test_made_talk_is_the_same_every_time() -> None:
    first, second = talk.made_pairs(40), talk.made_pairs(40)
    assert [one.record() for one in first] == [one.record() for one in second]
    assert all(one.passage not in one.negatives and "{" not in one.passage for one in first)
