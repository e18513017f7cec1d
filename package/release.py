#!/usr/bin/env python3
"""Check that a commit can be released, run all tests, and make the files of the release.  Nothing is published.

    package/release.py BUILD-FOLDER VERSION [--trial] [--checks COMMAND]      `make release` calls it

--trial goes on after what prevents a release, such as an open changelog.  COMMAND (.ci/run) tests the commit.

BUILD-FOLDER/release/ has the packages, the sources, the site, recipes, their SHA256SUMS, and tested.txt: what ran on which
machine.  The same commit gives the same bytes, but for tested.txt.
"""
import argparse
import datetime
import hashlib
import json
import os
import platform
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
TRACES = Path("tests", "data", "traces")
RECIPES = ("conda/meta.yaml", "spack/package.py")  # of package/
TOOLS = (("gcc", "--version"), ("clang", "--version"), ("nvcc", "--version"), ("mkdocs", "--version"))


def output_of(*command, folder=ROOT):
    """What a command prints, or nothing if it fails or does not exist."""
    try:
        done = subprocess.run(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, universal_newlines=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return ""
    return done.stdout.strip()


def problems_of(folder, version):
    """Why the sources in a folder cannot be released as this version, one sentence each."""
    found = []
    if not re.fullmatch(r"\d+\.\d+\.\d+", version):
        found.append(f"include/gpuprof/version.h: {version} is not MAJOR.MINOR.PATCH")
    first = re.search(r"^## (.*)$", (folder / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE)
    if not first or not re.fullmatch(re.escape(version) + r", \d{4}-\d{2}-\d{2}", first[1]):
        found.append(f"CHANGELOG.md: its first section is not '{version}, YEAR-MONTH-DAY'")
    with open(folder / TRACES / "values.json", encoding="utf-8") as file:
        values = json.load(file)
    if f"{version}.gpuprof" not in values["traces"]:
        found.append(f"{TRACES}: no trace of {version}; its README.md says how to add one")
    rows = re.findall(r"^GP_FIELD\(", (folder / "include" / "gpuprof" / "field.def").read_text(encoding="utf-8"), re.MULTILINE)
    if sum(map(len, values["fields"].values())) != len(rows):
        found.append(f"{TRACES}/values.json lacks fields of include/gpuprof/field.def")
    if output_of("git", "status", "--porcelain", folder=folder):
        found.append("git: files are changed or not committed")
    tagged = output_of("git", "rev-parse", "-q", "--verify", f"v{version}^{{commit}}", folder=folder)
    if tagged and tagged != output_of("git", "rev-parse", "HEAD", folder=folder):
        found.append(f"git: the tag v{version} is at another commit")
    return found


def machine():
    """Lines about the machine, without its name or anything of its user."""
    release = dict(line.split("=", 1) for line in Path("/etc/os-release").read_text(encoding="utf-8").splitlines() if "=" in line)
    cpu = re.search(r"^model name\s*: (.*)$", Path("/proc/cpuinfo").read_text(encoding="utf-8"), re.MULTILINE)
    gpus = re.sub(r" \(UUID.*\)", "", output_of("nvidia-smi", "-L"))
    yield f"system     {release.get('PRETTY_NAME', 'unknown').strip(chr(34))}, {platform.system()} {platform.release()}, {platform.machine()}"
    yield f"processor  {os.cpu_count()} x {cpu[1] if cpu else 'unknown'}"
    yield f"C library  {' '.join(platform.libc_ver())}"
    yield f"GPU        {gpus.replace(chr(10), '; ') or 'none: the tests ran on the simulated device'}"
    yield f"tools      Python {platform.python_version()}"
    for command in TOOLS:
        lines = [line for line in output_of(*command).splitlines() if re.search(r"\d+\.\d+", line)]
        yield f"           {lines[0] if lines else command[0] + ': not there'}"


def digest(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


def run(command):
    """Run a command, showing its output meanwhile; its status and output."""
    print(f"release: {shlex.join(command)}", flush=True)
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, universal_newlines=True) as process:
        lines = []
        for line in process.stdout:
            print(line, end="", flush=True)
            lines.append(line)
    return process.returncode, "".join(lines)


def make_files(build, version, folder, is_trial):
    """The files of the release and their digests, in a new folder."""
    shutil.rmtree(folder, ignore_errors=True)
    status, _ = run(["make", "--no-print-directory", f"O={build}", "packages", "site"])
    if status:
        raise SystemExit("release: the packages or the site cannot be made")
    shutil.copytree(build / "packages", folder)
    of_arm64 = Path(f"{build}-arm64", "packages")
    shutil.rmtree(of_arm64, ignore_errors=True)
    run(["make", "--no-print-directory", f"O={build}", "arm64-packages"])
    if of_arm64.exists():
        shutil.copytree(of_arm64, folder, dirs_exist_ok=True)
    elif not is_trial:
        raise SystemExit("release: the packages for arm64 cannot be made")
    subprocess.run(["package/archive.sh", build, "site", folder / f"gpuprof-{version}-site.tar.gz"], cwd=ROOT, check=True)
    with open(folder / f"gpuprof-{version}.tar.gz", "wb") as file:
        sources = subprocess.run(["git", "archive", "--format=tar", f"--prefix=gpuprof-{version}/", "HEAD"], cwd=ROOT, stdout=subprocess.PIPE, check=True)
        subprocess.run(["gzip", "-9n"], input=sources.stdout, stdout=file, check=True)
    words = {"VERSION": version, "SOURCES": digest(folder / f"gpuprof-{version}.tar.gz"),
             **{path.name.split("-linux-")[1].split(".")[0].upper(): digest(path) for path in folder.glob("*-linux-*.tar.gz")}}
    for recipe in RECIPES:
        path = folder / recipe
        path.parent.mkdir()
        text = (ROOT / "package" / recipe).read_text(encoding="utf-8")
        path.write_text(re.sub(r"@(\w+)@", lambda word: words.get(word[1], "none"), text), encoding="utf-8")
    digests = [f"{digest(path)}  {path.relative_to(folder)}" for path in sorted(folder.rglob("*")) if path.is_file()]
    (folder / "SHA256SUMS").write_text("\n".join(digests) + "\n", encoding="utf-8")
    return digests


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=Path)
    parser.add_argument("version")
    parser.add_argument("--trial", action="store_true")
    parser.add_argument("--checks", default=".ci/run", metavar="COMMAND")
    arguments = parser.parse_args()
    problems = problems_of(ROOT, arguments.version)
    for problem in problems:
        print(f"release: {problem}", flush=True)
    if problems and not arguments.trial:
        return 1
    began = datetime.datetime.now(datetime.timezone.utc)
    status, tested = run(shlex.split(arguments.checks))
    folder = arguments.build.resolve() / "release"
    digests = make_files(arguments.build.resolve(), arguments.version, folder, arguments.trial)
    (folder / "tested.txt").write_text("\n".join([
        f"gpuprof {arguments.version}, commit {output_of('git', 'rev-parse', 'HEAD')}, tested {began:%Y-%m-%d %H:%M} UTC",
        *machine(), *(f"NOT A RELEASE: {problem}" for problem in problems), "",
        f"$ {arguments.checks}", tested, *digests, ""]), encoding="utf-8")
    print(f"release: {folder}: {len(digests)} files, SHA256SUMS and tested.txt; {'the tests FAILED' if status else 'the tests passed'}")
    return 1 if status else 0


if __name__ == "__main__":
    sys.exit(main())
