"""Detect secrets in file names and texts.

By name: files that usually hold keys or passwords. By content: private keys, tokens whose format
shows who issued them, and long random values assigned to a name such as `api_key`. Text that
merely mentions a secret (a pattern, a placeholder, an example in a manual) is not reported. What
is said of a secret names its line and its kind, never the secret itself. `redact.py` takes secrets
out of texts.
"""

from __future__ import annotations

import re
from base64 import b64decode
from collections.abc import Iterable, Iterator
from fnmatch import fnmatchcase
from typing import NamedTuple
from urllib.parse import unquote

from quire.ingest.passwords import find_passwords
from quire.ingest.token_formats import SERVICES, TOKENS

HOW_TO_INCLUDE = "`[ingest] secrets = true` includes it"

SECRET_NAMES = (
    ".env",
    ".env.*",
    "*.pem",
    "*.key",
    "*.p12",
    "*.pfx",
    "*.kdbx",
    "*.jks",
    "*.keystore",
    "*.ppk",
    "id_rsa",
    "id_dsa",
    "id_ecdsa",
    "id_ed25519",
    ".netrc",
    "_netrc",
    ".npmrc",
    ".pypirc",
    ".pgpass",
    ".my.cnf",
    ".htpasswd",
    ".git-credentials",
    ".dockercfg",
    ".dockerconfigjson",
    "credentials",
    "credentials.json",
    "credentials.csv",
    "credentials.xml",
    "credentials.y*ml",
    "client_secret*.json",
    "secrets.json",
    "secrets.toml",
    "secrets.y*ml",
)
EXAMPLE_NAMES = (".env.*example*", ".env.*sample*", ".env.*template*", ".env.dist", ".env.tpl")

# A token is part of a run of characters at least this long; few texts have many.
LONG_RUN = re.compile(r"[A-Za-z0-9_+/=.~:@%|$?&;-]{16,}+")
SIGN_OF_TOKEN = re.compile(
    "[0-9]|hf_|api_org_|A(?:KIA|SIA|BIA|CCA)|gl[a-z]{1,5}-|LTAI|dckr_|ico-|_(?:live|secret)_"
)
"""Tokens have digits; only those of Hugging Face and short ones may have none."""

# The body is required: a manual that shows only the first line holds no key. A header is read in
# one way, up to the end of its line or the backslash of an escaped one; only the last one before
# the key may share its line with it.
KEY_HEADER = r"(?:Proc-Type|DEK-Info|Version|Comment):"
PRIVATE_KEY = re.compile(
    r"-----BEGIN (?:[A-Z0-9]{1,20} ){0,3}PRIVATE KEY(?: BLOCK)?-----"
    rf"(?:(?:\s|\\[nr]|[\"'+,>#*]|{KEY_HEADER}[^\n\\]{{0,200}}+){{1,200}}|(?={KEY_HEADER}))"
    rf"(?:{KEY_HEADER}[^\n]{{0,200}}?)?[A-Za-z0-9+/=]{{64}}"
)

PUTTY_KEY = re.compile(r"Private-Lines: (?P<lines>[0-9]{1,3})\s{1,2}+[A-Za-z0-9+/]{40}")
KEY_END = re.compile(r"-----END (?:[A-Z0-9]{1,20} ){0,3}PRIVATE KEY(?: BLOCK)?-----")
# What stands between the first and the last line, and what is surely of a key if none comes.
KEY_BODY = re.compile(r"""(?:[A-Za-z0-9+/=:]|\s|\\[nr]|["'+,>#*()])*+""")
KEY_LINES = re.compile(r"""(?:[A-Za-z0-9+/=]{20,}+|\s{1,40}+(?=[A-Za-z0-9+/=]{20})|\\[nr])*+""")

# The value is matched first, then the name before it: long values are rarer than names.
ASSIGNMENT = re.compile(
    r"""[=:>]\s{0,4}(?P<quote>["']?)(?P<value>[A-Za-z0-9_][A-Za-z0-9+/_.~-]{13,}+={0,2})(?P=quote)"""
    r"""(?=[\s,;)}\]"'<]|$)"""
)
SECRET_NAME = re.compile(
    r"""(?ix) (?: secret [_-]? key [_-]? base
        | (?: api | access | auth | secret | client | private | signing | encryption | app
        | account | consumer | bot | refresh | bearer | webhook | admin | master | deploy | session
        | personal | license | shared ) [._-]? (?: key | token | secret )
        | (?<![a-z]) (?: passw(?:or)?d | pwd | secret ) ) ["']? \s{0,4} [:=]? \Z"""
)
SERVICE_NAME = re.compile(
    rf"""(?ix) (?<![a-z]) (?: {SERVICES} ) [a-z0-9_.-]{{0,24}}
        (?: key | token | secret | password | pat | auth ) ["']? \s{{0,4}} [:=]? \Z"""
)
SIGN_OF_VALUE = re.compile("[0-9]|[a-z][A-Z]")
MAX_NAME_LENGTH = 48
LONG_VALUE = 32
"""A shorter value must have digits, capital and small letters, unless a service is named."""

# Credentials in an address, in the file of logins of ftp and curl, in a header, in a setting.
LOGIN = re.compile(r"""://(?P<user>[^\s:/@"'<>{}$]{0,60}):(?P<secret>[^\s/@"'<>{}$(\[]{8,200})@""")
IN_ADDRESS = re.compile(
    rf"""(?<![A-Za-z0-9+.-])[a-z][a-z0-9+]{{1,20}}{LOGIN.pattern}(?P<host>[^\s/:"'<>]{{1,100}})"""
)
IN_PATH = re.compile(
    r"""(?<![A-Za-z0-9+.-])[A-Za-z][A-Za-z0-9+]{1,20}:/{1,3}(?P<user>[^\s:/@]{0,60}):"""
    r"""(?P<secret>[^\s/@]{8,200})@(?P<host>[^\s/:]{1,100})"""
)
"""An address as (part of) a path: slashes in a row may have become one."""
IN_LOGINS = re.compile(
    r"(?m)^\s{0,8}machine\s{1,4}(?P<host>\S{1,100})\s{1,8}login\s{1,4}\S{1,100}\s{1,8}"
    r"password\s{1,4}(?P<secret>\S{8,200})"
)
IN_HEADER = re.compile(
    r"""(?i)authorization["']?\s{0,4}[:=,]\s{0,4}["'`]?(?:bearer|basic|token|ssws)\s{1,4}"""
    r"""(?P<secret>[A-Za-z0-9][A-Za-z0-9+/_.~-]{19,1000}={0,2})"""
)
# Each begins with a character that is searched for fast, which an alternative would prevent.
IN_SETTING = re.compile(r"""(?i);\s{0,4}(?:password|pwd)\s?=\s?(?P<secret>[^;"'\s<>{}$]{8,100});""")
IN_JSON = re.compile(r"""(?i)"auth"\s{0,4}:\s{0,4}"(?P<secret>[A-Za-z0-9+/]{20,500}={0,2})\"""")
IN_COMMAND = re.compile(
    r"""\b(?:curl|wget)\b[^\n]{0,200}?[ \t](?:-u|--user)[ =]{1,2}["']?"""
    r"""[^\s:"'<>{}$@]{1,60}:(?P<secret>[^\s"'<>{}$@]{8,200})"""
)
IN_LOGIN_COMMAND = re.compile(
    r"""\b(?:(?:mysql|mysqldump|mysqladmin|mariadb|sshpass)\b[^\n|;]{0,200}?[ \t]-p[ ]?"""
    r"""|\b(?:docker|podman|nerdctl|helm|oras|crane|oc|az|cf|vault)\b[^\n|;]{0,40}?\blogin\b"""
    r"""[^\n|;]{0,200}?[ \t](?:-p|--password)[ =]{1,2})["']?"""
    r"""(?P<secret>[^\s"'<>{}$|;-][^\s"'<>{}$|;]{7,200})"""
)
IN_PAIR = re.compile(
    r"""(?i)\b(?:key|name)["']?\s{0,4}[:=]\s{0,4}["']?(?P<name>[\w.:-]{0,60}"""
    r"""(?:password|passwd|secret|token|api[_-]?key|access[_-]?key)[\w.-]{0,20})["']?[\s,]{1,40}"""
    r"""["']?value["']?\s{0,4}[:=]\s{0,4}["']?(?P<secret>[^\s"'<>{}$,]{8,200})"""
)
"""A setting whose name and value are two attributes or two lines, as in XML and in Kubernetes."""
PAIR_VALUE = re.compile(r"""value["']?\s{0,4}[:=]""")
"""Stands in small letters in each text with a pair, and is found much faster than one."""
NO_SECRET_IN_PAIR = re.compile(r"(?i)[cx]srf|page|public")
EXAMPLE_HOST = re.compile(
    r"(?i)(?:.*[.])?example(?:[.][a-z]+)?|localhost|127[.].*|.*[.](?:test|invalid)"
)

PLACEHOLDER = re.compile(
    r"(?i)example|sample|dummy|fake|test|placeholder|your|changeme|redacted|x{4}|0{6}|\.{3}"
    r"|12345|abcdef|password|(.)\1{5}"
)
IDENTIFIER = re.compile(
    r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}"  # a UUID
    r"|(?!eyJ)[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+"  # a dotted name
)
UUID = re.compile(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
CHANGE = re.compile("(?<=[a-z])[^a-z]|(?<=[A-Z])[^A-Z]|(?<=[0-9])[^0-9]")
MIN_JUMBLED = 16
MIN_PASSWORD = 8
MIN_DISTINCT_IN_PASSWORD = 6
MAX_DISTINCT = 10
"""A random value of 22 characters or more has more distinct ones than this; one of 16 over 7."""


class Secret(NamedTuple):
    """A secret in a text: its half-open range of characters, and what it looks like."""

    start: int
    end: int
    kind: str


def check_name(name: str) -> str | None:
    """Return why a file name suggests a secret, or None."""
    lower = name.lower()
    if any(fnmatchcase(lower, pattern) for pattern in EXAMPLE_NAMES):
        return None
    if any(fnmatchcase(lower, pattern) for pattern in SECRET_NAMES):
        return f"named like a file of secrets; {HOW_TO_INCLUDE}"
    return None


def find_secret(text: str) -> str | None:
    """Return the line and the kind of the first secret in a text, or None."""
    first = next(iter(find_secrets(text)), None)
    if first is None:
        return None
    return f"line {text.count(chr(10), 0, first.start) + 1} looks like {first.kind}"


def find_secrets(text: str) -> list[Secret]:
    """Return the secrets in a text, in order; where two overlap, the one that begins first."""
    return _without_overlaps(
        secret
        for find in (
            _find_keys,
            _find_tokens,
            _find_credentials,
            _find_assignments,
            _find_passwords,
        )
        for secret in find(text)
    )


def find_tokens(text: str) -> list[Secret]:
    """Return the secrets whose own format says who issued them, and no others."""
    return _without_overlaps(_find_tokens(text))


def find_addresses(path: str) -> list[Secret]:
    """Return the passwords of addresses in a path."""
    return _without_overlaps(_find_in("a password in an address", IN_PATH, path))


def _without_overlaps(found: Iterable[Secret]) -> list[Secret]:
    secrets: list[Secret] = []
    end = 0
    for secret in sorted(set(found), key=_by_place):
        if secret.start >= end:
            secrets.append(secret)
            end = secret.end
    return secrets


def _by_place(secret: Secret) -> tuple[int, int, str]:
    """Order secrets by their beginning, the longest first."""
    return secret.start, -secret.end, secret.kind


def _find_keys(text: str) -> Iterator[Secret]:
    if "PRIVATE KEY" in text:
        end = 0
        for match in PRIVATE_KEY.finditer(text):
            if match.start() >= end:
                end = _end_of_key(text, match)
                yield Secret(match.start(), end, "a private key")
    if "PuTTY-User-Key-File-" in text:
        for match in PUTTY_KEY.finditer(text):
            end = match.end()
            # The lines of the key, and the code that proves them, which is made with it.
            for _ in range(int(match["lines"]) + 1):
                end = text.find("\n", end) + 1 or len(text)
            yield Secret(match.start(), end - text.endswith("\n", 0, end), "a private key")


def _end_of_key(text: str, start: re.Match[str]) -> int:
    """Return where a private key ends: after its last line, or with what looks like one."""
    body = _end(KEY_BODY, text, start.end())
    last = KEY_END.match(text, body)
    return last.end() if last else _end(KEY_LINES, text, start.end())


def _end(pattern: re.Pattern[str], text: str, start: int) -> int:
    """Return the end of a match at a place; the place itself if nothing matches."""
    match = pattern.match(text, start)
    return match.end() if match else start


def _find_tokens(text: str) -> Iterator[Secret]:
    runs = "\n".join(filter(SIGN_OF_TOKEN.search, LONG_RUN.findall(text)))
    for kind, substring, pattern in TOKENS:
        # Few texts have more than some lines of such runs, so these are searched before the text.
        if substring in runs and (_leaves_runs(pattern) or re.search(pattern, runs)):
            for match in re.finditer(pattern, text):
                part = match[1] if match.re.groups else match.group().removeprefix(substring)
                if _looks_random(part) and (len(substring) > 2 or _is_mixed(part)):
                    yield Secret(match.start(), match.end(), kind)


def _leaves_runs(pattern: str) -> bool:
    """Tell whether what a pattern matches may hold blanks or letters that are in no run."""
    return r"\s" in pattern or r"\w" in pattern


def _find_credentials(text: str) -> Iterator[Secret]:
    """Find what is a secret by where it stands: in an address, a header, a list of logins."""
    places = (
        ("://", IN_ADDRESS, "a password in an address"),
        ("machine", IN_LOGINS, "a password of a login"),
        ("uthorization", IN_HEADER, "a token in a header"),
        ("UTHORIZATION", IN_HEADER, "a token in a header"),
        (";", IN_SETTING, "a password in a setting"),
        *((f'"{name}"', IN_JSON, "a password in a setting") for name in ("auth", "Auth", "AUTH")),
        ("curl", IN_COMMAND, "a password in a command"),
        ("wget", IN_COMMAND, "a password in a command"),
        ("mysql", IN_LOGIN_COMMAND, "a password in a command"),
        ("mariadb", IN_LOGIN_COMMAND, "a password in a command"),
        ("sshpass", IN_LOGIN_COMMAND, "a password in a command"),
        (" login ", IN_LOGIN_COMMAND, "a password in a command"),
    )
    for substring, pattern, kind in places:
        # Of addresses, few have a password; where it begins is found fast, where they begin is not.
        if substring in text and (pattern is not IN_ADDRESS or LOGIN.search(text)):
            yield from _find_in(kind, pattern, text)
    if "value" in text and PAIR_VALUE.search(text.lower()):
        for match in IN_PAIR.finditer(text):
            value = match["secret"]
            is_long = len(value) >= LONG_VALUE and _is_random_and_mixed(value)
            is_named = "passw" in match["name"].lower() or is_long or _has_all_kinds(value)
            if is_named and _is_password(value) and not NO_SECRET_IN_PAIR.search(match["name"]):
                yield Secret(*match.span("secret"), "a secret given to a name")


def _find_in(kind: str, pattern: re.Pattern[str], text: str) -> Iterator[Secret]:
    for match in pattern.finditer(text):
        groups = match.groupdict()
        if EXAMPLE_HOST.fullmatch(groups.get("host") or ""):
            continue
        if _is_password(_decode(match["secret"])):
            yield Secret(match.start("secret"), match.end("secret"), kind)


def _decode(value: str) -> str:
    """Return the password in what an address escapes, or a header or setting encodes."""
    if "%" in value:
        return unquote(value)
    try:
        decoded = b64decode(value, validate=True).decode()
    except ValueError:
        return value
    return decoded.partition(":")[2] or value


def _is_password(value: str) -> bool:
    """Return whether a value may be a real password: not a word, a name or a placeholder."""
    return (
        len(value) >= MIN_PASSWORD
        and (_has_digits_and_letters(value) or _is_jumbled(value))
        and len(set(value)) >= MIN_DISTINCT_IN_PASSWORD
        and not PLACEHOLDER.search(value)
        and not IDENTIFIER.fullmatch(value)
    )


def _has_digits_and_letters(value: str) -> bool:
    return any(map(str.isdigit, value)) and any(map(str.isalpha, value))


def _is_jumbled(value: str) -> bool:
    """Return whether small letters, capitals and digits change as often as they do by chance."""
    return len(value) >= MIN_JUMBLED and 2 * len(CHANGE.findall(value)) >= len(value)


def _find_assignments(text: str) -> Iterator[Secret]:
    for match in ASSIGNMENT.finditer(text):
        value = match["value"]
        if not SIGN_OF_VALUE.search(value):
            continue
        name = text[max(0, match.start() - MAX_NAME_LENGTH) : match.start()]
        if SERVICE_NAME.search(name):
            fits = _looks_random(value) and (
                _has_mixed_characters(value) or UUID.fullmatch(value) is not None
            )
        elif len(value) >= LONG_VALUE:
            fits = SECRET_NAME.search(name) is not None and _is_random_and_mixed(value)
        else:
            fits = _has_all_kinds(value) or _is_jumbled(value)
            fits = fits and SECRET_NAME.search(name) is not None and _is_random_and_mixed(value)
        if fits:
            yield Secret(match.start("value"), match.end("value"), "a secret given to a name")


def _find_passwords(text: str) -> Iterator[Secret]:
    for start, end in find_passwords(text):
        yield Secret(start, end, "a secret given to a name")


def _has_all_kinds(value: str) -> bool:
    return (
        any(map(str.isdigit, value))
        and any(map(str.isupper, value))
        and any(map(str.islower, value))
    )


def _is_mixed(value: str) -> bool:
    return _is_jumbled(value) or _has_mixed_characters(value)


def _is_random_and_mixed(value: str) -> bool:
    return _looks_random(value) and _has_mixed_characters(value)


def _looks_random(value: str) -> bool:
    few = min(MAX_DISTINCT, len(value) // 2 - 1)
    return len(set(value)) > few and not PLACEHOLDER.search(value)


def _has_mixed_characters(value: str) -> bool:
    """Return whether a value is not a word, a path, a dotted name or another identifier."""
    if IDENTIFIER.fullmatch(value):
        return False
    digits = sum(map(str.isdigit, value))
    many = digits >= len(value) // 10 and any(map(str.isalpha, value))
    return many or _is_jumbled(value)
