"""Trees of processes: each one that uses the GPU has a trace of its own with what it did, and the tree does what it does without us.

tests/gpu/run runs this on a real GPU, too."""
import ctypes
import json
import os
import platform
import re
import signal
import subprocess
import sys
import unittest

import chrome_lint
import support
from facts import Facts
from support import BARE, GPU, LAUNCHED, PLAIN, Case

SHELL_GPU = " ".join(GPU)

# starts argv[2...] as argv[1] says, with an environment of its own if that begins with "bare-"
STARTER = r"""
#define _GNU_SOURCE
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static char *library_path, *path;

static void run(const char *how, char **program, char **environment)
{
	if (strstr(how, "-fexecve"))
		fexecve(open(program[0], O_RDONLY | O_CLOEXEC), program, environment);
	else if (strstr(how, "-execvpe"))
		execvpe(program[0], program, environment);
	environ = environment;
	if (strstr(how, "-execve"))
		execve(program[0], program, environment);
	else if (strstr(how, "-execvp"))
		execvp(strrchr(program[0], '/') + 1, program);
	else if (strstr(how, "-execv"))
		execv(program[0], program);
	else if (strstr(how, "-execle"))
		execle(program[0], program[0], program[1], program[2], (char *)NULL, environment);
	else if (strstr(how, "-execlp"))
		execlp(strrchr(program[0], '/') + 1, program[0], program[1], program[2], (char *)NULL);
	else if (strstr(how, "-execl"))
		execl(program[0], program[0], program[1], program[2], (char *)NULL);
	_exit(99);
}

int main(int argc, char **argv)
{
	char **environment = environ;
	int is_bare = !strncmp(argv[1], "bare-", 5), status = 98 << 8;
	pid_t child = 0;

	(void)argc;
	if (asprintf(&library_path, "LD_LIBRARY_PATH=%s", getenv("LD_LIBRARY_PATH")) < 0 ||
	    asprintf(&path, "PATH=%s", getenv("PATH")) < 0)
		return 1;
	char *bare[] = {library_path, path, NULL};

	if (is_bare)
		environment = bare;
	if (strstr(argv[1], "posix_spawnp"))
		posix_spawnp(&child, strrchr(argv[2], '/') + 1, NULL, NULL, argv + 2, environment);
	else if (strstr(argv[1], "posix_spawn"))
		posix_spawn(&child, argv[2], NULL, NULL, argv + 2, environment);
	else if (strstr(argv[1], "vfork")) {
		if ((child = vfork()) == 0)
			run(argv[1], argv + 2, environment);
	} else if ((child = fork()) == 0) {
		run(argv[1], argv + 2, environment);
	}
	while (waitpid(child, &status, 0) < 0)
		;
	printf("ended with %d\n", WEXITSTATUS(status));
	return 5;
}
"""
WAYS_TO_START = [f"{fork}-{name}" for fork in ("fork", "vfork")
                 for name in ("execve", "execv", "execvp", "execvpe", "execl", "execlp", "execle", "fexecve")]
WAYS_TO_START += ["posix_spawn", "posix_spawnp"]

RUN_GPU = """
import os, runpy, sys

def gpu(*steps):
    sys.argv = ["gpu.py", *steps]
    runpy.run_path({gpu!r}, run_name="__main__")
"""

# Preloaded, it makes each function of libcupti an illegal instruction in forked children.
TRAP = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

static const char *const names[] = {@names@};

static int set_trap(struct dl_phdr_info *object, size_t size, void *data)
{
	void *cupti = strstr(object->dlpi_name, "/libcupti.so")
		? dlopen(object->dlpi_name, RTLD_LAZY | RTLD_NOLOAD) : NULL;

	for (unsigned int i = 0; cupti && i < sizeof(names) / sizeof(names[0]); i++) {
		char *function = dlsym(cupti, names[i]);
		char *page = (char *)((uintptr_t)function & ~UINT64_C(4095));

		if (!function)
			continue;
		mprotect(page, 8192, PROT_READ | PROT_WRITE | PROT_EXEC);
		memcpy(function, "\x0f\x0b", 2);
	}
	return 0;
}

static void set_traps(void)
{
	dl_iterate_phdr(set_trap, NULL);
}

__attribute__((constructor)) static void prepare(void)
{
	pthread_atfork(NULL, NULL, set_traps);
}
"""

# What a child does between fork() and its end.
TRAPPED = RUN_GPU + """
import ctypes, signal, threading

def call(name, *arguments):
    getattr(ctypes.CDLL(None), name, lambda *_: None)(*arguments)

def work():
    cuda = ctypes.CDLL("libcuda.so.1")
    print("device call", cuda.cuCtxSynchronize(), flush=True)
    for name in ("start", "stop", "start"):
        call("gpuprof_v1_" + name)
    call("gpuprof_v1_range_push", b"range")
    call("gpuprof_v1_range_pop")
    if os.environ.get("GPUPROF_TOGGLE_SIGNAL") and "libgpuprof" in open("/proc/self/maps").read():
        os.kill(os.getpid(), signal.SIGUSR1)

def child(ending):
    work()
    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    if ending == "cupti":
        library = [line.split()[-1] for line in open("/proc/self/maps") if "/libcupti.so" in line][0]
        print("loaded", flush=True)
        ctypes.CDLL(library).cuptiGetVersion(ctypes.byref(ctypes.c_uint32()))
    if ending == "exec":
        os.execv(sys.executable, [sys.executable, "-c", "pass"])
    if ending == "kill":
        os.kill(os.getpid(), signal.SIGTERM)
    if ending == "_exit":
        os._exit(3)
    sys.exit(4)

endings = sys.argv[1:]
gpu("launch=5")
for ending in endings:
    if os.fork() == 0:
        child(ending)
    print(ending, os.wait()[1], flush=True)
gpu("launch=2")
"""

WORKERS = RUN_GPU + """
import multiprocessing

def work(number):
    gpu("launch=%d" % number)

if __name__ == "__main__":
    start = multiprocessing.get_context(sys.argv[1]).Process
    workers = [start(target=work, args=(number,)) for number in (10, 20, 30)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    print([worker.exitcode for worker in workers], flush=True)
    gpu("launch=5")
    sys.exit(3)
"""

# A process with a context forks; the child uses Python only, and then another program.
FORK_WITH_CONTEXT = RUN_GPU + """
import subprocess
gpu("launch=5")
if os.fork() == 0:
    os.execv(sys.executable, [sys.executable, {gpu!r}, "launch=7"])
print("child", os.wait()[1], flush=True)
gpu("launch=2")
# the usual way, by vfork(), and posix_spawn()
print("child", subprocess.call([sys.executable, {gpu!r}, "launch=3"], env=dict(os.environ, A="b")), flush=True)
gpu("launch=2")
child = os.posix_spawn(sys.executable, [sys.executable, {gpu!r}, "launch=4"], os.environ)
print("child", os.waitpid(child, 0)[1], flush=True)
gpu("launch=2")
"""

# as torchrun: an agent that does not use the GPU, and workers that know their rank
AGENT = """
import os, subprocess, sys
workers = [subprocess.Popen([sys.executable, {gpu!r}, "launch=%d" % (10 * (rank + 1))],
                            env=dict(os.environ, RANK=str(rank), LOCAL_RANK=str(rank), WORLD_SIZE="4")) for rank in range(4)]
print([worker.wait() for worker in workers], flush=True)
"""

# as mpirun: a daemon in a session of its own starts the ranks, with an environment that it has put together
MPIRUN = """
import os, subprocess, sys
DAEMON = '''
import os, subprocess, sys
keep = {{name: os.environ[name] for name in ("PATH", "LD_LIBRARY_PATH")}}
ranks = [subprocess.Popen([sys.executable, {gpu!r}, "launch=%d" % (10 * (rank + 1))],
                          env=dict(keep, OMPI_COMM_WORLD_RANK=str(rank), OMPI_COMM_WORLD_SIZE="3")) for rank in range(3)]
print([rank.wait() for rank in ranks], flush=True)
'''
sys.exit(subprocess.call([sys.executable, "-c", DAEMON], start_new_session=True))
"""

# Goes on after its parents: it launches, tells its number, waits for the gate to open, and launches again.
DAEMON = RUN_GPU + """
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        os.open("done", os.O_WRONLY)  # for the life of the process
        output = os.open("daemon.out", os.O_WRONLY | os.O_CREAT)
        os.dup2(output, 1)
        os.dup2(output, 2)
        gpu("launch=4")
        open("ready", "w").close()
        open("gate").read()
        gpu("launch=6")
        sys.exit(0)
    os._exit(0)
os.wait()
open("ready").read()
print("daemon runs", flush=True)
sys.exit(6)
"""

REPLACED = RUN_GPU + """
gpu("launch=7", "copy=2", "leak=3")
try:
    os.execv("/no/such/program", ["x"])
except OSError:
    gpu("launch=1")
os.execv(sys.executable, [sys.executable, {gpu!r}, "launch=3", "exit=4"])
"""

REPLACED_AT = RUN_GPU + """
import ctypes
gpu("launch=7", "copy=2")
path = sys.executable.encode()
argv = (ctypes.c_char_p * 4)(path, {gpu!r}.encode(), b"launch=3", None)
environ = (ctypes.c_char_p * (len(os.environb) + 1))(*(name + b"=" + value for name, value in os.environb.items()), None)
ctypes.CDLL(None).execveat(HOW)
"""


class Tree(Case):

    def run_program(self, *arguments, **variables):
        """With lines that are written in one piece, so that those of several processes do not mix."""
        return super().run_program(*arguments, PYTHONUNBUFFERED=None, **variables)

    def script(self, text):
        return [sys.executable, self.write("script.py", text.format(gpu=GPU[-1]))]

    def launches(self):
        """Launches of each trace, from its own Chrome trace, sorted."""
        return sorted(len(Facts(self.path(name)).launches()) for name in self.files(".json"))

    def check(self, command, launches, ways=(LAUNCHED,), **variables):
        """The command does as without us, and each of its processes has launched what it is known to; the last result."""
        plain = self.run_program(command, PLAIN, **variables)
        for way in ways:
            result = self.run_program(command, way, **variables)
            self.assertEqual(result.returncode, plain.returncode, result.stderr)
            self.assertEqual(sorted(result.stdout.splitlines()), sorted(plain.stdout.splitlines()))
            self.assertEqual(self.launches(), sorted(launches), result.stderr)
            self.assertNotIn("INCOMPLETE", result.stderr)
            for name in self.files(".json") + self.files(".gpuprof"):
                os.unlink(self.path(name))
        return result


class Start(Tree):
    """Every way to start a process."""

    def test_a_shell_starts_several(self):
        script = f"{SHELL_GPU} launch=1 >one & {SHELL_GPU} launch=2 >two; wait; cat one two; {SHELL_GPU} launch=3 exit=9"
        self.check(["sh", "-c", script], [1, 2, 3], (LAUNCHED, BARE))

    def test_every_function_that_starts_one(self):
        starter = self.compile("starter", STARTER)
        for way in WAYS_TO_START:
            with self.subTest(way):
                self.check([starter, way, sys.executable, GPU[-1], "launch=4"], [4])

    def test_every_function_with_an_environment_that_lacks_us(self):
        starter = self.compile("starter", STARTER)
        for way in WAYS_TO_START:
            with self.subTest(way):
                self.check([starter, "bare-" + way, sys.executable, GPU[-1], "launch=4"], [4])

    def test_multiprocessing(self):
        for method in ("spawn", "fork", "forkserver"):
            with self.subTest(method):
                self.check([*self.script(WORKERS), method], [5, 10, 20, 30], (LAUNCHED, BARE))

    def test_workers_are_called_as_the_script(self):
        for method in ("spawn", "fork", "forkserver"):
            with self.subTest(method):
                self.run_program([*self.script(WORKERS), method], options=["-o", self.path(method + "-%n-%p"), "--processes", "script"])
                names = [re.sub("[0-9]+", "N", name) for name in self.files(".gpuprof") if name.startswith(method)]
                self.assertEqual(names, [f"{method}-script-N.gpuprof"] * 4)

    def test_a_child_of_a_process_that_records(self):
        self.check(self.script(FORK_WITH_CONTEXT), [3, 4, 7, 11], (LAUNCHED, BARE))

    def test_a_forked_child_never_calls_cupti(self):
        """Not even where it uses the device, our own functions or a signal of ours, and however it ends."""
        if platform.machine() != "x86_64":
            self.skipTest("the trap is an instruction of x86-64")
        with open(os.path.join(support.ROOT, "inject", "cupti_versions.h"), encoding="utf-8") as file:
            names = re.findall(r"X\((cupti\w+)\)", file.read())
        self.assertIn("cuptiGetVersion", names)
        self.assertIn("cuptiActivityFlushAll", names)
        source = TRAP.replace("@names@", ", ".join(f'"{name}"' for name in names))
        trap = self.compile("trap.so", source, "-shared", "-fPIC", "-ldl", "-lpthread")
        script = [sys.executable, self.write("trapped.py", TRAPPED.format(gpu=GPU[-1]))]
        # the trap works, and the library is there to be called
        result = self.run_program([*script, "cupti"], LD_PRELOAD=trap)
        self.assertIn("loaded\n", result.stdout)
        self.assertRegex(result.stdout, f"cupti ({int(signal.SIGILL)}|{128 + signal.SIGILL})\n")
        for name in self.files(".json") + self.files(".gpuprof"):
            os.unlink(self.path(name))
        # each child's range makes a trace of it; with the signal, the parent pauses all the time, for it gets none
        for toggle, launches in ((None, [7, 0, 0, 0, 0]), ("USR1", [0])):
            self.check([*script, "exit", "_exit", "exec", "kill"], launches, LD_PRELOAD=trap, GPUPROF_TOGGLE_SIGNAL=toggle)

    def test_many_levels(self):
        command = "(exit 3)"
        for level in range(4):
            script = self.write(f"level{level}", f"{command}\nstatus=$?\n{SHELL_GPU} launch={level + 1}\nexit $status\n")
            command = f"sh {script}"
            if level == 2:
                command = f"{sys.executable} -c 'import subprocess, sys; sys.exit(subprocess.call(sys.argv[1:]))' {command}"
        self.check(["sh", "-c", command], [1, 2, 3, 4])


class Environment(Tree):
    """Environments that were cleared."""

    def test_env_without_anything(self):
        self.check(["env", "-i", f"LD_LIBRARY_PATH={support.LIBRARIES}", *GPU, "launch=6", "exit=2"], [6])

    def test_a_large_one(self):
        own = [f"VARIABLE_{i}=x" for i in range(2000)]
        self.check(["env", "-i", f"LD_LIBRARY_PATH={support.LIBRARIES}", *own, *GPU, "launch=6"], [6])

    def test_it_can_be_left_so(self):
        command = ["env", "-i", f"LD_LIBRARY_PATH={support.LIBRARIES}", "sh", "-c", "echo [$LD_PRELOAD]"]
        self.assertEqual(self.run_program(command, options=["--follow=inherited"]).stdout, "[]\n")
        self.assertIn("libgpuprof.so]", self.run_program(command).stdout)

    def test_an_emptied_preload_is_kept(self):
        result = self.run_program(["env", "-i", "LD_PRELOAD=", "sh", "-c", "echo [$LD_PRELOAD]"])
        self.assertEqual(result.stdout, "[]\n")

    def test_a_start_script_with_a_preload_of_its_own(self):
        """As for an allocator: its library comes first, ours is there, and _exit() hands over what the GPU did."""
        library = self.compile("allocator.so", "int allocator;", "-shared", "-fPIC")
        script = self.write("start.sh", f'export LD_PRELOAD={library}\n"$@"\nstatus=$?\necho "$LD_PRELOAD"\nexit $status\n')
        result = self.run_program(["sh", script, *GPU, "launch=100", "copy=10", "_exit=3"], options=["-o", "one"])
        self.assertEqual((result.returncode, result.stdout.splitlines()[-1]), (3, library))
        facts = Facts(self.path("one.json"))
        self.assertEqual((len(facts.launches()), len(facts.kernels), len(facts.copies)), (100, 100, 10))
        result = self.run_program(["sh", script, "sh", "-c", "echo $LD_PRELOAD"])
        self.assertRegex(result.stdout.splitlines()[0], f"^{re.escape(library)}:[^:]*libgpuprof.so$")
        self.assertEqual(self.run_program(["sh", script, "sh", "-c", "echo $LD_PRELOAD"], options=["--follow=inherited"]).stdout,
                         f"{library}\n{library}\n")

    def test_under_a_bare_preload_it_stays_as_it_is(self):
        result = self.run_program(["env", "-i", "sh", "-c", "echo [$LD_PRELOAD]"], BARE)
        self.assertEqual(result.stdout, "[]\n")

    def test_programs_that_cannot_load_us(self):
        for flag in ("-m32", "musl-gcc", "-static"):
            with self.subTest(flag):
                program = self.compile_to_run("other", "int main(void) { return 7; }", flag)
                result = self.run_program(["env", "-i", program], options=["-q"])
                self.assertEqual((result.returncode, result.stderr), (7, ""))

    def test_the_address_sanitizer_of_gcc(self):
        program = self.compile("sanitized", "int main(void) { return 7; }", "gcc", "-fsanitize=address")
        for own in ([], ["ASAN_OPTIONS=detect_leaks=0"]):
            result = self.run_program(["env", "-i", *own, program], options=["-q"])
            self.assertEqual((result.returncode, result.stderr), (7, ""))

    def test_a_set_user_id_program_gets_nothing(self):
        program = self.compile("privileged", '#include <stdio.h>\n#include <stdlib.h>\nint main(void) '
                               '{ puts(getenv("GPUPROF_SESSION") ? "found" : "not there"); return 0; }')
        for mode, found in ((0o755, "found"), (0o4755, "not there")):
            os.chmod(program, mode)
            self.assertEqual(self.run_program(["env", "-i", program]).stdout, found + "\n")


class Ranks(Tree):

    def test_as_torchrun_starts_them(self):
        result = self.check(self.script(AGENT), [10, 20, 30, 40])
        self.assertIn("gpuprof: 4 processes used the GPU", result.stderr)
        self.assertIn("100 kernels", result.stderr)

    def test_as_mpirun_starts_them(self):
        self.check(self.script(MPIRUN), [10, 20, 30])

    def test_the_ranks_are_in_the_names_of_files(self):
        self.run_program(self.script(AGENT), options=["-o", "r%q{RANK}", "--chrome", "none"])
        self.assertEqual(self.files(".gpuprof"), [f"r{rank}.gpuprof" for rank in range(4)])

    def test_merged_they_are_not_written_over_another_trace(self):
        for name in ("a", "b", "c"):
            self.run_program([*GPU, "launch=5"], GPUPROF_OUTPUT=name, GPUPROF_CHROME="none")
        with open(self.path("a.gpuprof"), "rb") as file:
            before = file.read()
        for command in (["merge", "-o", "a.gpuprof", "b.gpuprof", "c.gpuprof"],
                        ["export", "-o", "a.gpuprof", "b.gpuprof"],
                        ["summary", "-o", "a.gpuprof", "--by", "kernel", "b.gpuprof"]):
            result = self.run_gpuprof(*command)
            self.assertNotEqual(result.returncode, 0)
            self.assert_one_line(result.stderr, "a.gpuprof is a trace, and gpuprof does not overwrite traces")
            with open(self.path("a.gpuprof"), "rb") as file:
                self.assertEqual(file.read(), before)

    def test_merged_they_are_one_picture(self):
        self.run_program(self.script(AGENT), options=["-o", "r%q{RANK}", "--chrome", "none"])
        result = self.run_gpuprof("merge", "-o", "all.json", *self.files(".gpuprof"))
        self.assertEqual((result.returncode, result.stdout, result.stderr), (0, "", ""))
        lint = subprocess.run([sys.executable, chrome_lint.__file__, self.path("all.json")], stdout=subprocess.PIPE,
                              universal_newlines=True, check=False)
        self.assertEqual(lint.returncode, 0, lint.stdout)
        self.assertEqual(len(Facts(self.path("all.json")).kernels), 100)
        names = self.process_names("all.json")
        for rank in range(4):
            self.assertEqual(sum(f"rank {rank} on" in name for name in names), 1, names)
        self.assertEqual(sum("GPU 0" in name for name in names), 1, names)

    def test_merged_processes_are_in_their_order(self):
        self.run_program(["sh", "-c", f"{SHELL_GPU} launch=5; {SHELL_GPU} launch=6"], options=["--chrome", "none"])
        self.run_gpuprof("merge", "-o", "all.json", *reversed(self.files(".gpuprof")))
        calls = {}
        for call in Facts(self.path("all.json")).launches():
            calls.setdefault(call["pid"], []).append(call["ts"])
        first, second = sorted(calls.values(), key=min)
        self.assertEqual((len(first), len(second)), (5, 6))
        self.assertLess(max(first), min(second))

    def process_names(self, name):
        with open(self.path(name), encoding="utf-8") as file:
            return [event["args"]["name"] for event in json.load(file)["traceEvents"] if event.get("name") == "process_name"]


class Replaced(Tree):
    """A process that records becomes another program."""

    def test_both_programs_have_their_trace(self):
        result = self.check(self.script(REPLACED), [3, 8])
        self.assertEqual(result.returncode, 4)

    def test_what_was_recorded_before_is_whole(self):
        self.run_program(self.script(REPLACED), options=["-o", "one"])
        facts = Facts(self.path("one.json"))
        self.assertEqual((len(facts.kernels), len(facts.copies), facts.metadata["partial"]), (8, 2, 0))
        self.assertEqual(len(Facts(self.path("one.2.json")).kernels), 3)

    def test_by_a_path_from_a_folder_or_by_a_file(self):
        if not hasattr(ctypes.CDLL(None), "execveat"):
            self.skipTest("a C library before 2.34")
        for how in ("os.open('/', os.O_RDONLY), path[1:], argv, environ, 0",
                    "os.open(path, os.O_RDONLY), b'', argv, environ, 0x1000", "-100, path, argv, environ, 0"):
            with self.subTest(how):
                self.check(self.script(REPLACED_AT.replace("HOW", how)), [3, 7], (LAUNCHED, BARE))

    def test_under_a_bare_preload_too(self):
        result = self.run_program(self.script(REPLACED), BARE)
        self.assertEqual(result.returncode, 4)
        self.assertEqual(self.launches(), [3, 8])
        self.assertEqual(result.stderr.count("GPU activities"), 2)

    def test_an_exec_that_fails_after_all_is_said(self):
        script = self.write("broken", "#!/no/such/interpreter\n", 0o755)
        code = RUN_GPU + f"gpu('launch=2')\ntry:\n    os.execv({script!r}, ['x'])\nexcept OSError as error:\n    print(error.errno)\n"
        result = self.run_program(self.script(code.replace("{script!r}", repr(script))))
        self.assertEqual(result.stdout.splitlines()[-1], "2")
        self.assertRegex(result.stderr, "gpuprof: the recording ended before .*broken was to be executed")
        self.assertEqual(self.launches(), [2])


class Daemons(Tree):
    """What goes on after the program has ended."""

    def start(self, *options):
        """The launcher of a program that leaves a daemon; both wait to be read from."""
        for name in ("ready", "gate", "done"):
            os.mkfifo(self.path(name))
        launcher = subprocess.Popen([support.LAUNCHER, *options, "-o", "d", *self.script(DAEMON)], cwd=self.folder,
                                    env=support.environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                    universal_newlines=True)
        self.addCleanup(launcher.stdout.close)
        self.addCleanup(launcher.stderr.close)
        return launcher

    def open_gate(self):
        open(self.path("gate"), "w", encoding="utf-8").close()

    def test_the_launcher_does_not_wait_for_them(self):
        launcher = self.start()
        with open(self.path("done"), encoding="utf-8") as done:
            output, errors = launcher.communicate(timeout=support.LIMIT_S)
            self.assertEqual((launcher.returncode, output), (6, "daemon runs\n"))
            self.assert_one_line(errors, "still runs", "gpuprof finish " + self.path("d.gpuprof"), "--wait=all")
            self.open_gate()
            done.read()  # until it has ended
        self.assertEqual(self.launches(), [10])
        self.assertEqual(Facts(self.path("d.json")).metadata["partial"], 0)

    def test_the_launcher_waits_for_them(self):
        launcher = self.start("--wait=all")
        with open(self.path("done"), encoding="utf-8") as done:
            self.assertEqual(launcher.stdout.readline(), "daemon runs\n")
            self.assertIn("waiting for the processes", launcher.stderr.readline())
            self.open_gate()
            done.read()
        _, errors = launcher.communicate(timeout=support.LIMIT_S)
        self.assertEqual(launcher.returncode, 6)
        self.assertIn("10 kernels", errors)
        self.assertEqual(self.launches(), [10])

    def test_the_waiting_can_be_ended(self):
        launcher = self.start("--wait=all")
        with open(self.path("done"), encoding="utf-8") as done:
            launcher.stderr.readline()
            launcher.terminate()
            _, errors = launcher.communicate(timeout=support.LIMIT_S)
            self.assertEqual(launcher.returncode, 6)
            self.assert_one_line(errors, "still runs")
            self.open_gate()
            done.read()

    def test_nobody_waits_where_nothing_is_left(self):
        result = self.run_program(["sh", "-c", "exit 4"], options=["--wait=all"])
        self.assertEqual(result.returncode, 4)
        self.assert_one_line(result.stderr, "nothing was recorded", "use the GPU")


if __name__ == "__main__":
    support.main()
