"""Sentences stand in the pages, written by people; functions make the numbers in them."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import ol2r

SENTENCE = re.compile(r"(\w+\W+){5,}\w+[^.]*\.(\s|$)")
MOST = 40


def texts(function: ast.FunctionDef) -> Iterator[str]:
    """The texts in a function, apart from its docstring and from messages of errors."""
    errors = (each for each in ast.walk(function) if isinstance(each, ast.Raise | ast.Assert))
    apart = {id(inside) for error in errors for inside in ast.walk(error)}
    for each in ast.walk(function):
        if isinstance(each, ast.JoinedStr) and id(each) not in apart:
            yield "".join(part.value if isinstance(part, ast.Constant) else "0" for part in each.values)
        elif isinstance(each, ast.Constant) and isinstance(each.value, str) and id(each) not in apart:
            if each.value != ast.get_docstring(function, clean=False):
                yield each.value


def composing(code: str) -> list[str]:
    """The functions that compose sentences."""
    functions = (each for each in ast.walk(ast.parse(code)) if isinstance(each, ast.FunctionDef))
    return [each.name for each in functions if any(map(SENTENCE.search, texts(each)))]


def test_a_function_with_a_sentence_is_found_and_messages_of_errors_are_not():
    told = 'def told(n):\n    return f"Of the learners {n} are clearly ahead of it."\n'
    label = 'def label(n):\n    "It has a docstring of one whole sentence."\n    return f"{n} seeds"\n'
    error = 'def error(n):\n    raise ValueError(f"the learner {n} has no run at all here.")\n'
    assert composing(told + label + error) == ["told"]


def test_few_functions_compose_sentences():
    """Most that are left describe a drawing to those who cannot see it."""
    room = Path(ol2r.__file__).parent
    found = [f"{path.relative_to(room)}: {name}" for path in room.rglob("*.py") for name in composing(path.read_text())]
    assert len(found) <= MOST, "\n".join(sorted(found))
