"""gpuprof doctor: it says what works and what does not, by trying it, and what to type."""
import os
import re
import shutil
import signal
import struct
import subprocess
import sys
import unittest

import support
from support import BUILD, GPUPROF, LIBRARY, ROOT, Case

try:
    import yaml
except ImportError:
    yaml = None

CUPTI = os.path.join(BUILD, "sim", "libcupti.so.13")
STUB = os.path.join(os.environ.get("CUDA_HOME") or "/usr/local/cuda", "lib64", "stubs", "libcuda.so")

# A driver that fails in one way.
DRIVER = r"""
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#define FUNCTION(name) int name(void) { return 0; }
FUNCTION(cuDeviceGetName) FUNCTION(cuCtxSetCurrent) FUNCTION(cuCtxSynchronize) FUNCTION(cuMemAlloc_v2)
FUNCTION(cuMemsetD8_v2) FUNCTION(cuMemFree_v2)
int cuGetErrorName(int error, const char **name) { (void)error; *name = "SOME_ERROR"; return 0; }
int cuDriverGetVersion(int *version) { *version = 12040; return 0; }
int cuDeviceGetCount(int *count) { *count = DEVICES; return 0; }
int cuDevicePrimaryCtxRetain(void **context, int device) { *context = &*context; (void)device; return CONTEXT; }
int cuInit(unsigned flags) { (void)flags; return INIT; }
"""

# Starts a program behind a filter, which lets all calls through but one that nobody makes.
FILTER = r"""
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_acct, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog filter = {4, code};

	if (argc < 2 || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter))
		return 99;
	execv(argv[1], argv + 1);
	return 98;
}
"""


def in_container():
    return "container" in os.environ or any(map(os.path.exists, ("/.dockerenv", "/run/.containerenv", "/var/run/secrets/kubernetes.io",
                                                                 "/singularity")))


def can_unshare():
    return os.geteuid() == 0 and shutil.which("unshare") and subprocess.run(
        ["unshare", "-m", "mount", "-t", "tmpfs", "none", "/mnt"], check=False,
        stderr=subprocess.DEVNULL).returncode == 0


class Doctor(Case):

    def doctor(self, *arguments, before=(), **variables):
        """Runs it on the simulated device; the verdicts by name, as (word, text, what to type), and the result."""
        variables.setdefault("CUDA_VISIBLE_DEVICES", None)
        result = subprocess.run([*before, GPUPROF, "doctor", *arguments], env=support.environment(**variables), cwd=self.folder,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=support.LIMIT_S,
                                universal_newlines=True, check=False)
        lines, verdicts, name = result.stdout.splitlines(), {}, None
        for line in lines[1:-1]:
            word, rest = line[2:10].strip(), line[23:]
            if word:
                name = line[11:23].strip()
                self.assertNotIn(name, verdicts)
                verdicts[name] = (word, rest, "")
            else:
                self.assertTrue(rest.startswith("type: "), line)
                verdicts[name] = (*verdicts[name][:2], rest[len("type: "):])
        self.assertTrue(all(word in ("ok", "warning", "fails") for word, _, _ in verdicts.values()), result.stdout)
        fails = any(word == "fails" for word, _, _ in verdicts.values())
        self.assertEqual(result.returncode, 1 if fails else 0, result.stdout + result.stderr)
        of_program = all(name in ("program", "libraries", "its CUPTI") for name, verdict in verdicts.items()
                         if verdict[0] == "fails")
        self.assertIn("does not work here" if not of_program else "works here, but not for" if fails else "recording works here",
                      lines[-1])
        self.assertEqual(result.stderr, "")
        self.assertFalse([name for name in self.files() if name.startswith("gpuprof")], "left behind")
        return verdicts, result

    def check(self, verdicts, name, word, *parts):
        """One verdict has that word, and these parts in its text or in what to type."""
        self.assertEqual(verdicts[name][0], word, verdicts[name])
        for part in parts:
            self.assertIn(part, verdicts[name][1] + "\n" + verdicts[name][2])

    def only_fails(self, verdicts, *names):
        self.assertEqual([name for name, verdict in verdicts.items() if verdict[0] == "fails"], list(names), verdicts)


class Machine(Doctor):

    def test_an_option_that_is_wrong_is_all_that_is_wrong(self):
        verdicts, _ = self.doctor(GPUPROF_RINGS="nosuch")
        self.check(verdicts, "options", "warning", "GPUPROF_RINGS) needs auto|shm|file|memory, not 'nosuch'", "env | grep GPUPROF_")
        self.check(verdicts, "library", "ok", "programs load ")
        self.assertEqual(verdicts["recording"][0], "ok")

    def test_a_libcupti_of_this_folder(self):
        shutil.copy(CUPTI, self.path("own.so"))
        verdicts, _ = self.doctor(GPUPROF_CUPTI="./own.so")
        self.check(verdicts, "CUPTI", "ok", self.path("own.so"))

    def test_all_is_well(self):
        verdicts, _ = self.doctor()
        self.only_fails(verdicts)
        self.check(verdicts, "driver", "ok", "CUDA 13.0", os.path.join(BUILD, "sim", "libcuda.so.1"))
        self.check(verdicts, "GPU", "ok", "Simulated GPU")
        self.assertNotIn("simulator", verdicts)
        self.check(verdicts, "library", "ok", "libgpuprof.so")
        self.check(verdicts, "CUPTI", "ok", "13.0.1", CUPTI)
        self.check(verdicts, "recording", "ok", "calls and 1 GPU operation of a small program were recorded")
        self.check(verdicts, "traces", "ok", self.folder)

    def test_the_variables_of_a_recording_do_not_matter(self):
        """Those that say what is recorded, and when: the trial is always recorded."""
        verdicts, _ = self.doctor(GPUPROF_PROCESSES="other", GPUPROF_DELAY="1000", GPUPROF_QUIET="1", GPUPROF_SUMMARY="s.txt",
                                  GPUPROF_CAPTURE_RANGE="nvtx:x", GPUPROF_SESSION="/nowhere", LD_PRELOAD=LIBRARY)
        self.only_fails(verdicts)
        self.check(verdicts, "recording", "ok", "1 GPU operation")
        self.assertEqual(self.files(), [])

    def test_without_a_driver(self):
        if subprocess.run(["sh", "-c", "ldconfig -p | grep -q libcuda.so.1"], check=False).returncode == 0:
            self.skipTest("this machine has a driver")
        verdicts, _ = self.doctor(LD_LIBRARY_PATH=None)
        self.only_fails(verdicts, "driver")
        self.check(verdicts, "driver", "fails", "no CUDA driver found", "libcuda.so.1")
        self.assertTrue(verdicts["driver"][2])
        self.check(verdicts, "simulator", "ok", "simulated device", f"LD_LIBRARY_PATH={os.path.join(BUILD, 'sim')} gpuprof-run")
        self.check(verdicts, "recording", "ok", "a range of a small program was recorded")
        self.assertNotIn("CUPTI", verdicts)

    @unittest.skipUnless(os.path.exists(STUB), "needs the CUDA Toolkit's stub")
    def test_the_toolkits_stub(self):
        os.mkdir(self.path("stubs"))
        os.symlink(os.path.realpath(STUB), self.path("stubs", "libcuda.so.1"))
        verdicts, _ = self.doctor(LD_LIBRARY_PATH=f"{self.path('stubs')}:/some/other")
        self.only_fails(verdicts, "driver")
        self.check(verdicts, "driver", "fails", "stub", "export LD_LIBRARY_PATH=/some/other")
        verdicts, _ = self.doctor(LD_LIBRARY_PATH=self.path("stubs"))
        self.assertEqual(verdicts["driver"][2], "unset LD_LIBRARY_PATH")

    def driver(self, init="0", devices=1, context=0):
        self.compile("libcuda.so.1", DRIVER, "-shared", "-fPIC", f"-DINIT={init}", f"-DDEVICES={devices}",
                     f"-DCONTEXT={context}")
        verdicts, result = self.doctor("--limit", "2", LD_LIBRARY_PATH=self.folder)
        os.unlink(self.path("libcuda.so.1"))
        return verdicts, result

    def test_a_driver_that_hangs_or_crashes(self):
        verdicts, _ = self.driver("pause()")
        self.only_fails(verdicts, "driver")
        self.check(verdicts, "driver", "fails", "did not return within 2 s", "step: init", "nvidia-smi")
        verdicts, _ = self.driver("(abort(), 0)")
        self.only_fails(verdicts, "driver")
        self.check(verdicts, "driver", "fails", "crashed with Aborted", "step: init")
        verdicts, _ = self.driver("(_exit(0), 0)")
        self.check(verdicts, "driver", "fails", "ended the process")
        self.check(verdicts, "recording", "ok", "a range of a small program was recorded")

    def test_errors_of_the_driver(self):
        for init, parts in ((803, ["kernel module", "803", "sudo reboot"]), (802, ["fabric", "nvidia-fabricmanager"]),
                            (12345, ["even without gpuprof", "SOME_ERROR", "12345"]), (100, ["no GPU"]),
                            (804, ["compatibility", "unset LD_LIBRARY_PATH"])):
            with self.subTest(init):
                verdicts, _ = self.driver(init)
                self.only_fails(verdicts, "GPU")
                self.check(verdicts, "driver", "ok", "CUDA 12.4")
                self.check(verdicts, "GPU", "fails", *parts)
        verdicts, _ = self.driver(devices=0)
        self.check(verdicts, "GPU", "fails", "no GPU")
        verdicts, _ = self.driver(devices=3, context=46)
        self.check(verdicts, "GPU", "fails", "in use", "cuDevicePrimaryCtxRetain", "compute-mode")

    def test_no_gpu_is_visible(self):
        verdicts, _ = self.doctor(GPUSIM_DEVICES="0", CUDA_VISIBLE_DEVICES="7\x1b[1m")
        self.only_fails(verdicts, "GPU")
        self.check(verdicts, "GPU", "fails", "CUDA_VISIBLE_DEVICES is '7\\x1b[1m'", "unset CUDA_VISIBLE_DEVICES")

    def test_cupti_that_does_not_work(self):
        verdicts, _ = self.doctor(GPUPROF_CUPTI=os.path.join(BUILD, "sim", "broken", "libcupti.so.13"))
        self.check(verdicts, "CUPTI", "fails", "lacks functions", "cuda-cupti-13-0")
        self.check(verdicts, "recording", "fails")
        verdicts, _ = self.doctor(GPUPROF_CUPTI=self.path("missing.so"))
        self.check(verdicts, "CUPTI", "fails", "missing.so", "--cupti")
        verdicts, _ = self.doctor(GPUSIM_CUPTI_VERSION="17", GPUPROF_CUPTI=CUPTI)
        self.check(verdicts, "CUPTI", "fails", "older than 11.8")

    def test_older_cupti_and_a_newer_one(self):
        verdicts, _ = self.doctor(GPUSIM_CUPTI_VERSION="28")
        self.check(verdicts, "CUPTI", "ok", "12.9.1")
        verdicts, _ = self.doctor(GPUSIM_CUPTI_VERSION="140000")
        self.check(verdicts, "CUPTI", "warning", "14.0 is newer than the driver, which supports CUDA 13.0")

    def test_only_administrators_may_profile(self):
        verdicts, _ = self.doctor(GPUSIM_FAULT="may-not-subscribe")
        self.only_fails(verdicts, "CUPTI", "recording")
        self.check(verdicts, "CUPTI", "fails", "lets only administrators profile here", "SYS_ADMIN" if in_container() else "NVreg_RestrictProfiling")
        self.assertNotIn("gpuprof doctor", verdicts["CUPTI"][1])

    def test_a_driver_that_cupti_is_too_new_for(self):
        verdicts, _ = self.doctor(GPUSIM_FAULT="old-driver")
        self.check(verdicts, "CUPTI", "fails", "the driver is older than this libcupti needs", "cuda-cupti-13-0")

    def test_nothing_of_the_gpu_is_delivered(self):
        verdicts, _ = self.doctor(GPUSIM_FAULT="flush-hangs,late-buffers")
        self.only_fails(verdicts, "recording")
        self.check(verdicts, "recording", "fails", "no GPU operations")

    def test_other_tools(self):
        verdicts, _ = self.doctor(GPUSIM_FAULT="subscriber-taken")
        self.check(verdicts, "other tools", "fails", "another profiler")
        verdicts, _ = self.doctor(CUDA_INJECTION64_PATH="/opt/other.so")
        self.only_fails(verdicts, "other tools", "recording")
        self.check(verdicts, "other tools", "fails", "/opt/other.so", "unset CUDA_INJECTION64_PATH")
        verdicts, _ = self.doctor(NVTX_INJECTION64_PATH="/opt/other.so")
        self.only_fails(verdicts)
        self.check(verdicts, "other tools", "warning", "ranges", "unset NVTX_INJECTION64_PATH")

    def test_options_of_the_environment(self):
        verdicts, _ = self.doctor(GPUPROF_TRACES="all")
        self.only_fails(verdicts)
        self.check(verdicts, "options", "warning", "GPUPROF_TRACES is not an option", "unset GPUPROF_TRACES")
        verdicts, _ = self.doctor(GPUPROF_FLUSH_MS="never")
        self.only_fails(verdicts)
        self.check(verdicts, "options", "warning", "GPUPROF_FLUSH_MS", "uses the default", "env | grep GPUPROF_")
        for name in ("traces", "rings"):
            self.assertIn(name, verdicts)

    def test_folders(self):
        verdicts, _ = self.doctor(GPUPROF_OUTPUT="missing/%p")
        self.only_fails(verdicts, "traces")
        self.check(verdicts, "traces", "fails", "missing", "-o")
        os.mkdir(self.path("a %% folder"))
        verdicts, _ = self.doctor(GPUPROF_OUTPUT="a %%%% folder/%p")
        self.check(verdicts, "traces", "ok", self.path("a %% folder"))
        self.assertEqual(os.listdir(self.path("a %% folder")), [])
        verdicts, _ = self.doctor(TMPDIR=self.path("missing"), XDG_RUNTIME_DIR=None)
        self.check(verdicts, "temporary", "ok", "/tmp/gpuprof-")

    def test_rings_elsewhere(self):
        verdicts, _ = self.doctor(GPUPROF_RINGS="memory")
        self.check(verdicts, "rings", "ok", "as GPUPROF_RINGS says")

    @unittest.skipUnless(can_unshare(), "needs the right to mount")
    def test_without_shared_memory(self):
        for mount, part in (("mount -t ramfs -o mode=755 none /dev/shm", "not a tmpfs"),
                            ("mount -t tmpfs -o ro none /dev/shm", "Read-only"),
                            ("mount -t tmpfs -o size=64k none /dev/shm", "no space left")):
            with self.subTest(mount):
                before = ["unshare", "-m", "sh", "-c", f'{mount} && exec "$@"', "sh"]
                verdicts, _ = self.doctor(before=before)
                self.only_fails(verdicts)
                self.check(verdicts, "rings", "warning", "/dev/shm cannot hold rings", part)
                self.assertRegex(verdicts["rings"][2], "shm")
        verdicts, _ = self.doctor(before=["unshare", "-m", "sh", "-c", 'mount -t tmpfs -o size=8m none /dev/shm && exec "$@"', "sh"])
        self.check(verdicts, "rings", "warning", "MiB left")

    def test_limits(self):
        verdicts, _ = self.doctor(before=["sh", "-c", 'ulimit -f 1000000; exec "$@"', "sh"])
        self.check(verdicts, "limits", "warning", "traces end there", "ulimit -f unlimited")
        verdicts, _ = self.doctor(before=["sh", "-c", 'ulimit -v 400000; exec "$@"', "sh"])
        self.check(verdicts, "limits", "warning", "ulimit -v unlimited")
        self.check(verdicts, "CUPTI", "fails", "MiB of address space")

    @unittest.skipUnless(can_unshare() and shutil.which("setpriv") and os.path.isdir("/proc/driver"), "needs the right to mount")
    def test_hardware_counters(self):
        """Who may read them is in the driver's own file; nothing is said of them where that is not."""
        for admin_only, own, word, parts in (
                (0, (), "ok", ["every user may read hardware counters"]),
                (1, (), "ok", ["only administrators may read hardware counters, and you are one"]),
                (1, ("setpriv", "--bounding-set=-sys_admin,-perfmon"), "warning",
                 ["only administrators may read hardware counters", "SYS_ADMIN" if in_container() else "NVreg_RestrictProfilingToAdminUsers=0"])):
            with self.subTest(admin_only, own=own):
                script = (f'mount -t tmpfs none /proc/driver && mkdir /proc/driver/nvidia && '
                          f'echo "RmProfilingAdminOnly: {admin_only}" >/proc/driver/nvidia/params && exec "$@"')
                verdicts, _ = self.doctor(before=["unshare", "-m", "sh", "-c", script, "sh", *own])
                self.only_fails(verdicts)
                self.check(verdicts, "counters", word, *parts)

    def test_options_that_read_counters_and_energy(self):
        """Each option is tried; if the driver forbids the first, the others are not."""
        admin = "SYS_ADMIN" if in_container() else "NVreg_RestrictProfilingToAdminUsers=0"
        working = dict.fromkeys(("hw-timeline", "stalls", "roofline", "energy"), ("ok", " works"))
        busy = dict.fromkeys(("hw-timeline", "stalls", "roofline"), ("warning", "dcgmi profile --pause"))
        for fault, expected in (
                ("", working),
                ("counters-forbidden", {"counters": ("warning", admin), "energy": working["energy"]}),
                ("counters-busy", {**working, **busy}),
                ("counters-broken", {**working, "roofline": ("warning", "no values")}),
                ("nvml-missing", {**working, "energy": ("warning", "NVML cannot be initialized")})):
            with self.subTest(fault):
                verdicts, _ = self.doctor(GPUSIM_FAULT=fault)
                self.only_fails(verdicts)
                for name, (word, part) in expected.items():
                    self.check(verdicts, name, word, part)
                self.assertEqual({name for name in working if name in verdicts}, working.keys() & expected.keys())

    def test_a_filter_of_system_calls(self):
        verdicts, _ = self.doctor()
        if "no system call is blocked" not in verdicts["seccomp"][1]:
            self.skipTest("there is a filter here")
        verdicts, _ = self.doctor(before=[self.compile("filter", FILTER)])
        self.only_fails(verdicts)
        self.check(verdicts, "seccomp", "ok", "a filter blocks some system calls, but none that recording needs")

    @unittest.skipUnless(can_unshare(), "needs the right to mount")
    def test_whom_debuggers_may_attach_to(self):
        script = 'mount -t tmpfs none /proc/sys/kernel && mkdir /proc/sys/kernel/yama && echo 2 >/proc/sys/kernel/yama/ptrace_scope && exec "$@"'
        verdicts, _ = self.doctor(before=["unshare", "-m", "sh", "-c", script, "sh"])
        self.only_fails(verdicts)
        self.check(verdicts, "ptrace", "ok", "not needed by gpuprof (only debuggers of administrators may attach here)")

    def test_a_library_that_is_missing(self):
        shutil.copy(GPUPROF, self.path("alone"))
        result = subprocess.run([self.path("alone"), "doctor"], cwd=self.folder, env=support.environment(), timeout=support.LIMIT_S,
                                stdout=subprocess.PIPE, universal_newlines=True, check=False)
        self.assertEqual(result.returncode, 1)
        self.assertRegex(result.stdout, "fails +library +libgpuprof.so is neither beside")

    def test_paths_of_the_loader_from_here(self):
        """Its trial runs in another folder, and finds them all the same; a bare name is none."""
        os.symlink(os.path.join(BUILD, "sim"), self.path("sim"))
        self.compile("own.so", "int own;", "-shared", "-fPIC")
        verdicts, _ = self.doctor(LD_LIBRARY_PATH="/nowhere:sim", LD_PRELOAD="./own.so libdl.so.2")
        self.only_fails(verdicts)
        self.check(verdicts, "CUPTI", "ok", "libcupti.so.13")
        verdicts, _ = self.doctor(before=["sh", "-c", 'cd sim && exec "$@"', "sh"], LD_LIBRARY_PATH=":/nowhere")
        self.only_fails(verdicts)

    def test_a_signal_ends_it_and_leaves_nothing(self):
        self.compile("libcuda.so.1", DRIVER, "-shared", "-fPIC", "-DINIT=(puts(\"here\"),pause())", "-DDEVICES=1", "-DCONTEXT=0")
        os.mkdir(self.path("tmp"))
        with subprocess.Popen([GPUPROF, "doctor"], cwd=self.folder, stdout=subprocess.PIPE,
                              env=support.environment(LD_LIBRARY_PATH=self.folder, TMPDIR=self.path("tmp"),
                                                      XDG_RUNTIME_DIR=None)) as process:
            self.assertIn(b"gpuprof", process.stdout.readline())
            process.send_signal(signal.SIGTERM)
            self.assertEqual(process.wait(support.LIMIT_S), -signal.SIGTERM)
        self.assertEqual(self.files(), ["libcuda.so.1", "tmp"])
        self.assertEqual(os.listdir(self.path("tmp")), [])

    def test_wrong_arguments(self):
        for arguments in (["--limit", "0"], ["--limit", "x"], ["--nothing"]):
            result = self.run_gpuprof("doctor", *arguments)
            self.assertEqual((result.returncode, result.stdout), (2, ""))
            self.assertTrue(result.stderr.startswith("gpuprof: doctor: "), result.stderr)


class Program(Doctor):

    def test_a_program_that_can_be_profiled(self):
        program = os.path.join(BUILD, "programs", "launch")
        verdicts, _ = self.doctor("--", program, "--limit")
        self.only_fails(verdicts)
        self.check(verdicts, "program", "ok", program)
        self.check(verdicts, "libraries", "ok", os.path.join(BUILD, "sim", "libcudart.so.13"))
        self.check(verdicts, "its CUPTI", "ok", "13.0.1", CUPTI)
        self.assertNotIn("Python", verdicts)

    def test_it_is_not_run(self):
        self.write("program", f"#!/bin/sh\ntouch {self.path('ran')}\n", 0o755)
        verdicts, _ = self.doctor("./program")
        self.assertEqual(self.files(), ["program"])
        self.check(verdicts, "program", "ok", "./program is a script for /bin/sh; the interpreter and the programs that it starts can be profiled")

    def test_programs_that_are_not_there(self):
        self.write("here", "#!/bin/sh\n", 0o755)
        for name, part in (("./missing", "no program"), ("no-such-program", "in PATH"), (self.folder, "folder"), (".", "folder"),
                           (self.write("plain", "text"), "chmod +x"), ("plain", "chmod +x plain"),
                           ("here", "gpuprof doctor ./here")):
            with self.subTest(name):
                verdicts, _ = self.doctor(name)
                self.only_fails(verdicts, "program")
                self.check(verdicts, "program", "fails", part)

    def write_elf(self, name, change):
        """This interpreter's own header, changed."""
        with open("/proc/self/exe", "rb") as file:
            elf = bytearray(file.read(4096))
        change(elf)
        with open(self.path(name), "wb") as file:
            file.write(elf)
        os.chmod(self.path(name), 0o755)
        return self.path(name)

    def test_programs_that_run_unprofiled(self):
        def narrow(elf):
            elf[4] = 1  # ELFCLASS32

        def static(elf):
            first, size, count = struct.unpack_from("<Q", elf, 32)[0], *struct.unpack_from("<HH", elf, 54)
            for at in range(first, first + count * size, size):
                if struct.unpack_from("<I", elf, at)[0] == 3:  # PT_INTERP
                    struct.pack_into("<I", elf, at, 0)

        for change, part in ((narrow, "32 bits"), (static, "statically linked")):
            verdicts, _ = self.doctor(self.write_elf("program", change))
            self.only_fails(verdicts, "program")
            self.check(verdicts, "program", "fails", "cannot be profiled", part)
            self.assertNotIn("libraries", verdicts)
        for flag, part in (("-static", "statically linked"), ("musl-gcc", "musl"), ("-m32", "32 bits")):
            if flag != "musl-gcc" or shutil.which(flag):
                verdicts, _ = self.doctor(self.compile("other", "int main(void) { return 0; }", flag))
                self.only_fails(verdicts, "program")
                self.check(verdicts, "program", "fails", part)

    @unittest.skipIf(os.geteuid() != 0, "needs root to make such a program")
    def test_a_set_user_id_program(self):
        program = shutil.copy(shutil.which("true"), self.path("program"))
        os.chown(program, 65534, 65534)
        os.chmod(program, 0o4755)
        verdicts, _ = self.doctor(program)
        self.check(verdicts, "program", "fails", "privileges", f"sudo gpuprof-run {program}")

    def test_a_library_that_is_not_found(self):
        self.compile("libgone.so", "int gone(void) { return 0; }", "-shared", "-fPIC")
        program = self.compile("program", "int gone(void); int main(void) { return gone(); }", f"-L{self.folder}", "-lgone")
        os.unlink(self.path("libgone.so"))
        verdicts, _ = self.doctor(program)
        self.only_fails(verdicts, "libraries")
        self.check(verdicts, "libraries", "fails", "libgone.so", f"ldd {program}")

    def test_kernels_without_the_shared_runtime(self):
        """Sections as nvcc makes them: on the simulated device no kernel of such a program is found."""
        source = '__attribute__((section(".nv_fatbin"), used)) static const char kernels[8] = "kernels"; int cudaRuntimeGetVersion(int *); int main(void) { return %s; }'
        verdicts, _ = self.doctor(self.compile("static", source % "0"))
        self.only_fails(verdicts, "program")
        self.check(verdicts, "program", "fails", "its calls fail on the simulated device", "nvcc -cudart shared")
        verdicts, _ = self.doctor(self.compile("shared", source % "cudaRuntimeGetVersion(0)", f"-L{BUILD}/sim", "-lcudart"))
        self.only_fails(verdicts)

    def test_kernels_without_the_shared_runtime_where_the_simulator_is_offered(self):
        """Without a GPU, before anybody types what doctor says: the simulated device is not for that program."""
        source = '__attribute__((section(".nv_fatbin"), used)) static const char kernels[8] = "kernels"; int main(void) { return 0; }'
        os.mkdir(self.path("none"))
        self.compile("none/libcuda.so.1", "int cuInit(unsigned flags) { (void)flags; return 100; }", "-shared", "-fPIC")
        verdicts, _ = self.doctor(self.compile("static", source), LD_LIBRARY_PATH=self.path("none"))
        self.check(verdicts, "simulator", "ok", "simulated device")
        self.check(verdicts, "program", "warning", "can be profiled on a GPU", "does not run on the simulated device", "nvcc -cudart shared")
        verdicts, _ = self.doctor(self.compile("plain", "int main(void) { return 0; }"), LD_LIBRARY_PATH=self.path("none"))
        self.check(verdicts, "program", "ok", "can be profiled")

    def test_the_address_sanitizer(self):
        program = self.compile("program", "int main(void) { return 0; }", "gcc", "-fsanitize=address")
        verdicts, _ = self.doctor(program)
        self.check(verdicts, "libraries", "warning", "gpuprof-run works")

    def test_a_loader_of_the_programs_own_is_not_run(self):
        loader = self.write("loader", f"#!/bin/sh\ntouch {self.path('ran')}\n", 0o755)
        program = self.compile("program", "int main(void) { return 0; }", f"-Wl,--dynamic-linker={loader}")
        verdicts, _ = self.doctor(program)
        self.assertNotIn("libraries", verdicts)
        self.assertFalse(os.path.exists(self.path("ran")))

    def packages(self):
        """A folder of Python's packages with CUDA in it."""
        folder = self.path("lib", "site-packages", "nvidia", "cu13", "lib")
        os.makedirs(folder)
        for name in ("libcudart.so.13", "libcupti.so.13"):
            shutil.copy(os.path.join(BUILD, "sim", name), folder)
        return folder

    def test_python_and_its_packages(self):
        folder = self.packages()
        version = f"{sys.version_info.major}.{sys.version_info.minor}"
        script = self.write("train.py", f"#!{sys.executable}\nopen('ran', 'w')\n", 0o755)
        for module in ("os.py", "site.py", "sysconfig.py"):
            self.write(module, "open('ran', 'w')\n")
        for arguments in ([sys.executable, "train.py"], [script]):
            verdicts, _ = self.doctor(*arguments, PYTHONPATH=self.path("lib", "site-packages"))
            self.only_fails(verdicts)
            self.check(verdicts, "program", "ok", sys.executable)
            self.check(verdicts, "Python", "ok", version, sys.executable)
            self.check(verdicts, "its CUPTI", "ok", folder)
            self.check(verdicts, "CUPTI", "ok", CUPTI)
        self.assertFalse(os.path.exists(self.path("ran")))

    def test_cupti_that_only_pythons_packages_have(self):
        """As in a container without the CUDA Toolkit."""
        folder = self.packages()
        os.mkdir(self.path("driver"))
        for name in ("libcuda.so.1", "libgpusim.so"):
            shutil.copy(os.path.join(BUILD, "sim", name), self.path("driver"))
        self.write("python3", f'#!/bin/sh\nexec {sys.executable} "$@"\n', 0o755)
        variables = {"LD_LIBRARY_PATH": self.path("driver"), "PATH": f"{self.folder}:{os.environ['PATH']}"}
        verdicts, _ = self.doctor(**variables)
        self.only_fails(verdicts, "CUPTI", "recording")
        verdicts, _ = self.doctor(PYTHONPATH=self.path("lib", "site-packages"), **variables)
        self.only_fails(verdicts)
        self.check(verdicts, "CUPTI", "warning", "only ", "works", folder, f"gpuprof-run --cupti {folder}/libcupti.so.13")
        self.check(verdicts, "recording", "ok", "1 GPU operation")
        self.check(verdicts, "its CUPTI", "ok", "Python's packages", folder)

    def test_packages_that_do_not_work(self):
        folder = self.packages()
        with open(os.path.join(folder, "libcudart.so.13"), "w", encoding="utf-8") as file:
            file.write("no library")
        verdicts, _ = self.doctor(sys.executable, PYTHONPATH=self.path("lib", "site-packages"))
        self.check(verdicts, "its CUPTI", "warning", "cannot load the CUDA libraries of", folder)

    def test_pythons_that_are_not_understood(self):
        for answer, part in (("cpython 3 7 0", "3.7"), ("cpython 3 14 1", "without it"), ("pypy 3 11 0", "pypy"), ("", "does not answer")):
            with self.subTest(answer):
                self.write("python3", f"#!/bin/sh\necho {answer}\n", 0o755)
                verdicts, _ = self.doctor(PATH=f"{self.folder}:{os.environ['PATH']}")
                self.only_fails(verdicts)
                self.check(verdicts, "Python", "warning", part)


class Published(Doctor):
    """The report of the issue template names neither user, home folder, host nor other folders of theirs."""

    HOST = "carthage"

    def report(self, command, **variables):
        before = ["unshare", "-u", "sh", "-c", f'hostname {self.HOST} && exec "$0" "$@"'] if can_unshare() else []
        arguments = command.removeprefix("gpuprof doctor ").split()
        return self.doctor(*arguments, before=before, HOME=self.path("dido"), USER="dido", LOGNAME="dido", **variables)

    def assert_published(self, verdicts, text, *secrets):
        for secret in (self.folder, self.HOST if can_unshare() else os.uname().nodename, "dido", *secrets):
            self.assertNotRegex(text, rf"(?<!\w){re.escape(secret)}(?!\w)")
        self.assertEqual(set(verdicts) & {"driver", "library", "traces"}, {"driver", "library", "traces"})

    def command(self):
        """The one that the template names."""
        with open(os.path.join(ROOT, ".github", "ISSUE_TEMPLATE", "bug.yml"), encoding="utf-8") as file:
            text = file.read()
        if yaml:
            (area,) = [part for part in yaml.safe_load(text)["body"] if part["id"] == "doctor"]
            self.assertEqual(area["attributes"]["render"], "text")
            text = area["attributes"]["label"]
        return re.search("`(gpuprof doctor .*?)`", text)[1]

    def test_in_a_home_folder(self):
        home = self.path("dido")
        shutil.copytree(os.path.join(BUILD, "sim"), os.path.join(home, "sim"), ignore=shutil.ignore_patterns("obj", "gen"))
        shutil.copy("/bin/true", os.path.join(home, "dido"))
        verdicts, result = self.report(f"{self.command()} {home}/dido", LD_LIBRARY_PATH=os.path.join(home, "sim"),
                                       GPUPROF_OUTPUT=self.path("dido", "dido"))
        self.assert_published(verdicts, result.stdout)
        self.check(verdicts, "CUPTI", "ok", "~/sim/libcupti.so.13")
        self.assertIn(" on HOST: Linux", result.stdout)

    def test_failures(self):
        verdicts, result = self.report(f"{self.command()} ./no-such", LD_LIBRARY_PATH=None, GPUPROF_OUTPUT="/scratch-of-carthage/hannibal/run/x")
        self.check(verdicts, "traces", "fails")
        self.assert_published(verdicts, result.stdout, "scratch-of-carthage", "hannibal")


if __name__ == "__main__":
    support.main()
