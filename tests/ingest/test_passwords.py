"""Passwords are known by the names that they are given to; what only handles them is left alone.

The values are put together at run time, so that no tool takes this file for a leak.
"""

from __future__ import annotations

import pytest

from quire.core.types import IngestSettings
from quire.ingest.redact import redact
from quire.ingest.secrets import find_secret, find_secrets

JUMBLED = "Kq8v" + "HjHkm1x7"
SEASON = "Sommer" + "2024!"
JWT = (
    "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9."
    "eyJzdWIiOiIxMjM0NTY3ODkwIiwibmFtZSI6IkpvaG4gRG9lIiwiaWF0IjoxNTE2MjM5MDIyfQ."
    "SflKxwRJSMeKKF2QT4fwpMeJf36POk6yJV_adQssw5c"
)
"""The token that jwt.io shows."""
TELEGRAM = "110201543:" + "AAHdqTcvCH1vGWJxfSeofSAs0K5PALDs" + "aw"

PASSWORDS = [
    f"password: {JUMBLED}",
    f"password: {JUMBLED}\nuser: ann",
    f'db_password: "{JUMBLED}"',
    f"db_password: '{JUMBLED}'  # of the replica",
    f"PASSWORD={JUMBLED}",
    f"export DB_PASSWORD={JUMBLED}",
    f"      - MYSQL_ROOT_PASSWORD={JUMBLED}",
    "PASSWORD=" + "tigger" + "99lake",
    f'password = "{SEASON}"',
    f"password = '{SEASON}'",
    f"The login is ann, password = {SEASON}",
    f"`password: {SEASON}`".strip("`"),
    f'"password": "{SEASON}"',
    f"'passwd' => '{SEASON}',",
    f'pwd := "{SEASON}"',
    f'connect(host="db", password="{SEASON}")',
    f'config["password"] = "{SEASON}"',
    f"<password>{SEASON}</password>",
    f'const dbPassword = "{SEASON}";',
    f"spring.datasource.password={SEASON}",
    f'passphrase: "{"Winter" + "&Fog77"}"',
    "password: " + "Herbst" + "2023",
    "user=shop password=" + "Gauss" + "@123x host=db",
    f'api_key = "{JUMBLED}"',
    f'token: "{JUMBLED}"',
    f'secret="{JUMBLED}"',
    f'APP_SECRET: "{JUMBLED}"',
]

HARMLESS = [
    'password = "changeme"',
    'password = "change-me-1"',
    'password: "<password>"',
    "password: <your-password-1>",
    "password: ${DB_PASSWORD_1}",
    'password: "${DB_PASSWORD_1}"',
    "password: $DB_PASSWORD1",
    "password: {{ vault_password_1 }}",
    'password = "{password1}"',
    'password = "%(password1)s"',
    "password = os.environ['DB_PASSWORD1']",
    'password = os.environ["DB_PASSWORD1"]',
    "password = getpass.getpass()",
    "password = getpass1()",
    "password = generate_password(16)",
    "password = request.form2.password",
    "password = self.password1",
    "password = None",
    "password: None",
    "password: str",
    "password: SecretStr",
    "password: Optional[str] = None",
    "password: Annotated[str, Form()]",
    "password: string;",
    "password: Base64String",
    "password: varchar255",
    "token: OAuth2Token",
    "token: Sha256Digest",
    "secret: Uint8Array",
    "pwd = os.getcwd()",
    "pwd = Path.cwd()",
    'password = "password"',
    'password = "password1"',
    'password = "hunter2hunter2"',
    'password = "test1234"',
    'password="correct horse battery staple"',
    'client.login(username="ann", password="secret123")',
    'password = "abc12345"',
    'password = "qwertz12"',
    'password = "00000000a1"',
    'password = "xxxxxxxx1"',
    'password = "********"',
    'password = "................"',
    'password = ""',
    "password =",
    "Password: at least 8 characters, 1 digit",
    "password: required",
    "Password: Minimum8Chars, please",
    "The password: it must be 12characters long",
    '"password": "Password:"',
    '"password": "Passwort"',
    '"password": "Kennwort eingeben"',
    '"password": "Mot de passe"',
    '"password": "Contraseña"',
    'msgid "Password:"\nmsgstr "Passwort:"',
    '"password": "required"',
    '"password": {"type": "string", "minLength": 8}',
    '"password": ["required", "min8chars"]',
    '<input type="password" name="password1">',
    '<label for="password">Passwort</label>',
    'if password == "Summer2024x":',
    "password != old_password2",
    "password1 = password2",
    "password_hash = hash2password3(salt)",
    'PASSWORD_HASHER = "argon2id-v19"',
    'password = "pbkdf2_sha256"',
    'token = "bearer"',
    'token_type: "bearer-v2"',
    "token = tokens[12]",
    'pad_token = "<|pad_12|>"',
    'eos_token: "EndOf2Turn9"',
    'next_page_token: "CAUQ9aB3x7Zk"',
    'csrf_token = "Ab3dEf5gHi7"',
    'publicKeyToken="1fc8b3b9a1e18e3b"',
    'X-Auth-Token: "932c5c84-02ac-4fe5-a9ba-620af0e2bb96"',
    'secret: "my-db-creds-v2"',
    'secretName: "tls-cert-2024"',
    "secret: projects/12345/secrets/db",
    'password: "file:/run/creds/db1"',
    'password: "/run/creds/db-1.txt"',
    'password: "https://vault.lan/v1/db"',
    'api_key = "API-KEY-HERE-1"',
    'apikey: "your-api-key1"',
    "tokens: 12345678",
    "max_tokens=128000",
    "token: 0.85seconds",
    "password:\n  description: a8hjsjnbs91",
    "len(password) >= 8",
    'def login(user: str, password: str = "") -> None:',
    'password = "\\x00\\x01\\x02a1b2"',
    'password = r"[A-Za-z0-9]{8,32}"',
    'PASSWORD_RE = re.compile(r"password: (\\w{8,32})")',
]  # fmt: skip


@pytest.mark.parametrize("text", PASSWORDS)
def test_a_password_is_found_by_its_name(text: str) -> None:
    assert find_secret(f"first\n{text}\n") == "line 2 looks like a secret given to a name"


@pytest.mark.parametrize("text", HARMLESS)
def test_what_is_plainly_no_password_is_left_alone(text: str) -> None:
    assert find_secrets(f"first\n{text}\n") == []


def test_only_the_value_is_taken_out() -> None:
    text = f'db:\n  user: ann\n  password: {JUMBLED}  # rotate\n  url: "x"\n'
    redacted = redact("db.yaml", text, IngestSettings())
    assert JUMBLED not in redacted.text
    assert "user: ann" in redacted.text
    assert "# rotate" in redacted.text
    assert [each.line for each in redacted.found] == [3]


@pytest.mark.parametrize(
    ("text", "kind"), [(JWT, "a web token (JWT)"), (TELEGRAM, "a Telegram token")]
)
def test_a_well_known_token_is_one_too(text: str, kind: str) -> None:
    assert find_secret(f"curl -H 'X: {text}'") == f"line 1 looks like {kind}"


def test_a_letter_whose_small_form_is_longer_moves_nothing() -> None:
    text = f'"İİİ": 1\npassword = "{SEASON}"'
    [secret] = find_secrets(text)
    assert text[secret.start : secret.end] == SEASON


LETTERS = "yAVHnyrv" + "WdFr"
SPECIAL = "GncfBA" + "epfJBd!x"
HEX = "9106fd287db7f1adbc60926f6967e789" + "3f57fd14c1604d115cea325a65e19cba"
LONG = "K9xiRGHOY32nfr5p" + "yzPCB9t2039bicBT"


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        (f"curl -u ann:{JUMBLED} https://shop.lan/v1", JUMBLED),
        (f"curl -s --user 'ann:{JUMBLED}' https://shop.lan/v1", JUMBLED),
        (f"mysql -u root -p{JUMBLED} shop", JUMBLED),
        (f"sshpass -p {JUMBLED} ssh ann@shop.lan", JUMBLED),
        (f"docker login -u ann -p {JUMBLED} registry.lan", JUMBLED),
        (f"heroku config:set SECRET_KEY_BASE={HEX}", HEX),
        (f"db:\n  password: {SPECIAL}\n", SPECIAL),
        (f'"Server=db;User Id=sa;Password={LETTERS};"', LETTERS),
        (f'password = "{LETTERS}"', LETTERS),
        (f"encryption.key={LONG}", LONG),
        (f'<add key="ApiKey" value="{LONG}" />', LONG),
        (f'<property name="db.password" value="{JUMBLED}"/>', JUMBLED),
        (f"env:\n  - name: DB_PASSWORD\n    value: {JUMBLED}\n", JUMBLED),
        (f'{{"name": "API_TOKEN", "value": "{LONG}"}}', LONG),
    ],
)
def test_a_secret_is_found_in_a_command_and_in_two_attributes(text: str, secret: str) -> None:
    (found,) = find_secrets(f"first\n{text}\n")
    assert f"first\n{text}\n"[found.start : found.end] == secret


@pytest.mark.parametrize(
    "text",
    [
        "curl -u ann:$PASSWORD https://shop.lan",
        "curl -u user:password https://shop.lan",
        "mysql -u root -p shop",
        "mysql -u root -p${MYSQL_PASSWORD1} shop",
        "mkdir -p build/x86_64-linux-gnu2",
        "login with -p production1",
        "docker login --password-stdin registry2.lan",
        '<input name="csrfmiddlewaretoken" value="K9xiRGHOY32nfr5pyzPCB9t2039bicBT">',
        '<add key="Theme" value="dark-blue-modern-theme2" />',
        "- name: DB_PASSWORD\n  valueFrom:\n    secretKeyRef:\n      name: db2\n",
        '{"name": "token_type", "value": "bearer-v2"}',
        'password = "getUserNameOfAccount"',
        "password: HashedPasswordOrNone",
        "Password: Hello!World and more",
        'token = "aVeryLongIdentifierName"',
        "sort.key=customerNameAndAddress",
    ],
)
def test_commands_and_attributes_without_a_secret_are_left_alone(text: str) -> None:
    assert find_secrets(f"first\n{text}\n") == []
