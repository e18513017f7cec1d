"""The packages for arm64, installed and used under the emulator that `make arm64-check` brings."""
import glob
import os
import shutil
import struct
import subprocess
import unittest
import zipfile

import support
from support import BUILD, HERE, PLAIN, ROOT, Case, digests

PYTHON = os.path.join(BUILD, "sysroot", "usr", "bin", "python3")
GPU = [PYTHON, os.path.join(HERE, "gpu.py")]
PACKAGES = os.path.join(BUILD, "packages")
AARCH64 = 183


@unittest.skipUnless(os.environ.get("TESTS_EMULATED"), "make arm64-check runs this test")
class Packages(Case):

    def package(self, pattern):
        (path,) = glob.glob(os.path.join(PACKAGES, pattern))
        return path

    def assert_works(self, folder):
        for name in ("bin/gpuprof", "lib/libgpuprof.so"):
            with open(os.path.join(folder, name), "rb") as file:
                self.assertEqual(struct.unpack_from("<H", file.read(20), 18), (AARCH64,))
        result = self.run_program([os.path.join(folder, "bin", "gpuprof-run"), "-o", "one", "--stacks=all", *GPU, "launch=5"], PLAIN)
        self.assertIn("5 kernels", result.stderr)
        stacks = self.run_program([os.path.join(folder, "bin", "gpuprof"), "summary", "--by", "stack", "one.gpuprof"], PLAIN).stdout
        self.assertRegex(stacks, r" 5 .*> main \(gpu\.py:\d+\) > Device\.launch \(gpu\.py:\d+\) > Device\.call \(gpu\.py:\d+\) > ")

    def test_tarball(self):
        subprocess.run(["tar", "xf", self.package("*.tar.gz")], cwd=self.folder, check=True)
        self.assert_works(self.path("gpuprof-0.1.0-linux-aarch64"))

    def test_debian_package(self):
        def field(name):
            return subprocess.run(["dpkg-deb", "-f", self.package("*.deb"), name], stdout=subprocess.PIPE, universal_newlines=True, check=True).stdout.strip()
        self.assertEqual((field("Architecture"), field("Depends")), ("arm64", "libc6 (>= 2.28)"))
        subprocess.run(["dpkg-deb", "-x", self.package("*.deb"), self.path("root")], check=True)
        self.assert_works(self.path("root", "usr"))
        self.assertTrue(os.path.exists(self.path("root", "usr", "share", "man", "man1", "gpuprof.1.gz")))

    def test_wheel(self):
        wheel = self.package("*.whl")
        self.assertTrue(wheel.endswith("-cp38-abi3-manylinux_2_28_aarch64.whl"), wheel)
        with zipfile.ZipFile(wheel) as file:
            file.extractall(self.path("site"))
        for name in ("gpuprof", "libgpuprof.so"):
            os.chmod(self.path("site", "gpuprof", "bin", name), 0o755)
        self.write("ranges.py", "import gpuprof\nwith gpuprof.range('one'):\n    pass\nprint(gpuprof.is_active())\n")
        result = self.run_program([PYTHON, "-m", "gpuprof", "run", "-o", "one", "ranges.py"], PLAIN, PYTHONPATH=self.path("site"))
        self.assertEqual(result.stdout, "True\n", result.stderr)
        self.write("read.py", "import gpuprof\nprint([row['name'] for row in gpuprof.open('one.gpuprof').ranges.rows()])\n")
        result = self.run_program([PYTHON, "read.py"], PLAIN, PYTHONPATH=self.path("site"))
        self.assertEqual(result.stdout, "['one']\n", result.stderr)

    def test_contents_are_named(self):
        with open(self.package("*.spdx.json"), encoding="utf-8") as file:
            text = file.read()
        self.assertIn("pkg:deb/debian/libsqlite3-dev@", text)
        self.assertIn("Jean-loup Gailly", text)

    @unittest.skipUnless(shutil.which("aarch64-linux-gnu-gcc"), "no cross compiler")
    def test_equal_if_they_are_made_again(self):
        before = digests(PACKAGES)
        subprocess.run(["make", "-s", "arm64-packages", f"O={BUILD.removesuffix('-arm64')}"], cwd=ROOT, stdout=subprocess.DEVNULL, check=True)
        self.assertEqual(digests(PACKAGES), before)


if __name__ == "__main__":
    support.main()
