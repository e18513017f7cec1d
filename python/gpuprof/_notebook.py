"""In Jupyter and IPython: %load_ext gpuprof, then %%gpuprof above a cell."""
import html
import json
import os
import sys
from typing import Any, Dict, List, Optional

from . import _files, _program, _recording
from ._session import Session
from ._timing import own_trace

_NAME = "gpuprof-notebook-%p"
_ROWS = 8
_PAGE_HEIGHT_PX = 640


def load_ipython_extension(ipython: Any) -> None:
    """Start the recording, and add the magic."""
    if not _recording.is_active():
        try:
            _recording.start(output=os.path.join(os.getcwd(), _NAME), chrome="none",
                             summary="none")
        except _program.GpuprofError as error:
            print(f"gpuprof: {error}", file=sys.stderr)
    ipython.register_magic_function(
        lambda line, cell: _run_cell(ipython, line, cell), "cell", "gpuprof")


def _run_cell(ipython: Any, line: str, cell: str) -> Optional["CellResult"]:
    """%%gpuprof [NAME] [--no-page]: run the cell in a session, and show what it cost; if it used the
    GPU, show the page of the whole notebook so far, too."""
    words = line.split()
    if any(word.startswith("-") and word != "--no-page" for word in words):
        print("usage: %%gpuprof [NAME] [--no-page]", file=sys.stderr)
        return None
    name = " ".join(word for word in words if not word.startswith("-")) or "cell"
    found = Session(f"{name} {ipython.execution_count}", may_nest=True)
    with found:
        done = ipython.run_cell(cell)
    if not done.success:
        return None
    return CellResult(found, "--no-page" not in words)


def _rows(of: Session) -> List[Dict[str, Any]]:
    return list(of.kernels.rows()) if of.kernels else []


class CellResult:
    """What a cell cost: the session, shown as a table."""

    def __init__(self, of: Session, has_page: bool) -> None:
        self.session = of
        self._has_page = has_page

    def _head(self) -> str:
        of = self.session
        if of.cuda_time_ms is None:
            return f"{of.total_time_ms:.1f} ms; not recorded"
        late = f"; {of.pending} launches are not recorded yet" if of.pending else ""
        return (f"{of.total_time_ms:.1f} ms, GPU busy {of.gpu_busy_ms:.3f} ms,"
                f" GPU operations: {sum(row['calls'] for row in _rows(of))}{late}")

    def __repr__(self) -> str:
        rows = _rows(self.session)[:_ROWS]
        return "\n".join([self._head(), *(
            f"{row['total_ns'] / 1e6:10.3f} ms  {row['calls']:6} x  {row['name']}"
            for row in rows)])

    def _repr_html_(self) -> str:
        rows = _rows(self.session)[:_ROWS]
        body = "".join(f"<tr><td>{row['total_ns'] / 1e6:.3f}</td><td>{row['calls']}</td>"
                       f"<td style='text-align:left'>{html.escape(row['name'])}</td></tr>"
                       for row in rows)
        page = _page() if self._has_page and rows else ""
        return (f"<p>{html.escape(self._head())}</p><table><thead><tr><th>ms</th><th>calls</th>"
                f"<th>operation</th></tr></thead><tbody>{body}</tbody></table>{page}")


def _page() -> str:
    """The page of the trace so far, in a frame that is another site to the notebook."""
    from ._reader import run

    page = run(["html", "--output", "-", own_trace().path]).decode("utf-8", "replace")
    return (f'<iframe srcdoc="{html.escape(page)}" width="100%" height="{_PAGE_HEIGHT_PX}"'
            ' sandbox="allow-scripts allow-downloads" style="border:0"></iframe>')


def install_kernelspec(prefix: Optional[str] = None) -> str:
    """Add a kernel to Jupyter that is recorded from its start. Returns its folder.

    prefix: that of `jupyter kernelspec install`; without it, the kernel is added for this user."""
    data = os.path.join(prefix, "share", "jupyter") if prefix else os.environ.get(
        "JUPYTER_DATA_DIR") or os.path.join(os.path.expanduser("~"), ".local", "share", "jupyter")
    folder = os.path.join(data, "kernels", "gpuprof")
    os.makedirs(folder, exist_ok=True)
    _files.write(os.path.join(folder, "kernel.json"), json.dumps({
        "argv": [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"],
        "display_name": "Python 3 (gpuprof)",
        "language": "python",
        "env": {"LD_PRELOAD": _program.library(), "GPUPROF_OUTPUT": _NAME,
                "GPUPROF_CHROME": "none", "GPUPROF_SUMMARY": "none"},
    }, indent=1), mode=0o666)  # less the umask: other users may use it
    return folder
