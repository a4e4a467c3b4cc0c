# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""A program with a function that was inlined: its debug information, taken off it, and a recording of it."""

import json
import platform

from harness.cases import Skip, needs, needs_command, run
from harness.recording import record

# A statement in C: getppid(), and an instruction behind it.
ASK_PARENT = {
    "x86_64": '{ long ask = 110; __asm__ volatile("syscall; nop" : "+a"(ask) : : "rcx", "r11", "memory"); }',
    "aarch64": '{ register long ask __asm__("x8") = 173; __asm__ volatile("svc #0; nop" : : "r"(ask) : "x0", "memory"); }',
}.get(platform.machine(), "")

SOURCE = """
static inline __attribute__((always_inline)) void inner(void)
{ """ + ASK_PARENT + """ }
__attribute__((noinline)) void outer(void)
{ inner();
  __asm__ volatile("nop"); }
int main(void) { for (int i = 0; i < 5; i++) outer(); return 0; }
"""

INLINED = ["inner (inlined)", "outer", "main"]


def build(name, *options):
    """It calls getppid() five times."""
    if not ASK_PARENT:
        raise Skip("the test program has no system calls for this machine")
    needs_command("gcc", "--version")
    with open(name + ".c", "w", encoding="ascii") as file:
        file.write(SOURCE)
    run("gcc", "-O2", "-g", "-Wl,--build-id", *options, name + ".c", "-o", name)


def split(name, keep="-S"):
    """keep: what objcopy leaves in the program."""
    run("objcopy", "--only-keep-debug", name, name + ".debug")
    run("objcopy", keep, name)
    run("objcopy", "--add-gnu-debuglink=%s.debug" % name, name)


def record_calls(name):
    needs("bpf", "raw tracepoints")
    return record("-e", "syscalls:sys_enter_getppid", "--", "./" + name)


def hottest(text):
    """The innermost functions of the calls in `report --json`."""
    stacks = json.loads(text)["stacks"]
    assert sum(stack["count"] for stack in stacks) == 5, stacks
    return stacks[0]["user"][:3]


def hottest_names(made, *options):
    return hottest(made.read("report", "--json", *options))
