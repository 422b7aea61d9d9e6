"""Complete the bill of materials: version of Quire, hash of each installed file, missing licences.

`make sbom` runs it on what cyclonedx-py wrote, with the reports of pip about what it installed.
"""  # noqa: INP001 - a script beside the documents

from __future__ import annotations

import argparse
import json
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
VERSION = HERE.parent / "src" / "quire" / "_version.py"
LICENSES = HERE / "licenses.md"


def own_version() -> str:
    """Return the version of this checkout."""
    match = re.search(r'__version__ = "([^"]+)"', VERSION.read_text("utf-8"))
    assert match is not None
    return match[1]


def read_licenses() -> dict[str, str]:
    """Return the licence of each package, as `licenses.md` has it."""
    rows = re.findall(
        r"^\| ([a-z0-9.-]+) \| [^|]+ \| ([^|]+) \|$", LICENSES.read_text("utf-8"), re.MULTILINE
    )
    return {name: expression.strip("` ") for name, expression in rows}


def read_hashes(reports: Iterable[Mapping[str, Any]]) -> dict[str, str]:
    """Return the SHA-256 of the file that each package was installed from, by name."""
    return {
        name_of(each["metadata"]["name"]): each["download_info"]["archive_info"]["hashes"]["sha256"]
        for report in reports
        for each in report["install"]
    }


def name_of(written: str) -> str:
    """Return the normalized name of a package."""
    return re.sub(r"[-_.]+", "-", written).lower()


def complete(bill: dict[str, Any], hashes: Mapping[str, str], version: str) -> dict[str, Any]:
    """Return a bill in which every component has a version, a hash and a licence.

    Raises:
        SystemExit: A component still lacks one.
    """
    main = bill["metadata"]["component"]
    main = {**main, "version": version, "purl": f"pkg:pypi/{main['name']}@{version}"}
    licenses = read_licenses()
    components = []
    for component in bill["components"]:
        name = name_of(component["name"])
        found = dict(component)
        if name in hashes:
            found["hashes"] = [{"alg": "SHA-256", "content": hashes[name]}]
        if not found.get("licenses") and name in licenses:
            found["licenses"] = [{"expression": licenses[name]}]
        links = [each for each in found.get("externalReferences", []) if "file:" not in each["url"]]
        found["externalReferences"] = links  # no path of the machine that built it
        for field in ("version", "hashes", "licenses"):
            if not found.get(field):
                raise SystemExit(f"{name} has no {field}: run `make licenses`")
        components.append(found)
    return {**bill, "metadata": {**bill["metadata"], "component": main}, "components": components}


def main() -> None:
    """Complete a bill in its place."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("bill", type=Path, help="bill of materials in CycloneDX, as JSON")
    parser.add_argument("reports", type=Path, nargs="+", help="reports of `pip install --report`")
    given = parser.parse_args()
    reports = [json.loads(report.read_text("utf-8")) for report in given.reports]
    bill = json.loads(given.bill.read_text("utf-8"))
    done = complete(bill, read_hashes(reports), own_version())
    given.bill.write_text(json.dumps(done, indent=2, sort_keys=True) + "\n", "utf-8")


if __name__ == "__main__":
    main()
