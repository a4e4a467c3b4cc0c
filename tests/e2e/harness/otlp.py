# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""A request of OTLP profiles, as a receiver decodes it: by protoc and tests/e2e/read/otlp_published.proto."""

import os
import re
import subprocess

from harness.cases import needs_command
from harness.exported import NO_LOSS, Sums, plain

READ = os.path.join(os.path.dirname(os.path.realpath(__file__)), "..", "read")
LINE = re.compile(r'\s*(?:(\w+) \{|(\w+): (?:"(.*)"|(-?\w+))|(\}))$')
ESCAPE = re.compile(rb"\\([0-7]{3}|.)", re.DOTALL)
LETTERS = {b"n": b"\n", b"r": b"\r", b"t": b"\t"}
TABLES = "mapping", "location", "function", "link", "string", "attribute", "stack"


def unescaped(text):
    """The bytes that protoc writes in escaped form."""
    return ESCAPE.sub(lambda match: bytes([int(match[1], 8)]) if len(match[1]) == 3 else LETTERS.get(match[1], match[1]),
                      text.encode())


def parse(text):
    """protoc's text: a message is {name of a field: its values}."""
    top = {}
    open_messages = [top]
    for line in text.splitlines():
        match = LINE.match(line)
        assert match, line
        opened, name, quoted, word, _ = match.groups()
        if opened:
            message = {}
            open_messages[-1].setdefault(opened, []).append(message)
            open_messages.append(message)
        elif name:
            assert not name.isdigit(), "a field that is not published: " + line
            open_messages[-1].setdefault(name, []).append(unescaped(quoted) if quoted is not None else int(word, 0))
        else:
            open_messages.pop()
    assert open_messages == [top]
    return top


def decode(data):
    needs_command("protoc", "--version")
    done = subprocess.run(["protoc", "--proto_path", READ, "--decode", "published.ExportProfilesServiceRequest", "otlp_published.proto"],
                          input=data, capture_output=True, check=False, timeout=120)
    assert done.returncode == 0, done.stderr.decode(errors="replace")[-2000:]
    return parse(done.stdout.decode())


def single(message, name, default=0):
    values = message.get(name, [default])
    assert len(values) == 1, (name, values)
    return values[0]


def value_of(message):
    (value,) = single(message, "value")
    (found,) = single(message, "value")[value]
    return found.decode() if isinstance(found, bytes) else found


class Otlp:
    def __init__(self, data):
        request = decode(data)
        assert set(request) <= {"resource_profiles", "dictionary"}
        self.tables = {name: single(request, "dictionary")[name + "_table"] for name in TABLES}
        self.strings = [text.decode() for text in self.tables["string"]]
        self.profiles, self.resource, self.scope = [], {}, {}
        for resource in request.get("resource_profiles", []):
            attributes = single(resource, "resource")["attributes"]
            self.resource = {each["key"][0].decode(): value_of(each) for each in attributes}
            assert len(self.resource) == len(attributes), "a key twice"
            scope = single(resource, "scope_profiles")
            self.scope = {name: text.decode() for name, (text,) in single(scope, "scope").items()}
            self.profiles += scope["profiles"]
        self.check()

    def check(self):
        """The rules of the published definition: what is at 0, that what can be told apart is there once, and indexes lead
        somewhere. (A leaf may be the place of a call as well, and generated code of two processes at one address.)"""
        for name, table in self.tables.items():
            assert table[0] in ({}, b""), (name, table[0])
            if name in ("function", "string", "attribute"):
                assert len({repr(each) for each in table}) == len(table), "twice in the table of " + name + "s"
        ids = {single(profile, "profile_id") for profile in self.profiles}
        assert len(ids) == len(self.profiles) and all(len(each) == 16 and any(each) for each in ids), ids
        for location in self.tables["location"][1:]:
            mapping = self.tables["mapping"][single(location, "mapping_index")]
            address = single(location, "address")
            assert not mapping or mapping["memory_start"][0] <= address < mapping["memory_limit"][0], location
            assert location["lines"]
        for stack in self.tables["stack"][1:]:
            assert stack["location_indices"] and 0 not in stack["location_indices"]

    def string(self, message, name):
        return self.strings[single(message, name)]

    def attributes(self, message):
        found = {}
        for index in message.get("attribute_indices", []):
            attribute = self.tables["attribute"][index]
            found[self.string(attribute, "key_strindex")] = value_of(attribute)
        assert index and len(found) == len(message["attribute_indices"]) if found else True
        return found

    def type(self, profile):
        kind = single(profile, "sample_type")
        return self.string(kind, "type_strindex"), self.string(kind, "unit_strindex")

    def lines(self, location):
        """Name, file and line of the functions of one location, innermost first."""
        for line in location["lines"]:
            function = self.tables["function"][single(line, "function_index")]
            yield plain(self.string(function, "name_strindex")), self.string(function, "filename_strindex"), single(line, "line")

    def stack(self, sample):
        """Outermost first."""
        stack = self.tables["stack"][single(sample, "stack_index")]
        locations = [self.tables["location"][index] for index in stack["location_indices"]]
        names = [name for location in locations for name, _, _ in self.lines(location)][::-1]
        return () if len(names) == 1 and names[0] in NO_LOSS else tuple(names)

    def mapping_of(self, path):
        return next(each for each in self.tables["mapping"][1:] if self.string(each, "filename_strindex") == path)

    def sums(self):
        """The samples of a source's second profile are values of those of its first."""
        sums, sources = Sums(), {self.type(profile)[0] for profile in self.profiles if self.type(profile)[1] == "count"}
        for profile in self.profiles:
            name = self.type(profile)[0]
            by_value = name not in sources
            event = name.removesuffix("_value") if by_value else name
            for sample in profile["samples"]:
                (value,) = sample["values"]
                task = plain(self.attributes(sample)["thread.name"])
                sums.add((event, task, self.stack(sample)), 0 if by_value else value, value if by_value else 0)
        return sums
