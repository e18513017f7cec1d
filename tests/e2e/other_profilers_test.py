"""docs/from-other-profilers.md: each command and option of gpuprof runs on the simulated device, each table is one of gpuprof's."""
import os
import re
import shlex

import support
from support import GPU, LAUNCHER, PLAIN, ROOT, Case

# What the page's placeholders stand for.
PLACEHOLDERS = {"FILE": "app.gpuprof", "NAME": "app2", "WORD": "kernel", "MS": "1", "N": "1", "PATTERN": "step*", "NAME@DOMAIN": "step@one"}
# Options that the page names without their value.
VALUES = {"-y": "0.001", "--delay": "0.001", "-d": "10", "--duration": "10"}
# Options of other commands than gpuprof-run, as a command that takes them.
OTHERS = {
    "--format csv": "gpuprof summary --by kernel --format csv FILE",
    "--full-names": "gpuprof summary --by kernel --full-names FILE",
    "--torch-snapshot": "gpuprof summary --help",
    "gpuprof diff": "gpuprof diff FILE FILE",
    "gpuprof html --compare": "gpuprof html --compare FILE FILE",
}
# Names that are neither commands nor tables: files, words of outputs and programs, Python, other commands.
NAMES = {
    "NAME.json", ".gpuprof", "NAME.2", "kill -USR2 PID", ":base", "gpuprof.torch_compile(model, x)", "gpuprof-run", "operator",
    "torch-segment", "torch-block",
}


class Page(Case):

    def setUp(self):
        super().setUp()
        with open(os.path.join(ROOT, "docs", "from-other-profilers.md"), encoding="utf-8") as file:
            before, self.in_program, after = re.split("^## In the program\n(.*?)(?=^## )", file.read(), flags=re.DOTALL | re.MULTILINE)
        self.text = before + after
        result = self.run_program([*GPU, "launch=30", "copy=2", "leak=2"], options=["-q", "-o", "app"])
        self.assertEqual(result.returncode, 0, result.stderr)

    def spans(self, text):
        """Code of the columns that are about gpuprof, which are all but the first."""
        for line in text.splitlines():
            if line.startswith("|"):
                yield from re.findall("`([^`]+)`", line.split(" | ", 1)[-1])
            elif line.startswith("In place of") or line.startswith("`-c nvtx"):
                yield from (span for span in re.findall("`([^`]+)`", line) if span.startswith("-"))

    def command(self, span):
        """The command that a span of the page stands for; None for a name."""
        words = shlex.split(OTHERS.get(span, span))
        words = [re.sub(r"\b(?:%s)\b" % "|".join(sorted(PLACEHOLDERS, key=len, reverse=True)), lambda name: PLACEHOLDERS[name[0]], word)
                 for word in words]
        if words[0] == "--by":
            words = ["gpuprof", "summary", *words, "app.gpuprof"]
        if words[0] == "gpuprof":
            return [support.GPUPROF, *words[1:], *([] if "app.gpuprof" in words or "--help" in words else ["app.gpuprof"])]
        if words[0] == "gpuprof-run":
            words = words[1:]
        elif not words[0].startswith("-"):
            return None
        options = [word for word in words if word != "./app"]
        return [LAUNCHER, "-q", *options, *([VALUES[options[-1]]] if options and options[-1] in VALUES else []), *GPU, "launch=3"]

    def tables(self):
        text = self.run_gpuprof("summary", "--by", "help").stdout
        return set(re.findall(r"^  ([a-z-]+)", text, re.MULTILINE))

    def test_every_command_runs(self):
        spans = sorted(set(self.spans(self.text)) - NAMES)
        self.assertGreater(len(spans), 60)
        names = []
        for span in spans:
            command = self.command(span)
            if command is None:
                names.append(span)
                continue
            with self.subTest(span):
                result = self.run_program(command, PLAIN)
                self.assertEqual(result.returncode, 0, f"{command}\n{result.stderr}")
        self.assertEqual(set(names) - self.tables(), set())

    def test_every_name_of_the_package_is_there(self):
        names = set()
        for name in ("__init__.py", "_trace.py"):  # what is imported or defined there
            with open(os.path.join(ROOT, "python", "gpuprof", name), encoding="utf-8") as file:
                names.update(re.findall(r"^(?:from .* import .*|import .*|    .*,|    def .*|def .*|class .*|\w+ = .*)$", file.read(), re.MULTILINE))
        names = set(re.findall(r"\w+", " ".join(names)))
        told = {word[1] for word in (re.match(r"@?(\w+)", span) for span in self.spans(self.in_program)) if word} - {"import"}
        self.assertGreater(len(told), 5)
        self.assertEqual(told - names, set())


if __name__ == "__main__":
    support.main()
