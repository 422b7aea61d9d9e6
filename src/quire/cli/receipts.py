"""Commands about receipts: verify, replay and compare them, and the key that signs them."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from quire.cli import output
from quire.cli.context_options import read_results
from quire.cli.options import Common, as_json_option, read_file, with_viewer
from quire.cli.output import write_flags
from quire.cli.receipt_files import read_receipt, read_signature
from quire.cli.results import print_check, print_verification
from quire.core.dates import format_moment
from quire.core.serialize import json_text
from quire.errors import InputError, NoStoreError
from quire.system import platform

if TYPE_CHECKING:
    from quire.indexing.keyring import SigningKey

HEX_DIGITS = 64

receipt_argument = click.argument("receipt")


@click.command()
@receipt_argument
@click.option("--context", metavar="FILE", help="Also check this context against the receipt.")
@click.option("--parts", metavar="FILE", help="Its parts (default: RECEIPT.parts).")
@click.option("--signature", metavar="FILE", help="The signature (default: RECEIPT.sig).")
@click.option(
    "--key", metavar="FILE|HEX", help="Public key that must have signed it; needs no store."
)
@click.option("--no-store", is_flag=True, help="Do not compare it with a store.")
@click.option(
    "--results", metavar="FILE", help="Results that the context was assembled from (`--results`)."
)
@with_viewer
def verify(
    options: Common,
    *,
    receipt: str,
    context: str | None,
    parts: str | None,
    signature: str | None,
    key: str | None,
    no_store: bool,
    results: str | None,
) -> None:
    """Verify a RECEIPT, and a context against it.

    Checks its hashes, proofs, sums and signature. If there is a store, renders the page again
    from the texts of its sources and compares every byte. Says what was not checked, and why.
    """
    from quire.indexing.audit import verify_receipt

    data = read_receipt(receipt, parts)
    text = None if context is None else read_file(context)
    envelope = read_signature(receipt, signature)
    public_key = None if key is None else _read_key(key)
    try:
        if results is not None:
            from quire.recipes.assembler import verify_brought

            result = verify_brought(
                data, text, read_results(results), signature=envelope, key=public_key
            )
        elif no_store:
            result = verify_receipt(data, text, signature=envelope, key=public_key)
        else:
            with options.open() as quire:
                result = quire.verify(
                    data, text, options.viewer, signature=envelope, key=public_key
                )
    except NoStoreError:
        if options.store is not None or options.space is not None:
            raise
        result = verify_receipt(data, text, signature=envelope, key=public_key)
    print_verification(result, as_json=options.as_json)
    sys.exit(0 if result.holds else 1)


@click.command()
@receipt_argument
@click.option(
    "--keep-failures", is_flag=True, help="Let sources fail that failed then; do not ask them."
)
@click.option("--ask-models", is_flag=True, help="Ask the judge and the writer again as well.")
@with_viewer
def replay(options: Common, *, receipt: str, keep_failures: bool, ask_models: bool) -> None:
    """Run the request of a RECEIPT again and compare every byte.

    Makes the vectors of its queries again, and asks sources again that failed. The verdicts of a
    judge and the summaries of a writer are taken from the receipt, unless --ask-models is given.
    """
    data = read_receipt(receipt)
    with options.open() as quire:
        context, differences = quire.replay(
            data, options.viewer, keep_failures=keep_failures, ask_models=ask_models
        )
    for note in context.notes:
        output.note(f"note: {write_flags(note.replace('`ask_models`', '--ask-models'))}")
    if not keep_failures and any(text.startswith("failed: ") for text in differences):
        output.note("note: sources that failed were asked again; --keep-failures does not ask them")
    print_check(differences, "the same context, byte for byte", as_json=options.as_json)
    sys.exit(1 if differences else 0)


@click.command()
@click.argument("old")
@click.argument("new")
@as_json_option
def diff(*, old: str, new: str, as_json: bool) -> None:
    """Compare two receipts."""
    from quire.indexing.audit import diff_receipts

    differences = diff_receipts(read_receipt(old), read_receipt(new))
    print_check(differences, "nothing differs", as_json=as_json)
    sys.exit(1 if differences else 0)


# --- keys ---------------------------------------------------------------------------------------


@click.group()
def key() -> None:
    """Show, export or rotate the key that signs your receipts.

    The key is made on first use. It lies in your own configuration folder, never in a project.
    """


@key.command()
@as_json_option
def show(*, as_json: bool) -> None:
    """Show your public key, where it is kept, and the keys before it."""
    from quire.indexing import keyring

    current, earlier = keyring.current_key(), keyring.retired_keys()
    if as_json:
        output.print_json(
            {
                "key": None if current is None else _plain_key(current),
                "retired": [_plain_key(item) for item in earlier],
                "file": None if keyring.key_file() is None else str(keyring.key_file()),
            }
        )
        return
    if current is None:
        output.say("there is no key yet; `quire assemble --receipt FILE` makes one")
    else:
        _say_key(current)
        output.say(f"  {keyring.key_file()}")
    for item in earlier:
        _say_key(item)


@key.command()
@as_json_option
def rotate(*, as_json: bool) -> None:
    """Make a new key; what you signed before still verifies as yours."""
    from quire.indexing import keyring

    made = keyring.rotate()
    if as_json:
        output.print_json({"key": _plain_key(made)})
    else:
        _say_key(made)


@key.command()
@click.argument("file", default="-")
@as_json_option
def export(*, file: str, as_json: bool) -> None:
    """Write your public key to FILE, or print it, for `verify --key`."""
    from quire.indexing import keyring

    made = keyring.ensure_key()
    exported = {"algorithm": "ed25519", **_plain_key(made)}
    if file == "-":
        output.print_json(exported)
        return
    try:
        text = json_text(exported) + "\n"
        platform.replace_file(Path(file), text.encode(), platform.SHARED)
    except (OSError, ValueError) as error:
        raise InputError(f"{file} cannot be written: {error}", field="file", value=file) from error
    if as_json:
        output.print_json(exported)
    else:
        output.say(f"your public key is in {file}")


def _plain_key(item: SigningKey) -> dict[str, Any]:
    from quire.indexing import keyring

    plain = {
        "key": keyring.key_id(item),
        "public_key": item.public.hex(),
        "created": format_moment(item.created),
    }
    return plain if item.retired is None else {**plain, "retired": format_moment(item.retired)}


def _say_key(item: SigningKey) -> None:
    from quire.indexing import keyring

    until = "" if item.retired is None else f", retired {format_moment(item.retired)}"
    output.say(f"{keyring.key_id(item)}  made {format_moment(item.created)}{until}")
    output.say(f"  {item.public.hex()}")


def _read_key(value: str) -> bytes:
    """Read a public key: hexadecimal digits, or a file."""
    from quire.indexing.keyring import parse_public_key

    is_hex = len(value) == HEX_DIGITS and all(digit in "0123456789abcdefABCDEF" for digit in value)
    return parse_public_key(value if is_hex else read_file(value))
