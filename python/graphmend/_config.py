"""The settings: what they are, where they come from, and which place wins.

A flag of the command beats an environment variable, which beats the `[tool.graphmend]` table of the nearest
pyproject.toml that has one. docs/settings.md is the same table for people.
"""

import functools
import os
import re
import sys
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

REPORT_SUFFIXES = (".html", ".json", ".txt")

# Set by `graphmend run` for the program and all processes that it starts: the settings are decided, no file is read.
RUN_VARIABLE = "GRAPHMEND_RUN"

_TRUE = ("1", "true", "yes", "on")
_FALSE = ("0", "false", "no", "off")
_DOTTED_NAME = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)*")


class SettingsError(ValueError):
    """A setting that does not exist or has a value that it cannot have; says where it was found."""


@dataclass(frozen=True)
class Settings:
    """What `docs/settings.md` documents; the defaults are here."""

    packages: tuple[str, ...] = ()
    quiet: bool = False
    report: str = ""
    disable: bool = False
    effects: tuple[str, ...] = ()
    speculate: bool = True
    remember: bool = True


NAMES = tuple(field.name for field in fields(Settings))


def variable(name: str) -> str:
    """The environment variable of a setting."""
    return f"GRAPHMEND_{name.upper()}"


@functools.cache
def current() -> Settings:
    """The settings of this process, read once."""
    return load()


def load(
    flags: Mapping[str, Any] | None = None,
    environment: Mapping[str, str] = os.environ,
    folder: Path | None = None,
) -> Settings:
    """The settings from all places. `flags` has only what was given, as values or as text."""
    settings = Settings()
    if RUN_VARIABLE not in environment:
        settings = _from_file(settings, folder)
    for name in NAMES:
        text = environment.get(variable(name), "")
        if text:
            settings = _with(settings, name, text, f"environment variable {variable(name)}")
    for name, value in (flags or {}).items():
        settings = _with(settings, name, value, f"--{name}")
    return settings


def to_environment(settings: Settings) -> dict[str, str]:
    """The same settings as environment variables, those with their default left out."""
    environment = {}
    for name in NAMES:
        value = getattr(settings, name)
        if value != getattr(Settings, name):
            if isinstance(value, bool):
                value = int(value)
            environment[variable(name)] = ",".join(value) if isinstance(value, tuple) else str(value)
    return environment


def declared_effects() -> list[Any]:
    """The functions that the setting `effects` names, as far as their modules are imported by now."""
    found = (_find(name) for name in current().effects)
    return [function for function in found if function is not None]


def _find(name: str) -> Any:
    # Nothing is imported: a module that the program has not imported is one that it does not call.
    parts = name.split(".")
    for length in range(len(parts) - 1, 0, -1):
        module = sys.modules.get(".".join(parts[:length]))
        if module is not None:
            value: Any = module
            for part in parts[length:]:
                value = getattr(value, part, None)
            return value
    return None


def _with(settings: Settings, name: str, value: Any, place: str) -> Settings:
    default = getattr(Settings, name)
    if isinstance(default, bool):
        checked: Any = _boolean(value, place)
    elif isinstance(default, tuple):
        checked = _names(value, place)
    else:
        checked = _report(value, place)
    return replace(settings, **{name: checked})


def _boolean(value: Any, place: str) -> bool:
    if isinstance(value, bool):
        return value
    if isinstance(value, str) and value.lower() in _TRUE + _FALSE:
        return value.lower() in _TRUE
    raise SettingsError(f"{place}: expected true or false, found {_shown(value)}")


def _names(value: Any, place: str) -> tuple[str, ...]:
    if isinstance(value, str):
        value = [part.strip() for part in value.split(",") if part.strip()]
    if not isinstance(value, (list, tuple)):
        raise SettingsError(f"{place}: expected a list of dotted names, found {_shown(value)}")
    for name in value:
        if not isinstance(name, str) or not _DOTTED_NAME.fullmatch(name):
            raise SettingsError(f"{place}: expected dotted names such as `package.module`, found {_shown(name)}")
    return tuple(dict.fromkeys(value))


def _report(value: Any, place: str) -> str:
    if not isinstance(value, str) or Path(value).suffix not in REPORT_SUFFIXES:
        endings = ", ".join(REPORT_SUFFIXES[:-1]) + " or " + REPORT_SUFFIXES[-1]
        raise SettingsError(f"{place}: expected a file name that ends in {endings}, found {_shown(value)}")
    return value


def _shown(value: Any) -> str:
    return f"`{value}`" if isinstance(value, str) else f"`{value!r}`"


def _from_file(settings: Settings, folder: Path | None) -> Settings:
    try:
        start = (folder or Path.cwd()).resolve()
    except OSError:
        # The current folder was removed.
        return settings
    for parent in (start, *start.parents):
        path = parent / "pyproject.toml"
        try:
            data = path.read_bytes()
        except (FileNotFoundError, NotADirectoryError):
            continue
        except OSError as error:
            raise SettingsError(f"{path}: cannot be read: {error.strerror}") from None
        table = _table(path, data)
        if table is not None:
            return _from_table(settings, path, table)
    return settings


def _table(path: Path, data: bytes) -> Mapping[str, Any] | None:
    """`[tool.graphmend]`, or None. A file that does not speak of graphmend is not even parsed."""
    if b"graphmend" not in data:
        return None
    tomllib = _toml_reader()
    if tomllib is None:
        if re.search(rb"^\s*\[\s*tool\s*\.\s*[\"']?graphmend\b", data, re.MULTILINE):
            warnings.warn(
                f"{path}: [tool.graphmend] is not read: this Python is older than 3.11 and `tomli` is not installed",
                stacklevel=2,
            )
        return None
    try:
        document = tomllib.loads(data.decode("utf-8"))
    except ValueError as error:
        raise SettingsError(f"{path}: not valid TOML: {error}") from None
    tool = document.get("tool")
    table = tool.get("graphmend") if isinstance(tool, dict) else None
    if table is not None and not isinstance(table, dict):
        raise SettingsError(f"{path}: tool.graphmend: expected a table, found {_shown(table)}")
    return table


def _toml_reader() -> Any:
    for name in ("tomllib", "tomli"):
        try:
            return __import__(name)
        except ImportError:
            continue
    return None


def _from_table(settings: Settings, path: Path, table: Mapping[str, Any]) -> Settings:
    for name, value in table.items():
        place = f"{path}: tool.graphmend.{name}"
        if name not in NAMES:
            raise SettingsError(f"{place}: unknown key; known are {', '.join(NAMES)}")
        # Text is for variables and flags: TOML has lists and truth values of its own.
        wrong = isinstance(value, str) and not isinstance(getattr(Settings, name), str)
        if wrong:
            kind = "true or false" if isinstance(getattr(Settings, name), bool) else "a list of dotted names"
            raise SettingsError(f"{place}: expected {kind}, found the text {_shown(value)}")
        settings = _with(settings, name, value, place)
        if name == "report":
            settings = replace(settings, report=str(path.parent / settings.report))
    return settings
