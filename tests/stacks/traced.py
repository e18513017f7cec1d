"""What tests of Python's stacks share: the interpreters on this machine, and a trace as tests/stacks/dump prints it."""
import glob
import os
import subprocess

VERSIONS = range(8, 16)
LOST, NATIVE, PYTHON, CUT = 0, 1, 2, 4


def candidates(minor):
    places = (os.path.expanduser(f"~/.pyenv/versions/3.{minor}.*/bin"), "/usr/local/bin", "/usr/bin",
              os.path.join(os.environ["O"], "pythons", "bin"))
    return sorted(path for place in places for path in glob.glob(f"{place}/python3.{minor}"))


class Trace:
    """What dump prints."""

    def __init__(self, text):
        self.frames, self.codes, self.paths, self.notes = {}, {}, {}, []
        for line in text.split("\n"):
            word, _, rest = line.partition(" ")
            if word == "frame":
                number, parent, kind, origin, address = rest.split()
                self.frames[int(number)] = int(parent), int(kind), int(origin), int(address, 16)
            elif word == "code":
                number, first, _form, _cut, table, names = rest.split(" ", 5)
                file, name = names.split("\t")
                self.codes[int(number)] = [file, name, int(first), table]
            elif word == "path":
                number, _, path = rest.partition(" ")
                self.paths[int(number)] = path
            elif word == "note":
                self.notes.append(rest)

    def stack(self, number):
        """Innermost first: (kind, origin, address)."""
        while number:
            if number not in self.frames:
                yield LOST, 0, 0
                return
            number, kind, origin, address = self.frames[number]
            yield kind, origin, address


ASK_LIBRARY = """
import os, sys, sysconfig as s
print(sys.version_info[1], sys.base_prefix, os.path.join(s.get_config_var("LIBDIR"), s.get_config_var("INSTSONAME") or "-"))
"""


def library_of(python):
    """(minor version, home, the library that other programs have the interpreter from), or None where there is no such library."""
    minor, home, library = subprocess.run([python, "-c", ASK_LIBRARY], check=True, stdout=subprocess.PIPE,
                                          universal_newlines=True).stdout.split()
    is_there = os.path.exists(library) and not python.startswith(os.environ["O"])
    return (int(minor), home, library) if is_there else None
