"""Builds the wheel of the Python package, without any package from elsewhere (PEP 517, 660).

It takes what the root Makefile builds, and a C compiler. A wheel has the package, the program
gpuprof, and the library that records."""
import base64
import hashlib
import os
import re
import shlex
import subprocess
import sysconfig
import zipfile
from typing import Any, Dict, Iterator, List, Optional, Tuple

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PACKAGE = os.path.join(ROOT, "python", "gpuprof")
BUILD = os.environ.get("GPUPROF_BUILD") or os.path.join(ROOT, "build")
SOURCES = ("_native.c", "_arrow.c")
OLDEST = "0x03080000"  # the limited API of CPython 3.8
DATE = (2020, 1, 1, 0, 0, 0)  # of all files: equal sources make equal wheels
Settings = Optional[Dict[str, Any]]
ENTRY_POINTS = """\
[console_scripts]
gpuprof = gpuprof.__main__:main
gpuprof-run = gpuprof.__main__:run

[pytest11]
gpuprof = gpuprof.pytest_plugin
"""


def _run(*command: str, why: str) -> None:
    variables = {name: value for name, value in os.environ.items() if name != "MAKEFLAGS"}
    try:
        status = subprocess.run(command, cwd=ROOT, check=False, env=variables).returncode
    except FileNotFoundError:
        status = 127
    if status != 0:
        raise SystemExit(f"gpuprof: {why}; the command was: {' '.join(command)}")


def _version() -> str:
    with open(os.path.join(ROOT, "include", "gpuprof", "version.h"), encoding="utf-8") as file:
        found = re.search(r'GP_VERSION "([^"]+)"', file.read())
    assert found
    return found.group(1)


def _is_free_threaded() -> bool:
    return bool(sysconfig.get_config_var("Py_GIL_DISABLED"))


def _extension() -> str:
    """The name of its file: one for all versions, but those without GIL have none in common."""
    return "_native" + (sysconfig.get_config_var("EXT_SUFFIX") if _is_free_threaded() else
                        ".abi3.so")


def _compiler() -> List[str]:
    return shlex.split(os.environ.get("CC", "cc"))


def _machine() -> str:
    """The machine that the compiler compiles for, as in x86_64."""
    target = subprocess.run([*_compiler(), "-dumpmachine"], check=True, stdout=subprocess.PIPE)
    return target.stdout.decode().split("-")[0]


def build_extension(output: str) -> None:
    """Compile the extension module to a file."""
    limited = [] if _is_free_threaded() else [f"-DPy_LIMITED_API={OLDEST}"]
    _run(*_compiler(), "-std=c11", "-O2", "-fPIC", "-shared", "-Wl,-s", *limited,
         "-I" + sysconfig.get_paths()["include"], "-o", output,
         *(os.path.join(PACKAGE, name) for name in SOURCES), "-ldl", "-lpthread",
         why="the extension module needs a C compiler and the headers of Python (python3-dev)")


def build_program() -> None:
    """Build the program and the library, or see that they are up to date; GPUPROF_BUILD: where."""
    # as in the checkout: make knows the dependencies of objects by their names
    folder = os.path.relpath(BUILD, ROOT)
    _run("make", "--no-print-directory", f"-j{os.cpu_count()}", f"O={folder}", "all", "stripped",
         why="the program could not be built; what it needs is installed by: tests/deps")


def _files() -> Iterator[Tuple[str, bytes, int]]:
    """Name, content and mode of each file of the package."""
    for name in sorted(os.listdir(PACKAGE)):
        if name.endswith((".py", ".pyi", ".typed")):
            with open(os.path.join(PACKAGE, name), "rb") as file:
                yield f"gpuprof/{name}", file.read(), 0o644
    for name in ("gpuprof", "libgpuprof.so"):
        with open(os.path.join(BUILD, "stripped", name), "rb") as file:
            yield f"gpuprof/bin/{name}", file.read(), 0o755
    for name in sorted(os.listdir(os.path.join(ROOT, "recipes"))):
        if name.endswith((".py", ".sql")):
            with open(os.path.join(ROOT, "recipes", name), "rb") as file:
                yield f"gpuprof/recipes/{name}", file.read(), 0o644
    extension = os.path.join(BUILD, _extension())
    build_extension(extension)
    with open(extension, "rb") as file:
        yield f"gpuprof/{_extension()}", file.read(), 0o755


def _needed_glibc() -> str:
    """The C library that the program needs, as in manylinux_2_34."""
    symbols = subprocess.run(["objdump", "-T", os.path.join(BUILD, "gpuprof")], check=True,
                             stdout=subprocess.PIPE).stdout.decode()
    return "2_" + str(max(int(minor) for minor in re.findall(r"GLIBC_2\.(\d+)", symbols)))


def _tag(settings: Settings) -> str:
    machine = _machine()
    platform = f"linux_{machine}"
    if settings and settings.get("platform") == "manylinux":
        platform = f"manylinux_{_needed_glibc()}_{machine}"
    if _is_free_threaded():
        python = "cp" + sysconfig.get_config_var("py_version_nodot")
        return f"{python}-{python}t-{platform}"
    return f"cp38-abi3-{platform}"


def _metadata() -> bytes:
    with open(os.path.join(ROOT, "README.md"), encoding="utf-8") as file:
        readme = file.read()
    return (f"Metadata-Version: 2.1\nName: gpuprof\nVersion: {_version()}\n"
            "Summary: Where GPU time and memory went, and which line to change\n"
            "Requires-Python: >=3.8\nDescription-Content-Type: text/markdown\n\n"
            f"{readme}").encode()


def _write(folder: str, files: Iterator[Tuple[str, bytes, int]], tag: str) -> str:
    name = f"gpuprof-{_version()}"
    info = f"{name}.dist-info"
    record: List[str] = []
    about = ((f"{info}/METADATA", _metadata()),
             (f"{info}/WHEEL", ("Wheel-Version: 1.0\nGenerator: gpuprof\nRoot-Is-Purelib: false\n"
                                f"Tag: {tag}\n").encode()),
             (f"{info}/entry_points.txt", ENTRY_POINTS.encode()))
    output = os.path.join(folder, f"{name}-{tag}.whl")
    if os.path.lexists(output):  # perhaps another user's
        os.unlink(output)
    with zipfile.ZipFile(output, "x", zipfile.ZIP_DEFLATED) as wheel:
        def put(path: str, content: bytes, mode: int = 0o644) -> None:
            entry = zipfile.ZipInfo(path, DATE)
            entry.external_attr = (0o100000 | mode) << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            wheel.writestr(entry, content)
            digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=")
            record.append(f"{path},sha256={digest.decode()},{len(content)}")

        for path, content, mode in files:
            put(path, content, mode)
        for path, content in about:
            put(path, content)
        put(f"{info}/RECORD", "\n".join([*record, f"{info}/RECORD,,", ""]).encode())
    return f"{name}-{tag}.whl"


def build_wheel(wheel_directory: str, config_settings: Settings = None,
                metadata_directory: Optional[str] = None) -> str:
    """PEP 517. The setting platform=manylinux names the oldest C library in the wheel's name."""
    build_program()
    return _write(wheel_directory, _files(), _tag(config_settings))


def build_editable(wheel_directory: str, config_settings: Settings = None,
                   metadata_directory: Optional[str] = None) -> str:
    """PEP 660: the package of the checkout, with the program of its build folder."""
    build_program()
    build_extension(os.path.join(PACKAGE, _extension()))
    path = os.path.join(ROOT, "python") + "\n"
    return _write(wheel_directory, iter([("gpuprof.pth", path.encode(), 0o644)]),
                  _tag(config_settings))


def build_sdist(sdist_directory: str, config_settings: Settings = None) -> str:
    """There is none: a checkout is the source."""
    raise SystemExit("gpuprof: there is no source archive; in a checkout, type: pip install .")
