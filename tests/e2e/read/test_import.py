#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Data of ftrace becomes a recording: each event has its stacks, and the ledger counts the lost ones."""

import os
import random
import re
import shutil

from harness.cases import Skip, main, needs_command, program, run, stackmap
from harness.recording import Recording, function, kernel_frames, marker, user_account, user_frames
from harness.trace_dat import HARDIRQ, Instance, Ring, user_frame, write_stacks, write_trace_dat

KERNEL = 0xffffffff81000000
KALLSYMS = "".join("%016x T %s\n" % (KERNEL + 0x100 * i, name) for i, name in enumerate(["_stext", "inner", "middle", "outer", "_etext"]))
INNER, MIDDLE, OUTER = (KERNEL + 0x100 * i + 0x10 for i in (1, 2, 3))
DAMAGES = 150
ENTRY = re.compile("asm_exc_|asm_sysvec_|asm_common_interrupt|asm_spurious_interrupt|asm_fred_entrypoint_|end_repeat_nmi|"
                   r"el1h_64_(?!\w+_handler)")


def imported(path, *options, output="f.data"):
    done = stackmap("import", "--ftrace", path, "-o", output, *options)
    return Recording(output, done.stderr)


def names(event):
    return [function(frame) for frame in kernel_frames(event)]


def save(rings, stacks=None, mappings=(), folder="saved", kallsyms=KALLSYMS):
    os.makedirs(folder, exist_ok=True)
    write_trace_dat(os.path.join(folder, "trace.dat"), rings, kallsyms, [(5, "five"), (6, "six")])
    if stacks is not None:
        write_stacks(folder, stacks, mappings)
    return folder


def test_events_get_their_stacks():
    """By id, as a whole, of an interrupt in between; the user's by an answer on another CPU."""
    first, second = Ring(), Ring(500)
    first.event("begin", 5)
    first.event("end", 5, HARDIRQ)
    first.stack_id(8, 5, HARDIRQ)
    first.stack_id(7, 5)
    first.cookie(1 << 33, 5)
    first.event("end", 5)
    first.stack([INNER] * 40, 5)
    first.cookie(1 << 33, 5)
    second.answer(1 << 33, 5, number=9)
    second.event("end", 6)
    made = imported(save([first, second], {7: [INNER, MIDDLE], 8: [OUTER], 9: [user_frame(3, 0x123)]}, [(3, "-", "/a/library.so")]))
    complete, missing = user_account(made)
    assert (complete, missing) == (2, {"not_asked": 2}), (complete, missing)
    early, begin, irq, end = sorted(made.events(), key=lambda event: event.time)
    assert (early.name, early.comm, early.tid, early.cpu, names(early)) == ("work:end", "six", 6, 1, []), early
    assert (begin.name, begin.comm, begin.tid, begin.cpu, names(begin)) == ("work:begin", "five", 5, 0, ["inner", "middle"]), begin
    assert (irq.name, names(irq), user_frames(irq)) == ("work:end", ["outer"], []), irq
    assert names(end) == ["inner"] * 40, end
    for event in (begin, end):
        assert [(frame.address, frame.object) for frame in user_frames(event)] == [(0x123, "/a/library.so")], event


def test_interrupted_kernel_code():
    """An interrupt meets the first instruction of `outer`: by id and as a whole, by the symbols of the trace.dat and of a file."""
    entries = "".join("%016x T %s\n" % (KERNEL + 0x100 * i, name) for i, name in enumerate(
        ["_stext", "inner", "middle", "outer", "asm_sysvec_reboot", "handler", "_etext"]))
    first, entry, handler = (KERNEL + 0x100 * i for i in (3, 4, 5))
    stack = [handler + 8, entry + 0x10, first, MIDDLE]
    ring = Ring()
    ring.event("begin", 5)
    ring.stack_id(7, 5)
    ring.event("end", 5)
    ring.stack(stack, 5)
    folder = save([ring], {7: stack}, kallsyms=entries)
    for _ in range(2):
        for event in imported(folder).events():
            assert names(event) == ["handler", "asm_sysvec_reboot", "outer", "middle"], event
        with open(os.path.join(folder, "kallsyms"), "w", encoding="ascii") as file:
            file.write(entries)


def test_what_is_missing_is_said():
    ring = Ring()
    for number, reason in enumerate([0, 1, 2, 3, 4, 5]):
        ring.event("begin", 5)
        ring.stack_id(7 if reason else 99, 5)
        ring.cookie(number, 5)
        ring.answer(number, 5, number=0 if reason else 99, reason=reason)
    ring.event("end", 5)
    ring.cookie(1000, 5)
    ring.gap(11)
    ring.stack_id(7, 5)
    ring.event("end", 5)
    ring.gap(0)
    ring.event("end", 5)
    made = imported(save([ring], {7: [INNER]}))
    ledger = made.check()
    assert (ledger["recorded"], ledger["lost"]["overwritten"], ledger["produced"]) == (9, 12, 21), ledger
    reasons = {name: count for name, count in ledger["user_stacks"]["reasons"].items() if count}
    assert reasons == {"gone": 1, "changed": 1, "unreadable": 1, "no_room": 1, "no_state": 1, "unanswered": 2, "not_asked": 2}, reasons
    assert "2 stacks are known by ids" in made.messages and "at 1 places" in made.messages, made.messages
    assert marker(made.events()[0]) == "gone", made.events()[0]


def test_of_ids_without_their_file_all_are_missing():
    ring = Ring()
    ring.event("begin", 5)
    ring.stack_id(7, 5)
    save([ring])
    assert "1 stacks are known by ids" in imported("saved/trace.dat").messages
    save([], {7: [INNER]}, folder="elsewhere")
    made = imported("saved/trace.dat", "--stack-map", "elsewhere")
    assert not made.messages and names(made.events()[0]) == ["inner"], made.messages


def build_id(path):
    notes = run("readelf", "-n", path).stdout
    found = re.search(r"Build ID: ([0-9a-f]+)", notes)
    if not found:
        raise Skip("the linker writes no build ids")
    return found[1]


def offset_of(path, name):
    """In the file."""
    address = int(re.search(r"^([0-9a-f]+) . %s$" % name, run("nm", path).stdout, re.M)[1], 16)
    for kind, offset, start, size in re.findall(r"^ +(\w+) +(0x\w+) (0x\w+) 0x\w+ (0x\w+)", run("readelf", "-lW", path).stdout, re.M):
        if kind == "LOAD" and int(start, 16) <= address < int(start, 16) + int(size, 16):
            return address - int(start, 16) + int(offset, 16)
    raise AssertionError(name)


def test_user_functions_have_names_by_build_id():
    workload = program("call_paths")
    ring = Ring()
    ring.event("begin", 5)
    ring.cookie(1, 5)
    ring.answer(1, 5, number=7)
    stacks = {7: [user_frame(number, offset_of(workload, "leaf") + 4) for number in (1, 2, 3)]}
    mappings = [(1, build_id(workload), workload), (2, "00" * 20, workload), (3, "-", workload)]
    event = imported(save([ring], stacks, mappings)).events()[0]
    assert [function(frame) for frame in user_frames(event)] == ["leaf", "call_paths", "call_paths"], event


def test_wrong_usage():
    stackmap("import", status=2)
    assert "nothing is recorded" in stackmap("import", "--ftrace", save([Ring()]), status=1).stderr
    assert "No such file" in stackmap("import", "--ftrace", "nowhere", status=1).stderr
    assert "no instance" in stackmap("import", "--ftrace", save([Ring()]), "--buffer", "mine", status=1).stderr
    with open("saved/trace.dat", "wb") as file:
        file.write(b"no trace")
    assert "not a trace.dat" in stackmap("import", "--ftrace", "saved", status=1).stderr
    assert not os.path.exists("stackmap.data")


def test_library_that_ends():
    """It reads in a sandbox, so the import goes on, and says what ended."""
    needs_command("gcc", "--version")
    with open("ends.c", "w", encoding="ascii") as file:
        file.write("#include <stdlib.h>\nvoid *tracecmd_open_fd(int fd, int flags) { (void)fd, (void)flags; abort(); }\n")
    run("gcc", "-w", "-shared", "-fPIC", "-o", "ends.so", "ends.c")
    said = stackmap("import", "--ftrace", save([Ring()]), status=1, env={**os.environ, "LD_PRELOAD": os.path.abspath("ends.so")}).stderr
    assert "the library that reads it (libtracecmd, libtraceevent) ended" in said and "'trace-cmd report'" in said, said


def damaged(data, chance):
    data = bytearray(data)
    if chance.random() < 0.3:
        del data[chance.randrange(len(data)):]
    for _ in range(chance.randrange(1, 20)):
        if data:
            data[chance.randrange(len(data))] = chance.choice([0, 1, 0x7f, 0x80, 0xff, chance.randrange(256)])
    return bytes(data)


def check_damaged(*names):
    """Checks for a recording, or an error and no file."""
    ring = Ring()
    for number in range(200):
        ring.event("begin", 5)
        ring.stack_id(7, 5)
        ring.cookie(number, 5)
        ring.answer(number, 5, number=9)
    ring.stack([INNER] * 30, 5)
    save([ring, ring], {7: [INNER], 9: [user_frame(3, 0x123)]}, [(3, "aabb", "/a/library.so")])
    whole = {name: open(os.path.join("saved", name), "rb").read() for name in names}
    chance = random.Random(15)
    ends = {0: 0, 1: 0}
    for _ in range(DAMAGES):
        for name, data in whole.items():
            with open(os.path.join("saved", name), "wb") as file:
                file.write(damaged(data, chance))
        done = stackmap("import", "--ftrace", "saved", "-o", "f.data", status=None)
        assert done.returncode in ends, (done.returncode, done.stderr)
        ends[done.returncode] += 1
        assert os.path.exists("f.data") == (done.returncode == 0) and (done.returncode == 0 or done.stderr), done.stderr
        if done.returncode == 0:
            Recording("f.data").report()
            os.unlink("f.data")
    assert min(ends.values()) > DAMAGES / 75, ends
    assert sorted(os.listdir(".")) == ["saved"], os.listdir(".")


def test_damaged_trace_files():
    check_damaged("trace.dat")


def test_damaged_stack_files():
    check_damaged("stack_map_bin")
    check_damaged("mappings")


def check_against_text(made, text):
    """The kernel's own words: each event, its thread, its kernel stack. The text leaves out what was lost, too. Of code that an interrupt
    has met, a recording has the pc + 1."""
    wanted, last = [], {}
    for block in re.split(r"\n(?! =>)", text):
        head, *frames = block.split("\n => ")
        line = re.match(r" +.*-(\d+) +\[(\d+)\] [^:]*: (sched_switch: |<stack trace>)", head)
        if line and line[3] != "<stack trace>":
            last[line[2]] = [int(line[1]), int(line[2]), []]
            wanted.append(last[line[2]])
        elif line and line[2] in last:
            last[line[2]][2] = [int(re.search(r"<(\w+)>", frame)[1], 16) + (i > 0 and bool(ENTRY.match(frames[i - 1])))
                                for i, frame in enumerate(frames)]
    found = [[event.tid, event.cpu, [frame.address for frame in kernel_frames(event)]] for event in made.events()]
    wrong = [pair for pair in zip(sorted(wanted), sorted(found)) if pair[0] != pair[1]]
    assert len(wanted) == len(found) and wanted and not wrong, (len(wanted), len(found), wrong[:1])


def test_an_instance_of_this_machine():
    with Instance() as instance:
        text = instance.record()
        made = imported(instance.path)
        assert "nothing is recorded" in stackmap("import", "--ftrace", instance.path, status=1).stderr
    made.check()
    check_against_text(made, text)


def test_what_an_instance_has_lost():
    with Instance() as instance:
        instance.write("buffer_size_kb", "8")
        text = instance.record(instance.lost)
        lost = instance.lost()
        made = imported(instance.path)
        assert "nothing is recorded" in stackmap("import", "--ftrace", instance.path, status=1).stderr
    assert made.check()["lost"]["overwritten"] == lost > 0, (made.ledger(), lost)
    check_against_text(made, text)


def test_a_clock_that_counts_otherwise():
    with Instance() as instance:
        instance.write("trace_clock", "counter")
        assert "echo mono > trace_clock" in stackmap("import", "--ftrace", instance.path, status=1).stderr
        assert "no ring" in stackmap("import", "--ftrace", os.path.join(instance.path, "events"), status=1).stderr


def test_a_file_of_trace_cmd():
    if not shutil.which("trace-cmd"):
        raise Skip("trace-cmd is not installed")
    for _ in range(20):  # kallsyms may change while trace-cmd copies it, and then the ring is empty already
        with Instance() as instance:
            text = instance.record()
            done = run("trace-cmd", "extract", "-B", os.path.basename(instance.path), "-o", "trace.dat", status=None)
        if done.returncode == 0 or "kallsyms" not in done.stderr:
            break
    assert done.returncode == 0, done.stderr
    check_against_text(imported("trace.dat"), text)


main(globals())
