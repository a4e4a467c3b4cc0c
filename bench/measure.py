# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""
What every bench program does the same way: it says under which conditions it ran, runs each side in
alternating rounds, takes medians, and ends with one line for each figure:

    FIGURE <tab> name <tab> measured <tab> target <tab> met|missed

Sides alternate within a round, so whatever slows the machine slows all of them; only ratios between
sides of one run are compared with a target. Exit: 0 measured, 1 failed, 77 not possible here.
"""
import argparse
import os
import platform
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass

SKIP = 77
STACKMAP = os.environ.get("STACKMAP", "stackmap")
LIVE_MAP = os.environ.get("STACKMAP_LIVE_MAP", "live_map")
TRACEFS = "/sys/kernel/tracing"


def skip(reason):
    print(f"skipped: {reason}")
    sys.exit(SKIP)


def run(command, **options):
    """Its output; a command that fails ends the bench."""
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    done = subprocess.run(command, text=True, **{**pipes, **options})
    if done.returncode:
        sys.exit(f"{' '.join(command)}: exit {done.returncode}: {done.stderr.strip()}")
    return done.stdout


def works(command):
    try:
        return subprocess.run(command, capture_output=True).returncode == 0
    except FileNotFoundError:
        return False


def need_stackmap():
    with tempfile.TemporaryDirectory() as folder:
        file = os.path.join(folder, "f")
        if not works([STACKMAP, "record", "-q", "-e", "sched:sched_switch", "-o", file, "--", "true"]):
            skip("stackmap cannot record tracepoints here")


def need_perf():
    if not works(["perf", "record", "-q", "-e", "sched:sched_switch", "-o", "/dev/null", "--", "true"]):
        skip("perf is not installed, or cannot record tracepoints here")


def need_tracefs():
    """Where nobody mounted it, the program starts again with a mount of its own."""
    if os.path.isdir(f"{TRACEFS}/instances"):
        return
    if os.environ.get("BENCH_MOUNTED") or os.geteuid():
        skip(f"tracefs is not mounted at {TRACEFS}")
    mount = f'mount -t tracefs tracefs {TRACEFS}; exec "$@"'
    os.environ["BENCH_MOUNTED"] = "1"
    os.execvp("unshare", ["unshare", "--mount", "sh", "-c", mount, "sh", sys.executable] + sys.argv)


def options(rounds, seconds=None):
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=rounds, help="of each side (default %(default)s)")
    parser.add_argument("--quick", action="store_true", help="only show that it runs")
    if seconds:
        parser.add_argument("--seconds", type=float, default=seconds, help="of a run (default %(default)s)")
    chosen = parser.parse_args()
    if chosen.quick:
        chosen.rounds, chosen.seconds = 1, 0.1
    return chosen


def _processor():
    with open("/proc/cpuinfo") as file:
        lines = file.read().splitlines()
    model = [line.split(":")[1].strip() for line in lines if line.startswith("model name")]
    virtual = any(line.startswith("flags") and " hypervisor " in line for line in lines)
    return (model[0] if model else platform.machine()) + (", virtual machine" if virtual else "")


def conditions(**more):
    rows = {
        "kernel": platform.release(),
        "processor": f"{os.cpu_count()} x {_processor()}",
        "stackmap": run([STACKMAP, "--version"]).strip(),
        "perf": run(["perf", "--version"]).strip() if works(["perf", "--version"]) else "none",
        "load before": " ".join(f"{load:.1f}" for load in os.getloadavg()),
    }
    for name, value in {**rows, **more}.items():
        print(f"{name + ':':<17}{value}")


@dataclass
class Cost:
    processes: float  # s of CPU, user + system, of the command and all it waited for
    machine: float  # s in which some CPU was not idle
    wall: float


def _machine_busy():
    with open("/proc/stat") as lines:
        ticks = [int(field) for field in lines.readline().split()[1:9]]
    return (sum(ticks) - ticks[3] - ticks[4]) / os.sysconf("SC_CLK_TCK")


def cost(command, **options):
    def processes():
        usage = resource.getrusage(resource.RUSAGE_CHILDREN)
        return usage.ru_utime + usage.ru_stime

    before = processes(), _machine_busy(), time.monotonic()
    run(command, **options)
    after = processes(), _machine_busy(), time.monotonic()
    return Cost(*(b - a for a, b in zip(before, after)))


def interleave(rounds, sides):
    """sides: name -> function. name -> list of what it returned."""
    results = {name: [] for name in sides}
    for _ in range(rounds):
        for name, side in sides.items():
            results[name].append(side())
    return results


def median(values):
    return statistics.median(values)


def figure(name, measured, relation, target, unit=""):
    met = measured <= target if relation == "<=" else measured >= target
    print(f"FIGURE\t{name}\t{measured:.2f}{unit}\t{relation} {target:g}{unit}\t{'met' if met else 'missed'}")
