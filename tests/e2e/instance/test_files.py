#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The files of an instance: read while events pour in, and compared with one another and with other sources. Runs in a mount
namespace with a BPF file system of its own."""

import os
import re
import shutil
import struct
import subprocess

from harness.cases import main, needs, needs_command, program, run, stackmap
from harness.engine_folder import HOME, enter_own_mounts, fresh_bpffs
from harness.recording import BIN_MAGIC, BIN_VERSION, Stack
from harness.waiting import wait_until

SWITCHES = ["-e", "sched:sched_switch"]
CALLS = "syscalls:sys_enter_getppid"
STACK_HEAD = re.compile(r"^stack_id (\d+) \[ref (\d+), depth (\d+)\]$")
STACK_FRAME = re.compile(r"^  \[(\d+)\] (\S.*\+0x[0-9a-f]+(/0x[0-9a-f]+( \[\w+\])?)?|0x[0-9a-f]+|\[\d+ frames omitted\])$")
TRACE_LINE = re.compile(r"^(.{1,15})-(\d+) \[(\d{3,})\] (\d+\.\d{6}): ([^<]*):((?: <[^>]+>)*)$")
STAT_LINE = re.compile(r"^(\w+): (\d+)(%| / \d+)?$")
MAPPING_LINE = re.compile(r"^(?:kernel (\S+) 0x[0-9a-f]+-0x[0-9a-f]+|(\d+)) ([0-9a-f]+|-) ?(.*)$")
READS = 20


class Instance:
    def __init__(self, name, *options):
        needs("bpf", "raw tracepoints", "tracefs")
        fresh_bpffs()
        self.name = name
        stackmap("start", name, *options)

    def __enter__(self):
        return self

    def __exit__(self, *error):
        stackmap("stop", self.name)
        assert not os.path.exists(HOME), "nothing is left"

    def path(self, file):
        return os.path.join(HOME, self.name, file)

    def read(self, file):
        with open(self.path(file), "rb") as stream:
            return stream.read()

    def text(self, file):
        return self.read(file).decode()

    def stacks(self):
        return parse_stack_map(self.text("stack_map"))

    def stacks_bin(self):
        return parse_live_bin(self.read("stack_map_bin"))

    def stat(self):
        return parse_stat(self.text("stack_map_stat"))


def parse_stack(part):
    lines = part.split("\n")
    head = STACK_HEAD.match(lines[0])
    assert head, "no head of a stack: " + lines[0]
    truncated = lines[-1] == "  ..."
    frames = [STACK_FRAME.match(line) for line in lines[1:len(lines) - truncated]]
    assert all(frames), "no frames: " + part
    assert [int(frame[1]) for frame in frames] == list(range(int(head[3]))), part
    return int(head[1]), Stack(int(head[2]), int(truncated), tuple(frame[2] for frame in frames))


def parse_stack_map(text):
    assert not text or text.endswith("\n\n"), "cut: " + text[-100:]
    stacks = [parse_stack(part) for part in text.split("\n\n")[:-1]]
    assert len(dict(stacks)) == len(stacks), "one id, one stack"
    return dict(stacks)


def parse_live_bin(data):
    """As parse_stack_map_bin(), but stacks may have come while it was read: more than the header says."""
    magic, version, count, reserved = struct.unpack_from("=4I", data)
    assert (magic, version, reserved) == (BIN_MAGIC, BIN_VERSION, 0)
    stacks, at = {}, 16
    while at < len(data):
        stack_id, depth, refs, flags = struct.unpack_from("=4I", data, at)
        assert stack_id and stack_id not in stacks
        stacks[stack_id] = Stack(refs, flags, struct.unpack_from("=%dQ" % depth, data, at + 16))
        at += 16 + 8 * depth
    assert at == len(data) and len(stacks) >= count, (at, len(data), len(stacks), count)
    return stacks


def parse_stat(text):
    lines = [STAT_LINE.match(line) for line in text.splitlines()]
    assert all(lines), text
    stat = {line[1]: int(line[2]) for line in lines}
    lost = sum(value for name, value in list(stat.items())[list(stat).index("recorded") + 1:])
    assert stat["produced"] == stat["recorded"] + lost, text
    assert stat["successes"] == stat["hits"] + stat["entries"], text
    return stat


def parse_trace(text):
    assert not text or text.endswith("\n")
    lines = [TRACE_LINE.match(line) for line in text.splitlines()]
    assert all(lines), [line for line, match in zip(text.splitlines(), lines) if not match][:3]
    times = [float(line[4]) for line in lines]
    assert times == sorted(times), "oldest first"
    return lines


def parse_mappings(text):
    """Number -> (build id, path) of user code; the kernel's lines."""
    lines = [MAPPING_LINE.match(line) for line in text.splitlines()]
    assert all(lines), text
    return {int(line[2]): (line[3], line[4]) for line in lines if line[2]}, [line for line in lines if line[1]]


def check_same_stacks(text, binary):
    """Compares the text with names and the text with numbers: equal ids, depths and counts, and each frame is user code in
    both or in neither."""
    assert text.keys() == binary.keys()
    for stack_id, stack in text.items():
        other = binary[stack_id]
        assert (stack.refs, stack.flags, len(stack.frames)) == (other.refs, other.flags, len(other.frames))
        for name, frame in zip(stack.frames, other.frames):
            assert ("/0x" in name or name.startswith("0x")) == bool(frame >> 63), (name, hex(frame))
            if not frame >> 40:
                assert name == "[%d frames omitted]" % frame
            elif not frame >> 63:
                assert name.endswith("+0x%x" % (frame & (1 << 40) - 1)), (name, hex(frame))


def spin_switches():
    """Two processes that wake each other until their input ends."""
    return subprocess.Popen(["sh", "-c", "while sleep 0.0001; do ls /usr/bin >/dev/null; done"],
                            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def is_same_stack(before, after):
    """True if the frames are equal. The name of a frame of a BPF program goes with the program: others load and unload theirs."""
    def is_passing(frame):
        return isinstance(frame, str) and (frame.startswith(("bpf_prog_", "bpf_trampoline_")) or re.fullmatch("0x[0-9a-f]+", frame))
    return len(before) == len(after) and all(was == now or (is_passing(was) and is_passing(now)) for was, now in zip(before, after))


def test_files_are_whole_while_events_pour_in():
    with Instance("pour", *SWITCHES, "-e", "syscalls:sys_enter_*", "--flight", "4M") as instance, spin_switches() as load:
        try:
            texts, numbers = {}, {}
            for _ in range(READS):
                parse_trace(instance.text("trace"))
                parse_mappings(instance.text("mappings"))
                instance.stat()
                for known, stacks in (texts, instance.stacks()), (numbers, instance.stacks_bin()):
                    for stack_id, stack in stacks.items():
                        was = known.setdefault(stack_id, stack.frames)
                        assert is_same_stack(was, stack.frames), ("an id names one stack", was, stack.frames)
            assert texts and numbers
        finally:
            load.kill()


def read_at_one_time(instance, *names):
    """Reads until no user stack has arrived meanwhile: stacks of before the pause arrive with the next run of their tasks."""
    read = {}

    def is_still():
        before = instance.stat()
        read["files"], read["stat"] = [instance.read(name) for name in names], before
        return instance.stat()["successes"] == before["successes"]
    wait_until(is_still)
    return read["files"], read["stat"]


def test_files_agree():
    with Instance("agree", *SWITCHES, "-e", CALLS, "--flight", "4M") as instance:
        run(program("known_counts"), "getppid=1000")
        stackmap("pause", "agree")
        (named, raw, mappings, trace), stat = read_at_one_time(instance, "stack_map", "stack_map_bin", "mappings", "trace")
        text = parse_stack_map(named.decode())
        check_same_stacks(text, parse_live_bin(raw))
        assert stat["entries"] == len(text) and stat["successes"] == sum(stack.refs for stack in text.values())
        with open("copy.bin", "wb") as copy:
            copy.write(raw)
        with open("mappings", "wb") as copy:
            copy.write(mappings)
        dumped = stackmap("dump", "--mappings", "mappings", "copy.bin")
        assert dumped.stderr == "Total: %d unique stacks\n" % len(text)
        users = {name for stack in text.values() for name in stack.frames if "/0x" not in name and not name.startswith("0x")}
        named = set(re.findall(r"^  \[\d+\] 0x[0-9a-f]+ (\S.*)$", dumped.stdout, re.M))
        assert users and users <= named, sorted(users - named)[:5]
        ids = {int(number) for line in parse_trace(trace.decode())
               for number in re.findall(r"stack_id (\d+)", line[6])}
        assert ids and ids <= text.keys(), "what the rings name is in the map"


def without_names(trace):
    """A task that has exec'ed since has another name now than it had at the event, which only script knows."""
    return re.sub(r"^.{1,15}?-(?=\d+ \[)", "", trace, flags=re.M)


def workload_of(trace):
    return [line for line in trace.splitlines() if line.startswith("known_counts-")]


def test_trace_is_script_with_ids():
    with Instance("same", "-e", CALLS, "--user-unwind", "fp", "--flight", "4M") as instance:
        run(program("known_counts"), "getppid=2000")
        stackmap("pause", "same")
        trace = instance.text("trace")
        assert len(parse_trace(trace)) >= 2000
        script = stackmap("script", "--ids", "--instance", "same").stdout
        assert without_names(trace) == without_names(script)
        assert workload_of(trace) == workload_of(script)


def test_deep_and_truncated_stacks():
    with Instance("deep", "-e", CALLS, "--comm", "known_stack", "--no-kernel", "--flight", "4M") as instance:
        for depth in 600, 500, 100:
            run(program("known_stack"), "deep", depth)
        stacks = instance.stacks()
        depths = {len(stack.frames): stack.flags for stack in stacks.values()}
        assert sum(depth > 500 for depth in depths) == 2 and not any(depths.values()), depths
        assert len(re.findall(r"\[\d\d frames omitted\]", instance.text("stack_map"))) == 2, depths
        check_same_stacks(stacks, instance.stacks_bin())
    with Instance("cut", "-e", CALLS, "--no-kernel", "--max-depth", 5, "--flight", "4M") as instance:
        run(program("known_stack"), "deep", 100)
        assert all(len(stack.frames) == 5 and stack.flags for stack in instance.stacks().values() if len(stack.frames) > 4)
        assert "\n  ...\n\n" in instance.text("stack_map")


def build_id_of(path):
    needs_command("readelf", "--version")
    return re.search(r"Build ID: ([0-9a-f]+)", run("readelf", "-n", path).stdout)[1]


def test_mappings_have_build_ids():
    """Also of a file that is gone, as is its only process. Files that no event has met have a number, too, from the start."""
    with Instance("ids", "-e", CALLS, "--comm", "gone", "--flight", "4M") as instance:
        run(program("known_stack", "gone"), "deep", 100)
        shutil.copy(program("known_counts"), "gone")
        run("./gone", "getppid=100")
        wanted = build_id_of("gone")
        os.unlink("gone")
        users, kernel = parse_mappings(instance.text("mappings"))
        assert kernel[0][1] == "vmlinux" and kernel[0][3] != "-"
        gone = [build_id for build_id, path in users.values() if path == os.path.realpath("gone")]
        assert gone == [wanted], users
        others = {path: build_id for build_id, path in users.values() if os.path.isfile(path)}
        met = {path for path, build_id in others.items() if build_id != "-"}
        assert any(path.endswith("/libc.so.6") for path in met), others
        for path in met:
            assert others[path] == build_id_of(path), path


def test_page_shows_the_files_as_they_are():
    """What the manual page shows of the files is read as the files themselves."""
    with open(os.path.join(os.path.dirname(__file__), "../../../docs/man/stackmap-files.5"), encoding="utf-8") as file:
        sections = re.split(r"^\.Ss ", file.read(), flags=re.MULTILINE)
    shown = {section.split("\n", 1)[0]: "".join(re.findall(r"^\.Bd .*\n((?:.*\n)*?)\.Ed$", section, re.MULTILINE)) for section in sections}
    assert parse_stack_map(shown["stack_map"]) and parse_trace(shown["trace"]), shown
    users, kernel = parse_mappings(shown["mappings"])
    assert users and kernel, shown


def test_nobody_writes_and_nobody_else_reads():
    needs_command("setpriv", "--version")
    with Instance("closed", "-e", CALLS) as instance:
        for file in "stack_map", "stack_map_stat", "stack_map_bin", "mappings", "trace":
            with open(instance.path(file), "wb", buffering=0) as stream:
                try:
                    stream.write(b"x")
                    raise AssertionError("%s was written" % file)
                except OSError:
                    pass
            run("setpriv", "--reuid", "nobody", "--clear-groups", "cat", instance.path(file), status=1)


if __name__ == "__main__":
    enter_own_mounts()
    main(globals())
