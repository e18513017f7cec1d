#!/usr/bin/env python3
"""Fail when README.md or a page of docs/reference/ differs from the definitions that it repeats.

    tests/lint/reference.py BUILD-FOLDER            compare every generated part
    tests/lint/reference.py BUILD-FOLDER --write    write them again (`make reference`)
    tests/lint/reference.py BUILD-FOLDER --self-test

A generated part stands between the lines `<!-- generated: NAME -->` and `<!-- end of NAME -->`; the
text around it is written by hand.  The definitions are the .def files and the program's own output,
also about the trace that `make screenshots` draws.
"""
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
REFERENCE = ROOT / "docs" / "reference"
EXAMPLE = ROOT / "tests" / "data" / "screens" / "pretrain.gpuprof"
PART = re.compile(r"(<!-- generated: (\w+) -->\n)(.*?)(<!-- end of \2 -->\n)", re.DOTALL)
ARGUMENT = re.compile(
    r'"(?:[^"\\]|\\.)*"(?:\s*"(?:[^"\\]|\\.)*")*|[^,()"]+(?:\([^()]*\))?|\([^()]*\)'
)
Row = tuple[str, ...]


def definition_file(name: str) -> str:
    """The text of the one file of that name, wherever it lies."""
    found = [path for folder in ("include", "report") for path in (ROOT / folder).rglob(name)]
    if len(found) != 1:
        raise SystemExit(f"tests/lint/reference.py: {len(found)} files are named {name}, not one")
    return re.sub(r"/\*.*?\*/", "", found[0].read_text(encoding="utf-8"), flags=re.DOTALL)


def definitions(name: str, macro: str) -> Iterator[list[str]]:
    """The arguments of each use of a macro, adjacent strings joined."""
    text = definition_file(name)
    for match in re.finditer(macro + r"\(", text):
        depth, end, quoted = 1, match.end(), False
        while depth:
            character = text[end]
            if character == '"' and text[end - 1] != "\\":
                quoted = not quoted
            elif not quoted:
                depth += {"(": 1, ")": -1}.get(character, 0)
            end += 1
        yield [
            plain(argument)
            for argument in ARGUMENT.findall(text[match.end() : end - 1])
            if argument.strip()
        ]


def plain(argument: str) -> str:
    strings = re.findall(r'"((?:[^"\\]|\\.)*)"', argument)
    return "".join(strings).replace('\\"', '"') if '"' in argument else argument.strip()


def cell(text: str) -> str:
    return text.replace("|", "\\|").replace("<", "&lt;")


def table(head: Row, rows: Iterator[Row]) -> str:
    lines = [head, tuple("---" for _ in head), *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


class Reference:
    """Makes each part, with a program to ask."""

    def __init__(self, build: Path) -> None:
        self.program = build / "gpuprof"

    def ask(self, *arguments: str) -> str:
        return subprocess.run(
            [self.program, *arguments], check=True, stdout=subprocess.PIPE, text=True
        ).stdout

    def words(self, *arguments: str) -> Iterator[Row]:
        """Lines of a word and its meaning, two spaces or more between them."""
        for line in self.ask(*arguments).splitlines():
            word, meaning = line.strip().split(None, 1)
            yield word, meaning

    def options(self) -> str:
        def rows() -> Iterator[Row]:
            for _, option, letter, kind, default, argument, meaning, *_ in definitions(
                "option.def", "GP_OPTION"
            ):
                short = f"-{letter[1]}, " if letter != "0" else ""
                words = argument.split("|") if kind in ("CHOICE", "LIST") else []
                value = (
                    ""
                    if argument == "NULL"
                    else f" {'LIST' if kind == 'LIST' else 'WORD' if words else argument}"
                )
                value = f"[={argument}]" if kind in ("INTERVAL", "EXPONENT", "SHARE", "METRICS") else value
                shown = "" if kind == "FLAG" else f"`{default}`" if default else "none"
                yield (
                    f"`{short}--{option}{value}`",
                    shown,
                    (", ".join(f"`{word}`" for word in words) + ": " if words else "")
                    + cell(meaning),
                )

        return table(("option", "default", "meaning"), rows())

    def commands(self) -> str:
        names = [match[1] for match in re.finditer(r"^  ([a-z]+) ", self.ask("help"), re.MULTILINE)]
        return "\n".join(
            f"## gpuprof {name}\n\n```text\n{self.ask(name, '--help').strip()}\n```\n"
            for name in names
            if name not in ("gpuprof", "help", "version", "run")
        )

    def tables(self) -> str:
        return table(
            ("word", "the table"),
            ((f"`{word}`", cell(text)) for word, text in self.words("summary", "--by", "help")),
        )

    def causes(self) -> str:
        return table(
            ("cause", "meaning"),
            ((f"`{word}`", cell(text)) for word, text in self.words("explain", "--causes")),
        )

    def rules(self) -> str:
        return table(
            ("rule", "finding"),
            (
                (f"[`{word}`](advice.md#{word})", cell(text))
                for word, text in self.words("explain", "--list")
            ),
        )

    def metrics(self) -> str:
        judged = {"true": "always", "false": "if named"}
        units = {"JOULES": "J"}
        rows = definitions("metric.def", "GP_METRIC")
        return table(
            ("metric", "unit", "judged", "meaning"),
            (
                (f"`{row[1]}`", units.get(row[3], row[3].lower()), judged[row[6]], cell(row[7]))
                for row in rows
            ),
        )

    def counters(self) -> str:
        rows = enumerate(definitions("counter.def", "GP_COUNTER"))
        return table(
            ("number", "counter", "unit", "kind", "meaning"),
            (
                (str(number), f"`{row[0].lower()}`", row[1], row[2].lower(), cell(row[3]))
                for number, row in rows
            ),
        )

    def fields(self) -> str:
        kinds: dict[str, list[Row]] = {}
        for kind, member, size, rule in definitions("field.def", "GP_FIELD"):
            kinds.setdefault(kind, []).append((member, size, rule))
        return "\n".join(
            f"### {kind}\n\n"
            + table(
                ("bit", "field", "bytes", "prediction"),
                (
                    (str(bit), f"`{member}`", size, rule)
                    for bit, (member, size, rule) in enumerate(rows)
                ),
            )
            for kind, rows in kinds.items()
            if kind != "record"
        )

    def example(self) -> str:
        """The first part of a summary."""
        summary = self.ask("summary", str(EXAMPLE))
        return f"```text\n{summary.split('One-time costs')[0]}```\n"

    def parts(self) -> dict[str, Callable[[], str]]:
        return {
            "options": self.options,
            "commands": self.commands,
            "tables": self.tables,
            "causes": self.causes,
            "rules": self.rules,
            "metrics": self.metrics,
            "counters": self.counters,
            "fields": self.fields,
            "example": self.example,
        }

    def page(self, text: str) -> str:
        parts = self.parts()
        return PART.sub(lambda match: match[1] + parts[match[2]]() + match[4], text)

    def advice(self) -> str:
        return self.ask("explain", "--markdown")


def outdated(reference: Reference, write: bool) -> list[str]:
    found, names = [], set()
    for path in (ROOT / "README.md", *sorted(REFERENCE.glob("*.md"))):
        text = path.read_text(encoding="utf-8")
        names.update(match[2] for match in PART.finditer(text))
        made = reference.advice() if path.name == "advice.md" else reference.page(text)
        if made != text:
            found.append(str(path.relative_to(ROOT)))
            if write:
                path.write_text(made, encoding="utf-8")
    missing = reference.parts().keys() - names
    if missing:
        raise SystemExit(
            f"tests/lint/reference.py: no page has the part {', '.join(sorted(missing))}"
        )
    return found


def self_test(reference: Reference) -> int:
    changed = "<!-- generated: causes -->\nother text\n<!-- end of causes -->\n"
    made = reference.page(changed)
    if made == changed or "host-bound" not in made:
        print("a changed part was not found")
        return 1
    if reference.page(made) != made or reference.page("written by hand\n") != "written by hand\n":
        print("a part that is right was refused")
        return 1
    return 0


def main() -> int:
    if len(sys.argv) not in (2, 3) or sys.argv[2:] not in ([], ["--write"], ["--self-test"]):
        print(__doc__, file=sys.stderr)
        return 2
    reference = Reference(Path(sys.argv[1]))
    if sys.argv[2:] == ["--self-test"]:
        return self_test(reference)
    write = sys.argv[2:] == ["--write"]
    found = outdated(reference, write)
    for name in found:
        print(
            f"{name}: "
            + (
                "written"
                if write
                else "not what its definitions say: type make reference, and commit it"
            )
        )
    return 1 if found and not write else 0


if __name__ == "__main__":
    sys.exit(main())
