#!/usr/bin/env python3
"""tests/frozen/compare finds a changed number in each kind of output, and counts other words, renamed and accepted values as what they are."""
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

COMPARE = pathlib.Path(__file__).resolve().parent / "compare"
JSON = "--format json"
# A gpuprof that writes a summary as a text, a table or JSON, and nothing for all else.
STUB = r"""#!/bin/sh
[ "$1" = summary ] || exit 0
for word; do shift; [ "$word" = -o ] && break; done
case $1 in
*.json) echo '{"rows": [{"SETS": TOTAL, "note": "NOTE of 3 in all"}]}' >"$1" ;;
*.csv) printf 'Name,Total\nk_empty,TOTAL\n' >"$1" ;;
*.txt) echo 'SAID: TOTALns in all' >"$1" ;;
esac
"""


class CompareTest(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory(prefix="frozen-test-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        for name in ("traces", "rules", "sets", "killed", "runs", "large", "cache"):
            (self.folder / "corpus" / name).mkdir(parents=True)
        (self.folder / "corpus" / "traces" / "one.gpuprof").touch()

    def stub(self, name: str, **words: str) -> str:
        path = self.folder / name
        text = STUB
        for old, new in {"TOTAL": "1200", "SAID": "time", "NOTE": "there is a set", "SETS": "Sets", **words}.items():
            text = text.replace(old, new)
        path.write_text(text, encoding="utf-8")
        path.chmod(0o755)
        return str(path)

    def compare(self, form: str, *options: str, **words: str) -> tuple[int, str]:
        done = subprocess.run([sys.executable, COMPARE, self.stub("base"), self.stub("new", **words), self.folder / "corpus", "--jobs", "1",
                               "--cache", self.folder / "cache", "--only", f"summary {form} |", *options], stdout=subprocess.PIPE, text=True, check=False)
        return done.returncode, done.stdout

    def file(self, name: str, text: str) -> str:
        (self.folder / name).write_text(text, encoding="utf-8")
        return os.fspath(self.folder / name)

    def test_the_same(self) -> None:
        status, said = self.compare(JSON)
        self.assertEqual((status, "DIFFERS" in said), (0, False), said)

    def test_a_number(self) -> None:
        for form, path in ((JSON, "out.json.rows[0].Sets"), ("--format csv", "out.csv[0].rows[0].Total"), ("--full", "out.txt:1")):
            for _ in range(2):  # the second time from the cache
                status, said = self.compare(form, TOTAL="1201")
                self.assertEqual(status, 1, said)
                self.assertIn(f"DIFFERS summary {form} | one\n    {path}\n      - 1200", said)

    def test_other_words(self) -> None:
        self.assertEqual(self.compare("--full", SAID="duration")[0], 0)
        self.assertEqual(self.compare("--full", "--words", SAID="duration")[0], 1)
        self.assertEqual(self.compare(JSON, NOTE="there was one memset")[0], 0)
        self.assertEqual(self.compare(JSON, NOTE="there were 4 memsets")[0], 1)
        self.assertEqual(self.compare(JSON, NOTE="sets")[0], 1)  # no sentence, but a name

    def test_a_renamed_key(self) -> None:
        self.assertEqual(self.compare(JSON, SETS="Memsets")[0], 1)
        self.assertEqual(self.compare(JSON, "--rename", self.file("names", "Sets Memsets\n"), SETS="Memsets")[0], 0)

    def test_accepted(self) -> None:
        one = self.file("accepted", "summary* | one | *.Sets  counts what it did not count before\n")
        self.assertEqual(self.compare(JSON, "--accept", one, TOTAL="1201")[0], 0)
        other = self.file("accepted", "summary* | one | out.csv*  only this one\n")
        self.assertEqual(self.compare(JSON, "--accept", other, TOTAL="1201")[0], 1)


if __name__ == "__main__":
    unittest.main()
