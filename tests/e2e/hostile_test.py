"""A program that gives everything names to do harm: no output passes them on to a terminal, a spreadsheet, a browser, or
breaks a parser."""
import csv
import io
import json
import os
import re
import sqlite3
import unicodedata

import support
import openmetrics  # these two are in the folder that support names
import perfetto
from support import BARE, BUILD, GPUPROF, Case

NAMES = (b"\x1b]0;owned\x07\x1b[31mred", b"\xff\xfe\xc0\xaf broken", b"\xe2\x80\xae" b"txt.exe", b"a\nb\r\tc\x0b",
         b"=cmd|' /C calc'!A0", b"+1", b"-1", b"@SUM(A1)", b"<script>alert(1)</script>", b'"a","b"},{', b"\xc2\x9b2J",
         b"x;y 7\nz 9", b"\\u0000 \\x1b", b"`|`_[l](javascript:x)", b"\xf3\xa0\x80\x81", b"%s%n%999999d", b" ", b"\x7f")


def is_harmless(text):
    """Neither a control character but line ends and tabs, nor one that turns the reading direction or is not seen."""
    return not any(unicodedata.category(c) in ("Cc", "Cf", "Cs", "Co", "Cn") for c in text if c not in "\n\t")


class Hostile(Case):

    def setUp(self):
        super().setUp()
        program = self.compile_named("plain", NAMES)
        self.program = os.path.join(os.fsencode(self.folder), b"\x1b[2J=1+1,\xff<b>\n.x")
        os.rename(program, self.program)
        result = self.run_program([self.program], GPUPROF_OUTPUT="t", GPUPROF_SUMMARY="out", GPUPROF_CHROME="json")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertTrue(is_harmless(result.stderr), result.stderr)

    def output(self, *arguments):
        """Standard output; it and stderr are harmless UTF-8."""
        result = self.run_gpuprof(*arguments)
        self.assertEqual(result.returncode, 0, result.stderr)
        for text in (result.stdout, result.stderr):
            self.assertTrue(is_harmless(text), f"{arguments}: {text!r}")
        return result.stdout

    def tables(self, form):
        return self.output("summary", "--by", "all", "--format", form, "t.gpuprof")

    def test_what_the_library_says_of_the_environment(self):
        for variable, value in (("GPUPROF_FLUSH_MS", b"\x1b[2J1"), ("GPUPROF_\x1b[31m", b"1"), ("GPUPROF_OUTPUT", b"\x1b]0;x\x07/\xff/t"),
                                ("NVTX_INJECTION64_PATH", b"/\x1b[2J/lib.so"), ("GPUPROF_OUTPUT", b"%\x1b[1m")):
            result = self.run_program([self.program], BARE, **{"GPUPROF_OUTPUT": "u", "GPUPROF_CHROME": "none", variable: value})
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertIn("\\x1b", result.stderr)
            self.assertTrue(is_harmless(result.stderr), result.stderr)

    def test_what_is_printed_at_the_end(self):
        with open(self.path("out"), encoding="utf-8") as file:
            text = file.read()
        self.assertIn("owned", text)
        self.assertTrue(is_harmless(text), text)

    def test_texts(self):
        for arguments in (("summary",), ("summary", "-n", "0"), ("summary", "--memory"), ("summary", "--by", "all"),
                          ("summary", "--by", "all", "--format", "markdown"), ("trace", "api"), ("trace", "nvtx"),
                          ("trace", "exec"), ("trace", "gpu")):
            self.output(*arguments, "t.gpuprof")

    def test_markdown_has_no_markup_of_theirs(self):
        text = self.tables("markdown")
        self.assertIn("script", text)
        self.assertNotRegex(text, r"(?<!\\)<script")
        self.assertNotRegex(text, r"(?<!\\)\[l(?<!\\)\]")

    def test_no_csv_field_is_a_formula(self):
        for text in (self.tables("csv"), self.output("trace", "nvtx", "--format", "csv", "t.gpuprof"),
                     self.output("export", "--format", "csv", "-o", "-", "t.gpuprof")):
            for row in csv.reader(io.StringIO(text)):
                for field in row:
                    if not re.fullmatch(r"[-+]?[0-9.e+-]*", field) or field in ("+1", "-1"):
                        self.assertNotRegex(field, r"^[\s]*[=+@\t\r-]", row)

    def test_json(self):
        json.loads(self.tables("json"))
        json.loads(self.output("trace", "nvtx", "--format", "json", "t.gpuprof"))
        json.loads(self.output("export", "--format", "speedscope", "-o", "-", "t.gpuprof"))
        chrome = self.output("export", "-o", "-", "t.gpuprof")
        self.assertIn("owned", json.dumps(json.loads(chrome)))
        self.assertNotRegex(chrome, r"\\u[dD][89a-fA-F]")  # Perfetto refuses escaped surrogates
        lines = self.output("export", "--format", "jsonl", "-o", "-", "t.gpuprof").splitlines()
        self.assertIn("owned", json.dumps([json.loads(line) for line in lines]))

    def test_perfetto(self):
        self.output("export", "--format", "perfetto", "t.gpuprof")
        with open(self.path("t.pftrace"), "rb") as file:
            trace = perfetto.Trace(file.read())
        self.assertEqual({piece.name for piece in trace.slices if piece.category == "nvtx"},
                         {name.decode("utf-8", "replace") for name in NAMES})

    def test_metrics(self):
        text = self.output("export", "--format", "openmetrics", "-o", "-", "t.gpuprof")
        ranges = {labels["range"] for labels, _ in openmetrics.read(text.encode())["gpuprof_ranges"]}
        self.assertEqual(len(ranges), len(NAMES))

    def test_sqlite(self):
        self.output("export", "--format", "sqlite", "t.gpuprof")
        database = sqlite3.connect(self.path("t.sqlite"))
        self.addCleanup(database.close)
        self.assertEqual(database.execute("PRAGMA integrity_check").fetchall(), [("ok",)])
        texts = {text for (text,) in database.execute("SELECT text FROM NVTX_EVENTS WHERE eventType = 59")}
        self.assertEqual(texts, {name.decode("utf-8", "replace") for name in NAMES})

    def test_each_folded_line_is_a_stack_and_a_number(self):
        text = self.output("export", "--format", "folded", "--value", "allocated-bytes", "-o", "-", "t.gpuprof")
        self.assertTrue(text)
        for line in text.splitlines():
            self.assertRegex(line, r"^[^ ;][^;]*(;[^;]+)* [0-9]+$")

    def test_what_is_said_before_a_program_starts(self):
        escape = "\x1b[31m"
        static = os.path.basename(self.compile("static" + escape, "int main(void) { return 0; }", "-static"))
        for program, variables in (("true", {"CUDA_INJECTION64_PATH": "/" + escape}), ("true", {"NVTX_INJECTION64_PATH": "/" + escape}),
                                   ("true", {"GPUPROF_" + escape: "1"}), ("./" + static, {})):
            with self.subTest(program, **variables):
                result = self.run_program([GPUPROF, "run", program], support.PLAIN, **variables)
                self.assertEqual(result.returncode, 0, result.stderr)
                self.assertIn("\\x1b[31m", result.stderr)
                self.assertTrue(is_harmless(result.stderr), result.stderr)

    def test_what_the_doctor_says_of_a_program(self):
        result = self.run_program([GPUPROF, "doctor", "\x1b[31m"], support.PLAIN)
        self.assertIn("recording works here, but not for \\x1b[31m: see the failures above\n", result.stdout)
        self.assertTrue(is_harmless(result.stdout), result.stdout)

    def test_a_trace_of_a_hostile_name(self):
        name = os.path.join(os.fsencode(self.folder), b"\x1b[2J\xc2\x9b\n.gpuprof")
        os.rename(self.path("t.gpuprof"), name)
        for command in ("summary", "export", "finish"):
            self.output(command, name)
        os.unlink(name)
        result = self.run_gpuprof("summary", name)
        self.assert_one_line(result.stderr, "No such file")
        self.assertTrue(is_harmless(result.stderr.strip("\n")), result.stderr)


if __name__ == "__main__":
    support.main()
