#!/usr/bin/env python3
"""Fail when a sentence of advice names a field that no rule sets, or has a bracket without its end.

    tests/lint/sentences.py
    tests/lint/sentences.py --self-test

The sentences are templates (report/advice/sentence.h): a name with a typing error would print
nothing, and the part that it is in would never be shown.
"""
import re
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
RULES = ROOT / "report" / "advice"
COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
# Adjacent strings are one; a macro between them is left out.
STRING = re.compile(r'"(?:[^"\\\n]|\\.)*"(?:[\s\\]*(?:[A-Z0-9_]+[\s\\]*)?"(?:[^"\\\n]|\\.)*")*')
FIELD = re.compile(r"\{[?!]?([a-z]\w*)(?:=[^{}]*)?\}")


def strings(text: str) -> Iterator[str]:
    """Each string of a source file, adjacent ones joined."""
    for match in STRING.finditer(COMMENT.sub("", text)):
        yield "".join(re.findall(r'"((?:[^"\\\n]|\\.)*)"', match.group()))


def is_closed(sentence: str) -> bool:
    depth = 0
    for character in sentence:
        depth += {"[": 1, "]": -1}.get(character, 0)
        if depth < 0:
            return False
    return depth == 0


def problems_of(sources: dict[str, str]) -> list[str]:
    """What is wrong with the sentences of these files, by name."""
    texts = {name: list(strings(source)) for name, source in sources.items()}
    words = {text for found in texts.values() for text in found if re.fullmatch(r"\w+", text)}
    problems = []
    for name, found in texts.items():
        for sentence in found:
            fields = FIELD.findall(sentence)
            problems += [f"{name}: no rule sets {{{one}}}" for one in fields if one not in words]
            if fields and not is_closed(sentence):
                problems.append(f'{name}: a bracket without its end in "{sentence}"')
    return problems


def self_test() -> int:
    rule = 'add("calls"); say("{calls} calls[ of {?big}%s]" /* {no} */ "[ at {place}]");'
    assert problems_of({"a.c": rule, "b.c": 'add("big"); add("place");'}) == []
    assert problems_of({"a.c": rule}) == ["a.c: no rule sets {big}", "a.c: no rule sets {place}"]
    assert len(problems_of({"a.c": 'add("calls"); say("{calls} calls[ of");'})) == 1
    return 0


def main() -> int:
    if sys.argv[1:] == ["--self-test"]:
        return self_test()
    problems = problems_of(
        {
            str(path.relative_to(ROOT)): path.read_text(encoding="utf-8")
            for path in sorted(RULES.rglob("*.[ch]"))
        }
    )
    print("\n".join(problems) or "sentences: all fields are set, all brackets end")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
