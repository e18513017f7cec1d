#!/usr/bin/env python3
"""Fail when an include runs against the layers that tests/lint/layers.txt lays down.

    tests/lint/layers.py [ROOT]          check the tree (default: the one this script is in)
    tests/lint/layers.py --self-test     plant violations in a copy and see that each is found

Every file of a side has a rank.  A file includes only files of a lower rank of its own side, and of the sides that
its side may use; its own header excepted.  A header marked private is for the files named there only.
"""
import os
import re
import shutil
import sys
import tempfile

INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*([<"])([^>"]+)[>"]')
TABLE = "tests/lint/layers.txt"


class Table:
    """layers.txt, read."""

    def __init__(self, root):
        self.sides = {}    # folder -> folders that it may include
        self.ranks = {}    # file -> rank
        self.private = {}  # header -> files that may include it
        side = None
        with open(os.path.join(root, TABLE), encoding="utf-8") as file:
            for line in file:
                words = line.split("#")[0].split()
                if not words:
                    continue
                if words[0] == "side":
                    side = words[1]
                    self.sides[side] = words[2:]
                elif words[0] == "private":
                    self.private[words[1]] = set(words[2:])
                else:
                    for name in words[1:]:
                        self.ranks[f"{side}/{name}"] = int(words[0])

    def side_of(self, path):
        return next((side for side in self.sides if path.startswith(side + "/")), None)


def stem(path):
    return path.rsplit(".", 1)[0]


def rank_of(table, path):
    """A module is one entry, NAME, for NAME.c and NAME.h; a file with another suffix is its own."""
    return table.ranks.get(path, table.ranks.get(stem(path)))


def sources(root, side):
    for folder, _, names in os.walk(os.path.join(root, side)):
        for name in sorted(names):
            if name.endswith((".c", ".h", ".def")):
                yield os.path.relpath(os.path.join(folder, name), root)


def resolve(root, spelled):
    """The tree's file behind an include, or None for the system's."""
    for path in (spelled, os.path.join("include", spelled)):
        if os.path.isfile(os.path.join(root, path)):
            return path
    return None


def judge(table, path, included):
    """Why this include is wrong, or None."""
    side, other = table.side_of(path), table.side_of(included)
    if other is None:
        return f"{included} belongs to no layer"
    if included in table.private and stem(path) not in table.private[included] | {stem(included)}:
        return f"{included} is private to {', '.join(sorted(table.private[included]))}"
    if other != side:
        return None if other in table.sides[side] else f"{side} must not include {other}"
    if stem(path) == stem(included):
        return None
    above, below = rank_of(table, path), rank_of(table, included)
    if above is None or below is None:
        return None  # reported once, as a file without a rank
    return None if below < above else f"rank {above} includes {included} of rank {below}"


def check_file(table, root, path):
    if rank_of(table, path) is None:
        yield f"{path}: has no rank; place it in {TABLE}"
    with open(os.path.join(root, path), encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            match = INCLUDE.match(line)
            included = match and resolve(root, match.group(2))
            if not included:
                if match and match.group(1) == '"':
                    yield f"{path}:{number}: \"{match.group(2)}\" is not spelled from the root"
                continue
            why = judge(table, path, included)
            if why:
                yield f"{path}:{number}: {why}"


def check_tree(root):
    table = Table(root)
    problems = []
    for side in table.sides:
        for path in sources(root, side):
            problems += check_file(table, root, path)
    for entry in sorted(table.ranks):
        if not any(os.path.isfile(os.path.join(root, entry + suffix)) for suffix in ("", ".c", ".h")):
            problems.append(f"{TABLE}: {entry} is no file")
    return problems


# What is planted, and what must be said about it.
VIOLATIONS = [
    ("collector/clock.c", '#include "inject/log.h"\n', "collector must not include inject"),
    ("report/model.c", '#include "collector/collector.h"\n', "report must not include collector"),
    ("inject/log.c", '#include "report/model.h"\n', "inject must not include report"),
    ("include/gpuprof/record.h", '#include "collector/collector.h"\n', "include/gpuprof must not include collector"),
    ("collector/clock.h", '#include "collector/writer.h"\n', "collector/writer.h of rank"),
    ("report/export/chrome.c", '#include "report/export/chrome_calls.c"\n', "report/export/chrome_calls.c of rank"),
    ("report/export/chrome.c", '#include "report/trace_read.h"\n', "report/trace_read.h is private to"),
    ("collector/clock.c", '#include "ring.h"\n', "is not spelled from the root"),
    ("report/unplaced.c", "", "report/unplaced.c: has no rank"),
]


def self_test(root):
    failures = check_tree(root)
    for path, text, expected in VIOLATIONS:
        with tempfile.TemporaryDirectory() as copy:
            for side in list(Table(root).sides) + ["tests/lint"]:
                shutil.copytree(os.path.join(root, side), os.path.join(copy, side))
            with open(os.path.join(copy, path), "a", encoding="utf-8") as file:
                file.write(text)
            if not any(expected in problem for problem in check_tree(copy)):
                failures.append(f"planted in {path}: {text.strip() or 'a new file'}: not found")
    return failures


def main():
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
