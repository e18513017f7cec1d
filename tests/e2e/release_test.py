"""`make release` refuses what is no release: each reason, in a small repository."""
import importlib.util
import json
import os
import pathlib
import subprocess

import support
from support import ROOT, Case

spec = importlib.util.spec_from_file_location("release", os.path.join(ROOT, "package", "release.py"))
release = importlib.util.module_from_spec(spec)
spec.loader.exec_module(release)

VALUES = {"fields": {"1 call": ["a 8 LAST", "b 4 LAST"]}, "traces": {"1.2.3.gpuprof": {}}}


class Release(Case):

    def setUp(self):
        super().setUp()
        for folder in ("include/gpuprof", "tests/data/traces"):
            os.makedirs(self.path(folder))
        self.write("CHANGELOG.md", "# Changes\n\n## 1.2.3, 2026-12-01\n\n## 1.2.2, 2026-11-01\n")
        self.write("include/gpuprof/field.def", "GP_FIELD(call, a, 8, LAST)\nGP_FIELD(call, b, 4, LAST)\n")
        self.write("tests/data/traces/values.json", json.dumps(VALUES))
        self.git("init", "-q")
        self.commit()

    def git(self, *arguments):
        subprocess.run(["git", "-c", "user.name=n", "-c", "user.email=e", *arguments], cwd=self.folder, stdout=subprocess.DEVNULL, check=True)

    def commit(self):
        self.git("add", "-A")
        self.git("commit", "-q", "-m", "all")

    def problems(self, version="1.2.3"):
        return release.problems_of(pathlib.Path(self.folder), version)

    def assert_only_problem(self, words, version="1.2.3"):
        found = self.problems(version)
        self.assertEqual(len(found), 1, found)
        self.assertIn(words, found[0])

    def test_none(self):
        self.assertEqual(self.problems(), [])
        self.git("tag", "v1.2.3")
        self.assertEqual(self.problems(), [])

    def test_an_open_changelog(self):
        for title in ("1.2.3, not yet released", "1.2.2, 2026-11-01", "1.2.30, 2026-12-01"):
            self.write("CHANGELOG.md", f"## {title}\n\n## 1.2.3, 2026-12-01\n")
            self.commit()
            self.assert_only_problem("CHANGELOG.md")

    def test_no_version(self):
        self.write("CHANGELOG.md", "## 1.2, 2026-12-01\n")
        self.write("tests/data/traces/values.json", json.dumps({**VALUES, "traces": {"1.2.gpuprof": {}}}))
        self.commit()
        self.assert_only_problem("MAJOR.MINOR.PATCH", "1.2")

    def test_a_format_without_a_trace(self):
        self.write("tests/data/traces/values.json", json.dumps({**VALUES, "traces": {}}))
        self.commit()
        self.assert_only_problem("no trace of 1.2.3")

    def test_a_field_without_values(self):
        self.write("include/gpuprof/field.def", "GP_FIELD(call, a, 8, LAST)\nGP_FIELD(call, b, 4, LAST)\nGP_FIELD(call, c, 4, LAST)\n")
        self.commit()
        self.assert_only_problem("lacks fields")

    def test_a_change_that_is_not_committed(self):
        self.write("new", "")
        self.assert_only_problem("not committed")

    def test_a_tag_elsewhere(self):
        self.git("tag", "v1.2.3")
        self.write("new", "")
        self.commit()
        self.assert_only_problem("tag v1.2.3")


if __name__ == "__main__":
    support.main()
