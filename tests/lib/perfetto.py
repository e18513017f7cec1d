"""Read Perfetto's own format strictly, as far as gpuprof writes it.  These are errors: an unknown
field, an undefined name, a slice that does not nest, an operation that two calls started.  Field
numbers are those of protos/perfetto/trace of github.com/google/perfetto.
"""
import collections

import protobuf

PACKET = {6: "clocks", 8: "ts", 10: "sequence", 11: "event", 12: "interned", 13: "flags", 53: "stage", 60: "track", 87: "first",
          128: "gpus"}
INTERNED = {1: "categories", 2: "names", 3: "notes", 23: "contexts", 24: "specs", 29: "texts", 1000: "kernels", 1001: "arguments"}
EVENT = {3: "category", 4: "note", 9: "type", 10: "name", 11: "track", 30: "value", 44: "value", 3000: "gpu", 3001: "api"}
TRACK = {1: "uuid", 2: "name", 3: "process", 4: "thread", 5: "parent", 8: "counter"}
STAGE = {1: "id", 2: "duration", 5: "context", 11: "gpu", 13: "queue", 14: "stage", 19: "kernel", 20: "name", 21: "launch"}
BEGIN, END, INSTANT, COUNTER = 1, 2, 3, 4

Slice = collections.namedtuple("Slice", "track start end name category notes operations")
Operation = collections.namedtuple("Operation", "id start duration gpu pid queue stage name kernel grid block arguments")


def fields(data):
    return protobuf.fields(data, (protobuf.VARINT, protobuf.DOUBLE, protobuf.BYTES))


def message(data, names):
    """{name: value}; the last value of a repeated field."""
    return {names[number]: value for number, value in fields(data)}


def text(data):
    return data.decode("utf-8")


class Trace:
    """slices: of threads and tracks; operations: of GPUs; instants: [(track, ns, name)]; counters: {name: [(ns, value)]};
    threads: {track: (pid, tid)}; processes: {pid: name}."""

    def __init__(self, data):
        self.names = {list_name: {} for list_name in INTERNED.values()}
        self.tracks, self.threads, self.processes, self.counters, self.gpus = {}, {}, {}, {}, []
        self.operations, self.instants, self.events = [], [], []
        for number, packet in fields(data):
            if number != 1:
                raise ValueError("a trace has packets only")
            self.packet(message(packet, PACKET))
        self.slices = self.nest()
        self.check_arrows()

    def packet(self, packet):
        if packet["sequence"] != 1 or packet["flags"] != (1 if "first" in packet else 2):
            raise ValueError("the packets are of several sequences")
        for number, entry in fields(packet.get("interned", b"")):
            self.intern(INTERNED[number], list(fields(entry)))
        if "track" in packet:
            self.track(message(packet["track"], TRACK))
        if "event" in packet:
            self.event(packet["ts"], list(fields(packet["event"])))
        if "stage" in packet:
            self.operation(packet["ts"], message(packet["stage"], STAGE))
        for _, gpu in fields(packet.get("gpus", b"")):
            self.gpus.append({number: value for number, value in fields(gpu)})

    def intern(self, kind, entry):
        iid = dict(entry)[1]
        if iid in self.names[kind]:
            raise ValueError("two names have the same number")
        self.names[kind][iid] = dict(entry) if kind in ("contexts", "kernels") else text(dict(entry)[2])

    def track(self, track):
        if track["uuid"] in self.tracks or track.get("parent", 0) not in {0, *self.tracks}:
            raise ValueError("a track is defined twice, or before its parent")
        self.tracks[track["uuid"]] = text(track.get("name", b""))
        if "process" in track:
            process = dict(fields(track["process"]))
            if process[1] in self.processes:
                raise ValueError("two processes with one pid")
            self.processes[process[1]] = text(process[6])
        if "thread" in track:
            thread = dict(fields(track["thread"]))
            self.threads[track["uuid"]] = (thread[1], thread[2])
        if "counter" in track:
            self.counters[track["uuid"]] = []

    def note(self, data):
        note = dict(fields(data))
        name = self.names["notes"][note.pop(1)]
        (number, value), = note.items()
        return name, text(value) if number == 6 else self.names["texts"][value] if number == 17 else value

    def event(self, ts, event):
        only = {EVENT[number]: value for number, value in event}
        notes = dict(self.note(value) for number, value in event if EVENT[number] == "note")
        if only["track"] not in self.tracks:
            raise ValueError("an event without a track")
        started = [value for number, value in fields(only.get("gpu", b"")) if number == 1]
        if only["type"] == COUNTER:
            self.counters[only["track"]].append((ts, only["value"]))
        elif only["type"] == INSTANT:
            self.instants.append((only["track"], ts, self.names["names"][only["name"]], notes))
        else:
            self.events.append((ts, only, notes, started))

    def operation(self, ts, stage):
        launch = list(fields(stage["launch"]))
        arguments = {}
        for number, value in launch:
            if number == 3:
                argument = dict(fields(value))
                name = self.names["arguments"][argument.pop(1)]
                arguments[name], = argument.values()
        sides = {number: tuple(dict(fields(value))[i] for i in (1, 2, 3)) for number, value in launch if number in (1, 2)}
        kernel = self.names["kernels"][stage["kernel"]] if "kernel" in stage else None
        self.operations.append(Operation(
            stage["id"], ts, stage["duration"], stage["gpu"], self.names["contexts"][stage["context"]][2],
            self.names["specs"][stage["queue"]], self.names["specs"][stage["stage"]], self.names["names"][stage["name"]],
            text(kernel[3]) if kernel else None, sides.get(1), sides.get(2), arguments))

    def nest(self):
        """Nest slices as Perfetto does: by time, equal times in file order; an end closes the
        innermost open slice.
        """
        slices, open_slices = [], collections.defaultdict(list)
        for ts, event, notes, started in sorted(self.events, key=lambda each: each[0]):
            stack = open_slices[event["track"]]
            if event["type"] == BEGIN:
                stack.append((ts, self.names["names"][event["name"]], self.names["categories"][event["category"]], notes, started))
            else:
                start, name, category, notes, started = stack.pop()
                slices.append(Slice(event["track"], start, ts, name, category, notes, started))
        if any(open_slices.values()):
            raise ValueError("a slice without an end")
        return slices

    def check_arrows(self):
        ids = [operation.id for operation in self.operations]
        started = [each for piece in self.slices for each in piece.operations]
        if len(ids) != len(set(ids)) or len(started) != len(set(started)) or set(started) - set(ids):
            raise ValueError("an operation has two numbers, or two calls")
