#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Damages recordings, stack_map_bin files and ELF files, and gives them to the commands that read them.

Checksums and lengths are put right behind each change, and blocks are stored as they are instead of compressed, so that
what is tried lies behind them. Each file goes to a command under sanitizers, which must find nothing and need less than
SECONDS_MAX of CPU time, and once more to the command as it is built for users, which must need less than MEMORY_MAX.

usage: mutate.py SANITIZED STACKMAP PROGRAMS RECORD_ELF COUNT [SEED]

SANITIZED is build/tests/sanitized/stackmap, PROGRAMS build/tests/e2e. What fails is kept, and named.
"""

import collections
import copy
import ctypes
import glob
import os
import random
import resource
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import zlib

SECONDS_MAX = 5
MEMORY_MAX = 256 << 10  # KiB
FILE_MAX = 1 << 20
WAIT_MAX = 120  # s; a limit for a command that sleeps for ever
FILE_HEADER_BYTES = 16
BLOCK = struct.Struct("<IIBBHIIIIIQQ")  # struct trace_block_header
PLAIN, ZSTD = 0, 1
SKIPPED = 77
NUMBERS = [0, 1, 2, 3, 4, 7, 8, 15, 16, 0x7f, 0x80, 0xff, 0x100, 0x7fff, 0xffff, 1 << 16, 1 << 20, 1 << 24, (1 << 31) - 1,
           1 << 31, (1 << 32) - 1, 1 << 32, (1 << 47) - 1, 1 << 63, (1 << 64) - 1]
OF_RECORDINGS = [["report"], ["report", "--tree"], ["report", "--sort", "event,pid,comm,tid,cgroup,cpu,dso,symbol"],
                 ["report", "--json"], ["script"], ["script", "--ids", "--show-cgroup"], ["script", "--hashes"], ["export"],
                 ["export", "-f", "pprof", "-o", "/dev/null"], ["export", "-f", "otlp", "-o", "/dev/null"],
                 ["export", "-f", "chrome"], ["export", "-f", "speedscope"], ["export", "-f", "perfetto", "-o", "/dev/null"],
                 ["report", "--wakers", "--chain", "3"], ["report", "--locks"], ["report", "--origins"],
                 ["export", "-f", "perf-script"], ["export", "-f", "json"], ["export", "-f", "stack_map_bin", "-o", "/dev/null"],
                 ["export", "-f", "mappings"], ["flamegraph", "-o", "page.html"], ["flamegraph", "-o", "page.html", "SEED"],
                 ["diff", "--csv", "SEED"], ["diff", "--stacks", "--per", "second", "SEED"],
                 ["merge", "-o", "merged.data", "SEED"]]
OF_DUMPS = [["dump"], ["dump", "--json"], ["dump", "--top", "3"]]
OF_ELF = [["report", "--json"], ["script", "--lines"], ["report", "--tree"]]


def decompressed(data, size):
    library = ctypes.CDLL("libzstd.so.1")
    library.ZSTD_decompress.restype = ctypes.c_size_t
    library.ZSTD_decompress.argtypes = [ctypes.c_char_p, ctypes.c_size_t, ctypes.c_char_p, ctypes.c_size_t]
    room = ctypes.create_string_buffer(size)
    assert library.ZSTD_decompress(room, size, data, len(data)) == size
    return room.raw


def columns_of(payload, count):
    """A payload is the lengths of its columns as varints, then the columns."""
    lengths, at = [], 0
    for _ in range(count):
        number = shift = 0
        while True:
            number |= (payload[at] & 0x7f) << shift
            shift += 7
            at += 1
            if payload[at - 1] < 0x80:
                break
        lengths.append(number)
    columns = []
    for length in lengths:
        columns.append(bytearray(payload[at:at + length]))
        at += length
    return columns


def blocks_of(data):
    """[header fields], [columns] of each, not compressed."""
    blocks, at = [], FILE_HEADER_BYTES
    while at < len(data):
        header = list(BLOCK.unpack_from(data, at))
        payload = data[at + BLOCK.size:at + BLOCK.size + header[6]]
        at += BLOCK.size + header[6]
        blocks.append([header, columns_of(decompressed(payload, header[7]) if header[3] == ZSTD else payload, header[9])])
    return blocks


def recording_of(start, blocks, renumber):
    """Every checksum, length and, if wanted, sequence number is right."""
    data = bytearray(start)
    data[12:16] = struct.pack("<I", zlib.crc32(bytes(data[:12])))
    for number, (header, columns) in enumerate(blocks):
        fields = list(header)
        payload = b"".join(varint(len(column)) for column in columns) + b"".join(columns)
        fields[3], fields[6], fields[7] = PLAIN, len(payload), len(payload)
        if renumber:
            fields[5] = number
        packed = bytearray(BLOCK.pack(*fields))
        packed[4:8] = struct.pack("<I", zlib.crc32(payload, zlib.crc32(bytes(packed[8:]))))
        data += packed + payload
    return bytes(data)


def varint(number):
    coded = bytearray()
    while number >= 0x80:
        coded.append(number & 0x7f | 0x80)
        number >>= 7
    return bytes(coded + bytes([number]))


def change_bytes(random_, data, low=0):
    """Some of them, in place."""
    if len(data) <= low:
        return
    for _ in range(random_.choice((1, 1, 1, 2, 4, 16))):
        at = random_.randrange(low, len(data))
        number = random_.choice(NUMBERS)
        kind = random_.randrange(5)
        if kind == 0:
            data[at] ^= 1 << random_.randrange(8)
        elif kind == 1:
            data[at] = random_.randrange(256)
        elif kind == 2:
            size = random_.choice((1, 2, 4, 8))
            data[at:at + size] = (number % (1 << 8 * size)).to_bytes(size, "little")[:len(data) - at]
        elif kind == 3:
            coded = varint(number)
            data[at:at + len(coded)] = coded[:len(data) - at]
        else:
            end = min(len(data), at + random_.randrange(1, 64))
            part = data[at:end]
            to = random_.randrange(low, len(data))
            data[to:to + len(part)] = part[:len(data) - to]


def change_size(random_, data):
    at = random_.randrange(len(data) + 1)
    if random_.random() < 0.5:
        del data[at:at + random_.randrange(1, 64)]
    else:
        data[at:at] = random_.choice((bytes(random_.randrange(1, 2000)), random_.randbytes(16), varint(random_.choice(NUMBERS)),
                                      bytes(data[at:at + 200]) * random_.randrange(1, 50)))


def change_header(random_, header):
    field, size = random_.choice(((2, 8), (4, 16), (8, 32), (8, 32), (9, 32), (10, 64), (11, 64)))
    header[field] = random_.choice(NUMBERS + [header[field] + 1, max(header[field] - 1, 0), header[field] * 2]) % (1 << size)


def change_order(random_, blocks):
    one, other = random_.randrange(len(blocks)), random_.randrange(len(blocks))
    kind = random_.randrange(3)
    if kind == 0:
        blocks[one], blocks[other] = blocks[other], blocks[one]
    elif kind == 1:
        del blocks[one]
    else:
        blocks.insert(other, copy.deepcopy(blocks[one]))


def damaged_recording(random_, seed):
    blocks = copy.deepcopy(seed["blocks"])
    for _ in range(random_.choice((1, 1, 2, 3))):
        header, columns = random_.choice(blocks)
        kind = random_.random()
        if kind < 0.65:
            change_bytes(random_, random_.choice(columns))
        elif kind < 0.8:
            change_size(random_, random_.choice(columns))
        elif kind < 0.9:
            change_header(random_, header)
        elif len(blocks) > 1:
            change_order(random_, blocks)
    data = recording_of(seed["data"][:FILE_HEADER_BYTES], blocks, random_.random() < 0.9)
    return data[:random_.randrange(len(data) + 1)] if random_.random() < 0.05 else data


def damaged_dump(random_, seed):
    data = bytearray(seed["data"])
    change_bytes(random_, data)
    if random_.random() < 0.3:
        change_size(random_, data)
    return bytes(data)


def damaged_elf(random_, seed):
    """Mostly in the headers of sections and in what is no code: there it is that sizes and offsets are."""
    data = bytearray(seed["data"])
    sections, = struct.unpack_from("<Q", data, 40)
    kind = random_.random()
    if kind < 0.3:
        change_bytes(random_, data, sections)
    elif kind < 0.8:
        change_bytes(random_, data, len(data) // 2)
    else:
        change_bytes(random_, data)
    return bytes(data[:random_.randrange(len(data))]) if random_.random() < 0.03 else bytes(data)


def read(path):
    with open(path, "rb") as file:
        return file.read()


def run(*command):
    return subprocess.run([str(word) for word in command], stdin=subprocess.DEVNULL, capture_output=True, check=True)


def recording_seeds(programs):
    made = [("write_flames", 1, 60, 100), ("write_flames", 2, 400, 3000), ("write_views", 40, 40),
            ("write_views", 40, 40, 1000), ("write_odd", "valued"), ("write_bomb", "stacks", 300),
            ("write_bomb", "placeholders", 2000), ("write_bomb", "leaves", 2000), ("write_bomb", "cpus", 50)]
    for number, (program, *arguments) in enumerate(made):
        path = "seed-%d.data" % number
        if subprocess.run([os.path.join(programs, program), *map(str, arguments), path], capture_output=True,
                          check=False).returncode:
            continue
        yield {"path": path, "data": read(path), "blocks": blocks_of(read(path))}


def dump_seeds(stackmap, recordings):
    for recording in recordings:
        path = recording["path"] + ".bin"
        if not subprocess.run([stackmap, "export", "-f", "stack_map_bin", "-o", path, recording["path"]], capture_output=True,
                              check=False).returncode and os.path.getsize(path) > 16:
            yield {"path": path, "data": read(path)}


ELF_SOURCE = """
#include <stdio.h>
static inline __attribute__((always_inline)) int inner(int n) { return n * n + (n & 3); }
static inline int middle(int n) { for (int i = 0; i < n; i++) n += inner(i) ^ inner(n); return n; }
%s
int main(int argc, char **argv) { (void)argv; return printf("%%d\\n", outer_1(argc)) < 0; }
""" % "\n".join("__attribute__((noinline)) int outer_%d(int n) { return middle(n + %d) %s; }" % (
    i, i, "+ outer_%d(n - 1)" % (i + 1) if i < 12 else "") for i in range(12, 0, -1))


def elf_seeds(record_elf):
    """Programs with debug information, each with a recording that has its build id."""
    with open("elf.c", "w", encoding="ascii") as file:
        file.write(ELF_SOURCE)
    for number, options in enumerate((["-O2", "-g"], ["-O1", "-gdwarf-4"], ["-O2", "-s"])):
        path = "elf-%d" % number
        run("gcc", *options, "-Wl,--build-id", "elf.c", "-o", path)
        run(record_elf, path, path + ".data")
        yield {"path": path, "data": read(path), "recording": path + ".data"}


class Campaign:
    def __init__(self, sanitized, stackmap):
        self.sanitized, self.stackmap = sanitized, stackmap
        self.faults = collections.Counter()
        self.runs = collections.Counter()
        self.seconds = self.memory = 0
        reports = os.path.join(os.getcwd(), "report")
        self.environment = {**os.environ, "DEBUGINFOD_URLS": "",
                            "ASAN_OPTIONS": "log_path=%s:detect_leaks=0:quarantine_size_mb=16" % reports,
                            "UBSAN_OPTIONS": "log_path=%s:print_stacktrace=1" % reports}

    def execute(self, command):
        """(status, CPU seconds, KiB) of a command and its children."""
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                   env=self.environment, preexec_fn=lambda: (
                                       resource.setrlimit(resource.RLIMIT_CPU, (2 * SECONDS_MAX, 2 * SECONDS_MAX)),
                                       resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 30, 1 << 30)), signal.alarm(WAIT_MAX)))
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        return process.returncode, usage.ru_utime + usage.ru_stime, usage.ru_maxrss

    def fault(self, kind, path, arguments, what):
        self.faults[kind] += 1
        kept = "%s-%d-%s" % (kind, self.faults[kind], os.path.basename(path))
        shutil.copy(path, kept)
        print("%s: %s %s: %s" % (kind, kept, " ".join(arguments), what), flush=True)

    def attempt(self, family, path, arguments):
        """One file that was damaged."""
        self.runs[family] += 1
        status, seconds, _ = self.execute([self.sanitized, *arguments])
        reports = glob.glob("report.*")
        if reports or status not in (0, 1):
            said = b"".join(read(report) for report in reports)[:2000].decode(errors="replace")
            self.fault("hang" if status in (-signal.SIGALRM, -signal.SIGXCPU, -signal.SIGKILL) else "crash", path, arguments,
                       "status %d\n%s" % (status, said))
            for report in reports:
                os.unlink(report)
        elif seconds > SECONDS_MAX:
            self.fault("hang", path, arguments, "%.1f s" % seconds)
        _, _, memory = self.execute([self.stackmap, *arguments])
        if memory > MEMORY_MAX and os.path.getsize(path) < FILE_MAX:
            self.fault("memory", path, arguments, "%d KiB" % memory)
        self.seconds, self.memory = max(self.seconds, seconds), max(self.memory, memory)

    def summary(self):
        print("%s; %d crashes, %d hangs over %d s, %d above %d MiB; at most %.1f s of CPU time under sanitizers, %d MiB" % (
            ", ".join("%d %s" % (count, family) for family, count in sorted(self.runs.items())), self.faults["crash"],
            self.faults["hang"], SECONDS_MAX, self.faults["memory"], MEMORY_MAX >> 10, self.seconds, self.memory >> 10))


def try_all(campaign, families, count, random_):
    for number in range(count):
        family = random_.choices(list(families), [weight for weight, *_ in families.values()])[0]
        _, seeds, damage, commands = families[family]
        seed = random_.choice(seeds)
        path = os.path.realpath(seed["path"]) if family == "ELF files" else "damaged"
        with open(path, "wb") as file:
            file.write(damage(random_, seed))
        words = random_.choice(commands)
        other = random_.choice(seeds).get("path")
        arguments = [other if word == "SEED" else word for word in words]
        operand = seed.get("recording", path)
        if words[0] in ("report", "script", "export", "flamegraph", "diff", "merge"):
            arguments += ["--no-inline"] if "recording" not in seed and words[0] != "merge" else []
        campaign.attempt(family, path, [*arguments, operand])
        for left in "merged.data", "merged.data.old":
            if os.path.exists(left):
                os.unlink(left)
        if number % 1000 == 999:
            print("%d of %d" % (number + 1, count), flush=True)


def main():
    if len(sys.argv) not in (6, 7):
        sys.exit(__doc__)
    sanitized, stackmap, programs, record_elf = map(os.path.realpath, sys.argv[1:5])
    random_ = random.Random(int(sys.argv[6]) if len(sys.argv) > 6 else 1)
    folder = tempfile.mkdtemp(prefix="stackmap-mutate-")
    os.chdir(folder)
    if not shutil.which("gcc"):
        print("skip: there is no gcc for the ELF files")
        sys.exit(SKIPPED)
    recordings = list(recording_seeds(programs))
    families = {"recordings": (6, recordings, damaged_recording, OF_RECORDINGS),
                "dumps": (1, list(dump_seeds(stackmap, recordings)), damaged_dump, OF_DUMPS),
                "ELF files": (3, list(elf_seeds(record_elf)), damaged_elf, OF_ELF)}
    campaign = Campaign(sanitized, stackmap)
    try_all(campaign, families, int(sys.argv[5]), random_)
    campaign.summary()
    if campaign.faults:
        sys.exit("kept in %s" % folder)
    shutil.rmtree(folder)


main()
