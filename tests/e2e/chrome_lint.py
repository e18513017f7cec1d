#!/usr/bin/env python3
"""Checks Chrome trace files against the rules of docs/reference/chrome-trace.md: what Perfetto, chrome://tracing and Kineto's readers need.

usage: chrome_lint.py TRACE.json[.gz]...

Prints each rule that does not hold with its first cases, and "N passed, N failed" last. Exit status 1 if one failed,
2 if a file cannot be read.
"""
import bisect
import collections
import gzip
import json
import math
import re
import sys

SHOWN = 3  # cases of a rule that are printed
GPU = {"kernel", "gpu_memcpy", "gpu_memset", "gpu_graph"}
RANGES = {"user_annotation", "gpu_user_annotation"}
INSTANTS = {"user_annotation", "cuda_event", "unified_memory", "gpuprof"}
SAMPLED = "python_sample"
HOST = "host_function"  # of any stream: their tracks hold what the driver ran one after the other
SYNCS = {"Event Sync", "Stream Wait Event", "Stream Sync", "Context Sync", "Unknown Sync"}
API = {"cuda_runtime", "cuda_driver"}
METADATA = {"process_name", "process_labels", "process_sort_index", "thread_name", "thread_sort_index"}
BASE_UNIT = 7889238 * 10**9 // 2  # half of Kineto's
RULES = [
    "readable: strict UTF-8 and JSON, no escaped surrogates",
    "container: the keys before and after the events, as Kineto has them",
    "lines: one event a line",
    "events: known phases with their fields",
    "times: numbers of us with three decimals that a double holds to the ns",
    "ids: pids and tids that no reader changes",
    "numbers: integers of 64 bits, nothing that is not finite",
    "nesting: slices of a thread nest or are apart, those of a stream and host functions are apart",
    "names: every process and every track with slices has one",
    "asynchronous: each range from start to end has both, in this order, and an id of its own",
    "arrows: one start and one end, on the slices that they join, forward in time",
    "schema: the args that readers look for, and no stream on API calls",
    "lanes: a track holds operations of one stream only, but for host functions",
    "counters: numbers, the same series in all events of a counter",
]


class Decimal(float):
    """A number with a point, as it stands in the file."""

    def __new__(cls, text):
        number = super().__new__(cls, text)
        number.text = text
        return number


def ns(number):
    """ns of a time in us, exactly."""
    us, _, rest = number.text.partition(".")
    return int(us) * 1000 + int(rest)


class Lint:
    def __init__(self):
        self.failures = collections.OrderedDict((rule.split(":")[0], []) for rule in RULES)
        self.starts = {}  # of the slices of each track

    def fail(self, rule, message):
        self.failures[rule].append(message)

    # ---- the text ----

    def parse(self, data):
        try:
            text = data.decode("utf-8", "strict")
        except UnicodeDecodeError as error:
            self.fail("readable", "byte %d is no UTF-8" % error.start)
            text = data.decode("utf-8", "replace")
        if re.search(r"\\u[dD][89a-fA-F]", text):
            self.fail("readable", "an escaped surrogate: Perfetto refuses the file")
        try:
            root = json.loads(text, parse_float=Decimal, parse_constant=self.refuse_constant, object_pairs_hook=self.refuse_twice)
        except ValueError as error:
            self.fail("readable", str(error))
            return None
        if not isinstance(root, dict) or not isinstance(root.get("traceEvents"), list):
            self.fail("container", "no object with a list traceEvents")
            return None
        self.check_container(root, text)
        self.check_lines(root, text)
        return root["traceEvents"]

    def refuse_constant(self, name):
        raise ValueError("%s is no JSON" % name)

    def refuse_twice(self, pairs):
        keys = dict(pairs)
        if len(keys) != len(pairs):
            raise ValueError("a key twice in %r" % (pairs,))
        return keys

    def check_container(self, root, text):
        keys = list(root)
        if root.get("schemaVersion") != 1:
            self.fail("container", "schemaVersion is %r" % root.get("schemaVersion"))
        if root.get("displayTimeUnit") != "ns":
            self.fail("container", "displayTimeUnit is not ns: chrome://tracing would round to 1 us")
        base = root.get("baseTimeNanoseconds")
        if not isinstance(base, int) or base % BASE_UNIT:
            self.fail("container", "baseTimeNanoseconds %r is not a multiple of half of Kineto's" % base)
        if "processes" in root.get("metadata", {}):
            self.check_merged(root)
        else:
            self.check_one_process(keys, text)
        for device in root.get("deviceProperties", [None]):
            if not isinstance(device, dict) or not {"id", "name", "totalGlobalMem", "numSms", "warpSize"} <= set(device):
                self.fail("container", "deviceProperties: %r" % device)

    def check_one_process(self, keys, text):
        if keys[-1:] != ["traceName"]:
            self.fail("container", "traceName is not last")
        if "distributedInfo" not in keys or keys.index("distributedInfo") > keys.index("traceEvents"):
            self.fail("container", "no distributedInfo before the events")
        if not re.search(r'"rank":\s+\d', text):
            self.fail("container", 'no white space after "rank":')

    def check_merged(self, root):
        """Of several processes: what is known of each comes after the events, and none is taken for a rank of its own."""
        if "distributedInfo" in root:
            self.fail("container", "distributedInfo in a file of several processes")
        named = sum(1 for event in root["traceEvents"] if event.get("name") == "process_labels" and event["args"]["labels"] == "CPU")
        if named != len(root["metadata"]["processes"]):
            self.fail("container", "%d processes are named, %d described" % (named, len(root["metadata"]["processes"])))

    def check_lines(self, root, text):
        lines = sum(1 for line in text.splitlines() if line.startswith('{"ph":'))
        if lines != len(root["traceEvents"]):
            self.fail("lines", "%d events on %d lines" % (len(root["traceEvents"]), lines))

    # ---- single events ----

    def check_event(self, index, event):
        """Returns whether the event is fit for the checks of all events together."""
        where = "#%d %s" % (index, str(event)[:120])
        phase = event.get("ph") if isinstance(event, dict) else None
        if phase not in ("M", "X", "B", "E", "s", "f", "C", "i", "b", "e") or not event.get("name"):
            self.fail("events", where)
            return False
        self.check_numbers(event.get("args"), where)
        if not self.check_ids(event, where):
            return False
        if phase == "M":
            if event["name"] not in METADATA:
                self.fail("events", where)
            return True
        for key in ("ts", "dur") if phase == "X" else ("ts",):
            time = event.get(key)
            if not isinstance(time, Decimal) or not re.fullmatch(r"\d+\.\d{3}", time.text) or math.floor(time * 1000 + 0.5) != ns(time):
                self.fail("times", where)
                return False
        if phase == "X" and not event.get("cat") or phase in "BE" and event.get("cat") != SAMPLED:
            self.fail("events", where)
            return False
        if phase == "i" and (event.get("s") not in ("t", "p", "g") or event.get("cat") not in INSTANTS):
            self.fail("events", where)
        if phase in "be" and not (isinstance(event.get("id"), int) and event.get("cat") == "user_annotation"):
            self.fail("asynchronous", where)
            return False
        if phase in "sf" and not (isinstance(event.get("id"), int) and event.get("cat") == event["name"] == "ac2g"):
            self.fail("arrows", where)
            return False
        return True

    def check_ids(self, event, where):
        for key in ("pid", "tid"):
            if key == "tid" and event["ph"] == "C":
                continue
            if not isinstance(event.get(key), int) or not 0 <= event[key] < 2**32:
                self.fail("ids", where)
                return False
        if event["ph"] in "XBEsfibe" and event["tid"] == 0 and event["pid"] != 0:
            self.fail("ids", "tid 0 is read as the pid: " + where)
        return True

    def check_numbers(self, value, where):
        if isinstance(value, dict):
            value = list(value.values())
        if isinstance(value, list):
            for part in value:
                self.check_numbers(part, where)
        elif isinstance(value, int) and not -(2**63) <= value < 2**63:
            self.fail("numbers", where)

    # ---- slices ----

    def check_slices(self, slices):
        """slices: (start, end, event) of each track, to be sorted."""
        for track, rows in slices.items():
            rows.sort(key=lambda row: (row[0], -row[1]))
            self.starts[track] = [row[0] for row in rows]
            flat = all(row[2].get("cat") in GPU | {HOST} for row in rows)
            stack = []
            for start, end, event in rows:
                while stack and stack[-1][1] <= start:
                    stack.pop()
                if stack and (flat or end > stack[-1][1]):
                    self.fail("nesting", "pid %d tid %d: %.80s at %s in %.80s" % (track + (event["name"], event["ts"].text, stack[-1][2]["name"])))
                stack.append((start, end, event))
            self.check_stream(track, rows)

    def check_stream(self, track, rows):
        streams = {(args.get("context"), args.get("stream"))
                   for args in (row[2].get("args", {}) for row in rows if row[2].get("cat") != HOST) if "stream" in args}
        if len(streams) > 1:
            self.fail("lanes", "pid %d tid %d holds streams %s" % (track + (sorted(streams),)))

    def check_schema(self, event):
        args, category = event.get("args", {}), event.get("cat")
        wanted = []
        if category in GPU:
            wanted = ["device", "context", "stream", "correlation"]
            wanted += ["grid", "block", "registers per thread", "shared memory"] if category == "kernel" and "grid" in args else []
            wanted += ["bytes"] if category in ("gpu_memcpy", "gpu_memset") else []
        elif category in API:
            wanted = ["cbid", "correlation"]
            if "stream" in args:
                self.fail("schema", "an API call with a stream: %.120s" % event)
            if re.search(r"_v\d{4,}$", event["name"]):
                self.fail("schema", "a name with its version: " + event["name"])
        elif category == "cuda_sync":
            wanted = ["device", "context", "stream", "correlation"]
            wanted += ["wait_on_stream", "wait_on_cuda_event_record_corr_id"] if "Event" in event["name"] else []
            if event["name"] not in SYNCS or args.get("cuda_sync_kind") != event["name"]:
                self.fail("schema", "a synchronization of no kind: %.120s" % event)
        elif category == HOST:
            wanted = ["device", "context", "stream", "correlation", "thread"]
            wanted += ["graph id"] if "graph node id" in args else []
        elif category in RANGES:
            if not isinstance(args.get("domain"), str) or "stream" in args:
                self.fail("schema", "a range without its domain, or with a stream: %.120s" % event)
        elif category not in ("overhead", "jit", "unified_memory", "phase"):
            self.fail("schema", "unknown category %r" % category)
        for key in wanted:
            if key not in args or not isinstance(args[key], (int, list)):
                self.fail("schema", "no %s: %.160s" % (key, event))

    def check_tracks(self, slices, events):
        processes = {e["pid"] for e in events if e["ph"] == "M" and e["name"] == "process_name"}
        threads = {(e["pid"], e["tid"]) for e in events if e["ph"] == "M" and e["name"] == "thread_name"}
        for event in events:
            if event["ph"] == "M" and event["name"].endswith("_name") and not event.get("args", {}).get("name"):
                self.fail("names", "%r" % event)
        for track in slices:
            if track[0] not in processes:
                self.fail("names", "pid %d" % track[0])
            if track not in threads:
                self.fail("names", "pid %d tid %d" % track)

    def check_sampled(self, events):
        """Functions that begin and end, each in its caller; viewers end what began last on a track."""
        opened = {}
        for event in events:
            track = (event["pid"], event.get("tid"))
            if event["ph"] == "B":
                opened.setdefault(track, []).append(event)
                for key in ("samples", "line", "thread"):
                    if not isinstance(event.get("args", {}).get(key), int):
                        self.fail("schema", "no %s: %.160s" % (key, event))
            if event["ph"] == "E":
                begun = opened.get(track) and opened[track].pop()
                if not begun or begun["name"] != event["name"] or ns(begun["ts"]) > ns(event["ts"]):
                    self.fail("nesting", "pid %d tid %d: %.80s ends %.80s" % (*track, event, begun))
        for track, left in opened.items():
            for event in left:
                self.fail("nesting", "pid %d tid %d: %.80s does not end" % (*track, event))

    def check_asynchronous(self, events):
        opened = {}
        for event in events:
            if event["ph"] == "b" and opened.setdefault(event["id"], event) is not event:
                self.fail("asynchronous", "id %d is opened twice" % event["id"])
            if event["ph"] == "e":
                start = opened.get(event["id"])
                if not start or start["name"] != event["name"] or ns(start["ts"]) > ns(event["ts"]):
                    self.fail("asynchronous", "id %d is closed as %.80s, opened as %.80s" % (event["id"], event, start))
                opened[event["id"]] = None
        for id, event in opened.items():
            if event:
                self.fail("asynchronous", "id %d is not closed" % id)

    # ---- arrows ----

    def bind(self, slices, flow):
        """The innermost slice of the flow event's track at its time."""
        track = flow["pid"], flow["tid"]
        at = ns(flow["ts"])
        for i in range(bisect.bisect_right(self.starts.get(track, []), at) - 1, -1, -1):
            start, end, event = slices[track][i]
            if at < end or at == start:
                return event
            if event.get("cat") in GPU:
                break
        return None

    def check_arrows(self, slices, events):
        starts, ends = collections.defaultdict(list), collections.defaultdict(list)
        for order, event in enumerate(events):
            if event["ph"] in "sf":
                (starts if event["ph"] == "s" else ends)[event["id"]].append((order, event))
        for id in starts.keys() | ends.keys():
            if len(starts[id]) != 1 or len(ends[id]) != 1:
                self.fail("arrows", "id %d: %d starts, %d ends" % (id, len(starts[id]), len(ends[id])))
            else:
                self.check_arrow(slices, id, starts[id][0], ends[id][0])

    def check_arrow(self, slices, id, start, end):
        (first, start), (second, end) = start, end
        if (ns(start["ts"]), first) > (ns(end["ts"]), second):
            self.fail("arrows", "id %d goes back in time" % id)
        if end.get("bp") != "e":
            self.fail("arrows", 'id %d ends without "bp": "e"' % id)
        call, op = self.bind(slices, start), self.bind(slices, end)
        if call is None or op is None or call.get("cat") not in API or op.get("cat") not in GPU:
            self.fail("arrows", "id %d joins %.80s to %.80s" % (id, call, op))
        elif call["args"].get("correlation") != op["args"].get("correlation"):
            self.fail("arrows", "id %d joins correlation %s to %s" % (id, call["args"].get("correlation"), op["args"].get("correlation")))

    def check_counters(self, events):
        series = {}
        for event in events:
            if event["ph"] != "C":
                continue
            args = event.get("args") or {}
            if not args or not all(isinstance(value, (int, float)) for value in args.values()):
                self.fail("counters", "%.160s" % event)
            if series.setdefault((event["pid"], event["name"]), list(args)) != list(args):
                self.fail("counters", "series change: %.160s" % event)

    def check(self, data):
        events = self.parse(data)
        if events is None:
            return
        events = [event for index, event in enumerate(events) if self.check_event(index, event)]
        slices = collections.defaultdict(list)
        for event in events:
            if event["ph"] == "X":
                start = ns(event["ts"])
                slices[event["pid"], event["tid"]].append((start, start + ns(event["dur"]), event))
                self.check_schema(event)
        self.check_slices(slices)
        self.check_tracks(slices, events)
        self.check_sampled(events)
        self.check_asynchronous(events)
        self.check_arrows(slices, events)
        self.check_counters(events)


def lint(path):
    """Checks a file; returns {rule: [what is wrong, ...]} of all rules. Raises OSError if it cannot be read."""
    with open(path, "rb") as file:
        data = file.read()
    checker = Lint()
    checker.check(gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data)
    return checker.failures


def main(paths):
    if not paths:
        print(__doc__.strip())
        return 2
    passed = failed = 0
    for path in paths:
        try:
            failures = lint(path)
        except OSError as error:
            print("%s: %s" % (path, error.strerror))
            return 2
        for rule in RULES:
            cases = failures[rule.split(":")[0]]
            for case in cases[:SHOWN]:
                print("%s: %s: %s" % (path, rule.split(":")[0], case))
            if cases:
                print("%s: FAILED (%d) %s" % (path, len(cases), rule))
            passed += not cases
            failed += bool(cases)
    print("%d passed, %d failed" % (passed, failed))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
