"""Settings come from the right place, and errors name the file, the key and the value."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path

import pytest

from quire import config
from quire.core.types import ALL, AccessRule, EmbedSettings, IngestSettings, JudgeSettings
from quire.errors import ConfigError
from tests.conftest import trust

SECTIONS = {"ingest": IngestSettings, "embed": EmbedSettings, "judge": JudgeSettings}

EVERYTHING = """
store = "data/knowledge.db"
space = "docs"
viewer = "ann"

[ingest]
max_bytes = 1000
secrets = true
allow_secrets = ["docs/**", "fingerprint:3f2a9c1b7d0e"]
ignore = ["*.lock", "dist/"]
whole = 100
paragraph = 200
join = 30
target = 50
code_max = 70
use_mtime = true
roles = ["vendored: legacy/**"]
without = ["vcard"]
history = "all"

[embed]
provider = "http"
folder = "models/small"
model = "small"
url = "http://localhost:1/v1"
key_env = "MY_KEY"
query_prefix = "query: "
batch = 8
timeout = 2.5
retries = 1
threads = 2
device = "auto"
keep = 7

[judge]
provider = "llm"
threshold = 0.2
protocol = "anthropic"
url = "https://host/v1"
model = "large"
key_env = "JUDGE_KEY"
timeout = 3.5
retries = 0
cache_bytes = 9

[access]
default = "owner"
"docs/**" = ["public"]
"hr/**" = ["ann", "@hr"]

[groups]
hr = ["bob", "carol"]
solo = "dave"
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    root = tmp_path / "project"
    (root / "deep" / "er").mkdir(parents=True)
    (root / ".quire").mkdir()
    return root


def write(project: Path, text: str) -> None:
    (project / "quire.toml").write_text(text, "utf-8")


def load(project: Path, **environment: str) -> config.Config:
    return config.load(project, environment=environment)


def test_without_any_settings_the_defaults_hold(project: Path) -> None:
    settings = load(project)
    assert settings == config.Config(root=project, store=project / ".quire" / "store.db")
    assert (settings.space, settings.viewer, settings.file, settings.own_store) == (
        "main",
        None,
        None,
        True,
    )
    assert settings.access_default == ("public",)


def test_every_setting_can_be_set(project: Path, tmp_path: Path) -> None:
    write(project, EVERYTHING)
    trust(project, {"HOME": str(tmp_path)})
    settings = load(project, HOME=str(tmp_path))
    assert settings.notes == ()
    assert settings.root == project
    assert settings.file == project / "quire.toml"
    assert settings.store == project / "data/knowledge.db"
    assert (settings.space, settings.viewer) == ("docs", "ann")
    assert settings.ingest == IngestSettings(
        max_bytes=1000,
        secrets=True,
        allow_secrets=("docs/**", "fingerprint:3f2a9c1b7d0e"),
        ignore=("*.lock", "dist/"),
        whole=100,
        paragraph=200,
        target=50,
        join=30,
        code_max=70,
        use_mtime=True,
        roles=("vendored: legacy/**",),
        without=("vcard",),
        history=ALL,
    )
    assert settings.embed == EmbedSettings(
        provider="http",
        folder=str(project / "models/small"),
        model="small",
        url="http://localhost:1/v1",
        key_env="MY_KEY",
        query_prefix="query: ",
        batch=8,
        timeout=2.5,
        retries=1,
        threads=2,
        device="auto",
        keep=7,
    )
    assert settings.access_default == ("owner",)
    assert settings.rules == (
        AccessRule("docs/**", ("public",)),
        AccessRule("hr/**", ("ann", "@hr")),
    )
    assert settings.groups == {"hr": ("bob", "carol"), "solo": ("dave",)}
    for name, kind in SECTIONS.items():
        for item in fields(kind):
            assert getattr(getattr(settings, name), item.name) != getattr(kind(), item.name), (
                f"[{name}] {item.name} is not covered by this test"
            )


def test_the_template_holds_the_defaults(project: Path) -> None:
    from quire.config import TEMPLATE

    write(project, TEMPLATE)
    settings = load(project)
    assert settings == config.Config(
        root=project, store=project / ".quire" / "store.db", file=project / "quire.toml"
    )
    uncommented_text = "\n".join(
        line.removeprefix("# ") if " = " in line and line.startswith("# ") else line
        for line in TEMPLATE.splitlines()
    )
    write(project, uncommented_text)
    uncommented = load(project)
    assert uncommented.store == settings.store
    assert uncommented.ingest.max_bytes == settings.ingest.max_bytes
    assert uncommented.ingest.secrets == settings.ingest.secrets
    assert uncommented.embed.provider == settings.embed.provider
    assert uncommented.access_default == settings.access_default


# --- where ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("mark", ["quire.toml", ".quire", ".git"])
def test_the_nearest_mark_above_makes_the_root(tmp_path: Path, mark: str) -> None:
    outer, inner = tmp_path / "outer", tmp_path / "outer" / "inner"
    (inner / "deep").mkdir(parents=True)
    (outer / ".git").mkdir()
    assert load(inner / "deep").root == outer
    (inner / mark).touch()
    assert load(inner / "deep").root == inner


def test_without_a_mark_the_directory_itself_is_the_root(tmp_path: Path) -> None:
    plain = tmp_path / "plain"
    plain.mkdir()
    root = load(plain).root
    assert root == plain or root in plain.parents  # something above may be a project


def test_the_user_has_a_file_too_and_the_project_goes_before_it(
    project: Path, tmp_path: Path
) -> None:
    home = tmp_path / "home"
    user = home / ".config" / "quire" / "config.toml"
    user.parent.mkdir(parents=True)
    user.write_text('viewer = "me"\n[ingest]\nwhole = 5\ntarget = 6\n[embed]\nprovider = "none"\n')
    write(project, "[ingest]\nwhole = 7\n")

    settings = load(project, HOME=str(home))
    assert (settings.ingest.whole, settings.ingest.target) == (7, 6)
    assert (settings.viewer, settings.embed.provider) == ("me", "none")
    assert load(project, XDG_CONFIG_HOME=str(home / ".config")).ingest.target == 6
    assert load(project, QUIRE_CONFIG=str(user)).ingest.target == 6
    assert load(project, HOME=str(home), XDG_CONFIG_HOME=str(tmp_path)).ingest.target == 600
    assert load(project).ingest.target == 600
    assert settings.file == project / "quire.toml", "the user's file is not the project's"


def test_a_store_is_named_relative_to_the_file_that_names_it(project: Path, tmp_path: Path) -> None:
    home = {"HOME": str(tmp_path)}
    write(project, 'store = "../shared.db"\n')
    trust(project, home)
    assert load(project / "deep", **home).store == project / "../shared.db"
    write(project, f'store = "{tmp_path / "s.db"}"\n')
    trust(project, home)
    assert load(project, **home).store == tmp_path / "s.db"


@pytest.mark.parametrize(
    "url",
    [
        "qdrant://x",
        "redis://host:1",
        "sqlite:///s.db",
        "FILE:///s.db",
        "postgres:/x",
        "postgresql:x",
    ],
)
def test_a_url_that_no_engine_opens_is_no_file(project: Path, url: str) -> None:
    with pytest.raises(ConfigError, match="no store is opened by a URL") as caught:
        config.load(project, store=f"{url}?password=hunter2")
    assert "hunter2" not in str(caught.value)
    assert "postgresql://USER@HOST:PORT/DATABASE" in caught.value.allowed
    with pytest.raises(ConfigError, match=r"^QUIRE_STORE: store: "):
        load(project, QUIRE_STORE=url)
    write(project, f'store = "{url}"\n')
    with pytest.raises(ConfigError, match=r"quire\.toml: store: "):
        load(project)


@pytest.mark.parametrize("path", ["a:b", "deep/qdrant:/x", "x.db", "./qdrant://x", "C:\\x"])
def test_a_path_may_have_colons(project: Path, path: str) -> None:
    assert config.load(project, store=path).store == Path(path).absolute()


# --- variables -----------------------------------------------------------------------------------


def test_variables_go_before_files(project: Path) -> None:
    write(project, EVERYTHING)
    settings = load(
        project,
        QUIRE_SPACE="other",
        QUIRE_VIEWER="bob",
        QUIRE_INGEST_MAX_BYTES="5",
        QUIRE_INGEST_SECRETS="false",
        QUIRE_INGEST_IGNORE="*.log, tmp/",
        QUIRE_EMBED_PROVIDER="none",
        QUIRE_EMBED_TIMEOUT="1.5",
        QUIRE_INGEST_WHOLE="9",
    )
    assert (settings.space, settings.viewer) == ("other", "bob")
    assert (settings.ingest.max_bytes, settings.ingest.secrets) == (5, False)
    assert settings.ingest.ignore == ("*.log", "tmp/")
    assert settings.ingest.join == 30, "what no variable names stays"
    assert (settings.embed.provider, settings.embed.timeout) == ("none", 1.5)
    assert (settings.ingest.whole, settings.ingest.target) == (9, 50)
    assert load(project, QUIRE_INGEST_IGNORE="").ingest.ignore == ()


@pytest.mark.parametrize(
    ("text", "value"), [("1", True), ("true", True), ("TRUE", True), ("0", False), ("False", False)]
)
def test_yes_and_no_in_variables(project: Path, text: str, value: bool) -> None:
    assert load(project, QUIRE_INGEST_SECRETS=text).ingest.secrets is value


def test_a_store_in_a_variable_is_not_the_projects_own(project: Path, tmp_path: Path) -> None:
    settings = load(project, QUIRE_STORE=str(tmp_path / "s.db"))
    assert (settings.store, settings.own_store) == (tmp_path / "s.db", False)
    assert load(project, QUIRE_STORE="").own_store


def test_arguments_go_before_everything(project: Path, tmp_path: Path) -> None:
    write(project, EVERYTHING)
    environment = {"QUIRE_STORE": "/env.db", "QUIRE_SPACE": "env", "QUIRE_VIEWER": "env"}
    settings = config.load(
        project, store=tmp_path / "arg.db", space="arg", viewer="arg", environment=environment
    )
    assert (settings.store, settings.space, settings.viewer) == (tmp_path / "arg.db", "arg", "arg")
    assert not settings.own_store
    settings = config.load(project, environment=environment)
    assert (settings.store, settings.space, settings.viewer) == (Path("/env.db"), "env", "env")


def test_the_environment_is_that_of_the_process_by_default(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("QUIRE_INGEST_CODE_MAX", "77")
    monkeypatch.chdir(project / "deep")
    settings = config.load()
    assert (settings.root, settings.ingest.code_max) == (project, 77)


@pytest.mark.parametrize(
    ("variable", "value", "message"),
    [
        ("QUIRE_INGEST_MAX_BYTES", "many", "expected a whole number, not 'many'"),
        ("QUIRE_INGEST_MAX_BYTES", "1.5", "expected a whole number, not '1.5'"),
        ("QUIRE_INGEST_MAX_BYTES", "-1", "must be at least 0, not -1"),
        ("QUIRE_INGEST_SECRETS", "maybe", "expected true or false, not 'maybe'"),
        ("QUIRE_EMBED_TIMEOUT", "soon", "expected a number, not 'soon'"),
        ("QUIRE_CONFIG", "/nowhere/at/all.toml", "does not exist"),
    ],
)
def test_a_wrong_variable_is_named(project: Path, variable: str, value: str, message: str) -> None:
    with pytest.raises(ConfigError, match=message) as caught:
        load(project, **{variable: value})
    assert str(caught.value).startswith(variable)


# --- mistakes ------------------------------------------------------------------------------------


def _wrong_types() -> list[tuple[str, str]]:
    """Return a wrong value for each setting of each section."""
    wrong = {"int": '"x"', "float": '"x"', "bool": "1", "tuple[str, ...]": '"x"', "Limit": '"x"'}
    return [
        (section, f"{item.name} = {wrong.get(str(item.type), '1')}")
        for section, kind in SECTIONS.items()
        for item in fields(kind)
    ]


@pytest.mark.parametrize(("section", "line"), _wrong_types())
def test_a_value_of_the_wrong_type_is_named(project: Path, section: str, line: str) -> None:
    write(project, f"[{section}]\n{line}\n")
    with pytest.raises(ConfigError, match="expected") as caught:
        load(project)
    assert str(project / "quire.toml") in str(caught.value)
    assert f"[{section}] {line.partition(' ')[0]}" in str(caught.value)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("stor = 'x'", "unknown setting 'stor'; did you mean 'store'?"),
        ("[acess]", "unknown setting 'acess'; did you mean 'access'?"),
        ("[ingest]\nwhol = 1", "[ingest]"),
        ("[ingest]\nzzz = 1", "choose from max_bytes, secrets, allow_secrets, ignore"),
        ("[ingest]\nwhole = true", "a whole number"),
        ("[ingest]\nwhole = 1.0", "a whole number"),
        ("[ingest]\nwhole = -1", "[ingest] whole: must be at least 0, not -1"),
        ("[embed]\ntimeout = -0.5", "[embed] timeout: must be at least 0, not -0.5"),
        ("[ingest]\nignore = [1]", "a list of texts"),
        ("space = ''", "space: expected a text that is not empty, not ''"),
        ("viewer = 3", "viewer: expected a text that is not empty, not 3"),
        ("store = []", "store: expected a text that is not empty, not []"),
        ("ingest = 1", "expected a table"),
        ("access = ['x']", "expected a table"),
        ("groups = 'x'", "expected a table"),
        ("[access]\n'*' = [1]", "a list of names"),
        ("[groups]\nhr = 1", "[groups] hr"),
        ("[ingest", "not valid TOML"),
        ("a = 1\na = 2", "not valid TOML"),
    ],
)
def test_a_mistake_is_named_with_its_file(project: Path, text: str, message: str) -> None:
    write(project, text + "\n")
    with pytest.raises(ConfigError) as caught:
        load(project)
    assert message in str(caught.value)
    assert str(project / "quire.toml") in str(caught.value)


def test_a_mistake_in_the_users_file_is_named_with_that_file(project: Path, tmp_path: Path) -> None:
    user = tmp_path / "mine.toml"
    user.write_text("colour = 1\n")
    with pytest.raises(ConfigError, match=r"mine\.toml"):
        load(project, QUIRE_CONFIG=str(user))


def test_a_file_that_is_not_text_or_cannot_be_read(project: Path) -> None:
    (project / "quire.toml").write_bytes(b"\xff\xfe")
    with pytest.raises(ConfigError, match="not UTF-8 text"):
        load(project)


def test_a_mark_at_the_beginning_of_the_file_does_no_harm(project: Path) -> None:
    (project / "quire.toml").write_bytes(b"\xef\xbb\xbfspace = 'x'\r\n")
    assert load(project).space == "x"


def test_an_error_carries_its_facts(project: Path) -> None:
    write(project, "[ingest]\nwhol = 1\n")
    with pytest.raises(ConfigError) as caught:
        load(project)
    assert (caught.value.value, "whole" in caught.value.allowed) == ("whol", True)
    assert caught.value.place == f"{project / 'quire.toml'}: [ingest]"
    write(project, "[ingest]\nwhole = 'x'\n")
    with pytest.raises(ConfigError) as caught:
        load(project)
    assert caught.value.value == "x"
    assert caught.value.place == f"{project / 'quire.toml'}: [ingest] whole"


def test_a_tilde_is_the_home_of_the_user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home = tmp_path / "home"
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("USERPROFILE", str(home))
    own = tmp_path / "own.toml"
    own.write_text(
        'store = "~/stores/work.db"\n[embed]\nfolder = "~/models/small"\n[audit]\nfile = "~/log"\n'
        '[sources.notes]\ntype = "folder"\nlocation = "~/notes"\n',
        "utf-8",
    )
    settings = load(tmp_path, QUIRE_CONFIG=str(own))
    assert settings.store == home / "stores" / "work.db"
    assert Path(str(settings.embed.folder)) == home / "models" / "small"
    assert Path(settings.audit.file) == home / "log"
    assert Path(settings.sources["notes"].location) == home / "notes"


def test_a_project_that_names_the_home_must_be_trusted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("USERPROFILE", str(tmp_path / "home"))
    project = tmp_path / "project"
    project.mkdir()
    (project / config.FILE).write_text('store = "~/other.db"\n', "utf-8")
    settings = config.load(project)
    assert settings.store == project / ".quire" / "store.db"
    assert any("not trusted" in note for note in settings.notes)
