#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""doctor and record agree in each of these environments whether a recording is possible, in the same words."""

import json
import os

from harness.cases import STACKMAP, Skip, main, needs_command, program, run

WORKS, REFUSED = "Recording works here.", "Recording does not work here: "
NOBODY = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
REFUSE = program("refuse_syscall")


def without(*names):
    """Runs without these capabilities."""
    return ["setpriv", "--bounding-set=" + ",".join("-" + name for name in names), "--inh-caps=-all"]


def only(*names):
    """Runs as another user with only these capabilities."""
    which = ",".join(["-all", *("+" + name for name in names)])
    return [*NOBODY, *("--%s=%s" % (kind, which) for kind in ("inh-caps", "ambient-caps", "bounding-set"))]


def mounted(script):
    """With other mounts."""
    return ["unshare", "--mount", "sh", "-c", script + ' || exit 77; exec "$@"', "sh"]


def limited(option, value):
    return ["sh", "-c", 'ulimit -S%s %s || exit 77; ulimit -H%s %s; exec "$@"' % (option, value, option, value), "sh"]


# Other features that a machine may lack, and a word of the refusal; None: a recording works nevertheless.
ENVIRONMENTS = {
    "as it is": ([], None),
    "no CAP_SYS_ADMIN": (without("sys_admin"), None),
    "no CAP_SYS_PTRACE": (without("sys_ptrace"), None),
    "no CAP_SYSLOG": (without("syslog"), None),
    "no CAP_SYS_RESOURCE": (without("sys_resource"), None),
    "no CAP_SETUID": (without("setuid", "setgid"), None),
    "no right to read all files": (without("dac_read_search", "dac_override"), None),
    "no CAP_BPF": (without("bpf", "sys_admin"), "CAP_BPF"),
    "no CAP_PERFMON": (without("perfmon", "sys_admin"), "CAP_PERFMON"),
    "no capabilities": (without("all"), "run as root"),
    "another user": (only(), "run as root"),
    "another user with two capabilities": (only("bpf", "perfmon"), None),
    "a user namespace": (["unshare", "--user"], "run as root"),
    "a user namespace, as its root": (["unshare", "--user", "--map-root-user"], "user namespace"),
    "a PID namespace": (["unshare", "--pid", "--fork", "--mount-proc", "--kill-child"], None),
    "a PID namespace with the /proc outside": (["unshare", "--pid", "--fork", "--kill-child"], "/proc"),
    "a cgroup namespace": (["unshare", "--cgroup"], None),
    "no /proc": (mounted("mount -t tmpfs none /proc"), "mount -t proc"),
    "no sysfs": (mounted("mount -t tmpfs none /sys"), "mount -t sysfs"),
    "no kernel BTF": (mounted("mount -t tmpfs none /sys/kernel/btf"), "/sys/kernel/btf/vmlinux"),
    "no tracefs": (mounted("umount -a -t tracefs; mount -t tmpfs none /sys/kernel/tracing"), None),
    "no cgroups": (mounted("mount -t tmpfs none /sys/fs/cgroup"), None),
    "no BPF file system": (mounted("mount -t tmpfs none /sys/fs/bpf"), None),
    "no BPF file system, and none may be mounted": (
        [*mounted("mount -t tmpfs none /sys/fs/bpf"), *without("sys_admin")], None),
    "a BPF file system to read": (mounted("mount -t bpf -o ro none /sys/fs/bpf"), None),
    "no locked memory": (limited("l", 0), None),
    "few open files": (limited("n", 20), "ulimit -n"),
    "little memory": (limited("v", 38000), "Cannot allocate memory"),
    "seccomp: bpf": ([REFUSE, "bpf"], "seccomp"),
    "seccomp: perf_event_open": ([REFUSE, "perf_event_open"], "perf events"),
    "seccomp: capset": ([REFUSE, "capset"], "the process that reads symbols"),
    "seccomp: flock": ([REFUSE, "flock"], None),
    "seccomp: socketpair": ([REFUSE, "socketpair"], "the process that reads symbols"),
}


def check(name, prefix, word):
    """Both commands end alike, and refuse with the same line. With -q a ledger may follow."""
    doctor = run(*prefix, STACKMAP, "doctor", status=None)
    record = run(*prefix, STACKMAP, "record", "-q", "-a", "-o", "out/f.data", "--", "true", status=None)
    if 77 in (doctor.returncode, record.returncode):
        print("%s: cannot be made here: %s" % (name, doctor.stderr.strip()))
        return False
    said = doctor.stdout.splitlines()[-1]
    if word is None:
        assert (doctor.returncode, record.returncode, said) == (0, 0, WORKS), (name, said, record.stderr)
        return True
    assert (doctor.returncode, record.returncode) == (1, 1), (name, doctor, record)
    assert said.startswith(REFUSED) and word in said, (name, said)
    assert record.stderr == "stackmap: %s\n" % said[len(REFUSED):], (name, said, record.stderr)
    assert not os.path.exists("out/f.data"), name
    return True


def check_environments(names):
    if os.geteuid():
        raise Skip("this needs root")
    needs_command("setpriv", "--version")
    needs_command("unshare", "--mount", "true")
    os.mkdir("out")
    os.chmod("out", 0o777)
    os.chmod(".", 0o755)
    made = 0
    for name in names:
        made += check(name, *ENVIRONMENTS[name])
        if os.path.exists("out/f.data"):
            os.unlink("out/f.data")
    assert made > len(names) / 2, made


def test_doctor_and_record_agree_on_a_refusal():
    check_environments(["as it is", *(name for name, (_, word) in ENVIRONMENTS.items() if word)])


def test_doctor_and_record_agree_that_a_recording_works():
    check_environments([name for name, (_, word) in ENVIRONMENTS.items() if not word])


def test_json_has_the_refusal():
    found = json.loads(run(REFUSE, "bpf", STACKMAP, "doctor", "--json", status=1).stdout)
    assert not found["works"] and "seccomp" in found["why"], found
    found = json.loads(run(STACKMAP, "doctor", "--json", status=None).stdout)
    assert found["works"] == (not found["why"]), found


main(globals())
