"""Convert a Chrome trace of gpuprof to lines that can be compared with those of another run.

Per thread, the lines have the API calls in order, with return codes, nesting (a call appears once)
and the step of the correlation id.  Per stream, they have the operations in order, with the call
that started them, kinds, sizes and launch attributes.  They also have the synchronizations in
order, with their call; and, for every operation and synchronization, which fields are empty.
Times, addresses, channels, and the numbers of streams, events and graphs are left out, and so are
overhead and compilation records.
"""
import collections
import re

import facts

# Launch attributes and sizes that must be equal. Of other fields, only emptiness is compared.
EXACT = ("grid", "block", "cluster", "bytes", "shared memory", "static shared memory", "dynamic shared memory", "cooperative",
         "status", "memory")
# Numbers that differ between devices: only their presence is compared.
NUMBERS = ("stream", "correlation", "channel", "memory bandwidth (GB/s)")
# Fields that the driver sets for some kernels and not for others of the same program.
CHOSEN = ("cache config executed",)


def is_sampled(name):
    """Whether it depends on which launches got a stack, which is drawn: "launched by (estimated)"."""
    return name.removesuffix(" (estimated)").endswith(" by")


def describe_call(call, previous_id):
    arguments = call["args"]
    parts = [call["name"], f"id+{arguments['correlation'] - previous_id}"]
    parts += [f"{name}={arguments[name]}" for name in ("status", "bytes", "memory") if name in arguments]
    return " ".join(parts)


def describe_calls(trace):
    lines = []
    threads = collections.defaultdict(list)
    for call in trace.calls:
        threads[call["tid"]].append(call)
    for number, thread in enumerate(sorted(threads, key=lambda one: min(call["ts"] for call in threads[one]))):
        calls = sorted(threads[thread], key=lambda one: one["ts"])
        previous_id = calls[0]["args"]["correlation"]
        for call in calls:
            lines.append(f"thread {number}: {describe_call(call, previous_id)}")
            previous_id = call["args"]["correlation"]
    return lines


def describe_operation(operation, call):
    arguments = operation["args"]
    parts = [operation["name"], f"by {call['name'] if call else 'nobody'}"]
    for name in sorted(arguments):
        value = arguments[name]
        if name in EXACT:
            parts.append(f"{name}={value}")
        elif name not in NUMBERS + CHOSEN and not is_sampled(name):
            parts.append(f"{name}:{'empty' if value in (0, '', None) else 'set'}")
    return ", ".join(parts)


def describe_operations(trace):
    calls = {call["args"]["correlation"]: call for call in trace.calls}
    streams = collections.defaultdict(list)
    for operation in [*trace.kernels, *trace.copies, *trace.sets]:
        streams[operation["args"]["context"], operation["args"]["stream"]].append(operation)

    def first_call(stream):
        return min(calls[operation["args"]["correlation"]]["ts"] for operation in streams[stream])

    lines = []
    for number, stream in enumerate(sorted(streams, key=first_call)):
        for operation in sorted(streams[stream], key=lambda one: one["ts"]):
            call = calls.get(operation["args"]["correlation"])
            lines.append(f"stream {number}: {describe_operation(operation, call)}")
    return lines


def describe_sync(sync, calls):
    arguments = sync["args"]
    call = calls.get(arguments["correlation"])
    parts = [f"sync: {sync['name']}, by {call['name'] if call else 'nobody'}"]
    parts += [f"{name}:{'none' if arguments[name] == -1 else 'empty' if arguments[name] == '' else 'set'}"
              for name in sorted(arguments) if name != "correlation" and not is_sampled(name)]
    return ", ".join(parts)


def describe_syncs(trace):
    calls = {call["args"]["correlation"]: call for call in trace.calls}
    return [describe_sync(sync, calls) for sync in sorted(trace.slices["cuda_sync"], key=lambda one: one["ts"])]


def without_chance(lines):
    """Lines for concurrent threads: sorted, and only the fact that ids grow."""
    return sorted(re.sub(r"^(thread|stream) \d+: ", r"\1: ", re.sub(r" id\+[1-9]\d*\b", " id grows", line)) for line in lines)


def describe(path):
    trace = facts.Facts(path)
    return describe_calls(trace) + describe_operations(trace) + describe_syncs(trace)
