"""python -m gpuprof COMMAND ...: the program gpuprof.

`run script.py ...` runs a Python script under the recorder; `kernelspec [PREFIX]` adds a recorded
kernel to Jupyter; every other command is that of the program, as in: python -m gpuprof summary FILE
"""
import os
import sys
from typing import List, NoReturn

from . import _program

# The options of gpuprof run without a value, or with one only after =.
_FLAGS = ("-q", "--quiet", "-h", "--help", "-V", "--version", "--html", "--no-command",
          "--roofline", "--strict", "--hw-timeline", "--stalls", "--counters", "--energy", "--sample")


def _command(arguments: List[str]) -> List[str]:
    """The command line; a script, -m or -c in place of a program gets this interpreter."""
    if arguments[:1] not in (["run"], ["profile"], ["record"]):
        return arguments
    at = 1
    while at < len(arguments) and arguments[at].startswith("-") and \
            arguments[at] not in ("--", "-m", "-c"):
        is_whole = arguments[at] in _FLAGS or "=" in arguments[at] or \
            len(arguments[at]) > 2 and arguments[at][1] != "-"
        at += 1 if is_whole else 2
    options, program = arguments[:at], arguments[at:]
    if program[:1] == ["--"]:
        program = program[1:]
    if program and (program[0].endswith(".py") or program[0] in ("-m", "-c")):
        return [*options, "--", sys.executable, *program]
    return arguments


def main() -> NoReturn:
    """Become the program gpuprof."""
    try:
        program = _program.program()
        if sys.argv[1:2] == ["kernelspec"]:
            from ._notebook import install_kernelspec

            print(install_kernelspec(*sys.argv[2:3]))
            sys.exit()
    except _program.GpuprofError as error:
        sys.exit(f"gpuprof: {error}")
    if sys.argv[1:2] == ["recipe"]:  # it runs Python: this one, which may have DuckDB
        os.environ["PATH"] = os.pathsep.join([os.path.dirname(sys.executable),
                                              os.environ.get("PATH", os.defpath)])
    os.execv(program, [program, *sys.argv[1:]])


def run() -> NoReturn:
    """Become `gpuprof run`: the command gpuprof-run."""
    sys.argv.insert(1, "run")
    main()


if __name__ == "__main__":
    sys.argv[1:] = _command(sys.argv[1:])
    main()
