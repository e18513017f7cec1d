"""The packages of `make packages` can be installed and used, state what they contain, and are equal from another folder."""
import glob
import json
import os
import re
import shutil
import subprocess
import unittest

import support
from support import GPU, PLAIN, ROOT, Case, digests


ROOTS = os.environ.get("TESTS_ROOTS", "").split()
CAN_BUILD_ARM64 = all(map(shutil.which, ("aarch64-linux-gnu-gcc", "aarch64-linux-gnu-g++", "qemu-aarch64-static")))


def make(*arguments, folder=ROOT):
    subprocess.run(["make", "-s", *arguments], cwd=folder, stdout=subprocess.DEVNULL, check=True)


@unittest.skipUnless(shutil.which("dpkg-deb"), "no dpkg-deb")
class Packages(Case):

    @classmethod
    def setUpClass(cls):
        make("packages", f"O={support.BUILD}")
        cls.packages = os.path.join(support.BUILD, "packages")

    def package(self, pattern):
        (path,) = glob.glob(os.path.join(self.packages, pattern))
        return path

    def run_tool(self, *command):
        return subprocess.run(command, cwd=self.folder, stdout=subprocess.PIPE, universal_newlines=True, check=True).stdout

    def assert_works(self, bin_folder):
        version = self.run_gpuprof("version").stdout
        self.assertEqual(self.run_tool(os.path.join(bin_folder, "gpuprof"), "--version"), version)
        result = self.run_program([os.path.join(bin_folder, "gpuprof-run"), "-o", "one", *GPU, "launch=5"], PLAIN)
        self.assertIn("5 kernels", result.stderr)
        self.assertTrue(os.path.exists(self.path("one.gpuprof")))

    def test_debian_package(self):
        """Installed into its own root, without the package of the C library that it depends on."""
        root, state = self.path("root"), self.path("root", "var", "lib", "dpkg")
        for name in ("info", "updates", "triggers"):
            os.makedirs(os.path.join(state, name))
        self.write(os.path.join(state, "status"), "")
        dpkg = ["dpkg", f"--root={root}", "--force-depends", "--force-script-chrootless", f"--log={self.path('log')}"]
        if os.geteuid() != 0:
            dpkg.append("--force-not-root")
        subprocess.run([*dpkg, "-i", self.package("*.deb")], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
        self.assertEqual(self.run_tool("dpkg", f"--root={root}", "--verify", "gpuprof"), "")
        self.assert_works(os.path.join(root, "usr", "bin"))
        for name in ("share/man/man1/gpuprof.1.gz", "share/zsh/vendor-completions/_gpuprof", "share/doc/gpuprof/copyright",
                     "share/bash-completion/completions/gpuprof-run", "lib/gpuprof-preload/lib/libgpuprof.so"):
            self.assertTrue(os.path.exists(os.path.join(root, "usr", name)), name)
        subprocess.run([*dpkg, "-P", "gpuprof"], stdout=subprocess.DEVNULL, check=True)
        self.assertFalse(os.path.exists(os.path.join(root, "usr")))

    def test_control(self):
        """The package depends only on the C library, of the oldest supported version; root owns all files."""
        depends = self.run_tool("dpkg-deb", "-f", self.package("*.deb"), "Depends").strip()
        self.assertEqual(depends, "libc6 (>= 2.28)")
        owners = {line.split()[1] for line in self.run_tool("dpkg-deb", "-c", self.package("*.deb")).splitlines()}
        self.assertEqual(owners, {"root/root"})

    def test_tarball(self):
        self.run_tool("tar", "xf", self.package("*.tar.gz"))
        (name,) = self.files("64")
        os.rename(self.path(name), self.path("else where"))
        self.assert_works(self.path("else where", "bin"))

    @unittest.skipUnless(ROOTS, "TESTS_ROOTS names no roots, as debootstrap --variant=minbase bullseye FOLDER makes them")
    def test_other_systems(self):
        """In the roots of other systems: installed by their own dpkg, it records without a GPU, and reads traces."""
        result = self.run_program([*GPU, "launch=7"], options=["-o", "seven"])
        self.assertEqual(result.returncode, 0, result.stderr)
        for root in ROOTS:
            inside = os.path.join(root, "tmp")
            for path in (self.package("*.deb"), self.path("seven.gpuprof")):
                shutil.copy(path, inside)
            shown = self.run_tool("unshare", "-m", "chroot", root, "sh", "-ec", """
                mount -t proc none /proc
                dpkg -i /tmp/gpuprof_*.deb >&2
                gpuprof summary /tmp/seven.gpuprof
                gpuprof-run grep -c libgpuprof /proc/self/maps
                dpkg -P gpuprof >&2
            """)
            self.assertIn("7 kernels", shown, root)
            self.assertGreater(int(shown.splitlines()[-1]), 0, root)

    def test_contents_are_named(self):
        """The list and the licenses of the packages that are linked into the program."""
        with open(self.package("*.spdx.json"), encoding="utf-8") as file:
            document = json.load(file)
        names = {package["name"]: package["versionInfo"] for package in document["packages"]}
        self.assertLessEqual({"gpuprof", "libsqlite3-dev", "libdw-dev", "zlib1g-dev"}, set(names))
        linked = {entry["relatedSpdxElement"] for entry in document["relationships"] if entry["relationshipType"] == "STATIC_LINK"}
        self.assertEqual(linked, {f"SPDXRef-{name}" for name in names if name != "gpuprof"})
        self.run_tool("dpkg-deb", "-x", self.package("*.deb"), "root")
        with open(self.path("root", "usr", "share", "doc", "gpuprof", "copyright"), encoding="utf-8") as file:
            self.assertEqual(set(re.findall(r"^---- (\S+) ", file.read(), re.MULTILINE)), set(names) - {"gpuprof"})
        texts = {text["licenseId"]: text["extractedText"] for text in document["hasExtractedLicensingInfos"]}
        licenses = {package["name"]: package["licenseDeclared"] for package in document["packages"] if package["name"] != "gpuprof"}
        self.assertEqual(sorted(texts), sorted(licenses.values()))
        self.assertIn("Jean-loup Gailly", texts[licenses["zlib1g-dev"]])

    @unittest.skipUnless(shutil.which("mkdocs"), "no mkdocs: apt-get install mkdocs-material")
    def test_a_release_has_all_files(self):
        make("release", f"O={support.BUILD}", "RELEASE_OPTIONS=--trial --checks true")
        folder = os.path.join(support.BUILD, "release")
        found = digests(folder)
        with open(os.path.join(folder, "SHA256SUMS"), encoding="utf-8") as file:
            saved = {name: digest for digest, name in (line.split() for line in file)}
        self.assertEqual(saved, {name: found[name] for name in found if name not in ("SHA256SUMS", "tested.txt")})
        kinds = sorted(re.sub(r"^gpuprof[-_][\d.]+[-_.](.*-linux-)?", "", name) for name in saved)
        machines = {"x86_64": "amd64", **({"aarch64": "arm64"} if CAN_BUILD_ARM64 else {})}
        self.assertEqual(kinds, sorted(["site.tar.gz", "tar.gz", "conda/meta.yaml", "spack/package.py", *(
            kind for machine, debian in machines.items() for kind in (f"{debian}.deb", f"linux-{machine}.spdx.json", f"linux-{machine}.tar.gz",
                                                                     f"cp38-abi3-manylinux_2_28_{machine}.whl"))]))
        with open(os.path.join(folder, "conda", "meta.yaml"), encoding="utf-8") as file:
            recipe = file.read()
        tarballs = glob.glob(os.path.join(folder, "*-linux-*.tar.gz"))
        self.assertEqual(len(tarballs), len(machines))
        for tarball in tarballs:
            self.assertIn(f'sha256: "{found[os.path.basename(tarball)]}"', recipe)
        with open(os.path.join(folder, "tested.txt"), encoding="utf-8") as file:
            text = file.read()
        self.assertIn("$ true", text)
        self.assertNotIn(os.uname().nodename + " ", text)

    def test_equal_if_they_are_made_again(self):
        before = digests(self.packages)
        make("packages", f"O={support.BUILD}")
        self.assertEqual(digests(self.packages), before)
        for name in ("gpuprof", "libgpuprof.so"):  # whose other copies, from other folders, would differ
            with open(os.path.join(support.BUILD, "stripped", name), "rb") as file:
                self.assertNotIn(ROOT.encode(), file.read())

    @unittest.skipUnless(os.environ.get("TESTS_REBUILD"), "TESTS_REBUILD is not set: make soak builds all packages in another folder")
    def test_equal_from_another_folder(self):
        """All packages, built in another folder from the same commit and files."""
        other = self.path("another-folder", "deeper")
        listed = subprocess.run(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], cwd=ROOT, stdout=subprocess.PIPE, check=True)
        os.makedirs(other)
        archive = subprocess.run(["tar", "c", "--null", "-T", "-"], cwd=ROOT, input=listed.stdout, stdout=subprocess.PIPE, check=True)
        subprocess.run(["tar", "x"], cwd=other, input=archive.stdout, check=True)
        date = subprocess.run(["git", "log", "-1", "--format=%ct"], cwd=ROOT, stdout=subprocess.PIPE, universal_newlines=True, check=True)
        make(f"-j{os.cpu_count()}", "packages", "O=build", f"SOURCE_DATE_EPOCH={date.stdout.strip()}", folder=other)
        self.assertEqual(digests(os.path.join(other, "build", "packages")), digests(self.packages))


if __name__ == "__main__":
    support.main()
