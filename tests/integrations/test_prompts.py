"""Prompts that ask for nothing get nothing."""

from __future__ import annotations

import pytest

from quire.integrations.hooks.prompts import asks_for_something, is_about

TALK = """\
yes
yes, go ahead
Yes please.
ok
ok, go on
okay do it
ok do it and run the tests again
sure, sounds good
great, thanks!
thanks, looks good. commit it
Thank you so much
perfect, ship it
LGTM
looks good to me, merge it
continue
please continue
keep going
go on with the next one
try again please
retry
run the tests
run it again
run all the tests and fix it
commit and push
commit this, then push it
undo that
revert the last change
no, not like that
no, the other one
not that one, the second
option 2
2
the first one please
do both
stop
wait a moment
hold on
never mind
hmm, I don't know
that's right
exactly
I agree
you're right, do that
it works now
it still doesn't work? try again
hello
hi, how are you doing?
good morning
bye, see you tomorrow
what do you think?
what's next?
are you sure?
is it done yet?
can you do that again?
make it so
show me
tell me more
/clear
/compact
clean it up and save
hmm not sure about that
can you do that again but faster?
now make it blue
the build is red, look at it
same error as before
rename it to something shorter
translate that into German
remove the part you just added
I don't like the colour
oh no, everything is broken
why does it hang?
""".splitlines()

QUESTIONS = """\
make the progress bar blue
does it support proxies?
how does it parse options?
why does get_app_dir do that?
put it into src/config.py
add pagination
can you add pagination?
I want to stream a response
how do I run the tests?
what does the build do when it starts?
where are the tests?
why is retry off?
add a retry to the client
fix the login bug
How are redirects followed?
Where is the Authorization header removed?
rename parse_config to read_config
what time is it in Tokyo?
write a test for tokenizer.encode
the tests of the parser fail, why?
run the migration
explain ProgressBar.eta
commit the changes to setup.py
/deploy the billing service
yes, and use the same timeout as the worker
Wie starte ich den Server?
""".splitlines()


@pytest.mark.parametrize("prompt", ["", "  \n", "!?", *TALK])
def test_talk_asks_for_nothing(prompt: str) -> None:
    assert not asks_for_something(prompt)


COMMANDS = """\
git status
git commit -am wip
pytest -x
open a draft pull request
npm install
next step please
explain that again
say that in simpler words
""".splitlines()
TASKS = """\
rename the main script
add a version command
edit the message
explain the tests
git push fails with 403, why is that?
git bisect the login bug that came with the new parser
make the request faster
""".splitlines()


@pytest.mark.parametrize("prompt", COMMANDS)
def test_commands_ask_for_nothing(prompt: str) -> None:
    assert not asks_for_something(prompt)


@pytest.mark.parametrize("prompt", TASKS)
def test_tasks_in_the_words_of_a_conversation_do(prompt: str) -> None:
    assert asks_for_something(prompt)


PAGE = "The journal is replayed after a crash: Journal.replay reads it from its beginning."


def test_a_page_has_two_words_of_its_prompt_or_half() -> None:
    assert is_about("when is a journal replayed?", PAGE)
    assert is_about("and when are journals replaying, after a failover", PAGE)
    assert not is_about("when is a journal copied to a machine?", PAGE)
    assert is_about(f"{'copied to a machine ' * 50} when is a journal replayed?", PAGE), "pasted"
    assert not is_about("time for a pizza", PAGE)
    assert not is_about("that was a nice vacation", PAGE)
    assert is_about("そのジャーナルは?", PAGE), "nothing to compare"
    assert is_about("yes", PAGE)


def test_a_prompt_of_hardly_a_word_names_something() -> None:
    names = ("src", "journal", "Journal", "replay")
    assert is_about("what about the journals?", PAGE, names)
    assert is_about("what about the journals?", PAGE, ["The journal after a crash"])
    assert not is_about("what about the beginning?", PAGE, names), "a word of the page, no name"
    assert is_about("rename the journal", PAGE, names)
    assert is_about("replace the journal", PAGE, ["journal_file"]), "nearly the whole name"
    assert not is_about("replace the journal", PAGE, ["what a journal is for"])
    assert not is_about("ignore the crash", PAGE, names)
    assert is_about("ignore the crash", PAGE, names, ["A crash in CI is to be ignored on Mondays."])
    assert not is_about("don't delete anything", PAGE, names), "no word is left to name anything"
    assert is_about("make `crash` work", PAGE, names), "marked as code"
    assert is_about("replay the journal from its beginning", PAGE, names), "words enough"


@pytest.mark.parametrize("prompt", QUESTIONS)
def test_questions_and_tasks_do(prompt: str) -> None:
    assert asks_for_something(prompt)
