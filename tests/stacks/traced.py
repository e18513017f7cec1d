"""Shared by the tests of Python stacks: the interpreters on this machine, and a trace as
tests/stacks/dump prints it.
"""
import functools
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
    """A trace, from the output of dump."""

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
        """The frames of a stack, innermost first: (kind, origin, address)."""
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
    """(minor version, home, the library for embedding the interpreter), or None if there is no such
    library.
    """
    minor, home, library = subprocess.run([python, "-c", ASK_LIBRARY], check=True, stdout=subprocess.PIPE,
                                          universal_newlines=True).stdout.split()
    is_there = os.path.exists(library) and not python.startswith(os.environ["O"])
    return (int(minor), home, library) if is_there else None


def signed(data, at):
    """Decode a number of six bits per byte. Returns it and its end."""
    value = shift = 0
    while True:
        byte = data[at]
        value |= (byte & 63) << shift
        at, shift = at + 1, shift + 6
        if not byte & 64:
            return (-(value >> 1) if value & 1 else value >> 1), at


def join_spans(spans):
    """Join adjacent spans [(end, line)] that have the same line."""
    joined = []
    for end, line in spans:
        if joined and joined[-1][1] == line:
            joined[-1] = end, line
        elif end > (joined[-1][0] if joined else 0):
            joined.append((end, line))
    return joined


@functools.lru_cache(maxsize=None)
def spans_as_told(table):
    """[(end of the instructions, line)] from a line table as 3.10 writes it; line None: no line."""
    data, spans, end, line = bytes.fromhex(table.strip("-")), [], 0, 0
    for size, delta in zip(data[::2], data[1::2]):
        delta = delta - 256 if delta > 127 else delta
        end, line = end + size, line + (delta if delta != -128 else 0)
        spans.append((end, line if delta != -128 else None))
    return join_spans(spans)


@functools.lru_cache(maxsize=None)
def spans_of_python(table):
    """The same from a table as 3.11 and later versions write it."""
    data, spans, at, end, line = bytes.fromhex(table.strip("-")), [], 0, 0, 0
    while at < len(data):
        form, size = data[at] >> 3 & 15, 2 * ((data[at] & 7) + 1)
        delta, behind = signed(data, at + 1) if form in (13, 14) else ({11: 1, 12: 2}.get(form, 0), at + 1)
        at, end, line = behind, end + size, line + delta
        while at < len(data) and data[at] < 128:
            at += 1
        spans.append((end, line if form != 15 else None))
    return join_spans(spans)
