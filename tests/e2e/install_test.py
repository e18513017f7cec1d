"""What `make install` puts in place works from there; the manual pages and the completions have all that the programs' help says."""
import os
import pty
import re
import shutil
import subprocess
import time

import support
from support import GPU, PLAIN, Case


def words(text):
    """With every hyphen and quote as one types it, whatever a terminal shows."""
    return re.sub(r"\s+", " ", text.replace("\u2010", "-").replace("\u2212", "-"))


class Pages(Case):
    """As man shows them."""

    def page(self, name):
        if not shutil.which("groff"):
            self.skipTest("no groff")
        shown = subprocess.run(["groff", "-man", "-ww", "-Tascii", "-P-c", "-P-bou", "-rLL=500n", os.path.join(support.BUILD, name)],
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, universal_newlines=True, check=False)
        self.assertEqual((shown.returncode, shown.stderr), (0, ""))
        return words(shown.stdout)

    def assert_has_options(self, page, help_text):
        options = re.findall(r"^ +((?:-., )?--[a-z-]+(?:\[=[A-Z]+\])?)", help_text, re.MULTILINE)
        self.assertGreater(len(options), 1)
        self.assertEqual([option for option in options if f" {option} " not in page], [])

    def test_every_option_of_the_launcher(self):
        page = self.page("gpuprof-run.1")
        help_text = self.run_program(["--help"]).stdout
        self.assert_has_options(page, help_text)
        longest = words(help_text.split("--trace ")[1].split("[TRACE]")[0])
        self.assertIn(longest, page)

    def test_every_command_and_its_options(self):
        page = self.page("gpuprof.1")
        commands = re.findall(r"^  ([a-z]+) ", self.run_gpuprof("help").stdout.split("gpuprof COMMAND --help")[0],
                              re.MULTILINE)
        self.assertGreater(len(commands), 5)
        for command in commands:
            self.assertIn(f" gpuprof {command} ", page)
            if command not in ("run", "version", "help"):
                self.assert_has_options(page, self.run_gpuprof(command, "--help").stdout)


API = """
#include <gpuprof/gpuprof.h>
#include <stdio.h>

int main(void)
{
	gpuprof_range_push("all");
	printf("%d\\n", gpuprof_is_recording());
	gpuprof_range_pop();
	return 0;
}
"""

CMAKE = """
cmake_minimum_required(VERSION 3.13)
project(user C)
find_package(gpuprof 0.1 REQUIRED)
add_executable(user user.c)
target_link_libraries(user gpuprof::gpuprof)
enable_testing()
add_test(NAME recorded COMMAND gpuprof::gpuprof-run -q $<TARGET_FILE:user>)
add_test(NAME preloaded COMMAND user)
set_tests_properties(preloaded PROPERTIES ENVIRONMENT LD_PRELOAD=$<TARGET_FILE:gpuprof::library>)
set_tests_properties(recorded preloaded PROPERTIES PASS_REGULAR_EXPRESSION "1")
"""


class Installed(Case):

    def setUp(self):
        super().setUp()
        self.addCleanup(os.umask, os.umask(0o077))  # root's, where files are not for all by default
        self.make("install")

    def make(self, target):
        subprocess.run(["make", "-s", target, f"O={support.BUILD}", f"DESTDIR={self.path('root')}", "PREFIX=/opt"],
                       cwd=support.ROOT, stdout=subprocess.DEVNULL, check=True)

    def installed(self, *names):
        return self.path("root", "opt", *names)

    def test_all_is_there(self):
        found = sorted(os.path.relpath(os.path.join(folder, name), self.installed())
                       for folder, _, names in os.walk(self.installed()) for name in names if "gpuprof-preload" not in folder)
        self.assertEqual(found, ["bin/gpuprof", "bin/gpuprof-run", "include/gpuprof/gpuprof.h", "lib/cmake/gpuprof/gpuprof-config-version.cmake", "lib/cmake/gpuprof/gpuprof-config.cmake",
                                 "lib/libgpuprof.so", "lib/pkgconfig/gpuprof.pc",
                                 "share/bash-completion/completions/gpuprof", "share/bash-completion/completions/gpuprof-run",
                                 "share/fish/vendor_completions.d/gpuprof-run.fish", "share/fish/vendor_completions.d/gpuprof.fish",
                                 *(f"share/gpuprof/recipes/{name}" for name in sorted(os.listdir(os.path.join(support.ROOT, "recipes")))),
                                 "share/man/man1/gpuprof-run.1", "share/man/man1/gpuprof.1",
                                 "share/zsh/site-functions/_gpuprof"])

    def test_all_may_read_it_and_one_may_write(self):
        modes = {os.lstat(os.path.join(folder, name)).st_mode & 0o777 for folder, folders, names in os.walk(self.installed())
                 for name in folders + names if not os.path.islink(os.path.join(folder, name))}
        self.assertEqual({oct(mode) for mode in modes}, {"0o755", "0o644"})

    def test_it_works_under_the_launcher_and_preloaded(self):
        result = self.run_program([self.installed("bin", "gpuprof-run"), "-o", "one", *GPU, "launch=5"], PLAIN)
        self.assertIn("5 kernels", result.stderr)
        result = self.run_program([*GPU, "launch=6"], PLAIN, LD_PRELOAD=self.installed("lib", "libgpuprof.so"))
        self.assertIn("6 kernels", result.stderr)

    def run_tool(self, *command, **variables):
        if not shutil.which(command[0]):
            self.skipTest(f"no {command[0]}")
        result = subprocess.run(command, env=support.environment(**variables), cwd=self.folder, stdout=subprocess.PIPE,
                                stderr=subprocess.STDOUT, universal_newlines=True, check=False)
        self.assertEqual(result.returncode, 0, result.stdout)
        return result.stdout

    def test_a_program_by_pkg_config(self):
        def ask(*options):
            return self.run_tool("pkg-config", *options, "gpuprof", PKG_CONFIG_PATH=self.installed("lib", "pkgconfig")).split()
        program = self.compile("user", API, *ask("--cflags", "--libs"))
        self.assertEqual(self.run_program([program], PLAIN).stdout, "0\n")
        (library,) = ask("--variable=library")
        self.assertEqual(self.run_program([program], PLAIN, LD_PRELOAD=library).stdout, "1\n")
        version = self.run_tool(self.installed("bin", "gpuprof"), "version").split()[1]
        self.assertEqual(ask("--modversion"), [version])

    def test_a_program_by_cmake(self):
        self.write("user.c", API)
        self.write("CMakeLists.txt", CMAKE)
        self.run_tool("cmake", "-S", ".", "-B", "user", f"-DCMAKE_PREFIX_PATH={self.installed()}")
        self.run_tool("cmake", "--build", "user")
        self.assertIn("100% tests passed", self.run_tool("ctest", "--test-dir", "user"))

    def test_it_goes_as_a_whole(self):
        others = self.write(os.path.join("root", "opt", "lib", "libother.so"), "")
        self.make("uninstall")
        self.assertEqual([os.path.join(folder, name) for folder, _, names in os.walk(self.path("root")) for name in names],
                         [others])


# A command line, and some of the words that complete its last one.
COMPLETED = (
    ("gpuprof su", {"summary"}),
    ("gpuprof-run --stacks alloc,sa", {"alloc,sample"}),
    ("gpuprof-run --rings me", {"memory"}),
    ("gpuprof run --capture-ra", {"--capture-range"}),
    ("gpuprof export --format=per", {"perfetto"}),
    ("gpuprof export -F spe", {"speedscope"}),
    ("gpuprof export --format csv --value leaked", {"leaked-bytes"}),
    ("gpuprof summary --by kernel,collective-r", {"kernel,collective-rank"}),
    ("gpuprof trace critical-", {"critical-path"}),
    ("gpuprof explain sync-in-l", {"sync-in-loop"}),
    ("gpuprof metrics pas", {"passes"}),
    ("gpuprof advice --format ", {"text", "json"}),
    ("gpuprof-run --html --out", {"--output"}),
)


class Completions(Case):
    """Each shell completes the command line."""

    def script(self, shell):
        if not shutil.which(shell):
            self.skipTest(f"no {shell}")
        return os.path.join(support.BUILD, "completion", f"gpuprof.{shell}")

    def run_shell(self, *command):
        result = subprocess.run(command, cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, universal_newlines=True, check=False)
        self.assertEqual(result.stderr, "")
        return result.stdout

    def bash(self, line):
        words = [word for part in line.split(" ") for word in re.split("(=)", part) if word or not part]
        return self.run_shell("bash", "-c", 'source "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _gpuprof "$1"; '
                              'printf "%s\\n" "${COMPREPLY[@]}"', "bash", self.script("bash"), *words).split()

    def test_bash(self):
        for line, expected in COMPLETED:
            self.assertEqual(expected & set(self.bash(line)), expected, line)
        self.assertEqual(self.bash("gpuprof-run --trace none python3 --tra"), [])  # the program's own
        self.assertEqual(self.bash("gpuprof-run --trace=none python3 --tra"), [])
        self.assertIn("ls", self.bash("gpuprof-run -q l"))

    def test_bash_has_every_option(self):
        for command in self.bash("gpuprof "):
            if command not in ("version", "help"):
                typed = re.findall(r"^(?:  -., |      )(--[a-z-]+)", self.run_gpuprof(command, "--help").stdout, re.MULTILINE)
                self.assertEqual(sorted(set(typed)), sorted(self.bash(f"gpuprof {command} --")), command)
        listed = re.findall(r"^  ([a-z]+) ", self.run_gpuprof("help").stdout.split("gpuprof COMMAND --help")[0], re.MULTILINE)
        self.assertEqual(sorted(listed), sorted(self.bash("gpuprof ")))

    def test_fish(self):
        script = self.script("fish")
        for line, expected in COMPLETED:
            shown = self.run_shell("fish", "--no-config", "-c", 'source $argv[1]; complete -C "$argv[2]"', script, line)
            found = {word.split("\t")[0] for word in shown.splitlines()}
            self.assertEqual({word for word in expected if word not in found and f"--format={word}" not in found}, set(), line)

    def test_zsh(self):
        """The tab key completes a word that has only one completion."""
        os.makedirs(self.path("functions"))
        shutil.copy(self.script("zsh"), self.path("functions", "_gpuprof"))
        ours, its = pty.openpty()
        with subprocess.Popen(["zsh", "-f", "-i"], cwd=self.folder, stdin=its, stdout=its, stderr=its, start_new_session=True,
                              env=support.environment(TERM="dumb", PS1="", HOME=self.folder)) as shell:
            os.close(its)
            os.set_blocking(ours, False)

            def type_and_read(keys, until, limit_s=20):
                os.write(ours, keys.encode())
                shown, end = "", time.monotonic() + limit_s
                while until not in shown and time.monotonic() < end:
                    try:
                        shown += os.read(ours, 4096).decode(errors="replace")
                    except BlockingIOError:
                        time.sleep(0.02)
                return shown
            try:
                type_and_read("unsetopt ZLE_BRACKETED_PASTE; fpath=(functions $fpath); autoload -U compinit; compinit -u -D; echo be''gun\n", "begun")
                for line, expected in COMPLETED:
                    if len(expected) == 1:
                        (word,) = expected
                        whole = line[:max(line.rfind(" "), line.rfind("=")) + 1] + word
                        self.assertIn(whole, type_and_read(line + "\t", whole))
                        type_and_read("\x15echo ne''xt\n", "next")
            finally:
                shell.kill()
        os.close(ours)


if __name__ == "__main__":
    support.main()
