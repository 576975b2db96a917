"""The texts of the papers' chapters that are data, in TOML files beside the modules that show them."""

import re
import tomllib
from importlib.resources import files
from typing import Any

_FIELD = re.compile(r"(?<![\w^])\{(\w+)(?::([^{}]*))?\}")  # \mathrm{n} and t^{n} are formulae


def read(paper: str, name: str, **given: object) -> dict[str, Any]:
    """The texts of a paper's file, in which the end of a line, with the blanks around it, counts as one blank.

    A text at the top of the file, outside of its tables, can be named in braces by the others.

    Args:
        paper: the paper's folder.
        name: of the file, without its ending.
        given: what stands in the texts for "{name}" or "{name:form}"; all other braces stay, such as those of formulae.

    Raises:
        ValueError: something is given that no text asks for.
    """
    text = files(f"{__package__}.{paper}").joinpath(f"{name}.toml").read_text(encoding="utf-8")
    unasked = given.keys() - {field for field, _ in _FIELD.findall(text)}
    if unasked:
        raise ValueError(f"no text of {paper}/{name}.toml, has {', '.join(sorted(unasked))} in braces")
    found = tomllib.loads(text)
    given |= {key: _filled(value, given) for key, value in found.items() if isinstance(value, str)}
    return {key: _filled(value, given) for key, value in found.items()}


def _filled(value: Any, given: dict[str, object]) -> Any:
    if isinstance(value, dict):
        return {key: _filled(each, given) for key, each in value.items()}
    if isinstance(value, list):
        return tuple(_filled(each, given) for each in value)

    def fill(field: re.Match[str]) -> str:
        return format(given[field[1]], field[2] or "") if field[1] in given else field[0]

    return _FIELD.sub(fill, re.sub(r"\s*\n\s*", " ", value.strip()))
