#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""User stacks of every kind of program reach their root, sampled and by tracepoints; those that do not say why, and the
ledger knows how many."""

import collections
import os
import shutil
import subprocess

from harness.cases import PROGRAMS, Skip, main, needs, needs_command, never, one_of_several, program, stackmap
from harness.known_stack import KNOWN, PATH_INSIDE
from harness.machine_code import UNTIL_IT_RAN, check_generated_name
from harness.recording import check_whole_later, function, kernel_frames, marker, names_of, record, user_account, user_frames
from harness.roots import check_roots
from harness.waiting import read_text, wait_until

DEPTH_MAX = 511
DEEP_PARSE = """import sys
sys.setrecursionlimit(1000000)
nested = []
for i in range(3000):
    nested = [nested]
for i in range(700):
    repr(nested)
"""


def in_sigreturn(event):
    return marker(event) == "changed" and any("rt_sigreturn" in frame.name for frame in kernel_frames(event))


def in_delivery(event):
    """The kernel sets up a signal handler: on arm64 the pc is the handler's already, and x30 is still the interrupted one."""
    return any(function(frame) == "do_signal" for frame in kernel_frames(event))


def sampled(*command, has_signals=False):
    """Nearly all reach the root. Inside a signal's return, which replaces the registers, there is nothing to unwind."""
    needs("bpf", "perf events")
    recording = record("-F", 999, "--", *command)
    check_whole_later(recording, 50, 200, lambda event: has_signals and in_sigreturn(event))
    check_roots([event for event in recording.events() if not in_delivery(event)])
    return recording


def check_inside(recording, path, comm="known_stack", share=0.95):
    """Most of the stacks of a program that are not cut have this path, the rest is its start and its end; none has half of it."""
    stacks = [names_of(event) for event in recording.events() if event.comm.startswith(comm) and not marker(event)]
    inside = [names for names in stacks if path[0] in names]
    wrong = [names for names in inside if path != names[names.index(path[0]):][:len(path)]]
    never(wrong, wrong[:3])
    assert len(inside) > len(stacks) * share, (len(inside), len(stacks))


@one_of_several
def test_program():
    check_inside(sampled(KNOWN, "spin"), ["spin", *PATH_INSIDE, "main"])


@one_of_several
def test_threads():
    check_inside(sampled(KNOWN, "thread_spin", 2), ["spin", *PATH_INSIDE, "thread"])


@one_of_several
def test_static_programs():
    for kind in ("static", "static_pie"):
        check_inside(sampled(program("known_stack_" + kind), "thread_spin", 1), ["spin", *PATH_INSIDE, "thread"])
        check_inside(sampled(program("known_stack_" + kind), "spin"), ["spin", *PATH_INSIDE, "main"])


@one_of_several
def test_go_program():
    """It has a table of its own, by which all stacks end at their goroutine or thread."""
    needs("bpf", "perf events")
    needs_command("go", "version")
    root = subprocess.run(["go", "env", "GOROOT"], capture_output=True, text=True, check=True).stdout.strip()
    recording = record("-F", 999, "--comm", "gofmt", "--", "gofmt", "-l", os.path.join(root, "src", "runtime"),
                       env={**os.environ, "GOMAXPROCS": "2"})  # with many CPUs it ends before tables can be made
    check_whole_later(recording, 50, 50)


@one_of_several
def test_vdso():
    """The kernel's shared object has unwind tables of its own."""
    recording = sampled(program("machine_code"), "vdso", 30000000)
    check_inside(recording, ["ask_time", "main"], "machine_code")
    inside = [frame for event in recording.events() for frame in user_frames(event) if frame.object == "[vdso]"]
    if not inside:
        raise Skip("the clock is read by system calls here")


@one_of_several
def test_generated_code():
    """It has no unwind tables, but a frame pointer."""
    recording = sampled(program("machine_code"), "jit", 150000000)
    check_inside(recording, ["run_code", "main"], "machine_code")
    assert any(frame.object == "[anon]" for event in recording.events() for frame in user_frames(event))


def sampled_under_probe(probed, *way):
    needs("bpf", "perf events", "uprobes")
    recording = record("-F", 19999, "-e", "cpu-clock", "-e", "u:%s:%s" % (KNOWN, probed), "--", KNOWN, *way)
    check_roots(recording.events())
    return recording


@one_of_several
def test_instruction_that_runs_as_a_copy():
    """The probed instruction is where it is in the program."""
    recording = sampled_under_probe("adds", "calls", 30000)
    check_whole_later(recording, 1000, 200)
    check_inside(recording, ["call_often", *PATH_INSIDE, "main"])


@one_of_several
def test_instruction_that_the_kernel_runs():
    """The stack of a request before the instruction does not show the state after it."""
    recording = sampled_under_probe("pushes", "calls", 30000)
    assert {marker(event) for event in recording.events()} <= {None, "changed"}
    check_inside(recording, ["call_often", *PATH_INSIDE, "main"], share=0.9)


def test_through_probed_returns():
    """The kernel has taken the return addresses of functions on the way."""
    needs("bpf", "raw tracepoints", "uprobes")
    probed = ["-e", "ur:%s:again" % KNOWN, "-e", "ur:%s:middle" % KNOWN]
    recording = record(*probed, "-e", "syscalls:sys_enter_getppid", "--", KNOWN, "deep", 3)
    assert recording.check()["produced"] == 2 + 3 + 1
    check_roots(recording.events())
    check_inside(recording, ["call_again", *PATH_INSIDE, "main"], share=0.8)
    assert not any(marker(event) for event in recording.events())


def test_through_probed_returns_by_frame_pointers():
    needs("bpf", "uprobes")
    code = program("machine_code")
    recording = record("--user-unwind", "fp", "-e", "ur:%s:run_code" % code, "-e", "u:%s:leaf" % code, "--", code, "jit", 5)
    recording.check()
    stacks = [names_of(event) for event in recording.events() if event.name.startswith("u:")]
    assert len(stacks) == 5 and all("run_code" in names and "main" in names for names in stacks), stacks


@one_of_several
def test_names_of_generated_code():
    """By its perf map, that outlives it."""
    needs("bpf", "perf events")
    recording = record("-F", 999, "--", program("machine_code"), "jit_map", 150000000)
    os.unlink("/tmp/perf-%d.map" % next(event.tid for event in recording.events() if event.comm == "machine_code"))
    check_generated_name(recording)


@one_of_several
def test_names_of_generated_code_in_a_container():
    """One that runs has a /tmp of its own, and an id of its own by which it calls its map."""
    needs("bpf", "perf events")
    needs_command("unshare", "-mpf", "true")
    start = ["sh", "-c", "mount -t tmpfs none /tmp && exec ./machine_code jit_map 1000000000000"]
    with subprocess.Popen(["unshare", "-mpf", "--kill-child", *start], cwd=PROGRAMS, stdout=subprocess.DEVNULL) as outer:
        children = "/proc/%d/task/%d/children" % (outer.pid, outer.pid)
        try:
            wait_until(lambda: read_text(children).split())
            pid = int(read_text(children))
            wait_until(lambda: outer.poll() or "generated" in read_text("/proc/%d/root/tmp/perf-1.map" % pid))
            recording = record("-F", 999, "-p", pid, "--", "sh", "-c", UNTIL_IT_RAN, "sh", pid)
        finally:
            outer.kill()
    check_generated_name(recording)


@one_of_several
def test_exceptions_and_signals():
    """Thrown through destructors and caught, on a signal stack too, in two threads."""
    workload = program("exceptions")
    if not os.path.exists(workload):
        raise Skip("no C++ compiler here")
    recording = sampled("sh", "-c", "for i in 1 2 3 4; do %s; done" % workload, has_signals=True)
    names = {name for event in recording.events() for name in names_of(event)}
    assert "_Unwind_RaiseException" in names and any("on_timer" in name for name in names), names


@one_of_several
def test_program_of_32_bits():
    workload = program("compat_stack")
    if not os.path.exists(workload):
        raise Skip("no 32-bit programs can be built here")
    needs("raw tracepoints", "tracefs")
    path = ["inner", "middle", "outer", "enter", "_start"]
    recording = sampled(workload)
    check_inside(recording, path[1:], "compat_stack")
    recording = record("-e", "raw_syscalls:sys_enter", "--", workload)
    complete, rest = user_account(recording)
    stacks = collections.Counter(tuple(names_of(event)) for event in recording.events() if event.comm == "compat_stack")
    assert stacks["call", *path] == 2000, stacks
    assert not set(rest) - {"changed"}, (complete, rest)
    recording = record("-e", "syscalls:sys_enter_*", "--", workload)
    assert "ledger: 2001 system calls of 32-bit tasks have no event" in recording.messages, recording.messages
    assert recording.check()["produced"] == 0, recording.messages


def test_by_tracepoints():
    """The same programs at each of their system calls."""
    needs("bpf", "raw tracepoints")
    for command in ([KNOWN, "thread_spin", 2], [program("known_stack_static_pie"), "spin"], [program("exceptions")]):
        if not os.path.exists(command[0]):
            continue
        recording = record("-e", "syscalls:sys_*", "--", *command)
        complete, rest = user_account(recording)
        check_roots(recording.events())
        assert complete and not set(rest) - {"changed"}, (command, complete, rest)


def check_depth(depth, limit, *options):
    """Of a stack that is `depth` deep: both events have as many frames as the limit lets, and say so."""
    around = len(["call_again", *PATH_INSIDE, "main"]) + 3  # what calls main()
    recording = record(*options, "-e", "syscalls:sys_enter_getppid", "--", KNOWN, "deep", depth - around)
    events = [event for event in recording.events() if event.name.endswith("getppid")]
    assert len(events) == 2
    for event in events:
        frames = [frame for frame in user_frames(event) if frame.object != "[user stack]"]
        assert len(frames) == min(depth, limit), (depth, len(frames))
        assert marker(event) == ("truncated" if depth > limit else None), event
        assert {function(frame) for frame in frames[:min(depth - around, limit)]} == {"again"}
    assert user_account(recording) == ((0, {"depth": 2}) if depth > limit else (2, {}))


def check_ends(depth, *options):
    """Both events have the 256 innermost frames and the 254 outermost ones, and say how many are between them."""
    callers = ["call_again", *PATH_INSIDE, "main"]
    recording = record(*options, "-e", "syscalls:sys_enter_getppid", "--", KNOWN, "deep", depth - len(callers) - 3)
    events = [event for event in recording.events() if event.name.endswith("getppid")]
    assert len(events) == 2
    for event in events:
        frames = user_frames(event)
        names = [function(frame) for frame in frames]
        assert len(frames) == DEPTH_MAX, (depth, len(frames))
        assert names[256] == "[%d frames omitted]" % (depth - 510), names[250:260]
        assert set(names[:256] + names[257:-len(callers) - 3]) == {"again"}, names
        assert names[-len(callers) - 3:-3] == callers, names
    assert user_account(recording) == (2, {}), user_account(recording)


def test_deep_recursion():
    needs("bpf", "raw tracepoints")
    for depth in (30, DEPTH_MAX):
        check_depth(depth, DEPTH_MAX)
    for depth in (DEPTH_MAX + 1, 600, 5000):
        check_ends(depth)
    check_ends(600, "--no-dedup")


def test_deep_recursion_by_frame_pointers():
    """Frames outside of main() are not compared: some C libraries have no frame pointers there."""
    needs("bpf", "raw tracepoints")
    recording = record("--user-unwind", "fp", "-e", "syscalls:sys_enter_getppid", "--", program("known_stack_fp"), "deep", 700)
    events = [event for event in recording.events() if event.name.endswith("getppid")]
    assert len(events) == 2
    for names in map(names_of, events):
        callers = names.index("call_again")
        calls = callers + int(names[256].strip("[").split()[0]) - 1
        assert calls == 700 and names[callers:][:len(PATH_INSIDE) + 2] == ["call_again", *PATH_INSIDE, "main"], (calls, names[callers - 2:])
        assert set(names[:256] + names[257:callers]) == {"again"}, set(names)


def test_callers_of_deep_recursion():
    """Each caller of a recursion has its share, however deep that is."""
    needs("bpf", "raw tracepoints")
    recording = record("-e", "syscalls:sys_enter_getppid", "--", KNOWN, "deep", 2000)
    report = stackmap("report", "--sort", "symbol", "--top", 0, "--children", recording.path).stdout
    rows = {line.split()[-1]: line.split()[0] for line in report.splitlines() if line.startswith(" ")}
    assert rows["call_again"] == rows["main"] == "100.00%" and "omitted]" in rows, report
    unfolded, folded = (stackmap("report", *fold, recording.path).stdout for fold in ((), ("--fold-recursion",)))
    assert unfolded.count("[u] again\n") == 2 * (256 + 254 - len(PATH_INSIDE) - 5), unfolded
    assert folded.count("[u] again\n    [u] [frames omitted]\n    [u] again\n    [u] call_again\n") == 2, folded


@one_of_several
def test_samples_of_deep_recursion():
    """The walk at the event and the deferred one."""
    needs("bpf", "perf events")
    recording = record("-F", 999, "--", "python3", "-c", DEEP_PARSE)
    complete, rest = user_account(recording)
    deep = [event for event in recording.events() if any("frames omitted]" in name for name in names_of(event))]
    assert deep and all(function(event.frames[-1]) == "_start" for event in deep if not marker(event)), deep[0]
    assert complete > 20 * sum(rest.values()), (complete, rest)


def test_depth_limits():
    needs("bpf", "raw tracepoints")
    for depth in (99, 100, 101):
        check_depth(depth, 100, "--max-depth", 100)


@one_of_several
def test_code_on_other_stacks():
    """The caller's stack may lie below that of the callee: at the event, by the unwinder later, and by the copy of a stack."""
    needs("bpf", "perf events", "raw tracepoints")
    outer = ["call_on", "start", "thread"]
    paths = {"above": outer, "fiber": ["call_on", "on_thread_stack", "fiber", *outer],
             "nested": ["call_on", "on_thread_stack", "fiber", "call_on", "start_inner", *outer]}
    for what, path in paths.items():
        recording = record("-F", 499, "-e", "cpu-clock,syscalls:sys_enter_getppid", "--", program("other_stack"), what)
        stacks = [names_of(event) for event in recording.events() if not marker(event)]
        inside = [names for names in stacks if "at_end" in names]
        wrong = [names for names in inside if names[names.index("at_end"):][1:len(path) + 1] != path]
        never(wrong, (what, wrong[:3]))
        assert len(inside) > 50, (what, len(inside))
        check_whole_later(recording, 50, 50)


@one_of_several
def test_coroutines():
    """Their stacks are whole where they begin, which a return address of 0 in the middle of a stack does not say."""
    needs("bpf", "perf events", "raw tracepoints")
    if not os.path.exists(program("coroutine")):
        raise Skip("the program switches stacks of x86-64")
    for what, root in {"context": None, "null": "body", "null_end": "body"}.items():
        recording = record("-F", 499, "-e", "cpu-clock,syscalls:sys_enter_getppid", "--", program("coroutine"), what)
        stacks = [names_of(event) for event in recording.events() if not marker(event)]
        inside = [names[names.index("at_end"):] for names in stacks if "at_end" in names]
        wrong = [names for names in inside if names[1] != "body" or root not in (None, names[-1])]
        never(wrong, (what, wrong[:3]))
        assert len(inside) > 50, (what, len(inside))
        check_whole_later(recording, 50, 50)
    recording = record("-e", "syscalls:sys_enter_getppid", "--", program("coroutine"), "overwritten")
    event, = [event for event in recording.events() if event.name.endswith("getppid")]
    assert names_of(event)[-3:] == ["at_end", "lose_return", "[null_return]"], event
    assert user_account(recording) == (0, {"null_return": 1})


@one_of_several
def test_fibers_of_languages():
    needs("bpf", "perf events")
    texts = {"ruby": ("-e", "f = Fiber.new { loop { 20000.times { |i| i * 3 }; Fiber.yield } }\n"
                            "f.resume while Process.clock_gettime(Process::CLOCK_PROCESS_CPUTIME_ID) < 1"),
             "php": ("-r", "$f = new Fiber(function() { while (true) { for ($i = 0; $i < 30000; $i++); Fiber::suspend(); } });"
                           "$f->start(); while (getrusage()['ru_utime.tv_sec'] < 1) $f->resume();")}
    commands = [[name, *text] for name, text in texts.items() if shutil.which(name)]
    if not commands:
        raise Skip("neither ruby nor php is here")
    for command in commands:
        recording = record("-F", 499, "--", *command)
        check_whole_later(recording, 20, 50)


def test_a_lost_caller():
    """The caller is unknown, and the stack is marked as cut."""
    needs("bpf", "raw tracepoints")
    recording = record("-e", "syscalls:sys_enter_getppid", "--", KNOWN, "lost")
    event, = [event for event in recording.events() if event.name.endswith("getppid")]
    assert names_of(event) == ["lose_caller", "[not_code]"] and marker(event) == "not_code", event
    assert user_account(recording) == (0, {"not_code": 1})


if __name__ == "__main__":
    main(globals())
