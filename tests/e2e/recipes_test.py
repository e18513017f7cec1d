"""The recipes for conda and Spack: their commands, run as their tools would, install a gpuprof that works."""
import os
import re
import subprocess
import sys
import types
import unittest

import support
from support import BUILD, GPU, PLAIN, ROOT, Case

try:
    import yaml
except ImportError:
    yaml = None


class Recipe(Case):

    def recipe(self, *names):
        with open(os.path.join(ROOT, "package", *names), encoding="utf-8") as file:
            return re.sub(r"@\w+@", "1.2.3", file.read())

    def run_in(self, folder, command, **variables):
        subprocess.run(command, cwd=folder, env=support.environment(**variables), stdout=subprocess.DEVNULL, check=True)

    def assert_works(self, prefix):
        result = self.run_program([os.path.join(prefix, "bin", "gpuprof-run"), "-o", "one", *GPU, "launch=5"], PLAIN)
        self.assertIn("5 kernels", result.stderr)

    @unittest.skipUnless(yaml, "no PyYAML")
    def test_conda(self):
        recipe = yaml.safe_load(self.recipe("conda", "meta.yaml"))
        self.assertEqual([source["url"] for source in recipe["source"]],
                         [f"../gpuprof-1.2.3-linux-{machine}.tar.gz" for machine in ("x86_64", "aarch64")])
        tarball, prefix = self.path("tarball"), self.path("environment")
        os.makedirs(os.path.join(prefix, "lib"))  # an environment has most folders
        self.run_in(ROOT, ["make", "-s", "install", f"O={BUILD}", f"PREFIX={tarball}"])
        self.run_in(tarball, ["bash", "-ec", recipe["build"]["script"]], PREFIX=prefix)
        path = os.pathsep.join((os.path.join(prefix, "bin"), os.environ["PATH"]))
        for command in recipe["test"]["commands"]:
            self.run_in(self.folder, ["bash", "-ec", command], PATH=path)
        self.assert_works(prefix)

    def spack_package(self):
        """The package's class, without Spack: its directives note what they are given."""
        said = {}
        directives = {name: lambda *words, _name=name, **more: said.setdefault(_name, []).append(words)
                      for name in ("version", "depends_on", "conflicts")}
        stand_ins = {"spack": {}, "spack.package": directives, "spack_repo": {}, "spack_repo.builtin": {}, "spack_repo.builtin.build_systems": {},
                     "spack_repo.builtin.build_systems.makefile": {"MakefilePackage": object}}
        for name, members in stand_ins.items():
            module = types.ModuleType(name)
            module.__dict__.update(members)
            sys.modules[name] = module
            self.addCleanup(sys.modules.pop, name)
        names = {}
        exec(compile(self.recipe("spack", "package.py"), "package.py", "exec"), names)  # pylint: disable=exec-used
        return names["Gpuprof"], said

    def test_spack(self):
        package, said = self.spack_package()
        self.assertEqual(said["version"], [("1.2.3",)])
        one, prefix = package(), self.path("installed")
        one.prefix, one.spec = prefix, {"cuda": types.SimpleNamespace(prefix=os.environ.get("CUDA_HOME") or "/usr/local/cuda")}
        with open(os.path.join(ROOT, "Makefile"), encoding="utf-8") as file:
            archives = re.search(r"^STATIC_LIBS := (.*)$", file.read(), re.MULTILINE)[1].split()
        self.assertLessEqual(set(archives), set(one.options[0].split("=", 1)[1].split()))
        # what is built is built already; only the commands of a build are checked
        self.run_in(ROOT, ["make", "-n", f"O={self.path('build')}", *one.build_targets])
        self.run_in(ROOT, ["make", "-s", f"O={BUILD}", *one.install_targets])
        self.assert_works(prefix)


if __name__ == "__main__":
    support.main()
