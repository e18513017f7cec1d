#!/usr/bin/env python3
"""Fail when an include runs against the layers that tests/lint/layers.txt lays down.

    tests/lint/layers.py [ROOT]          check the tree (default: the one this script is in)
    tests/lint/layers.py --self-test     plant violations in a copy and see that each is found
"""
import os
import re
import shutil
import sys
import tempfile
from collections.abc import Iterator

INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*([<"])([^>"]+)[>"]')
TABLE = "tests/lint/layers.txt"


def is_in(path: str, folder: str) -> bool:
    return path.startswith(folder + "/")


class Table:
    """layers.txt, read."""

    def __init__(self, root: str) -> None:
        self.sides: dict[str, list[str]] = {}    # folder -> folders that it may include
        self.layers: dict[str, list[str]] = {}   # folder -> its folders, low to high
        self.private: dict[str, list[str]] = {}  # header -> folders that may include it
        self.shared: dict[str, list[str]] = {}   # header -> folders of other sides that may include it
        tables = {"side": self.sides, "layers": self.layers, "private": self.private, "shared": self.shared}
        with open(os.path.join(root, TABLE), encoding="utf-8") as file:
            for line in file:
                head, _, names = line.split("#")[0].partition(":")
                if head.strip():
                    word, name = head.split()
                    tables[word][name] = names.split()

    def side_of(self, path: str) -> str | None:
        return next((side for side in self.sides if is_in(path, side)), None)

    def rank_of(self, side: str, path: str) -> int | None:
        """The number of its layer; lone files are above all; None: in a folder that is no layer."""
        names = self.layers.get(side, [])
        folder, is_lone = path[len(side) + 1:].split("/")[0], os.path.dirname(path) == side
        return len(names) if is_lone else names.index(folder) if folder in names else None


def sources(root: str, side: str) -> Iterator[str]:
    for folder, _, names in os.walk(os.path.join(root, side)):
        for name in sorted(names):
            if name.endswith((".c", ".h", ".def")):
                yield os.path.relpath(os.path.join(folder, name), root)


def includes(root: str, path: str) -> Iterator[tuple[int, str, str | None]]:
    """(line, spelled, the tree's file or None), of all includes with quotes and those that the tree has."""
    with open(os.path.join(root, path), encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            match = INCLUDE.match(line)
            if match:
                spelled = match.group(2)
                found = next((p for p in (spelled, os.path.join("include", spelled))
                              if os.path.isfile(os.path.join(root, p))), None)
                if found or match.group(1) == '"':
                    yield number, spelled, found


def judge(table: Table, path: str, included: str) -> str | None:
    """Why this include is wrong, or None."""
    side, other = table.side_of(path), table.side_of(included)
    if other is None:
        return f"{included} belongs to no side"
    if included in table.private and not any(is_in(path, f) for f in table.private[included]):
        return f"{included} is private to {', '.join(table.private[included])}"
    if side != other:
        if any(is_in(path, f) for f in table.shared.get(included, [])):
            return None
        return None if other in table.sides[side] else f"{side} must not include {other}"
    if side not in table.layers:
        return None
    above, below = table.rank_of(side, path), table.rank_of(side, included)
    if above is None or below is None or below <= above:
        return None  # a file without a layer is reported once, by itself
    return f"{included} is of a higher layer"


def circles(graph: dict[str, list[str]]) -> Iterator[str]:
    """Headers that include each other, one line for each way round that is met first."""
    done: set[str] = set()

    def visit(node: str, way: list[str]) -> Iterator[str]:
        if node in way:
            yield "circle of headers: " + " -> ".join([*way[way.index(node):], node])
        elif node not in done:
            for other in graph.get(node, []):
                yield from visit(other, [*way, node])
            done.add(node)

    for node in graph:
        yield from visit(node, [])


def check_tree(root: str) -> list[str]:
    table = Table(root)
    problems: list[str] = []
    headers: dict[str, list[str]] = {}
    for side in table.sides:
        for path in sources(root, side):
            if side in table.layers and (table.rank_of(side, path) is None or
                                         os.path.dirname(path) == side and path != f"{side}/main.c"):
                problems.append(f"{path}: is in no layer; the layers are in {TABLE}")
            for number, spelled, found in includes(root, path):
                why = (judge(table, path, found) if found
                       else f'"{spelled}" is not spelled from the root')
                if why:
                    problems.append(f"{path}:{number}: {why}")
                elif path.endswith(".h"):
                    headers.setdefault(path, []).append(found)
    problems += [f"{TABLE}: {header} is no file" for header in {**table.private, **table.shared}
                 if not os.path.isfile(os.path.join(root, header))]
    return problems + list(circles(headers))


# What is planted, and what must be said about it.
VIOLATIONS = [
    ("collector/clock.c", '#include "inject/init.c"\n', "collector must not include inject"),
    ("report/model/model.c", '#include "collector/collector.h"\n', "report must not include collector"),
    ("report/model/model.c", '#include "collector/encode.h"\n', "report must not include collector"),
    ("include/gpuprof/record.h", '#include "collector/collector.h"\n', "include/gpuprof must not include collector"),
    ("report/base/array.c", '#include "report/model/model.h"\n', "report/model/model.h is of a higher layer"),
    ("report/export/csv.c", '#include "report/trace/trace_read.h"\n', "report/trace/trace_read.h is private to"),
    ("report/base/array.h", '#include "report/base/tree.h"\n', ""),
    ("collector/clock.c", '#include "ring.h"\n', "is not spelled from the root"),
    ("include/gpuprof/utf8.h", '#include "gpuprof/utf8.h"\n', "circle of headers"),
    ("report/unplaced.c", "", "report/unplaced.c: is in no layer"),
    ("report/riddle/unplaced.c", "", "report/riddle/unplaced.c: is in no layer"),
]


def self_test(root: str) -> list[str]:
    failures = check_tree(root)
    for path, text, expected in VIOLATIONS:
        with tempfile.TemporaryDirectory() as copy:
            for folder in list(Table(root).sides) + ["tests/lint"]:
                shutil.copytree(os.path.join(root, folder), os.path.join(copy, folder))
            os.makedirs(os.path.dirname(os.path.join(copy, path)), exist_ok=True)
            with open(os.path.join(copy, path), "a", encoding="utf-8") as file:
                file.write(text)
            found = check_tree(copy)
            if not any(expected in problem for problem in found) if expected else found:
                failures.append(f"planted in {path}: {text.strip() or 'a new file'}: {found}")
    return failures


def main() -> int:
    root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    arguments = sys.argv[1:]
    if arguments == ["--self-test"]:
        problems = self_test(root)
    else:
        problems = check_tree(arguments[0] if arguments else root)
    for problem in problems:
        print(problem)
    print(f"layers: {len(problems)} problems" if problems else "layers: in order")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
