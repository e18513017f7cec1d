"""What docs/howto/slurm.md and kubernetes.md tell administrators to write works on the simulated device."""
import glob
import os
import re
import shutil
import subprocess
import unittest

import support
from support import BUILD, GPU, PLAIN, ROOT, Case

try:
    import yaml
except ImportError:
    yaml = None

USER = 65534
# Runs a command as an unprivileged user, who may write to one folder only.
READ_ONLY = ('mount --bind "$1" "$1"; mount -o remount,bind,ro /; shift; '
             f'exec setpriv --reuid={USER} --regid={USER} --clear-groups --no-new-privs --bounding-set=-all "$@"')


def block(page, language, number=0):
    with open(os.path.join(ROOT, "docs", "howto", page), encoding="utf-8") as file:
        return re.findall(rf"^```{language}\n(.*?)^```", file.read(), re.DOTALL | re.MULTILINE)[number]


class Slurm(Case):

    def prolog(self, **variables):
        """The variables that the prolog prints for a task of job 7."""
        text = block("slurm.md", "bash").replace("/opt/gpuprof/lib", BUILD)
        done = subprocess.run(["sh", "-c", text], env=support.environment(SLURM_SUBMIT_DIR=self.folder, SLURM_JOB_ID=7, **variables), check=True,
                              stdout=subprocess.PIPE, universal_newlines=True)
        lines = [re.fullmatch(r"export (\w+)=(.*)", line) for line in done.stdout.splitlines()]
        return {line[1]: line[2] for line in lines}

    def test_a_job_that_asks_for_it(self):
        variables = self.prolog(PROFILE=1)
        for rank in (0, 1):
            task = {"SLURM_JOB_ID": 7, "SLURM_STEP_ID": 0, "SLURM_STEP_NUM_TASKS": 2, "SLURM_PROCID": rank, "SLURM_LOCALID": rank, "GPUSIM_NODE": rank}
            result = self.run_program([*GPU, "launch=5"], PLAIN, **task, **variables)
            self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.assertEqual(len(glob.glob(self.path("traces-7", "*", "*.gpuprof"))), 2)
        self.assertIn("Ranks: 2 of 2", self.run_gpuprof("summary", "traces-7").stdout)

    def test_any_other_job(self):
        self.assertEqual(self.prolog(), {})
        self.assertEqual(self.files(), [])


@unittest.skipUnless(yaml, "no PyYAML")
@unittest.skipUnless(os.geteuid() == 0 and shutil.which("setpriv"), "needs root, for a read-only root and another user")
class Kubernetes(Case):

    def setUp(self):
        super().setUp()
        (self.pod,) = [document["spec"]["template"]["spec"] for document in yaml.safe_load_all(block("kubernetes.md", "yaml"))]
        os.chmod(self.folder, 0o755)
        for name in ("gpuprof", "traces"):  # the volumes
            os.mkdir(self.path(name))
            os.chmod(self.path(name), 0o777)

    def here(self, path):
        """Where the path of a container is in this test."""
        for inside, outside in (("/opt/gpuprof-0.1.0-linux-x86_64", self.path("installed")), ("/gpuprof", self.path("gpuprof")),
                                ("/traces", self.path("traces"))):
            if path.startswith(inside):
                return outside + path[len(inside):]
        return path

    def test_volumes_are_those_of_the_mounts(self):
        names = {volume["name"] for volume in self.pod["volumes"]}
        for container in (*self.pod["initContainers"], *self.pod["containers"]):
            self.assertLessEqual({mount["name"] for mount in container["volumeMounts"]}, names)

    def test_the_program_is_recorded(self):
        subprocess.run(["make", "-s", "install", f"O={BUILD}", f"PREFIX={self.path('installed')}"], cwd=ROOT, stdout=subprocess.DEVNULL, check=True)
        (init,), (container,) = self.pod["initContainers"], self.pod["containers"]
        subprocess.run(["setpriv", f"--reuid={USER}", "--clear-groups", *map(self.here, init["command"])], check=True)
        launcher, *program = container["command"]
        self.assertEqual(program, ["python", "train.py"])
        program = os.path.join(BUILD, "programs", "launch")
        preload = yaml.safe_load(block("kubernetes.md", "yaml", 1))["env"]
        for variables, command in (([], [self.here(launcher), program]), (preload, [program])):
            # only the program has the variables, not the shells before it
            environment = [f"{variable['name']}={self.here(variable['value'])}" for variable in container["env"] + variables]
            result = self.run_program(["unshare", "-m", "sh", "-ec", READ_ONLY, "sh", self.path("traces"), "env", *environment, *command], PLAIN)
            self.assertEqual(result.returncode, 0, result.stderr)
            (trace,) = glob.glob(self.path("traces", "*"))
            self.assertEqual(os.stat(trace).st_uid, USER)
            self.assertIn(" kernels", self.run_gpuprof("summary", trace).stdout)
            self.assertIn(" kernels", result.stderr)
            os.remove(trace)


if __name__ == "__main__":
    support.main()
