"""Nobody gets more than he has: programs with more rights than their user, folders that are everybody's, no network."""
import glob
import os
import re
import shutil
import subprocess
import time
import unittest

import support
from support import BARE, BUILD, GPU, GPUPROF, LAUNCHED, LIBRARY, PLAIN, Case

NOBODY = 65534
PRELOADED = "libBrokenLocale.so.1"  # of the C library, in a folder that the loader trusts; no program needs it

# Does all that could wake us: it uses the GPU and ranges, calls what we export, forks, and becomes another program.
PROGRAM = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <link.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/wait.h>
#include <unistd.h>

extern int cuInit(unsigned), cuCtxCreate_v2(void **, unsigned, int), cuMemAlloc_v2(uint64_t *, size_t);

static void *handle = RTLD_DEFAULT;

static void *find(const char *name)
{
	return dlsym(handle, name);
}

static const void *no_table(uint32_t id)
{
	(void)id;
	return NULL;
}

static void call_exports(void)
{
	int (*initialize)(void) = find("InitializeInjection");
	int (*nvtx)(const void *(*)(uint32_t)) = find("InitializeInjectionNvtx2");
	int (*push)(const char *) = find("gpuprof_v1_range_push");
	int (*pop)(void) = find("gpuprof_v1_range_pop");
	void (*start)(void) = find("gpuprof_v1_start");
	void (*mark)(const char *) = find("gpuprof_v1_mark");

	if (!initialize || !nvtx || !push || !pop || !start || !mark) {
		printf("the library is not here\n");
		exit(3);
	}
	initialize();
	nvtx(no_table);
	start();
	push("range");
	mark("mark");
	pop();
}

static void use_gpu(void)
{
	void *context;
	uint64_t memory;

	if (cuInit(0) || cuCtxCreate_v2(&context, 0, 0) || cuMemAlloc_v2(&memory, 4096))
		exit(4);
}

int main(int argc, char **argv)
{
	if (argc > 1)
		handle = dlopen(argv[1], RTLD_NOW | RTLD_GLOBAL);
	if (!handle && argc > 1)
		return 5;
	call_exports();
	use_gpu();
	printf("pid %d\nsecure %lu, CUDA %s, NVTX %s\n", (int)getpid(), getauxval(AT_SECURE), getenv("CUDA_INJECTION64_PATH") ? "set" : "unset",
	       getenv("NVTX_INJECTION64_PATH") ? "set" : "unset");
	fflush(stdout);
	if (fork() == 0)
		_exit(0);
	wait(NULL);
	execl("/usr/bin/env", "env", "sh", "-c", "echo preload [$LD_PRELOAD]", NULL);
	return 6;
}
"""


@unittest.skipIf(os.geteuid() != 0, "needs root to make programs with more rights")
class Secure(Case):
    """In a program with more rights than its user the library does nothing, however it got there."""

    def setUp(self):
        super().setUp()
        if os.statvfs(self.folder).f_flag & os.ST_NOSUID:
            self.skipTest("the folder's file system is mounted nosuid")
        os.mkdir(self.path("lib"))
        for name in ("libcuda.so.1", "libgpusim.so", "libcupti.so.13"):
            shutil.copy(os.path.join(BUILD, "sim", name), self.path("lib"))
        shutil.copy(LIBRARY, self.path("lib"))
        self.library = self.path("lib", "libgpuprof.so")
        self.program = self.compile("program", PROGRAM, "-ldl", f"-L{self.path('lib')}", "-l:libcuda.so.1", f"-Wl,-rpath,{self.path('lib')}",
                                    f"-Wl,-rpath-link,{self.path('lib')}")
        os.chmod(self.folder, 0o777)  # it could be written to

    def run_it(self, privileged, *arguments, before=(), **variables):
        if privileged:
            os.chown(self.program, NOBODY, NOBODY)
            os.chmod(self.program, 0o4755)
        variables = {"GPUPROF_OUTPUT": self.path("trace"), "GPUPROF_FLUSH_MS": "nonsense", "GPUPROF_CHROME": "none", **variables}
        result = self.run_program([*before, self.program, *arguments], PLAIN, **variables)
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        return result

    def assert_nothing(self, result, cuda="unset", nvtx="unset"):
        pid, rest = result.stdout.split("\n", 1)
        self.assertEqual((rest, result.stderr), (f"secure 1, CUDA {cuda}, NVTX {nvtx}\npreload []\n", ""))
        self.assertEqual(glob.glob(f"/dev/shm/gpuprof-*-{pid.split()[1]}-*"), [])
        self.assertEqual(self.files(), ["lib", "program"])

    def test_an_ordinary_program_is_recorded(self):
        result = self.run_it(False, self.library)
        self.assertIn("secure 0, CUDA set, NVTX set\n", result.stdout)
        self.assertIn("GPUPROF_FLUSH_MS=nonsense is not", result.stderr)
        self.assertEqual(self.files(".gpuprof"), ["trace.gpuprof"])
        self.run_gpuprof("finish", "-q", "--chrome", "none", "trace.gpuprof")  # the rings, left by what loaded it and did not end

    def test_a_program_that_loads_it(self):
        self.assert_nothing(self.run_it(True, self.library))

    def test_variables_that_name_it(self):
        variables = {"CUDA_INJECTION64_PATH": self.library, "NVTX_INJECTION64_PATH": self.library}
        self.assert_nothing(self.run_it(True, self.library, **variables), "set", "set")

    def test_file_capabilities(self):
        if not shutil.which("setcap") or subprocess.run(["setcap", "cap_net_raw+ep", self.program], check=False,
                                                        stderr=subprocess.DEVNULL).returncode:
            self.skipTest("no file capabilities here")
        before = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"]
        self.assert_nothing(self.run_it(False, self.library, before=before))

    def test_it_is_preloaded_from_a_folder_of_the_system(self):
        """Which takes an administrator, who gives the library the bit that says so."""
        place = os.path.join("/lib/x86_64-linux-gnu", PRELOADED)
        script = f'mount --bind {self.library} {place} && exec "$@"'
        before = ["unshare", "-m", "sh", "-c", script, "sh", "env", f"LD_PRELOAD={PRELOADED}"]
        if not os.path.exists(place) or not shutil.which("unshare") or subprocess.run(
                [*before, "true"], stderr=subprocess.DEVNULL, check=False).returncode:
            self.skipTest("cannot take the place of a library of the system")
        os.chmod(self.library, 0o4755)
        self.assertIn("secure 0, CUDA set", self.run_it(False, before=before).stdout)
        for name in self.files(".gpuprof"):
            os.unlink(self.path(name))
        self.assert_nothing(self.run_it(True, before=before))


@unittest.skipIf(os.geteuid() != 0, "needs root to be several users")
class SharedFolder(Case):
    """In a folder like /tmp another user was there first, with every name that can be guessed."""

    def setUp(self):
        super().setUp()
        os.mkdir(self.path("tmp"))
        os.chown(self.path("tmp"), NOBODY - 1, NOBODY - 1)
        os.chmod(self.path("tmp"), 0o1777)
        self.victim = self.write("victim", "mine\n", 0o600)

    def plant_link(self, name):
        os.symlink(self.victim, self.path("tmp", name))
        os.lchown(self.path("tmp", name), NOBODY, NOBODY)

    def plant_file(self, name):
        with open(self.path("tmp", name), "w", encoding="utf-8"):
            pass
        os.chmod(self.path("tmp", name), 0o666)
        os.chown(self.path("tmp", name), NOBODY, NOBODY)

    def check(self, *expected):
        """The victim's file is as it was, and what is new is his own."""
        with open(self.victim, encoding="utf-8") as file:
            self.assertEqual(file.read(), "mine\n")
        own = {}
        for name in os.listdir(self.path("tmp")):
            status = os.lstat(self.path("tmp", name))
            if status.st_uid == os.geteuid():
                own[name] = oct(status.st_mode)
            else:
                self.assertEqual(os.path.getsize(self.path("tmp", name)) if not os.path.islink(self.path("tmp", name)) else 0, 0, name)
        self.assertEqual(own, dict.fromkeys(expected, "0o100600"))

    def test_a_recording(self):
        for plant in (self.plant_link, self.plant_file):
            for way in (BARE, LAUNCHED):
                with self.subTest(plant.__name__, way=way):
                    for name in ("t.gpuprof", "t.2.json", "t.3.json.tmp", "summary"):
                        plant(name)
                    result = self.run_program([*GPU, "launch=3"], way, GPUPROF_OUTPUT=self.path("tmp", "t"),
                                              GPUPROF_SUMMARY=self.path("tmp", "summary"))
                    self.assertEqual((result.returncode, result.stdout), (0, "launches 3\n"), result.stderr)
                    self.assertIn("another user's file has that name", result.stderr)
                    self.check("t.3.gpuprof", "t.3.json")
                    for name in os.listdir(self.path("tmp")):
                        os.unlink(self.path("tmp", name))

    def test_what_commands_write(self):
        self.run_program([*GPU, "launch=3"], LAUNCHED, GPUPROF_OUTPUT=self.path("t"))
        trace = self.path("t.gpuprof")
        for command in (["export", "-o"], ["summary", "-o"], ["merge", "-o"], ["trace", "gpu", "-o"]):
            with self.subTest(command[0]):
                self.plant_link("out")
                result = self.run_gpuprof(*command, self.path("tmp", "out"), trace)
                self.assertEqual(result.returncode, 1)
                self.assert_one_line(result.stderr, self.path("tmp", "out"), "another user's file has that name")
                self.check()
                os.unlink(self.path("tmp", "out"))

    def test_links_and_pipes_of_ones_own_are_written_to(self):
        self.run_program([*GPU, "launch=3"], LAUNCHED, GPUPROF_OUTPUT=self.path("t"))
        os.symlink(self.write("mine", ""), self.path("tmp", "out"))
        result = self.run_gpuprof("summary", "-o", self.path("tmp", "out"), self.path("t.gpuprof"))
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertGreater(os.path.getsize(self.path("mine")), 100)
        line = f'{GPUPROF} summary -o "$0" {self.path("t.gpuprof")} > {self.path("redirected")}'
        for name in ("/dev/stdout", "/dev/fd/1", "-"):
            subprocess.run(["sh", "-c", line, name], check=True)
            self.assertGreater(os.path.getsize(self.path("redirected")), 100)

    def test_top_believes_no_ring_file_of_another_user(self):
        program = subprocess.Popen([*GPU, "launch=3", "wait"], cwd=self.folder, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                   env=support.environment(LD_PRELOAD=LIBRARY, GPUPROF_OUTPUT=self.path("t")))
        self.addCleanup(program.wait)
        self.addCleanup(program.stdin.close)
        while not glob.glob(f"/dev/shm/gpuprof-0-{program.pid}-*") or not self.files(".gpuprof"):
            time.sleep(0.01)
        (rings,) = glob.glob(f"/dev/shm/gpuprof-0-{program.pid}-*")
        with open(rings, "rb") as file:
            header = bytearray(file.read(4096))
        at = header.index(os.fsencode(self.path("t.gpuprof")))
        header[at:at + len(self.path("his"))] = os.fsencode(self.path("his"))
        header[at + len(self.path("his"))] = 0
        planted = f"/dev/shm/gpuprof-{NOBODY}-{program.pid}-0"
        self.addCleanup(os.unlink, planted)
        with open(planted, "wb") as file:
            file.write(header)
        os.unlink(rings)  # either may be found first
        for owner, is_believed in ((0, True), (NOBODY, False)):
            os.chown(planted, owner, owner)
            result = self.run_gpuprof("top", "--batch", "--iterations", "1", str(program.pid))
            self.assertEqual((result.returncode, self.path("his") in result.stderr), (1, is_believed), result.stderr)

    def test_folders_for_a_run_are_not_to_be_guessed(self):
        result = self.run_program(["sh", "-c", "stat -c '%a %u %n' $GPUPROF_SESSION"], options=["-q"], TMPDIR=self.path("tmp"),
                                  XDG_RUNTIME_DIR=None)
        self.assertRegex(result.stdout, rf"^700 {os.geteuid()} {self.path('tmp')}/gpuprof-run-[0-9a-f]{{8}}-[A-Za-z0-9]{{6}}\n$")


SECRET = """
#include <signal.h>

extern int cuInit(unsigned), cuCtxCreate_v2(void **, unsigned, int), cuMemAlloc_v2(unsigned long *, unsigned long);

__attribute__((noinline)) int function_of_a_secret_program(unsigned long *memory)
{
	return cuMemAlloc_v2(memory, 1 << 20) + 0 * (int)*memory;
}

int main(void)
{
	unsigned long memory = 0;
	void *context;

	if (cuInit(0) || cuCtxCreate_v2(&context, 0, 0) || function_of_a_secret_program(&memory))
		return 1;
	return raise(9);
}
"""


@unittest.skipIf(os.geteuid() != 0, "needs root to be several users")
class FolderOfAnother(Case):
    """Another user's folder, with a trace of his and with links at the names that gpuprof gives its outputs."""

    def setUp(self):
        super().setUp()
        os.mkdir(self.path("bob"))
        os.chown(self.path("bob"), NOBODY, NOBODY)
        os.chmod(self.folder, 0o755)
        self.victim = self.write("victim", "mine\n", 0o600)

    def give(self, name):
        os.chown(self.path("bob", name), NOBODY, NOBODY, follow_symlinks=False)

    def test_outputs_do_not_follow_his_links(self):
        self.run_program([*GPU, "launch=3"], options=["-q", "--chrome", "none", "-o", self.path("bob", "t")])
        self.give("t.gpuprof")
        for command, name in (("export", "t.json"), ("html", "t.html"), ("finish", "t.json"), (("export", "--format", "sqlite"), "t.sqlite"),
                              (("finish", "--html"), "t.html")):
            with self.subTest(command):
                for planted in (name, name + ".tmp"):
                    os.symlink(self.victim, self.path("bob", planted))
                    self.give(planted)
                command = [command] if isinstance(command, str) else command
                result = self.run_gpuprof(*command, self.path("bob", "t.gpuprof"))
                self.assertEqual(result.returncode, 0, result.stderr)
                with open(self.victim, encoding="utf-8") as file:
                    self.assertEqual(file.read(), "mine\n")
                status = os.lstat(self.path("bob", name))
                self.assertEqual((oct(status.st_mode), status.st_uid), ("0o100600", os.geteuid()))
                for file in set(os.listdir(self.path("bob"))) - {"t.gpuprof"}:
                    os.unlink(self.path("bob", file))

    def test_a_link_of_his_that_is_typed_is_refused(self):
        self.run_program([*GPU, "launch=3"], options=["-q", "--chrome", "none", "-o", self.path("t")])
        os.symlink(self.victim, self.path("bob", "out"))
        self.give("out")
        result = self.run_gpuprof("export", "-o", self.path("bob", "out"), self.path("t.gpuprof"))
        self.assertEqual(result.returncode, 1)
        self.assert_one_line(result.stderr, "another user's file has that name")
        self.assertEqual(os.path.getsize(self.victim), 5)

    def test_his_link_to_a_folder_is_followed_to_folders_of_his_only(self):
        """A link of another user on the way to a typed output name: of an export, a summary and a trace."""
        self.run_program([*GPU, "launch=3"], options=["-q", "--chrome", "none", "-o", self.path("t")])
        os.mkdir(self.path("mine"))
        os.mkdir(self.path("bob", "his"))
        for link, target in (("out", self.path("mine")), ("ok", "his")):
            os.symlink(target, self.path("bob", link))
            self.give(link)
        self.give("his")
        for link, is_refused in (("out", True), ("ok", False)):
            place = self.path("bob", link)
            summary = os.path.join(place, "summary")
            for name, result in (
                    ("t.json", self.run_gpuprof("export", "-o", os.path.join(place, "t.json"), self.path("t.gpuprof"))),
                    ("summary", self.run_gpuprof("finish", "--chrome", "none", "--summary", summary, self.path("t.gpuprof"))),
                    ("pq", self.run_gpuprof("export", "--format", "parquet", "-o", os.path.join(place, "pq"), self.path("t.gpuprof"))),
                    ("u.gpuprof", self.run_program([*GPU, "launch=3"], options=["-q", "--chrome", "none", "-o", os.path.join(place, "u")]))):
                with self.subTest(name, link=link):
                    self.assertEqual(place in result.stderr, is_refused, result.stderr)
                    self.assertEqual(os.path.exists(os.path.join(place, name)), not is_refused)
        self.assertEqual(os.listdir(self.path("mine")), [])
        self.assertIn("another user's link", self.run_gpuprof("export", "-o", self.path("bob", "out", "t.json"), self.path("t.gpuprof")).stderr)
        result = self.run_gpuprof("export", "--format", "parquet", "-o", self.path("bob", "out"), self.path("t.gpuprof"))
        self.assertEqual((result.returncode, os.listdir(self.path("mine"))), (1, []))

    def test_doctor_empties_the_folder_that_it_made(self):
        """Not the one that he leads its name to while it runs."""
        doctor = subprocess.Popen([GPUPROF, "doctor"], cwd=self.path("bob"), env=support.environment(), stdout=subprocess.DEVNULL)
        while doctor.poll() is None and not glob.glob(self.path("bob", "gpuprof-doctor-*")):
            time.sleep(0.001)
        (made,) = glob.glob(self.path("bob", "gpuprof-doctor-*"))
        os.rename(made, self.path("bob", "away"))
        os.symlink(self.folder, made)
        doctor.wait()
        self.assertEqual([os.path.exists(self.victim), os.listdir(self.path("bob", "away"))], [True, []])

    def record_killed(self):
        self.run_program([*GPU, "launch=200", "raise=9"], BARE, GPUPROF_OUTPUT=self.path("bob", "dead"), GPUPROF_RINGS="file")
        rings = glob.glob(self.path("bob", "*.rings-*"))
        self.assertEqual(len(rings), 1)
        return self.path("bob", "dead.gpuprof"), os.path.basename(rings[0])

    def test_root_saves_rings_of_a_user_into_his_trace_alone(self):
        trace, rings = self.record_killed()
        self.give("dead.gpuprof")  # which names a file of root's
        before = os.path.getsize(trace)
        finish = ["finish", "-q", "--chrome", "none", trace]
        self.run_gpuprof(*finish)
        self.assertEqual((os.path.getsize(trace), os.path.exists(self.path("bob", rings))), (before, True))
        self.give(rings)
        self.run_gpuprof(*finish)
        self.assertGreater(os.path.getsize(trace), before)
        self.assertFalse(os.path.exists(self.path("bob", rings)))

    @unittest.skipUnless(shutil.which("setpriv"), "needs setpriv")
    def test_root_finishes_what_a_killed_program_of_a_user_left(self):
        program = self.compile("program", SECRET, "-g", f"-L{BUILD}/sim", "-lcuda")
        drop = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"]
        result = self.run_program([*drop, "env", f"LD_PRELOAD={LIBRARY}", program], PLAIN, GPUPROF_OUTPUT=self.path("bob", "t"), GPUPROF_STACKS="alloc")
        if "cannot be preloaded" in result.stderr:
            self.skipTest("others may not read the build folder")
        with open(self.path("bob", "t.gpuprof"), "rb") as file:
            ring = re.search(rb"/dev/shm/gpuprof-[0-9a-f-]+", file.read()).group(0)
        self.assertTrue(os.path.exists(ring))
        self.run_gpuprof("finish", "-q", "--chrome", "none", self.path("bob", "t.gpuprof"))
        self.assertEqual((os.stat(self.path("bob", "t.gpuprof")).st_uid, os.path.exists(ring)), (NOBODY, False))
        os.unlink(program)
        stacks = self.run_gpuprof("export", "--format", "folded", "--value", "leaked-bytes", "-o", "-", self.path("bob", "t.gpuprof"))
        self.assertIn("function_of_a_secret_program", stacks.stdout, stacks.stderr)

    def test_root_tells_a_user_no_names_of_files_that_he_may_not_read(self):
        program = self.compile("program", SECRET, "-g", f"-L{BUILD}/sim", "-lcuda")
        for mode, has_name in ((0o700, False), (0o755, True)):
            os.chmod(program, mode)
            self.run_program([program], BARE, GPUPROF_OUTPUT=self.path("bob", "t"), GPUPROF_STACKS="alloc", GPUPROF_RINGS="file")
            for name in os.listdir(self.path("bob")):
                self.give(name)
            self.run_gpuprof("finish", "-q", "--chrome", "none", self.path("bob", "t.gpuprof"))
            os.rename(program, self.path("away"))
            stacks = self.run_gpuprof("export", "--format", "folded", "--value", "leaked-bytes", "-o", "-", self.path("bob", "t.gpuprof"))
            self.assertEqual("function_of_a_secret_program" in stacks.stdout, has_name, stacks.stderr)
            os.rename(self.path("away"), program)
            os.unlink(self.path("bob", "t.gpuprof"))


@unittest.skipIf(os.geteuid() != 0, "needs root to be several users")
class Planted(Case):
    """The search for libcupti goes from the program's runtime to folders that others may have made."""

    SOURCE = """
extern int cudaMalloc(void **, unsigned long);

int main(void)
{
	void *memory;

	return cudaMalloc(&memory, 1 << 20);
}
"""

    def test_his_files_beside_a_copy_are_not_run(self):
        """The program alone, or the library alone, in a folder like /tmp."""
        os.chmod(self.folder, 0o1777)
        shutil.copy(GPUPROF, self.path("gpuprof"))
        shutil.copy(LIBRARY, self.path("libgpuprof.so"))
        for owner, is_run in ((NOBODY, False), (0, True)):
            os.chown(self.path("libgpuprof.so"), owner, owner)
            result = self.run_program([self.path("gpuprof"), "run", "-q", "sh", "-c", "echo [$LD_PRELOAD]"], PLAIN)
            self.assertEqual("libgpuprof.so]" in result.stdout, is_run, result.stderr)
        self.write("gpuprof", f"#!/bin/sh\n>{self.path('was-run')}\n", 0o755)
        for owner, is_run in ((NOBODY, False), (0, True)):
            os.chown(self.path("gpuprof"), owner, owner)
            self.run_program([*GPU, "launch=3"], PLAIN, LD_PRELOAD=self.path("libgpuprof.so"), GPUPROF_OUTPUT=self.path("t"))
            self.assertEqual(os.path.exists(self.path("was-run")), is_run)

    def prepare(self):
        for folder in ("driver", "ENV/lib", "cuda_cupti/lib"):
            os.makedirs(self.path(folder))
        for name, folder in (("libcuda.so.1", "driver"), ("libgpusim.so", "driver"), ("libcudart.so.13", "ENV/lib"),
                             ("libcupti.so.13", "cuda_cupti/lib"), ("libcupti.so.13", "driver")):
            shutil.copy(os.path.join(BUILD, "sim", name), self.path(folder))
        os.chmod(self.folder, 0o777)  # above the runtime, too: no reason to refuse
        return self.compile("program", self.SOURCE, f"-L{self.path('ENV/lib')}", "-l:libcudart.so.13", f"-Wl,-rpath,{self.path('ENV/lib')}",
                            f"-Wl,-rpath-link,{self.path('driver')}")

    def loads(self, program, *names):
        """Whether the trace has these files as the loaded libcupti."""
        self.run_program([program], options=["-q", "--chrome", "none"], LD_LIBRARY_PATH=self.path("driver"), GPUPROF_OUTPUT=self.path("t"))
        with open(self.only_trace(), "rb") as file:
            trace = file.read()
        os.unlink(self.only_trace())
        return [os.fsencode(name) in trace for name in names]

    def test_a_libcupti_of_another_user_is_not_loaded(self):
        program = self.prepare()
        for owner, mode, is_loaded in ((0, 0o755, True), (NOBODY, 0o755, False), (0, 0o777, False), (0, 0o775, True)):
            for at in ("cuda_cupti", "cuda_cupti/lib", "cuda_cupti/lib/libcupti.so.13"):
                with self.subTest(at, owner=owner, mode=oct(mode)):
                    os.chown(self.path(at), owner, owner)
                    os.chmod(self.path(at), mode)
                    self.assertEqual(self.loads(program, "cuda_cupti/lib/libcupti.so.13", "driver/libcupti.so.13"), [is_loaded, not is_loaded])
                    os.chown(self.path(at), 0, 0)
                    os.chmod(self.path(at), 0o755)

    def test_his_link_to_a_libcupti_is_not_what_is_loaded(self):
        """He could lead it elsewhere between the check and the loader."""
        program = self.prepare()
        os.mkdir(self.path("toolkit"))
        os.rename(self.path("cuda_cupti/lib/libcupti.so.13"), self.path("toolkit/libcupti.so.13"))
        os.symlink(self.path("toolkit/libcupti.so.13"), self.path("cuda_cupti/lib/libcupti.so.13"))
        for at in ("cuda_cupti", "cuda_cupti/lib", "cuda_cupti/lib/libcupti.so.13"):
            os.chown(self.path(at), NOBODY, NOBODY, follow_symlinks=False)
        self.assertEqual(self.loads(program, "cuda_cupti/lib/libcupti.so.13", "toolkit/libcupti.so.13"), [False, True])


class Secrets(Case):
    """What stands on a command line is not in what is mailed or printed in the logs of CI."""

    OUTPUTS = (["summary"], ["summary", "--format", "json"], ["advice"], ["html"], ["trace", "api"], *(["export", "--format", name] for name in (
        "chrome", "perfetto", "sqlite", "jsonl", "csv", "openmetrics", "speedscope")))

    def outputs(self, **variables):
        for command in self.OUTPUTS:
            result = subprocess.run([GPUPROF, *command, "-o", self.path("out"), "t.gpuprof"], cwd=self.folder, check=False,
                                    env=support.environment(**variables), stderr=subprocess.PIPE)
            self.assertEqual(result.returncode, 0, (command, result.stderr))
            with open(self.path("out"), "rb") as file:
                yield command, file.read()

    def test_values_of_secrets_are_masked(self):
        program = self.compile_named("program", [b"a"])
        arguments = [program, "--token=S3CRET", "--password", "S3CRET", "https://me:S3CRET@host/", "--steps=STEPS"]
        self.run_program(arguments, options=["-q", "--chrome", "none", "-o", "t"])
        with_command = 0
        for command, text in self.outputs():
            self.assertNotIn(b"S3CRET", text, command)
            with_command += b"--steps=STEPS" in text
        self.assertGreater(with_command, 3)
        for command, text in self.outputs(GPUPROF_NO_COMMAND="1"):
            self.assertNotIn(b"STEPS", text, command)

    def test_the_command_is_left_out(self):
        program = self.compile_named("program", [b"a"])
        for options, has_command in (([], True), (["--no-command"], False)):
            self.run_program([program, "--token=S3CRET"], options=["-q", "--chrome", "none", "-o", "t", *options])
            with open(self.path("t.gpuprof"), "rb") as file:
                self.assertEqual(b"S3CRET" in file.read(), has_command)
            os.unlink(self.path("t.gpuprof"))


class Network(unittest.TestCase):

    CALLS_SOMEBODY = {"connect", "sendto", "sendmsg", "getaddrinfo", "gethostbyname", "res_query", "popen", "system"}
    IS_CALLED = {"socket", "bind", "listen", "accept", "accept4"}

    @staticmethod
    def needs(file):
        symbols = subprocess.run(["nm", "-D", "--undefined-only", file], stdout=subprocess.PIPE, universal_newlines=True,
                                 check=True).stdout
        return {line.split()[-1].split("@")[0] for line in symbols.splitlines()}

    def test_what_is_in_the_program_cannot_speak_to_it(self):
        self.assertIn("setenv", self.needs(LIBRARY))
        self.assertFalse(self.needs(LIBRARY) & (self.CALLS_SOMEBODY | self.IS_CALLED))

    def test_the_reports_call_nobody(self):
        """`gpuprof serve` waits to be called, from this machine alone: serve_test.py."""
        self.assertIn("exit", self.needs(GPUPROF))
        self.assertFalse(self.needs(GPUPROF) & self.CALLS_SOMEBODY)


if __name__ == "__main__":
    support.main()
