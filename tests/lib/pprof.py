"""Read a gzipped profile.proto of github.com/google/pprof strictly, with every field that a reader
uses.
"""
import gzip

from protobuf import fields, varint

PROFILE = {1: "sample_type", 2: "sample", 3: "mapping", 4: "location", 5: "function", 6: "string_table", 7: "drop_frames",
           8: "keep_frames", 9: "time_nanos", 10: "duration_nanos", 11: "period_type", 12: "period", 13: "comment",
           14: "default_sample_type"}


def packed(data):
    numbers, at = [], 0
    while at < len(data):
        number, at = varint(data, at)
        numbers.append(number)
    return numbers


class Profile:
    """types: [(type, unit)]; samples: [([(function, file, line), ...] outermost first, [value, ...])]."""

    def __init__(self, path):
        self.all = {}
        with gzip.open(path) as file:
            for number, value in fields(file.read()):
                self.all.setdefault(PROFILE[number], []).append(value)
        self.strings = [text.decode("utf-8") for text in self.all["string_table"]]
        if self.strings[0] != "":
            raise ValueError("the first string is not empty")
        self.types = [tuple(self.strings[dict(fields(each))[i]] for i in (1, 2)) for each in self.all["sample_type"]]
        self.default = self.strings[self.all["default_sample_type"][0]]
        self.functions = self.numbered("function")
        self.locations = self.numbered("location")
        self.samples = [self.sample(each) for each in self.all["sample"]]

    def numbered(self, name):
        messages = {}
        for each in self.all[name]:
            message = dict(fields(each))
            if message[1] == 0 or message[1] in messages:
                raise ValueError(f"{name} {message[1]} is defined twice, or is 0")
            messages[message[1]] = message
        return messages

    def place(self, location):
        line = dict(fields(self.locations[location][4]))
        function = self.functions[line[1]]
        return self.strings[function[2]], self.strings[function.get(4, 0)], line.get(2, 0)

    def sample(self, data):
        message = dict(fields(data))
        values = packed(message[2])
        if len(values) != len(self.types):
            raise ValueError(f"{len(values)} values for {len(self.types)} types")
        return [self.place(location) for location in reversed(packed(message[1]))], values
