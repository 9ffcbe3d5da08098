"""Collects the files that the front end is proven on. In: CPythons and site-packages found, the package index.

Out: build/corpus/roots.json, which names the folders; what was not found is said, and left out.
Source packages are downloaded as they are and unpacked, never built: their build steps are of no interest here.
"""

from __future__ import annotations

import argparse
import html
import json
import re
import subprocess
import sys
import tarfile
import urllib.parse
import urllib.request
import zipfile
from collections.abc import Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from oracle import places, pythons

# Name on the index, and the version whose fixtures the committed expectations were made with.
SOURCE_PACKAGES = {"ruff": "0.17.4", "black": "26.10.1", "libcst": "1.9.0", "sympy": "1.14.0", "django": "6.1.3"}
SITE_PACKAGES = ["torch", "torchgen", "transformers"]
# Fixtures are programs of few lines; everything else is read for its size and variety.
FIXTURES = {
    "ruff": ["crates/*/resources/**/*.py", "crates/*/resources/**/*.pyi"],
    "black": ["tests/data/**/*.py", "tests/data/**/*.pyi"],
    "libcst": ["native/libcst/tests/fixtures/**/*.py", "libcst/**/tests/**/*.py"],
}
_TIMEOUT = 120


def _pip(*arguments: str) -> str:
    answer = subprocess.run([sys.executable, "-m", "pip", *arguments], capture_output=True, text=True)
    return answer.stdout.strip() if answer.returncode == 0 else ""


def _index_url() -> str:
    """The package index that pip uses here: configured, from the environment (pip reads both), or pip's default."""
    for section in (":env:", "global", "install", "download"):
        configured = _pip("config", "get", f"{section}.index-url")
        if configured:
            return configured.rstrip("/")
    ask = "from pip._internal.models.index import PyPI; print(PyPI.simple_url)"
    answer = subprocess.run([sys.executable, "-c", ask], capture_output=True, text=True)
    return answer.stdout.strip().rstrip("/")


def _open(url: str, accept: str = "*/*") -> bytes:
    request = urllib.request.Request(url, headers={"Accept": accept})
    with urllib.request.urlopen(request, timeout=_TIMEOUT) as answer:
        data: bytes = answer.read()
    return data


def _links(page: str, text: str) -> Iterator[str]:
    for link in re.findall(r"<a\b[^>]*?\bhref\s*=\s*[\"']([^\"']+)[\"']", text):
        yield urllib.parse.urljoin(page, html.unescape(link))


def _version_key(link: str) -> list[int]:
    match = re.search(r"-(\d[\d.]*)\.(?:tar\.gz|zip)$", urllib.parse.urlparse(link).path)
    return [int(part) for part in match.group(1).split(".") if part] if match else []


def _find_source(index: str, name: str, version: str) -> str | None:
    """The link to the source package of that version, or of the newest one where the index has it no longer."""
    page = f"{index}/{name}/"
    text = _open(page, "text/html").decode("utf-8", "replace")
    archives = [link for link in _links(page, text) if re.search(r"\.(?:tar\.gz|zip)(?:#|$)", link)]
    exact = [link for link in archives if re.search(rf"-{re.escape(version)}\.(?:tar\.gz|zip)", link)]
    candidates = exact or sorted(archives, key=lambda link: _version_key(link.partition("#")[0]))
    return candidates[-1].partition("#")[0] if candidates else None


def _unpack(archive: Path, folder: Path) -> None:
    # Only sources are of interest; a package's data may be a hundred times their size.
    def wanted(name: str) -> bool:
        return name.endswith((".py", ".pyi")) and not name.startswith("/") and ".." not in name.split("/")

    if archive.suffix == ".zip":
        with zipfile.ZipFile(archive) as unpacked:
            unpacked.extractall(folder, [name for name in unpacked.namelist() if wanted(name)])
        return
    with tarfile.open(archive) as tar:
        tar.extractall(folder, [member for member in tar.getmembers() if member.isfile() and wanted(member.name)])


def _fetch_source(index: str, name: str, version: str, cache: Path) -> Path | None:
    """The unpacked source package, downloaded if the cache has it not."""
    folder = cache / "sources" / name
    if not (folder / ".complete").exists():
        link = _find_source(index, name, version)
        if link is None:
            return None
        folder.mkdir(parents=True, exist_ok=True)
        archive = folder / Path(urllib.parse.urlparse(link).path).name
        archive.write_bytes(_open(link))
        _unpack(archive, folder)
        archive.unlink()
        (folder / ".complete").write_text(archive.name + "\n")
    inner = [path for path in folder.iterdir() if path.is_dir()]
    return inner[0] if len(inner) == 1 else folder


def _sites(given: list[str]) -> Iterator[Path]:
    for site in given:
        path = Path(site)
        found = sorted(path.glob("lib/python3*/site-packages"))
        yield from found or [path]
    for entry in sys.path:
        if entry.endswith("site-packages"):
            yield Path(entry)


def collect(cache: Path, sites: list[str], *, is_offline: bool = False) -> dict[str, str]:
    """Finds or downloads every root, says which, and writes roots.json."""
    cache.mkdir(parents=True, exist_ok=True)
    roots: dict[str, str] = {}

    def note(name: str, path: Path | None, reason: str = "not found") -> None:
        if path is None:
            print(f"{name:14} left out: {reason}")
        else:
            roots[name] = str(path)
            print(f"{name:14} {path}")

    found = pythons.find_pythons()
    for major, minor in pythons.SUPPORTED:
        python = found.get((major, minor))
        note(f"python{major}.{minor}", python.library if python else None)
    for name in SITE_PACKAGES:
        folders = [site / name for site in _sites(sites) if (site / name).is_dir()]
        note(name, folders[0] if folders else None, "not in any site-packages; name one with --site")
    index = "" if is_offline else _index_url()
    for name, version in SOURCE_PACKAGES.items():
        path, reason = None, "no network was asked for (--offline)"
        if index or (cache / "sources" / name / ".complete").exists():
            try:
                path = _fetch_source(index, name, version, cache)
                reason = "the index has no source package"
            except (OSError, tarfile.TarError, zipfile.BadZipFile) as error:
                reason = f"download failed: {error}"
        note(name, path, reason)
    (cache / "roots.json").write_text(json.dumps(roots, indent=1) + "\n")
    return roots


def load_roots(cache: Path) -> dict[str, Path]:
    """What collect found last; the CPythons alone, if it has not been run."""
    listing = cache / "roots.json"
    if listing.exists():
        named = {name: Path(path) for name, path in json.loads(listing.read_text()).items()}
        return {name: path for name, path in named.items() if path.is_dir()}
    found = pythons.find_pythons()
    return {f"python{python.name}": python.library for python in found.values()}


def files_of(root: Path) -> Iterator[Path]:
    """The Python files below a root; a standard library's site-packages belong to somebody else."""
    for pattern in ("*.py", "*.pyi"):
        for path in sorted(root.rglob(pattern)):
            if "site-packages" not in path.relative_to(root).parts and path.is_file():
                yield path


def main() -> int:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--site", action="append", default=[], help="a virtual environment or site-packages folder")
    parser.add_argument("--cache", type=Path, default=places.DEFAULT_CACHE)
    parser.add_argument("--offline", action="store_true", help="use only what is on this machine")
    options = parser.parse_args()
    roots = collect(options.cache, options.site, is_offline=options.offline)
    print(f"{len(roots)} roots written to {options.cache / 'roots.json'}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
