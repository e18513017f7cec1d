"""Read OpenMetrics text strictly: families are contiguous and begin with their metadata, samples
are unique, labels are escaped, and the last line is # EOF.
(https://prometheus.io/docs/specs/om/open_metrics_spec/)
"""
import decimal
import re

SUFFIXES = {"counter": "_total", "gauge": ""}  # types that the older text format also has
NAME = re.compile(r"[a-z][a-z0-9_]*")
LABEL = re.compile(r'([a-z][a-z0-9_]*)="((?:[^"\\\n]|\\["\\n])*)"(,|$)')
SAMPLE = re.compile(r"([a-z0-9_]+)\{(.*)\} ([0-9]+(?:\.[0-9]+)?)")
ESCAPES = {"\\\\": "\\", '\\"': '"', "\\n": "\n"}


def labels_of(text):
    labels, at = {}, 0
    while at < len(text):
        found = LABEL.match(text, at)
        if not found or found.group(1) in labels:
            raise ValueError(f"labels: {text}")
        labels[found.group(1)] = re.sub(r"\\.", lambda each: ESCAPES[each.group()], found.group(2))
        at = found.end()
    return labels


def read(data):
    """{family: [(labels, value)]}"""
    text = data.decode("utf-8")
    lines = text.split("\n")
    if lines[-2:] != ["# EOF", ""]:
        raise ValueError("no end")
    families, kind, family, seen = {}, None, None, set()
    for line in lines[:-2]:
        if line.startswith("# TYPE "):
            family, kind = line.split(" ")[2:]
            if family in families or not NAME.fullmatch(family):
                raise ValueError(f"duplicate or invalid name: {line}")
            families[family] = []
        elif line.startswith("# UNIT "):
            if line.split(" ")[2] != family or not family.endswith("_" + line.split(" ")[3]) or families[family]:
                raise ValueError(line)
        elif line.startswith("# HELP "):
            if line.split(" ")[2] != family or families[family]:
                raise ValueError(line)
        else:
            name, labels, value = SAMPLE.fullmatch(line).groups()
            if name != family + SUFFIXES[kind] or line.rsplit(" ", 1)[0] in seen:
                raise ValueError(f"duplicate, or outside of its family: {line}")
            seen.add(line.rsplit(" ", 1)[0])
            families[family].append((labels_of(labels), decimal.Decimal(value)))
    return families
