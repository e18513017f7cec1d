"""What PyTorch's own log and counters say about compilations.

All of it is private to PyTorch, and differs between its versions. Each source is read by a function
of its own, which returns None where this version lacks it."""
import json
import logging
import os
import re
import sys
from typing import Any, Dict, Iterable, List, NamedTuple, Optional, Tuple

from . import _program

_FRAME = re.compile(r'^ *File "(?P<file>.+)", line (?P<line>\d+), in (?P<function>.+)$'
                    r'(?:\n +(?P<code>\S.*)$)?', re.MULTILINE)
_PLACE = re.compile(r"^Graph break in user code at (?P<file>.+):(?P<line>\d+)$", re.MULTILINE)
_REASON = re.compile(r"^(?:Graph Break )?Reason: (.*?)(?=\n+User code traceback:|\Z)",
                     re.MULTILINE | re.DOTALL)
_STACK = re.compile(r"(?:User code traceback:|user code(?: at)?:)\n(.*?)(?=\nTraceback |\Z)",
                    re.DOTALL)
_SKIPPED = re.compile(r"^Graph break: (?:skip: |.*results in a skip)|"
                      r"[Ss]kipping the (?:rest of the )?function")
_HINT = re.compile(r"^  Hint: (.*?)(?=\n  Hint:|\n\n|\Z)", re.MULTILINE | re.DOTALL)
_EXPLANATION = re.compile(r"^(?P<kind>[^\n]*)\n  Explanation: (?P<text>[^\n]*)", re.MULTILINE)
# hints that change nothing in the program
_IDLE_HINT = re.compile(r"(?:report|file) an issue|fundamental|likely to be a Dynamo bug|"
                        r"may be difficult|caused by an earlier graph break|may result in an error")
_RESUME = re.compile(r"torch_dynamo_resume_in_(?P<function>.+)_at_(?P<line>\d+)")
_LIMIT = re.compile(r"(?:recompile|cache_size)[_ ]limit")

# Of a reason or its line of code: what to change.
_SUGGESTIONS = [(re.compile(pattern), text) for pattern, text in (
    (r"`print`|builtin: print|\bprint\(",
     "print outside the compiled function, or let PyTorch print after each graph:"
     " torch._dynamo.config.reorderable_logging_functions.add(print)"),
    (r"Tensor\.item|\.item\(\)|\.tolist\(\)|aten\._local_scalar_dense",
     "keep the value in a tensor (a calculation, torch.where), or set"
     " torch._dynamo.config.capture_scalar_outputs = True"),
    (r"[Dd]ata-dependent (?:branch|jump)|generic_jump",
     "replace the branch by torch.where(), or use torch.cond(); or decide before the compiled"
     " function"),
    (r"\blogg(?:er|ing)\b", "log outside the compiled function, or set"
     " torch._dynamo.config.reorderable_logging_functions"),
    (r"graph_break\(\)", "remove the call of torch._dynamo.graph_break()"),
    (r"torch\._dynamo\.disable|torch\.compiler\.disable",
     "call the disabled function outside the compiled one, or remove torch.compiler.disable"),
    (r"\.(?:cpu|numpy)\(\)|nonzero|dynamic shape operator",
     "avoid results whose shape or place depends on values, or set"
     " torch._dynamo.config.capture_dynamic_output_shape_ops = True"),
)]


class GraphBreak(NamedTuple):
    """A place where the compiled graph ends, and Python runs until the next one."""
    reason: str
    # in the program's source; None: PyTorch names no place
    file: Optional[str]
    line: Optional[int]
    function: Optional[str]
    code: Optional[str]
    # what to change; None: neither PyTorch nor gpuprof knows
    suggestion: Optional[str]
    # the function around it, or the rest of it, runs without compilation
    is_skipped: bool


class Recompilation(NamedTuple):
    """A function, or the rest of it after a graph break, that was compiled again."""
    function: Optional[str]
    file: Optional[str]
    line: Optional[int]
    # a guard that failed for each of its earlier compilations, the newest first; empty: not told
    reasons: List[str]


class Compilations(NamedTuple):
    """The compilations of one model."""
    graphs: int
    graph_breaks: List[GraphBreak]
    recompilations: List[Recompilation]
    # seconds by phase, as PyTorch names them; each contains the next
    phases_s: Dict[str, float]
    cuda_graph_skips: List[str]
    # a function was compiled so often that PyTorch gave up
    is_limit_reached: bool


_PHASES = ("entire_frame_compile_time_s", "backend_compile_time_s", "inductor_compile_time_s",
           "code_gen_time_s")


class Log(logging.Handler):
    """Collects PyTorch's structured log (the source of tlparse) and the reasons why CUDA graphs are
    not used, while it is entered.

    It must never raise: an exception would end the compilation."""

    def __init__(self) -> None:
        super().__init__()
        self._breaks: List[Tuple[Tuple[Any, Any], str]] = []
        self._reasons: Dict[Tuple[Any, Any], List[str]] = {}
        self._compiled: List[Tuple[Tuple[Any, Any], Dict[str, Any]]] = []
        self._skips: List[str] = []
        self._graphs = 0
        self._is_readable = True

    def __enter__(self) -> "Log":
        self._loggers = [logging.getLogger("torch.__trace"), *_cuda_graph_loggers()]
        for logger in self._loggers:
            logger.addHandler(self)
        return self

    def __exit__(self, *error: Any) -> None:
        for logger in self._loggers:
            logger.removeHandler(self)

    def emit(self, record: logging.LogRecord) -> None:
        """As any handler's."""
        try:
            self._take(record)
        except Exception:  # pylint: disable=broad-except
            self._is_readable = False

    def _take(self, record: logging.LogRecord) -> None:
        metadata = getattr(record, "metadata", None)
        if metadata is None:
            if record.levelno >= logging.WARNING:
                self._skips.append(" ".join(record.getMessage().split()))
            return
        number = (metadata.get("frame_id"), metadata.get("frame_compile_id"))
        artifact = (metadata.get("artifact") or {}).get("name")
        payload = getattr(record, "payload", None) or ""
        if artifact == "dynamo_graph_break_reason":
            self._breaks.append((number, payload))
        elif artifact == "recompile_reasons":
            self._reasons[number] = reasons_of(payload)
        elif "dynamo_output_graph" in metadata:
            self._graphs += 1
        elif "compilation_metrics" in metadata:
            self._compiled.append((number, metadata["compilation_metrics"]))

    def compilations(self) -> Optional[Compilations]:
        """All that was collected; None if this version of PyTorch logs no compilation."""
        compiled = [(number, metrics) for number, metrics in self._compiled
                    if number[1] is not None]
        if not compiled or not self._is_readable:
            return None
        without_code = {number for number, metrics in compiled
                        if not metrics.get("has_guarded_code", True) or metrics.get("fail_type")}
        again = {number: metrics for number, metrics in compiled
                 if number[1] > 0 and not _is_over_limit(metrics)}
        return Compilations(
            graphs=self._graphs,
            graph_breaks=merge(graph_break(payload, number in without_code)
                               for number, payload in self._breaks),
            recompilations=[recompilation(metrics, self._reasons.get(number, []))
                            for number, metrics in again.items()],
            phases_s={key[:-len("_compile_time_s")] if key != "code_gen_time_s" else "code_gen":
                      sum(metrics.get(key) or 0.0 for _, metrics in compiled)
                      for key in _PHASES if any(key in metrics for _, metrics in compiled)},
            cuda_graph_skips=list(dict.fromkeys(self._skips)),
            is_limit_reached=any(_is_over_limit(metrics) for _, metrics in compiled))


def _is_over_limit(metrics: Dict[str, Any]) -> bool:
    return _LIMIT.search(metrics.get("fail_reason") or "") is not None


def _cuda_graph_loggers() -> List[logging.Logger]:
    """The loggers of the reasons why CUDA graphs are not used; none before PyTorch 2.2."""
    module = _module("torch._inductor.cudagraph_utils")
    found = (getattr(module, name, None) for name in ("cudagraphs_log", "perf_hint_log"))
    return [logger for logger in found if isinstance(logger, logging.Logger)][:1]


def graph_break(payload: str, is_skipped: bool = False) -> GraphBreak:
    """A graph break as PyTorch's log describes it; skipped: its compilation made no code."""
    stack = _STACK.search(payload)
    frame = _user_frame(stack[1] if stack else "")
    place = frame or next((found.groupdict() for found in [_PLACE.search(payload)] if found), {})
    found = _REASON.search(payload)
    text = found[1].strip() if found else payload.strip()
    reason = _short_reason(text)
    code = place.get("code")
    function = place.get("function")
    resumed = _RESUME.search(function or "")
    return GraphBreak(
        reason=reason, file=place.get("file"),
        line=int(place["line"]) if place.get("line") else None,
        function=resumed["function"] if resumed else function, code=code,
        suggestion=suggestion(reason, code or "", text),
        is_skipped=is_skipped or _SKIPPED.search(payload) is not None)


def _user_frame(stack: str) -> Dict[str, str]:
    """The innermost frame of the model outside of PyTorch; empty: none."""
    frames = [found.groupdict() for found in _FRAME.finditer(stack)]
    callers = [at for at, frame in enumerate(frames)
               if os.path.dirname(frame["file"]) == _program.FOLDER]
    frames = frames[callers[-1] + 1 if callers else 0:]
    own = [frame for frame in frames if not _is_torch(frame["file"])]
    return (own or frames or [{}])[-1]


def _is_torch(path: Optional[str]) -> bool:
    folder = os.path.dirname(getattr(sys.modules.get("torch"), "__file__", None) or "")
    return path is not None and folder != "" and path.startswith(folder + os.sep)


def _short_reason(text: str) -> str:
    """The kind and the first line of the explanation."""
    found = _EXPLANATION.search(text)
    return f"{found['kind']}: {found['text']}" if found else (text.splitlines() or ["not told"])[0]


def suggestion(reason: str, code: str, text: str) -> Optional[str]:
    """What to change in the program: of the known causes; else PyTorch's first hint, if any."""
    for pattern, words in _SUGGESTIONS:
        if pattern.search(reason) or pattern.search(code):
            return words
    hints = (" ".join(hint.split()) for hint in _HINT.findall(text))
    return next((hint for hint in hints if not _IDLE_HINT.search(hint)), None)


def merge(breaks: Iterable[GraphBreak]) -> List[GraphBreak]:
    """Each place once: PyTorch logs a break again in a recompilation, for each caller that it is
    inlined in, and if the frame around it is skipped."""
    found: Dict[Tuple[Any, ...], GraphBreak] = {}
    for one in breaks:
        key = (one.file, one.line) if one.file else (one.reason,)
        first = found.setdefault(key, one)
        if first.is_skipped and not one.is_skipped:
            found[key] = one._replace(is_skipped=True)
        elif one.is_skipped and not first.is_skipped:
            found[key] = first._replace(is_skipped=True)
    return list(found.values())


def reasons_of(payload: str) -> List[str]:
    """The failed guards of a recompilation, each on one line, without the numbers of PyTorch."""
    try:
        told = json.loads(payload)
    except ValueError:
        told = payload
    texts = [str(one).strip() for one in (told if isinstance(told, list) else [told])]
    lines = [text.splitlines()[0] for text in texts if text]
    return [" ".join(re.sub(r"^\d+/\d+: ", "", line).split("  # ")[0].split()) for line in lines]


def recompilation(metrics: Dict[str, Any], reasons: List[str]) -> Recompilation:
    """A recompilation, of PyTorch's record of the compilation."""
    name, file = metrics.get("co_name"), metrics.get("co_filename")
    line = metrics.get("co_firstlineno")
    resumed = _RESUME.search(name or "")
    if resumed:
        name, line = resumed["function"], int(resumed["line"])
    if not reasons and metrics.get("recompile_reason"):
        reasons = reasons_of(metrics["recompile_reason"])
    if _is_torch(file):
        file = line = None
    return Recompilation(name, file, line, reasons)


def _module(name: str) -> Any:
    """A module of PyTorch; None if this version lacks it."""
    import importlib

    try:
        return importlib.import_module(name)
    except Exception:  # pylint: disable=broad-except
        return None


def counters(group: str) -> Optional[Dict[str, int]]:
    """A group of the counters of torch._dynamo so far; None if this version has none."""
    found: Any = getattr(_module("torch._dynamo.utils"), "counters", None)
    try:
        return {str(name): int(count) for name, count in found.get(group, {}).items()}
    except (AttributeError, TypeError, ValueError):
        return None


def counted_breaks(before: Optional[Dict[str, int]],
                   after: Optional[Dict[str, int]]) -> Optional[List[GraphBreak]]:
    """The graph breaks between two states of their counters: without a place, and less complete
    than the log's. None: this version of PyTorch has none."""
    if before is None or after is None:
        return None
    return [GraphBreak(_short_reason(text), None, None, None, None,
                       suggestion(_short_reason(text), "", text), False)
            for text, count in after.items() if count > before.get(text, 0)]


def generated_kernels() -> Optional[int]:
    """The kernels that Inductor has generated so far: in Triton, or in C++ for the CPU."""
    count = getattr(_module("torch._inductor.metrics"), "generated_kernel_count", None)
    return count if isinstance(count, int) else None


def asks_for_cuda_graphs(mode: str) -> Optional[bool]:
    """Whether a mode of torch.compile captures CUDA graphs."""
    options = getattr(_module("torch._inductor"), "list_mode_options", None)
    try:
        return bool(options(mode).get("triton.cudagraphs", False)) if options else None
    except Exception:  # pylint: disable=broad-except
        return None


def reset(torch: Any) -> None:
    """Forget all compiled code of the process; the files of Inductor's cache stay."""
    compiler: Any = getattr(torch, "compiler", None)
    if hasattr(compiler, "reset"):
        compiler.reset()
    else:
        torch._dynamo.reset()
