#!/usr/bin/env python3
"""Find words that gpuprof does not use, and faults of the documents' form.

    tests/lint/words.py              README.md, CONTRIBUTING.md, docs/: words, links, files, lengths
    tests/lint/words.py --strings    the strings that users see: C, page, gpuprof-run, .def files
    tests/lint/words.py --self-test  see that each kind of fault is found

Prints file:line, the words, and what to write.  Generated parts of docs/reference/ follow the
strings, and are left to --strings.
"""
import glob
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]
README_LINES = 149
COLUMNS = 100

# What is not written, and what is.  Patterns ignore case; the first that fits is told.
WORDS = [
    (re.compile(pattern, re.IGNORECASE), instead)
    for pattern, instead in (
        # the words of the field
        (
            r"\b(?:a|an|by|each|few|fewer|last|more|no|of|one|these|those|two|all|its|the|\d+) "
            r"looks?\b(?! like| at first)",
            "sample",
        ),
        (
            r"\blooks? at (?:its |the |their )?(?:python|stacks?|call stacks?)\b",
            "sample, stack sample",
        ),
        (r"\bmemory[- ]sets?\b", "memset"),
        (
            r"\b(?:copy|copies)(?:,| and| or| nor) sets?\b|\bsets/s\b|\b\d+ sets\b|"
            r"\bsets? (?:and|or) cop(?:y|ies)\b",
            "memset",
        ),
        (r"\blulls?\b|\bnothing to do\b", "idle gap, gap"),
        (r"\bset-ups?\b", "startup (an idle cause), setup (anything else)"),
        (r"\bonce per run\b", "one-time cost"),
        (r"\bin it\b(?= {2,}| +\d)", "steady state"),
        (r"\b(?-i:PARTIAL)\b", "incomplete trace, and why"),
        (
            r"\b(?:what|whatever) (?:is|was|were|got) (?:lost|missing|left|lacking|dropped)\b",
            "lost records, missing records",
        ),
        (
            r"\bwho (?:waits|launches|launched|allocated|asks|asked|held|calls|called|came)\b",
            "name the thread or function",
        ),
        (
            r"\bthat which\b|\bof which (?:none|one|some)\b|\bwhere it can(?:not)? be\b",
            "name the thing; if possible",
        ),
        (r"(?<![-_])\b(?-i:at once)\b", "at the same time, in parallel"),
        (r"\b(?:in|by) turns?\b", "alternating, interleaved"),
        (r"\b(?:no|finds?|enough) room\b", "memory, space"),
        (r"\berrands?\b", "bounded call"),
        (r"\b(?:the|a|rings? a) bell\b", "eventcount, wakeup"),
        (r"\b(?:inner|outer) one\b", "callee, caller"),
        (r"\bamid\b", "during"),
        (r"\bsay,|, say\b", "for example"),
        (r"\bso (?:that|as) one types\b|\bwhat to type\b", "the command to run"),
        # American spelling
        (
            r"\b\w*(?:synchron|initial|final|serial|util|optim|normal|recogn|organ|summar|random|"
            r"virtual|real|minim|maxim|categor|custom|priorit|visual|general|special|local|central|"
            r"capital|author|memor|stabil|parallel|quant|vector)is"
            r"(?:e|es|ed|er|ers|ing|ation|ations)\b",
            "-ize, -ization",
        ),
        (r"\b(?:analys(?:e|es|ed|ing)|catalys\w+)\b(?<!analyses)", "analyze"),
        (r"\b\w*(?:colour|behaviour|favour|neighbour|honour|labour|flavour)\w*\b", "-or"),
        (
            r"\b(?:centre|fibre|metre|licence|defence|catalogue|programme|grey|artefact|judgement|"
            r"whilst|towards|amongst)s?\b",
            "American spelling",
        ),
        (r"\b(?:cancell|labell|modell|travell|signall|channell|levell)(?:ed|ing)\b", "one l"),
    )
]

# Right all the same: names that files, options and other programs have.
ALLOWED = re.compile(
    "|".join(
        (
            r"\bidle_synchronisation\b",  # a name of a metric in old baselines
            r"(?<=\")synchronisations(?=\")",
            r"--at-once\b",
            r"operations of a stream may run at once",  # a key of exported traces
            r"cudaErrorSetOnActiveProcess",
        )
    )
)

LINK = re.compile(r"!?\[[^][]*(?:\[[^][]*\][^][]*)*\]\(([^()\s]+)\)")
GENERATED = re.compile(r"<!-- generated: (\w+) -->.*?<!-- end of \1 -->", re.DOTALL)
FENCE = re.compile(r"^ *```.*?^ *```$", re.DOTALL | re.MULTILINE)
# Strings of C, shell and JavaScript on one line; comments are no strings.
STRING = re.compile(
    r'//.*|/\*.*?\*/|"(?:[^"\\\n]|\\.)*"|`(?:[^`\\]|\\.)*`|\'(?:[^\'\\\n]|\\.)*\'', re.DOTALL
)


# A file or folder of the tree, in code style.
OWN_FILE = re.compile(
    r"`((?:inject|stacks|collector|hardware|report|include|tests|bench|docs|examples)/[\w.*/\[\]-]+)`"
)


class Finding(NamedTuple):
    path: Path
    line: int
    fault: str

    def __str__(self) -> str:
        return f"{self.path.relative_to(ROOT)}:{self.line}: {self.fault}"


def blank(match: re.Match[str]) -> str:
    """Nothing but the lines of a text."""
    return "\n" * match[0].count("\n")


def words(text: str) -> Iterator[tuple[int, str]]:
    """The offset of each retired word, and what to write."""
    text = ALLOWED.sub(lambda match: " " * len(match[0]), text)
    flat = text.replace("\n", " ")
    taken: set[int] = set()
    for pattern, instead in WORDS:
        for match in pattern.finditer(flat):
            if taken.isdisjoint(range(*match.span())):
                taken.update(range(*match.span()))
                yield match.start(), f"'{match[0]}': write {instead}"


def anchors(text: str) -> set[str]:
    """Where a link may lead in a page, as GitHub names it."""
    text = FENCE.sub("", text)
    found = set(re.findall(r'<a (?:name|id)="([^"]+)"', text))
    for title in re.findall(r"^#+ +(.*?) *$", text, re.MULTILINE):
        title = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", title)
        name = re.sub(r"[^\w\- ]", "", title.lower().replace("`", "")).replace(" ", "-")
        number = 0
        while (name if not number else f"{name}-{number}") in found:
            number += 1
        found.add(name if not number else f"{name}-{number}")
    return found


def links(path: Path, text: str) -> Iterator[tuple[int, str]]:
    for match in LINK.finditer(FENCE.sub(blank, text)):
        name, _, anchor = match[1].partition("#")
        if re.match(r"[a-z]+:", name):
            continue
        line = FENCE.sub(blank, text).count("\n", 0, match.start()) + 1
        target = (path.parent / name).resolve() if name else path
        if not target.exists():
            yield line, f"the link leads to {match[1]}, which is not there"
        elif (
            anchor
            and target.suffix == ".md"
            and anchor not in anchors(target.read_text(encoding="utf-8"))
        ):
            yield line, f"the link leads to #{anchor}, which {target.name} does not have"


def paths(text: str) -> Iterator[tuple[int, str]]:
    """Files of the tree that are named but not there; patterns and modules count."""
    for match in OWN_FILE.finditer(text):
        name = match[1].rstrip("/")
        if not any(
            glob.glob(str(ROOT / (name + ending))) for ending in ("", ".c", ".h", ".cu", ".[ch]")
        ):
            yield text.count("\n", 0, match.start()) + 1, f"there is no {match[1]}"


def long_lines(text: str) -> Iterator[tuple[int, str]]:
    for number, line in enumerate(FENCE.sub(blank, text).split("\n"), 1):
        if len(line) > COLUMNS and not re.match(
            r" {4}|\|| *\[?<?https?:|.*\]\([^)]*\)[.,:;)]*$", line
        ):
            yield number, f"{len(line)} columns: wrap prose at {COLUMNS}"


def check_page(path: Path) -> Iterator[Finding]:
    text = path.read_text(encoding="utf-8")
    if path.name == "advice.md":  # printed by the program
        text = ""
    own = GENERATED.sub(blank, text)
    for offset, fault in words(own):
        yield Finding(path, own.count("\n", 0, offset) + 1, fault)
    for line, fault in (*links(path, text), *paths(text), *long_lines(own)):
        yield Finding(path, line, fault)
    if path == ROOT / "README.md" and text.count("\n") > README_LINES:
        yield Finding(
            path,
            README_LINES + 1,
            f"README.md has {text.count(chr(10))} lines: {README_LINES} at most",
        )


def orphans(found: list[Path]) -> Iterator[Finding]:
    """Pages that no other page links to."""
    linked = {
        (path.parent / match[1].partition("#")[0]).resolve()
        for path in found
        for match in LINK.finditer(path.read_text(encoding="utf-8"))
        if not match[1].startswith("#")
    }
    yield from (
        Finding(path, 1, "no page links to this one")
        for path in found
        if path not in linked and path != ROOT / "README.md"
    )


def check_manual(path: Path) -> Iterator[Finding]:
    text = path.read_text(encoding="utf-8")
    for offset, fault in words(text):
        yield Finding(path, text.count("\n", 0, offset) + 1, fault)


def check_strings(path: Path) -> Iterator[Finding]:
    text = path.read_text(encoding="utf-8")
    for match in STRING.finditer(text):
        if match[0].startswith("/"):
            continue
        for offset, fault in words(match[0]):
            yield Finding(path, text.count("\n", 0, match.start() + offset) + 1, fault)


def pages() -> list[Path]:
    return [
        path
        for path in (
            ROOT / "README.md",
            ROOT / "CONTRIBUTING.md",
            *sorted((ROOT / "docs").rglob("*.md")),
        )
        if path.exists()
    ]


def sources() -> list[Path]:
    found = [ROOT / "gpuprof-run"]
    for folder in ("report", "inject", "collector", "hardware"):
        found += (
            path
            for path in sorted((ROOT / folder).rglob("*"))
            if path.suffix in (".c", ".h", ".def", ".js")
        )
    return found + sorted((ROOT / "include" / "gpuprof").glob("*.def"))


def self_test() -> int:
    wrong = {
        "by 10 looks at": "sample",
        "copies and sets": "memset",
        "Memory set": "memset",
        "set-up 46 %": "startup",
        "what is\nmissing": "lost records",
        "the synchronisation": "-ize",
        "a neighbour": "-or",
        "cancelled": "one l",
        "two at once": "parallel",
        "PARTIAL: it": "incomplete",
        "12 sets": "memset",
        "who waits": "name the thread",
    }
    right = (
        "it looks like",
        "a set of runs",
        "--at-once N",
        "the analysis",
        "analyses",
        "sets of repeated runs",
        "`idle_synchronisation`",
    )
    faults = [
        text
        for text, instead in wrong.items()
        if not any(instead in fault for _, fault in words(text))
    ]
    faults += [text for text in right if any(words(text))]
    page = ROOT / "README.md"
    for text in ("[a](no-such-file.md)", "[a](README.md#no-such-anchor)"):
        faults += [] if any(links(page, text)) else [text]
    faults += (
        []
        if any(paths("`report/no_such.c`")) and not any(paths("`tests/lint/words.py`"))
        else ["a path"]
    )
    faults += (
        []
        if any(long_lines("word " * 30)) and not any(long_lines("```\n" + "word " * 30 + "\n```\n"))
        else ["a long line"]
    )
    faults += [] if anchors("# A `b` (c)\n") == {"a-b-c"} else ["an anchor"]
    for fault in faults:
        print(f"not told right: {fault}")
    return 1 if faults else 0


def main() -> int:
    if sys.argv[1:] == ["--self-test"]:
        return self_test()
    if sys.argv[1:] not in ([], ["--strings"]):
        print(__doc__, file=sys.stderr)
        return 2
    if sys.argv[1:] == ["--strings"]:
        found = [finding for path in sources() for finding in check_strings(path)]
    else:
        found = [finding for path in pages() for finding in check_page(path)]
        found += orphans(pages())
        found += [
            finding
            for path in sorted((ROOT / "docs" / "man").glob("*.1"))
            for finding in check_manual(path)
        ]
    for finding in found:
        print(finding)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
