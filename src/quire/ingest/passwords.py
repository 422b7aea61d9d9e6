"""Find passwords by the names that they are given to.

A random value of some length is a secret by itself (`secrets.py`); a password is short, and often
made of words. So it is the name that tells: what is assigned to `password`, `db_passwd`, `pwd`,
`secret`, `token` or `api_key` is a secret, unless it is plainly none: a placeholder, a variable, a
call, a type, another name, a label, a word of prose.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

PASSWORD_WORDS = ("password", "passwd", "passphrase", "pwd")
OTHER_WORDS = ("secret", "token", "api_key", "apikey", "api-key", "secret_key", "secretkey")
"""What is given to these names is often no secret: it must look more like one."""

MIN_LENGTH = 8
MIN_DISTINCT = 6
ASSIGNED = re.compile(
    r"""[0-9]{0,2}(?:(?P<close>["'`]?\]?)[ \t]{0,4}(?::=|=>|=(?!=)|:(?!:))|(?P<tag>>))[ \t]{0,4}"""
    r"""(?:[rbu]?(?P<quote>["'`])(?P<quoted>[^"'`\s\\]{8,128})(?P=quote)(?!\w)"""
    r"""|(?P<bare>[A-Za-z0-9!@#$%^&*?+~._/=-]{8,128})(?=[\s,;})<]|$))"""
)
NO_SECRET_NAME = re.compile(
    r"(?i)(?:page|next|prev|cursor|continu\w{0,9}|csrf|xsrf|pad|bos|eos|unk|sep|cls|mask|stop|start|end"
    r"|begin|special|cancel\w{0,9}|sync|image|video|text|input|output|max|min|per|num|last|first"
    r"|current|peek|reserved|public[_-]?key|client|request|idempotency|action)[_-]?\Z"
)
"""Tokens that give nobody access: those of pages, of parsers, of models."""
TEMPLATE = re.compile(
    r"\A[<\[{%$@&*!|#/.~-]|\$\{|\$\(|\{\w*\}|%[sdr(]|:/|/.*/|[<>]|\A(?:env|vault|ssm|file|op|arn|ref)[:.]"
    r"|\*{3}|\.\.\.|\Ahttps?\b|\(\)|%[0-9A-F]{2}|\A[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}\Z"
)
"""A variable, a template, a path, an address, a mark, a UUID."""
PLACEHOLDER = re.compile(
    r"(?i)example|sample|dummy|fake|test|placeholder|your|change|redacted|x{3}|0{4}|1{4}|1234|4321"
    r"|abc|a1b2|qwer|asdf|p[a@4]ssw|passwd|passphrase|\bpwd|secret|s3cr|token|credential|letmein|admin"
    r"|foo|bar(?![a-z])|demo|insert|replace|todo|none|null|undefined|default|hunter2|horse|welcome"
    r"|user|login|enter|invalid|wrong|incorrect|mismatch|required|optional|expired|missing|valid"
    r"|mysql|postgres|redis|rabbit|django|flask|root|guest|hello|world|string|some|random|value"
    r"|correct|battery|staple|mock|stub|fixture|fill|here|alice|bob(?![a-z])|apikey|api[_-]key"
)
"""Parts of what stands in for a secret in manuals, tests and templates."""
TECHNICAL = re.compile(
    r"(?i)sha-?[0-9]{1,3}|md[45]|utf-?(?:8|16|32)|base(?:16|32|58|62|64|85)|u?int(?:8|16|32|64)"
    r"|float(?:16|32|64)|(?:var)?char[0-9]*|oauth-?[12]?|http[23]?|aes-?[0-9]{0,3}|x509|[pk](?:256|384|521)(?:k1|r1)?"
    r"|ed25519|curve25519|argon2(?:id?|d)?|pbkdf2|bcrypt|scrypt|pkcs[0-9]{0,2}|hs(?:256|384|512)"
    r"|rs(?:256|384|512)|es(?:256|384|512)|latin-?1|ascii|iso8859|win32|python[23]?|[0-9]{1,3}bit"
    r"|v[0-9]{1,3}\b|i18n|l10n|[0-9]{1,9}(?:px|em|rem|ms|vh|vw|kb|mb|gb|pt)"
)
SEPARATED = re.compile(r"[A-Za-z0-9]+(?:[-_.:/][A-Za-z0-9]+)+=?")
"""Words that are joined to a name."""
IDENTIFIER_CHANGE = re.compile("(?<=[a-z])[^a-z]|(?<=[A-Z])[^A-Z]|(?<=[0-9])[^0-9]")
SPECIAL = re.compile(r"[!@#$%^&*?+~]")
MIN_LETTERS = 12
"""So many letters without a digit may be a password, if small ones and capitals change often."""
CONFIGURED = re.compile(r"(?m)^[ \t]{0,40}(?:-[ \t]+)?[\w.-]{1,60}\Z")
"""What stands before the sign of a line such as `db.password: ...`."""
DIGITS_AT_END = re.compile(r"[A-Za-z]{3,}[0-9]{2,8}[!?.*#$%&+]{0,3}")
SETTING = re.compile(
    r"(?m)^[ \t]{0,16}(?:export[ \t]+|set[ \t]+|ENV[ \t]+|-[ \t]+)?[A-Z][A-Z0-9_]*\Z"
)
"""What stands before the sign of a line such as `DB_PASSWORD=...`."""
_ASCII_LOWER = {code: code + 32 for code in range(65, 91)}


def find_passwords(text: str) -> Iterator[tuple[int, int]]:
    """Yield the ranges of the values of names that say they are secret."""
    lower = text.lower()
    if len(lower) != len(text):  # a letter whose small form is longer
        lower = text.translate(_ASCII_LOWER)
    for words, is_strict in ((PASSWORD_WORDS, False), (OTHER_WORDS, True)):
        for word in words:
            at = lower.find(word)
            while at >= 0:
                end = at + len(word)
                span = _find_value(text, at, end, is_strict=is_strict)
                if span is not None:
                    yield span
                at = lower.find(word, end)


def _find_value(text: str, start: int, end: int, *, is_strict: bool) -> tuple[int, int] | None:
    match = ASSIGNED.match(text, end)
    if match is None or (is_strict and NO_SECRET_NAME.search(text[max(0, start - 16) : start])):
        return None
    group = "bare" if match["quoted"] is None else "quoted"
    value = match[group]
    if match["tag"] and group == "quoted":
        return None
    if not _is_possible(value):
        return None
    if _is_jumbled(value):
        is_secret = True
    elif is_strict:
        is_secret = _has_all_kinds(value) and not SEPARATED.fullmatch(value) and group == "quoted"
    elif group == "quoted":
        is_secret = not SEPARATED.fullmatch(value)
    else:
        is_secret = _is_bare_password(text, match, value)
    return match.span(group) if is_secret else None


def _is_possible(value: str) -> bool:
    """Tell whether a value may be a password: nothing that stands for one, and no word alone."""
    if TEMPLATE.search(value) or PLACEHOLDER.search(value) or len(set(value)) < MIN_DISTINCT:
        return False
    rest = TECHNICAL.sub("", value)
    has_digit, has_letter = any(map(str.isdigit, rest)), any(map(str.isalpha, rest))
    special = SPECIAL.search(rest[1:-1]) is not None and _has_both_cases(rest)
    jumbled = len(rest) >= MIN_LETTERS and _has_both_cases(rest) and _is_jumbled(rest)
    return has_letter and (has_digit or special or jumbled)


def _is_bare_password(text: str, match: re.Match[str], value: str) -> bool:
    """Tell whether a value without quotes is a password, not a name of a program or a type."""
    if SEPARATED.fullmatch(value) or "=" in value:
        return False
    if SPECIAL.search(value) and any(map(str.isdigit, value)):
        return True
    line = text.rfind("\n", 0, match.start()) + 1
    if (
        SETTING.match(text, line, match.start())
        and "=" in text[match.start() : match.start("bare")]
    ):
        return True
    is_rest = not text[match.end() : match.end() + 1].strip()
    if is_rest and CONFIGURED.match(text, line, match.start()) and SPECIAL.search(value[1:-1]):
        return _has_both_cases(value)
    return is_rest and match["close"] == "" and DIGITS_AT_END.fullmatch(value) is not None


def _is_jumbled(value: str) -> bool:
    """Tell whether small letters, capitals and digits change as often as they do by chance."""
    return 2 * len(IDENTIFIER_CHANGE.findall(value)) >= len(value)


def _has_both_cases(value: str) -> bool:
    return any(map(str.isupper, value)) and any(map(str.islower, value))


def _has_all_kinds(value: str) -> bool:
    return any(map(str.isdigit, value)) and _has_both_cases(value)
