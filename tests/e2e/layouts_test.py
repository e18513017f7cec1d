"""The commands of docs/howto/conda.md and nix.md, in an environment and a store that are laid out as theirs."""
import glob
import os
import shutil
import subprocess
import unittest

import documents
import support
from support import BUILD, ROOT

PYTHON = "/usr/bin/python3"  # which finds its modules although a copy of it runs elsewhere
LOADER = "lib/ld-linux-x86-64.so.2"
RELEASE = "gpuprof-0.1.0-linux-x86_64"


@unittest.skipUnless(shutil.which("patchelf"), "no patchelf")
@unittest.skipUnless(os.uname().machine == "x86_64", "the layouts are those of x86-64")
class Layouts(documents.Pasting):

    def setUp(self):
        super().setUp()
        subprocess.run(["make", "-s", "install", f"O={BUILD}", f"PREFIX={self.path(RELEASE)}"], cwd=ROOT, stdout=subprocess.DEVNULL, check=True)
        self.write("train.py", f"import sys\nsys.path.insert(0, {os.path.join(ROOT, 'tests', 'e2e')!r})\nimport gpu\ngpu.Device().launch(5)\n")

    def put(self, folder, *names):
        """Libraries of the simulated device into a folder."""
        os.makedirs(self.path(folder), exist_ok=True)
        for name in names:
            shutil.copy(os.path.join(BUILD, "sim", name), self.path(folder))
        return self.path(folder)

    def patch(self, path, *options):
        subprocess.run(["patchelf", *options, path], check=True)

    @unittest.skipUnless(os.path.exists(PYTHON), "no system Python")
    def test_conda(self):
        subprocess.run(["tar", "czf", f"{RELEASE}.tar.gz", RELEASE], cwd=self.folder, check=True)
        shutil.rmtree(self.path(RELEASE))
        prefix = self.path("environment")
        self.put("environment/lib", "libcudart.so.13", "libcupti.so.13", "libgpusim.so")
        os.mkdir(os.path.join(prefix, "bin"))
        shutil.copy(PYTHON, os.path.join(prefix, "bin", "python"))
        self.patch(os.path.join(prefix, "bin", "python"), "--force-rpath", "--set-rpath", "$ORIGIN/../lib")
        install, record = documents.blocks("howto/conda.md")
        folders = [os.path.join(prefix, "bin")]
        variables = {"CONDA_PREFIX": prefix, "LD_LIBRARY_PATH": self.put("driver", "libcuda.so.1", "libgpusim.so")}
        path = os.pathsep.join((*folders, os.environ["PATH"]))  # without the build folder
        self.paste(install, **variables)
        output = self.paste(f"PATH={path}\n{record}", folders=folders, **variables)
        self.assertIn("5 kernels", output)

    def store(self):
        """A glibc, and CUDA's libraries, in folders of their own, which no search path has; returns the options of a link."""
        glibc = self.path("store/1-glibc-2.40/lib")
        os.makedirs(glibc)
        for name in (os.path.basename(LOADER), "libc.so.6", "libm.so.6", "libdl.so.2", "libpthread.so.0", "librt.so.1"):
            (path,) = glob.glob(f"/lib/x86_64-linux-gnu/{name}") or glob.glob(f"/lib64/{name}")
            shutil.copy(path, glibc)
        self.put("store/3-cuda_cupti-13.0.85/lib", "libcupti.so.13", "libgpusim.so")
        driver = self.put("run/opengl-driver/lib", "libcuda.so.1", "libgpusim.so")
        return [f"-Wl,--dynamic-linker={self.path('store/1-glibc-2.40', LOADER)}", f"-Wl,-rpath,{glibc}:{driver}",
                f"-L{os.path.join(BUILD, 'sim')}", "-lcuda"]

    def test_nix(self):
        link = self.store()
        places = os.path.join(ROOT, "tests", "programs", "places.c")
        subprocess.run(["cc", "-O1", "-g", f"-I{ROOT}", "-o", self.path("app"), places, *link], check=True)
        shell = shutil.copy("/bin/bash", self.path("bash"))  # the shell of the system, here that of the store
        self.patch(shell, "--set-interpreter", self.path("store/1-glibc-2.40", LOADER))
        here, unpack, name = documents.blocks("howto/nix.md")
        variables = {"LD_LIBRARY_PATH": None, "CUDA_HOME": None, "CUDA_PATH": None}
        cupti = self.path("store/3-cuda_cupti-13.0.85/lib/libcupti.so.13")
        self.assertIn(" kernels", self.paste(f"export GPUPROF_CUPTI={cupti}\n{here}", **variables))
        self.paste(unpack, folders=[self.folder], **variables)
        program = self.path(RELEASE, "bin", "gpuprof")
        interpreter = subprocess.run(["patchelf", "--print-interpreter", program], stdout=subprocess.PIPE, universal_newlines=True, check=True)
        self.assertEqual(interpreter.stdout.strip(), self.path("store/1-glibc-2.40", LOADER))
        self.assertIn("/nix/store/HASH-cuda_cupti-13.0.85/lib/libcupti.so.13", name)
        name = name.replace("/nix/store/HASH", self.path("store/3")).replace("/run/", self.path("run/"))
        output = self.paste(f"PATH={os.path.dirname(program)}:$PATH\n{name}", **variables)
        self.assertIn(f"CUPTI       13.0.1 ({cupti})", output)
        self.assertIn(" kernels", output)


if __name__ == "__main__":
    support.main()
