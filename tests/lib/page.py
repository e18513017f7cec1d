"""Read a page of `gpuprof html` as its own script does: base64 elements that contain gzipped
columns.
"""
import base64
import gzip
import itertools
import json
import re

ELEMENT = re.compile(rb"<script type=application/octet-stream data-k=(\w+) data-f=(\d+) data-n=(\d+) data-p=([\d,]+)>([A-Za-z0-9+/=]*)</script>\n")
EVENT_COLUMNS = ("start", "duration", "label", "link", "aux", "stack")


class Page:
    def __init__(self, path):
        with open(path, "rb") as file:
            self.bytes = file.read()
        self.head, _, self.data = self.bytes.partition(b"</noscript>\n")
        self.elements = [(kind.decode(), int(rows), [int(p) for p in planes.split(b",")], gzip.decompress(base64.b64decode(text)))
                         for kind, _, rows, planes, text in ELEMENT.findall(self.data)]

    def rest(self):
        """The page without the data elements."""
        return ELEMENT.sub(b"", self.data)

    def text(self, kind):
        return next(content for found, _, _, content in self.elements if found == kind)

    def json(self, kind):
        return json.loads(self.text(kind))

    def columns(self, kind, width):
        columns = [[] for _ in range(width)]
        for found, rows, planes, content in self.elements:
            if found != kind:
                continue
            assert len(planes) == width and len(content) == rows * sum(planes), (kind, rows, planes)
            at = 0
            for column, count in zip(columns, planes):
                column += [sum(content[at + plane * rows + row] << 8 * plane for plane in range(count)) for row in range(rows)]
                at += rows * count
        return columns

    def events(self):
        """[{column: value}]: with starts and links decoded."""
        sizes = [rows for kind, rows, _, _ in self.elements if kind == "events"]
        blocks = {0, *itertools.accumulate(sizes)}
        rows = {0, *itertools.accumulate(count for track in self.json("index")["tracks"] for count in track["rows"])}
        end, link, events = 0, 0, []
        for number, row in enumerate(zip(*self.columns("events", len(EVENT_COLUMNS)))):
            event = dict(zip(EVENT_COLUMNS, row))
            start = event["start"] + (0 if number in rows or number in blocks else end)
            link = (0 if number in blocks else link) + (-(event["link"] + 1) // 2 if event["link"] % 2 else event["link"] // 2)
            end = start + event["duration"]
            event.update(start=start, link=link)
            events.append(event)
        return events

    def sums(self):
        sums = [0] * len(EVENT_COLUMNS)
        for event in self.events():
            for i, column in enumerate(EVENT_COLUMNS):
                sums[i] = (sums[i] * 31 + ((event[column] ^ event[column] >> 32) & 0xffffffff)) & 0xffffffff
        return sums
