"""Where trace, Chrome trace and summary go, and what is in them."""
import gzip
import json
import os
import re
import shutil
import socket
import subprocess
import time
import unittest

import support
from support import BARE, GPU, LAUNCHED, Case
from facts import Facts, differences

PROFILED = (BARE, LAUNCHED)


def rows_of(name, text):
    """Of a summary, or several: the rows of tables that end in the name."""
    return [line for line in text.splitlines() if line.endswith("  " + name)]


class Summary(Case):

    def test_it_goes_to_stderr_once_and_stdout_is_untouched(self):
        for way in PROFILED:
            result = self.run_program([*GPU, "launch=5"], way)
            self.assertEqual(result.stdout, "launches 5\n")
            self.assertEqual(len(rows_of("step_kernel", result.stderr)), 1, result.stderr)

    def test_it_goes_to_a_file(self):
        for way in PROFILED:
            name = self.path(f"{way.split()[0]}.txt")
            result = self.run_program([*GPU, "launch=5"], way, GPUPROF_SUMMARY=name)
            self.assertNotIn("step_kernel", result.stderr)
            with open(name, encoding="utf-8") as file:
                self.assertEqual(len(rows_of("step_kernel", file.read())), 1)

    def test_its_file_stays_where_the_program_started(self):
        os.mkdir(self.path("elsewhere"))
        for way in PROFILED:
            self.run_program([*GPU, "chdir=elsewhere", "launch=5"], way, GPUPROF_SUMMARY="summary.txt")
            self.assertIn("summary.txt", self.files())
            os.unlink(self.path("summary.txt"))

    def test_its_file_can_be_named_after_the_process(self):
        for way in PROFILED:
            self.run_program([*GPU, "launch=5"], way, GPUPROF_SUMMARY="%n-%p-%q{RANK}.txt", RANK="7", GPUPROF_CHROME="none")
            pid = re.fullmatch(r"gpuprof-gpu-(\d+)\.gpuprof", os.path.basename(self.only_trace())).group(1)
            self.assertEqual(self.files(".txt"), [f"gpu-{pid}-7.txt"])
            for name in self.files():
                os.unlink(self.path(name))

    def test_its_folder_may_have_a_percent_sign(self):
        for way in PROFILED:
            os.mkdir(self.path("100%p"))
            self.folder = self.path("100%p")
            self.run_program([*GPU, "launch=5"], way, GPUPROF_SUMMARY="%h", GPUPROF_OUTPUT="x", GPUPROF_CHROME="none")
            self.assertEqual(self.files(), sorted([socket.gethostname(), "x.gpuprof"]))

    def test_none_prints_none_and_still_writes_the_chrome_trace(self):
        for way in PROFILED:
            result = self.run_program([*GPU, "launch=5"], way, GPUPROF_SUMMARY="none", GPUPROF_OUTPUT="x")
            self.assertNotIn("step_kernel", result.stderr)
            self.assertEqual(self.files(), ["x.gpuprof", "x.json"])
            os.unlink(self.path("x.gpuprof"))
            os.unlink(self.path("x.json"))

    def test_it_says_where_the_files_are_and_how_to_open_them(self):
        for way in PROFILED:
            result = self.run_program([*GPU, "launch=5"], way, GPUPROF_OUTPUT=f"{way.split()[0]}")
            for name in (".gpuprof", ".json"):
                self.assertIn(self.path(way.split()[0]) + name, result.stderr)
            self.assertIn("ui.perfetto.dev", result.stderr)

    def test_a_large_chrome_trace_is_compressed(self):
        for launches, suffix in ((100, "json"), (60000, "json.gz")):
            result = self.run_program([*GPU, f"launch={launches}"], GPUPROF_OUTPUT=f"of {launches}")
            path = self.path(f"of {launches}.{suffix}")
            self.assertIn(path, result.stderr)
            self.assertEqual([name for name in self.files() if name.startswith(f"of {launches}")],
                             [f"of {launches}.gpuprof", f"of {launches}.{suffix}"])
        with gzip.open(path, "rt", encoding="utf-8") as file:
            events = json.load(file)["traceEvents"]
        self.assertEqual(sum(event.get("cat") == "kernel" for event in events), 60000)

    def test_without_stderr_it_goes_nowhere(self):
        script = f"'{support.LAUNCHER}' -o x {' '.join(GPU)} launch=5 2>&-"
        self.assertEqual(self.run_program(["sh", "-c", script], support.PLAIN).returncode, 0)
        for name in self.files():
            with open(self.path(name), "rb") as file:
                self.assertNotIn(b"GPU activities", file.read(), name)
        self.assertEqual(self.files(), ["x.gpuprof", "x.json"])

    def test_again_any_time_later(self):
        first = self.run_program([*GPU, "launch=5"])
        again = self.run_gpuprof("summary", self.only_trace())
        self.assertEqual((again.returncode, again.stderr), (0, ""))
        for line in first.stderr.splitlines():
            if "step_kernel" in line:
                self.assertIn(line, again.stdout)


class Names(Case):

    def run_named(self, template, way, *steps, **variables):
        result = self.run_program([*GPU, *steps, "launch=1"], way, GPUPROF_OUTPUT=template, GPUPROF_SUMMARY="none",
                                  **variables)
        self.assertEqual(result.returncode, 0, result.stderr)

    def test_the_default_is_script_and_process(self):
        for way in PROFILED:
            self.run_program([*GPU, "launch=1"], way)
            names = self.files(".gpuprof")
            self.assertEqual(len(names), 1)
            self.assertRegex(names[0], r"^gpuprof-gpu-\d+\.gpuprof$")
            self.assertEqual(self.files(".json"), [names[0].replace(".gpuprof", ".json")])
            for name in self.files():
                os.unlink(self.path(name))

    def test_templates(self):
        for way in PROFILED:
            self.run_named("%h+%n+%q{RANK}+%q{UNSET}+100%%", way, RANK="3/4", UNSET=None)
            self.assertIn(f"{socket.gethostname()}+gpu+3_4++100%.gpuprof", self.files())
            for name in self.files():
                os.unlink(self.path(name))

    def test_an_existing_name_gets_a_number(self):
        for way in PROFILED * 2:
            self.run_named("same", way)
        self.assertEqual(self.files(".gpuprof"), ["same.2.gpuprof", "same.3.gpuprof", "same.4.gpuprof", "same.gpuprof"])
        self.assertEqual(self.files(".json"), ["same.2.json", "same.3.json", "same.4.json", "same.json"])

    def test_the_folder_is_that_of_the_start(self):
        os.mkdir(self.path("elsewhere"))
        for way in PROFILED:
            self.run_named("here", way, "chdir=elsewhere")
        self.assertEqual(self.files(".gpuprof"), ["here.2.gpuprof", "here.gpuprof"])
        self.assertEqual(os.listdir(self.path("elsewhere")), [])

    def test_a_percent_in_the_folder(self):
        os.mkdir(self.path("100%p"))
        self.folder = self.path("100%p")
        for way in PROFILED:
            self.run_named("name", way)
        self.assertEqual(self.files(".gpuprof"), ["name.2.gpuprof", "name.gpuprof"])

    def test_a_folder_gets_the_default_name(self):
        for way in PROFILED:
            os.mkdir(self.path(way))
            self.run_named(way + "/", way)
            names = sorted(os.listdir(self.path(way)))
            self.assertEqual(len(names), 2)
            self.assertRegex(names[0], r"^gpuprof-gpu-\d+\.gpuprof$")

    def test_files_are_for_their_owner_alone(self):
        self.addCleanup(os.umask, os.umask(0))
        for way in PROFILED:
            self.run_program([*GPU, "launch=1"], way, GPUPROF_OUTPUT="x", GPUPROF_SUMMARY="summary")
        self.run_gpuprof("merge", "-o", "all.json", *self.files(".gpuprof"))
        self.run_gpuprof("summary", "--by", "kernel", "-o", "table", *self.files(".gpuprof"))
        modes = {name: oct(os.stat(self.path(name)).st_mode & 0o777) for name in self.files()}
        self.assertEqual(modes, dict.fromkeys(
            ["all.json", "summary", "table", "x.2.gpuprof", "x.2.json", "x.gpuprof", "x.json"], "0o600"))

    def test_commands_to_type_have_names_in_quotes(self):
        os.mkdir(self.path("it's here"))
        self.folder = self.path("it's here")
        for way in PROFILED:
            os.mkdir(self.path("summary"))
            result = self.run_program([*GPU, "launch=1"], way, GPUPROF_OUTPUT="a b", GPUPROF_SUMMARY="summary")
            command = re.search(r"type: gpuprof (summary .*)", result.stderr).group(1)
            again = self.run_program(["sh", "-c", f"{support.GPUPROF} {command}"], support.PLAIN)
            self.assertIn("step_kernel", again.stdout)
            os.rmdir(self.path("summary"))

    def test_a_summary_is_not_written_into_a_trace(self):
        self.run_program([*GPU, "launch=1"], options=["-o", "first", "--chrome", "none"])
        with open(self.path("first.gpuprof"), "rb") as file:
            before = file.read()
        for way in PROFILED:
            result = self.run_program([*GPU, "launch=1"], way, GPUPROF_SUMMARY="first.gpuprof", GPUPROF_CHROME="none")
            self.assertIn("first.gpuprof: it is a trace; to print it, type: gpuprof summary ", result.stderr)
            with open(self.path("first.gpuprof"), "rb") as file:
                self.assertEqual(file.read(), before)

    def test_an_option_counts_before_a_variable(self):
        self.run_program([*GPU, "launch=1"], options=["-o", "option"], GPUPROF_OUTPUT="variable")
        self.assertEqual(self.files(".gpuprof"), ["option.gpuprof"])


class Contents(Case):

    def export(self):
        result = self.run_gpuprof("export", "--format", "chrome", "-o", self.path("out.json"), self.only_trace())
        self.assertEqual(result.returncode, 0, result.stderr)
        return self.path("out.json")

    def test_everything_that_was_done_is_there(self):
        for way in PROFILED:
            result = self.run_program([*GPU, "launch=50", "copy=7", "leak=2"], way)
            self.assertEqual(result.stdout, "launches 50\ncopies 7\nleak.bytes 2048\n")
            facts = Facts(self.export())
            self.assertEqual(differences(facts, result.stdout), [])
            self.assertEqual([copy["args"]["bytes"] for copy in facts.copies], [4096] * 7)
            for name in self.files():
                os.unlink(self.path(name))

    def test_every_kernel_is_joined_to_its_launch(self):
        self.run_program([*GPU, "launch=50"])
        facts = Facts(self.export())
        launched = {call["args"]["correlation"] for call in facts.launches()}
        self.assertEqual(len(launched), 50)
        self.assertEqual(launched, {kernel["args"]["correlation"] for kernel in facts.kernels})

    def test_the_chrome_trace_at_exit_is_the_exported_one(self):
        self.run_program([*GPU, "launch=50", "copy=7"], options=["-o", "run"])
        with open(self.path("run.json"), encoding="utf-8") as at_exit, open(self.export(), encoding="utf-8") as later:
            self.assertEqual(json.load(at_exit)["traceEvents"], json.load(later)["traceEvents"])

    def test_a_limit_keeps_the_last_slices_and_says_so(self):
        result = self.run_program([*GPU, "launch=500"], options=["-o", "run", "--chrome-limit", "100"])
        self.assertLessEqual(len(Facts(self.path("run.json")).kernels), 100)
        self.assertGreater(len(Facts(self.path("run.json")).kernels), 0)
        self.assertIn("gpuprof export", result.stderr)
        self.assertEqual(len(Facts(self.export()).kernels), 500)

    def test_an_export_never_replaces_its_own_trace(self):
        self.run_program([*GPU, "launch=5"], GPUPROF_OUTPUT="good")
        before = os.path.getsize(self.path("good.gpuprof"))
        result = self.run_gpuprof("export", "-o", "good.gpuprof", "good.gpuprof")
        self.assertNotEqual(result.returncode, 0)
        self.assert_one_line(result.stderr, "is the trace itself")
        self.assertEqual(os.path.getsize(self.path("good.gpuprof")), before)

    def test_wrong_options_are_told_in_a_line_of_ours(self):
        for command in (["summary", "--by"], ["export", "--bogus"], ["trace", "gpu", "-x"], ["finish", "--chrome-limit"],
                        ["merge", "--limit"]):
            result = self.run_gpuprof(*command)
            self.assertEqual(result.returncode, 2)
            self.assert_one_line(result.stderr, command[0] + ": ", command[-1].lstrip("-"))

    def test_an_export_through_a_link_leaves_the_link(self):
        self.run_program([*GPU, "launch=5"], options=["-o", "run"])
        os.symlink(self.write("behind.json", "old"), self.path("out.json"))
        self.assertEqual(len(Facts(self.export()).kernels), 5)
        self.assertTrue(os.path.islink(self.path("out.json")))
        os.symlink("behind.json", self.path("new.json.tmp"))
        result = self.run_gpuprof("export", "-o", "new.json", "run.gpuprof")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertFalse(os.path.islink(self.path("new.json")))
        self.assertEqual(len(Facts(self.path("new.json")).kernels), 5)
        self.assertEqual(len(Facts(self.path("behind.json")).kernels), 5)

    def test_a_foreign_file_of_the_chrome_traces_name_stays(self):
        self.write("config.json", "mine")
        for way in PROFILED:
            self.run_program([*GPU, "launch=5"], way, GPUPROF_OUTPUT="config")
        with open(self.path("config.json"), encoding="utf-8") as file:
            self.assertEqual(file.read(), "mine")
        self.assertEqual(self.files(".gpuprof"), ["config.2.gpuprof", "config.3.gpuprof"])


class Crashes(Case):
    """A killed program loses nothing that was published."""

    def test_kill_and_underscore_exit(self):
        for way in PROFILED:
            for end in ("raise=9", "_exit=0"):
                self.run_program([*GPU, "launch=200", "leak=3", end], way, GPUPROF_OUTPUT="dead")
                summary = self.run_gpuprof("summary", "--full", self.path("dead.gpuprof"))
                self.assertEqual(summary.returncode, 0, summary.stderr)
                self.assertRegex(summary.stdout, r"cuLaunchKernel")
                self.assertEqual(len(Facts(self.export()).launches()), 200)
                self.run_gpuprof("finish", "--quiet", self.path("dead.gpuprof"))  # leaves nothing in /dev/shm
                for name in self.files():
                    os.unlink(self.path(name))

    export = Contents.export

    def test_the_launcher_finishes_a_killed_program(self):
        result = self.run_program([*GPU, "launch=200", "raise=9"], options=["-o", "dead"])
        self.assertRegex(result.stderr, "\n  (all )?200 launches[ ,]")
        self.assertIn("dead.json", self.files())
        self.assert_complete_by_itself("dead.gpuprof")
        self.assertIn("did not close its trace: the process was killed or crashed (SIGKILL)\n",
                      self.run_gpuprof("summary", "dead.gpuprof").stdout)

    def test_a_killed_program_is_finished_later(self):
        for rings in ("shm", "file"):
            self.run_program([*GPU, "launch=200", "raise=9"], BARE, GPUPROF_OUTPUT=rings, GPUPROF_RINGS=rings)
            self.run_gpuprof("summary", f"{rings}.gpuprof")
            finish = self.run_gpuprof("finish", f"{rings}.gpuprof")
            self.assertIn("was killed", finish.stderr)
            self.assert_complete_by_itself(f"{rings}.gpuprof")

    def test_the_next_run_finishes_what_was_killed(self):
        for way in PROFILED:
            for rings in ("shm", "file"):
                self.run_program([*GPU, "launch=200", "raise=9"], BARE, GPUPROF_OUTPUT="dead", GPUPROF_RINGS=rings)
                self.run_program([*GPU, "launch=1"], way, GPUPROF_OUTPUT="next")
                self.assert_complete_by_itself("dead.gpuprof")
                self.assertEqual(len(Facts(self.export_of("dead.gpuprof")).launches()), 200)
                os.unlink(self.path("dead.gpuprof"))

    def export_of(self, trace):
        self.assertEqual(self.run_gpuprof("export", "-o", self.path("out.json"), trace).returncode, 0)
        return self.path("out.json")

    def rings(self, trace):
        """The ring files of a trace that are still there."""
        with open(self.path(trace), "rb") as file:
            paths = set(re.findall(rb"/dev/shm/gpuprof-[0-9a-f-]+|/[^\0]*?\.rings-[0-9a-f]+", file.read()))
        self.assertEqual(len(paths), 1, paths)
        return [path for path in paths if os.path.exists(path)]

    def assert_complete_by_itself(self, trace):
        """Nothing of the process is left elsewhere, and a copy of the trace in another folder tells the same."""
        self.assertEqual(self.rings(trace), [])
        os.makedirs(self.path("elsewhere"), exist_ok=True)
        shutil.copy(self.path(trace), self.path("elsewhere"))
        here, there = (self.run_gpuprof("summary", os.path.join(folder, trace)) for folder in (".", "elsewhere"))
        self.assertEqual(here.returncode, 0, here.stderr)
        self.assertEqual(here.stdout, there.stdout)
        self.assertIn("did not close its trace", here.stdout)
        self.assertNotIn("did last may be missing", here.stdout)


class Trees(Case):
    """Programs that start programs."""

    def run_tree(self, script, **variables):
        gpu = " ".join(GPU)
        return self.run_program(["sh", "-c", script.replace("GPU", gpu)], **variables)

    def test_one_summary_for_two_processes_with_their_files(self):
        result = self.run_tree("GPU launch=5; GPU launch=7; exit 3")
        self.assertEqual((result.returncode, result.stdout), (3, "launches 5\nlaunches 7\n"))
        self.assertEqual(len(self.files(".gpuprof")), 2)
        self.assertEqual(len(self.files(".json")), 2)
        for name in self.files():
            self.assertIn(self.path(name), result.stderr)
        rows = rows_of("step_kernel", result.stderr)
        self.assertEqual(len(rows), 1, result.stderr)
        self.assertIn("12", rows[0].split())

    def test_a_bare_preload_prints_a_summary_for_each(self):
        gpu = " ".join(GPU)
        result = self.run_program(["sh", "-c", f"{gpu} launch=5; {gpu} launch=7"], BARE)
        self.assertEqual(len(rows_of("step_kernel", result.stderr)), 2, result.stderr)

    def test_an_unknown_variable_gets_one_line_for_the_whole_tree(self):
        result = self.run_tree("GPU launch=1; GPU launch=1", GPUPROF_OUTPUTS="x")
        self.assertEqual(result.stderr.count("GPUPROF_OUTPUTS"), 1, result.stderr)

    def test_processes_that_do_not_use_the_gpu_leave_no_files(self):
        self.run_tree("GPU say=a; GPU launch=1; GPU say=b")
        self.assertEqual(len(self.files()), 2)

    def test_one_that_lives_on_is_named_and_finishes_itself(self):
        os.mkfifo(self.path("hold"))
        hold = os.open(self.path("hold"), os.O_RDWR)  # open for writing too, so that nobody waits for us
        try:
            result = self.run_tree("GPU launch=5 touch=alive wait <hold >/dev/null 2>&1 &"
                                   "until [ -e alive ]; do :; done; GPU launch=7; exit 3")
            self.assertEqual((result.returncode, result.stdout), (3, "launches 7\n"))
            self.assertEqual(len(self.files(".gpuprof")), 2)
            self.assertEqual(len([line for line in result.stderr.splitlines() if "still runs" in line]), 1,
                             result.stderr)
        finally:
            os.close(hold)
        deadline = time.monotonic() + support.LIMIT_S
        while len(self.files(".json")) < 2 and time.monotonic() < deadline:
            pass
        self.assertEqual(len(self.files(".json")), 2)


class Commands(Case):

    def on_terminal(self, *arguments):
        """What a command says where somebody watches."""
        ours, its = os.openpty()
        with open(ours, "rb", buffering=0) as terminal:
            subprocess.run([support.GPUPROF, *arguments], cwd=self.folder, stdout=subprocess.DEVNULL, stderr=its, timeout=support.LIMIT_S, check=True)
            os.write(its, b"the end")
            os.close(its)
            said = b""
            while not said.endswith(b"the end"):
                said += terminal.read(4096)
        return said.decode()[:-len("the end")]

    def test_a_name_that_the_user_gave_is_said_on_a_terminal_only(self):
        self.run_program([*GPU, "launch=5"], options=["-q", "--chrome", "none", "-o", "x"])
        for arguments, name in ((["export", "-o", "y.json", "x.gpuprof"], "y.json"), (["merge", "-o", "all.json", "x.gpuprof"], "all.json")):
            self.assertEqual(self.on_terminal(*arguments), f"gpuprof: wrote {name}\r\n")
            self.assertIn(name, self.files())
            self.assertEqual(self.run_gpuprof(*arguments).stderr, "")
        self.assertEqual(self.on_terminal("export", "-o", "-", "x.gpuprof"), "")
        for command, name in (("export", "x.json"), ("html", "x.html")):
            self.assertEqual(self.run_gpuprof(command, "x.gpuprof").stderr, f"gpuprof: wrote {name}\n")


class BadTraces(Case):

    def check(self, path, *parts):
        for arguments in (["summary", path], ["export", "-o", self.path("out.json"), path]):
            result = self.run_gpuprof(*arguments)
            self.assertNotEqual(result.returncode, 0)
            self.assertEqual(result.stdout, "")
            self.assert_one_line(result.stderr, path, *parts)
        self.assertNotIn("out.json", self.files())

    def test_no_such_file(self):
        self.check(self.path("missing.gpuprof"), "No such file", "ls *.gpuprof")

    def test_not_a_trace(self):
        self.check(self.write("text.gpuprof", "This is no trace, and it is long enough to be looked at.\n"))
        self.check(self.write("empty.gpuprof", ""))

    def test_a_folder(self):
        """The summary takes one, and finds no trace in it; an export is of one trace."""
        for arguments, part in ((["summary"], "has no trace"), (["export", "-o", self.path("out.json")], f"gpuprof merge -F chrome -o OUT {self.folder}")):
            result = self.run_gpuprof(*arguments, self.folder)
            self.assertNotEqual(result.returncode, 0)
            self.assert_one_line(result.stderr, self.folder, part)

    @unittest.skipIf(os.geteuid() == 0, "root can read everything")
    def test_an_unreadable_file(self):
        self.check(self.write("secret.gpuprof", "x", 0), "Permission denied", "read it as that user")

    def test_a_newer_version(self):
        self.run_program([*GPU, "launch=1"], options=["-o", "new"])
        with open(self.path("new.gpuprof"), "r+b") as file:
            self.assertEqual(file.read(7), b"gpuprof")
            file.write(b"\xfe")
        self.check(self.path("new.gpuprof"), "newer")

    def test_a_file_that_was_cut_is_not_said_to_be_of_a_killed_process(self):
        self.run_program([*GPU, "launch=2000"], options=["-o", "x", "--stacks=alloc"])  # no names behind the end
        with open(self.path("x.gpuprof"), "rb") as file:
            whole = file.read()
        # within a chunk: how large each is hangs on when the writer got the processor, but calls come before the last three
        for chunk in [found.start() for found in re.finditer(b"Gchk", whole)][-3:]:
            with open(self.path("cut.gpuprof"), "wb") as file:
                file.write(whole[:chunk + 5])
            result = self.run_gpuprof("summary", "cut.gpuprof")
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertRegex(" ".join(result.stdout.split()), "note: the trace has no end: it was cut, or the process did not end "
                             "normally and its ring file .* is gone; its last records may be missing ")
            table = self.run_gpuprof("summary", "--by", "api", "cut.gpuprof")
            self.assertRegex(table.stderr.splitlines()[0], "killed or crashed, .*, or the file was cut; `gpuprof summary")

    def test_what_is_damaged_is_said_by_every_command(self):
        self.run_program([*GPU, "launch=60000"], options=["-o", "x"])
        with open(self.path("x.gpuprof"), "rb") as file:
            whole = bytearray(file.read())
        middle = len(whole) // 2  # some chunks of calls and of GPU records come before it
        damaged = whole[:middle] + bytes(byte ^ 255 for byte in whole[middle:middle + 100]) + whole[middle + 100:]
        for name, content, part in (("cut", whole[:middle], "is not complete"), ("bad", damaged, "bytes were skipped")):
            with open(self.path(f"{name}.gpuprof"), "wb") as file:
                file.write(content)
            for arguments in (["export", "-o", "out.json"], ["merge", "-o", "out.json"], ["trace", "api"], ["summary", "--by", "kernel"]):
                result = self.run_gpuprof(*arguments, f"{name}.gpuprof")
                self.assertEqual(result.returncode, 0, result.stderr)
                self.assert_one_line(result.stderr, f"{name}.gpuprof", part, "says more")
            self.assertRegex(self.run_gpuprof("summary", f"{name}.gpuprof").stdout, r"\AINCOMPLETE: pid \d+ ")

    def test_a_trace_that_is_named_twice_is_merged_once(self):
        self.run_program([*GPU, "launch=5"], options=["-o", "x"])
        for name, traces in (("one.json", ["x.gpuprof"]), ("two.json", ["x.gpuprof", "./x.gpuprof"])):
            said = self.run_gpuprof("merge", "-o", name, *traces)
            self.assertEqual(said.returncode, 0, said.stderr)
        self.assert_one_line(said.stderr, "./x.gpuprof is named twice; it is counted once")
        with open(self.path("one.json"), "rb") as one, open(self.path("two.json"), "rb") as two:
            self.assertEqual(one.read(), two.read())

    def test_numbers_have_limits(self):
        for command in (["export"], ["merge", "-o", "x.json"]):
            result = self.run_gpuprof(*command, "--limit", "99999999999999999999", "x.gpuprof")
            self.assertEqual(result.returncode, 2)
            self.assert_one_line(result.stderr, "--limit needs a number up to 1000000000, not 99999999999999999999")

    def test_an_unwritable_output(self):
        self.run_program([*GPU, "launch=1"], options=["-o", "x"])
        result = self.run_gpuprof("export", "-o", self.path("missing", "x.json"), self.path("x.gpuprof"))
        self.assertNotEqual(result.returncode, 0)
        self.assert_one_line(result.stderr, self.path("missing", "x.json"))


if __name__ == "__main__":
    support.main()
