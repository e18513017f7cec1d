"""Files that others may read or write."""
import errno
import os
import stat
from typing import Union

_MOST_END = 8  # bytes from the last "}" of a file to its end


def write(path: Union[str, "os.PathLike[str]"], text: str, mode: int = 0o600) -> str:
    """Write a file as the program gpuprof does: a new one has that mode; a link, pipe or file of
    another user raises PermissionError. Returns the path."""
    with open(path, "w", encoding="utf-8",
              opener=lambda name, flags: _open(name, flags, mode)) as file:
        file.write(text)
    return os.fspath(path)


def append_members(path: str, members: str) -> str:
    """Add the members of a JSON object to the object in a file, which ends with "}". Returns the
    path."""
    with open(path, "r+b") as file:
        file.seek(-_MOST_END, os.SEEK_END)
        at = file.tell() + file.read().rindex(b"}")
        file.seek(at)
        file.write(b"," + members.strip()[1:].encode())
        file.truncate()
    return path


def _open(path: str, flags: int, mode: int) -> int:
    try:
        return os.open(path, flags | os.O_EXCL, mode)
    except FileExistsError:
        place = os.open(path, os.O_PATH | os.O_NOFOLLOW)
    try:
        found = os.fstat(place)
        if found.st_uid not in (0, os.geteuid()):
            raise PermissionError(errno.EPERM, "another user's file has that name", path)
        # the checked file: another user may have replaced the name since
        name = path if stat.S_ISLNK(found.st_mode) else f"/proc/self/fd/{place}"
        return os.open(name, flags & ~os.O_CREAT)
    finally:
        os.close(place)
