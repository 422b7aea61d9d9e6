"""Install the wheels of a release into a bare environment, and use them: `make smoke`.

It runs with nothing but Python: `python tests/supply/smoke.py dist`. Everything happens in a
temporary folder outside the repository; dependencies come from where pip takes them. First the
wheel alone, then with the extra `local` and the wheel of the model.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

PAGE = "# Tides\n\nThe tide turns at noon. Low tide is at five.\n"
WHERE = "import quire, pathlib; print(pathlib.Path(quire.__file__).resolve())"


def main() -> None:
    """Try the wheels of a folder."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("dist", type=Path, help="folder with the wheels of both distributions")
    folder = parser.parse_args().dist.resolve()
    (wheel,) = folder.glob("quire_context-*.whl")
    (model,) = folder.glob("quire_context_model-*.whl")
    with tempfile.TemporaryDirectory(prefix="quire-smoke-") as place:
        root = Path(place)
        python = make_environment(root)
        run(root, python, "-m", "pip", "install", "--quiet", str(wheel))
        use(root, python, embed=False)
        run(root, python, "-m", "pip", "install", "--quiet", f"{wheel}[local]", str(model))
        use(root, python, embed=True)
    sys.stdout.write(f"{wheel.name} and {model.name} work with Python {sys.version.split()[0]}\n")


def make_environment(root: Path) -> Path:
    """Make a bare virtual environment; return its Python."""
    venv.create(root / "environment", with_pip=True)
    scripts = "Scripts" if os.name == "nt" else "bin"
    return root / "environment" / scripts / ("python.exe" if os.name == "nt" else "python")


def use(root: Path, python: Path, *, embed: bool) -> None:
    """Index, assemble and verify with what is installed."""
    project = root / ("embedded" if embed else "words")
    project.mkdir()
    (project / "tides.md").write_text(PAGE, "utf-8")
    (project / ".quire").mkdir()
    installed = Path(run(project, python, "-c", WHERE).strip())
    assert root.resolve() in installed.parents, f"{installed} is not the installed wheel"
    indexed = run(project, python, "-m", "quire", "index", *(() if embed else ("--no-embed",)))
    assert "1 indexed" in indexed, indexed
    assert ("1 new vector" if embed else "0 new vectors") in indexed, indexed
    asked = ("assemble", "When is low tide?", "--budget", "200", "--reserve", "none")
    context = run(project, python, "-m", "quire", *asked, "--receipt", ".quire/receipt.json")
    assert "Low tide is at five." in context, context
    (project / ".quire" / "context.txt").write_bytes(context.encode())
    checked = ("verify", ".quire/receipt.json", "--context", ".quire/context.txt")
    assert run(project, python, "-m", "quire", *checked).startswith("the receipt holds")
    assert run(project, python, "-m", "quire", "doctor").startswith("no problems found")


def run(folder: Path, python: Path, *arguments: str) -> str:
    """Run the environment's Python with a home of its own; return its standard output."""
    home = folder / ".home"
    kept = {name: text for name, text in os.environ.items() if not name.startswith("PYTHON")}
    own = {name: str(home) for name in ("HOME", "USERPROFILE", "XDG_CONFIG_HOME", "XDG_CACHE_HOME")}
    if "pip" in arguments:
        own = {}  # its settings and cache are the user's
    done = subprocess.run(
        [str(python), *arguments],
        cwd=folder,
        env={**kept, **own},
        capture_output=True,
        check=False,
        timeout=900,
    )
    if done.returncode:
        sys.exit(f"{' '.join(arguments)}: exit code {done.returncode}\n{done.stderr.decode()}")
    return done.stdout.decode().replace("\r\n", "\n")


if __name__ == "__main__":
    main()
