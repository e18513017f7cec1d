"""What `make install` puts in place works from there; the manual pages say all that the programs' help does."""
import os
import re
import shutil
import subprocess

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
        options = re.findall(r"^ +((?:-., )?--[a-z-]+)", help_text, re.MULTILINE)
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
        self.assertEqual(found, ["bin/gpuprof", "bin/gpuprof-run", "include/gpuprof/gpuprof.h", "lib/libgpuprof.so",
                                 "share/man/man1/gpuprof-run.1", "share/man/man1/gpuprof.1"])

    def test_all_may_read_it_and_one_may_write(self):
        modes = {os.lstat(os.path.join(folder, name)).st_mode & 0o777 for folder, folders, names in os.walk(self.installed())
                 for name in folders + names if not os.path.islink(os.path.join(folder, name))}
        self.assertEqual({oct(mode) for mode in modes}, {"0o755", "0o644"})

    def test_it_works_under_the_launcher_and_preloaded(self):
        result = self.run_program([self.installed("bin", "gpuprof-run"), "-o", "one", *GPU, "launch=5"], PLAIN)
        self.assertIn("5 kernels", result.stderr)
        result = self.run_program([*GPU, "launch=6"], PLAIN, LD_PRELOAD=self.installed("lib", "libgpuprof.so"))
        self.assertIn("6 kernels", result.stderr)

    def test_it_goes_as_a_whole(self):
        others = self.write(os.path.join("root", "opt", "lib", "libother.so"), "")
        self.make("uninstall")
        self.assertEqual([os.path.join(folder, name) for folder, _, names in os.walk(self.path("root")) for name in names],
                         [others])


if __name__ == "__main__":
    support.main()
