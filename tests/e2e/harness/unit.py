# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The restrictions of a unit without systemd: a cgroup with a memory limit; and, as a program, a command with the
capabilities, system calls, address families and mounts that the unit allows.

usage: unit.py UNIT WRITABLE_FOLDER COMMAND..."""

import contextlib
import ctypes
import errno
import mmap
import os
import pathlib
import subprocess
import sys
import time

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1]))
from harness.skip import Skip  # pylint: disable=wrong-import-position

SECONDS_MAX = 60  # only against what never happens
ROOTS = (("/sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.oom_control", "memory.max_usage_in_bytes"),
         ("/sys/fs/cgroup", "memory.max", "memory.events", "memory.peak"))


class MemoryCgroup:
    def __init__(self, folder, limit, events, peak):
        self.folder, self.limit, self.events, self.peak = folder, folder / limit, folder / events, folder / peak

    def inside(self, *command):
        """The command as one that runs in it."""
        return ["sh", "-c", 'echo $$ >"$0" && exec "$@"', str(self.folder / "cgroup.procs"), *map(str, command)]

    def kills(self):
        """Processes that the kernel has killed for memory."""
        words = dict(line.split() for line in self.events.read_text().splitlines())
        return int(words["oom_kill"])

    def most_bytes(self):
        return int(self.peak.read_text()) if self.peak.exists() else 0


def remove_cgroup(folder):
    """The last processes of a command that has ended may still be on their way out."""
    over = time.monotonic() + SECONDS_MAX
    while True:
        try:
            folder.rmdir()
            return
        except OSError as error:
            if error.errno != errno.EBUSY or time.monotonic() > over:
                raise
        time.sleep(0.01)


@contextlib.contextmanager
def memory_cgroup(limit_bytes):
    for root, *names in ROOTS:
        folder = pathlib.Path(root, "stackmap-test-%d" % os.getpid())
        made = MemoryCgroup(folder, *names)
        with contextlib.suppress(OSError):
            folder.mkdir()
            if made.limit.exists():
                break
            folder.rmdir()
    else:
        raise Skip("no cgroup with a memory limit can be made here")
    try:
        made.limit.write_text(str(limit_bytes))
        yield made
    finally:
        remove_cgroup(folder)


# --- the rest of it, in a process that becomes the command ---

CAPABILITIES = ("CHOWN DAC_OVERRIDE DAC_READ_SEARCH FOWNER FSETID KILL SETGID SETUID SETPCAP LINUX_IMMUTABLE NET_BIND_SERVICE "
                "NET_BROADCAST NET_ADMIN NET_RAW IPC_LOCK IPC_OWNER SYS_MODULE SYS_RAWIO SYS_CHROOT SYS_PTRACE SYS_PACCT SYS_ADMIN "
                "SYS_BOOT SYS_NICE SYS_RESOURCE SYS_TIME SYS_TTY_CONFIG MKNOD LEASE AUDIT_WRITE AUDIT_CONTROL SETFCAP "
                "MAC_OVERRIDE MAC_ADMIN SYSLOG WAKE_ALARM BLOCK_SUSPEND AUDIT_READ PERFMON BPF CHECKPOINT_RESTORE").split()
FAMILIES = {"AF_UNIX": 1, "AF_INET": 2, "AF_INET6": 10, "AF_NETLINK": 16}
MS_RDONLY, MS_REMOUNT, MS_BIND, MS_REC, MS_SLAVE = 1, 32, 4096, 16384, 1 << 19
CLONE_NEWNS, NAMESPACES = 0x20000, 0x7E020080
PR_CAPBSET_DROP, PR_SET_NO_NEW_PRIVS = 24, 38
ALLOW, REFUSE = 0x7FFF0000, 0x00050000  # SCMP_ACT_ALLOW, SCMP_ACT_ERRNO()
EQUAL, MASKED_EQUAL = 4, 7  # SCMP_CMP_EQ, SCMP_CMP_MASKED_EQ
# What the rest of this file applies, and what changes nothing for a command that is no service.
APPLIED = {"CapabilityBoundingSet", "NoNewPrivileges", "SystemCallFilter", "SystemCallErrorNumber", "RestrictAddressFamilies",
           "RestrictNamespaces", "MemoryDenyWriteExecute", "ProtectSystem", "ProtectHome", "ProtectControlGroups",
           "ProtectKernelTunables", "PrivateTmp", "PrivateDevices", "UMask"}
DEVICES = ("null", "zero", "full", "random", "urandom", "tty", "pts", "shm")
libc = ctypes.CDLL(None, use_errno=True)


def settings(unit):
    """KEY -> words of all its lines."""
    found = {}
    for line in pathlib.Path(unit).read_text().splitlines():
        key, equals, value = line.partition("=")
        if equals and not line.startswith("#"):
            found.setdefault(key, []).extend(value.split())
    return found


def check(result):
    if result:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))


def system_calls(names):
    """Those of systemd's sets, as names."""
    found = set()
    for name in names:
        if name.startswith("@"):
            lines = subprocess.run(["systemd-analyze", "syscall-filter", name], capture_output=True, text=True, check=True).stdout
            found |= system_calls([line.strip() for line in lines.splitlines()[1:] if line.strip()[:1] not in ("", "#")])
        else:
            found.add(name)
    return found


def remount_read_only(place):
    check(libc.mount(b"none", place.encode(), None, MS_BIND | MS_REMOUNT | MS_RDONLY, None))


def cover(top, kept):
    """An empty file system at `top`, with these of the paths that were below it."""
    paths = sorted(path for path in set(kept) if path.startswith(top + "/") and os.path.exists(path))
    files = [os.open(path, os.O_PATH) for path in paths]
    check(libc.mount(b"none", top.encode(), b"tmpfs", 0, b"mode=1777"))
    for path, file in zip(paths, files):
        source = "/proc/self/fd/%d" % file
        os.makedirs(path if os.path.isdir(source) else os.path.dirname(path), exist_ok=True)
        if not os.path.isdir(source):
            os.close(os.open(path, os.O_CREAT | os.O_WRONLY))
        check(libc.mount(source.encode(), path.encode(), None, MS_BIND | MS_REC, None))
        os.close(file)


def protect_mounts(unit, writable, program):
    check(libc.unshare(CLONE_NEWNS))
    check(libc.mount(b"none", b"/", None, MS_REC | MS_SLAVE, None))
    check(libc.mount(writable.encode(), writable.encode(), None, MS_BIND, None))
    kept = ("/proc", "/dev", "/sys") if unit["ProtectSystem"] == ["strict"] else ("/",)
    if "PrivateTmp" in unit:
        kept += ("/tmp", "/var/tmp")
        for top in "/tmp", "/var/tmp":
            cover(top, (writable, os.path.dirname(program)))
    if "PrivateDevices" in unit:
        cover("/dev", ["/dev/" + name for name in DEVICES])
    places = dict.fromkeys(line.split()[4] for line in pathlib.Path("/proc/self/mountinfo").read_text().splitlines())
    for place in places:
        is_kept = any(place == top or place.startswith(top.rstrip("/") + "/") for top in kept)
        is_cgroup = place.startswith("/sys/fs/cgroup") and "ProtectControlGroups" in unit
        if place != writable and (not is_kept or is_cgroup or (place == "/sys" and "ProtectKernelTunables" in unit)):
            with contextlib.suppress(OSError):  # over a mount that another one hides
                remount_read_only(place)


def drop_capabilities(unit):
    left = {name[len("CAP_"):] for name in unit["CapabilityBoundingSet"]}
    assert left <= set(CAPABILITIES), left
    for number, name in enumerate(CAPABILITIES):
        if name not in left:
            check(libc.prctl(PR_CAPBSET_DROP, number, 0, 0, 0))


class Comparison(ctypes.Structure):
    """struct scmp_arg_cmp"""
    _fields_ = [("argument", ctypes.c_uint), ("how", ctypes.c_int), ("first", ctypes.c_uint64), ("second", ctypes.c_uint64)]


class CallFilter:
    """A list of what is allowed; all else fails with EPERM."""

    def __init__(self):
        self.library = ctypes.CDLL("libseccomp.so.2")
        self.library.seccomp_init.restype = ctypes.c_void_p
        self.filter = ctypes.c_void_p(self.library.seccomp_init(REFUSE | errno.EPERM))

    def rule(self, action, call, *comparisons):
        number = self.library.seccomp_syscall_resolve_name(call.encode())
        if number == -1:
            return
        result = self.library.seccomp_rule_add_array(self.filter, action, number, len(comparisons),
                                                     (Comparison * len(comparisons))(*comparisons))
        assert result in (0, -errno.EDOM, -errno.EINVAL) or number < -1, (call, result)

    def load(self):
        assert self.library.seccomp_load(self.filter) == 0


def refuse_calls(unit):
    allowed, made = system_calls(unit["SystemCallFilter"]), CallFilter()
    conditions = {
        "socket": [[Comparison(0, EQUAL, FAMILIES[name], 0)] for name in unit["RestrictAddressFamilies"]],
        "clone": [[Comparison(0, MASKED_EQUAL, NAMESPACES, 0)]],
        "mmap": [[Comparison(2, MASKED_EQUAL, mmap.PROT_WRITE | mmap.PROT_EXEC, value)]
                 for value in (0, mmap.PROT_WRITE, mmap.PROT_EXEC)],
        "mprotect": [[Comparison(2, MASKED_EQUAL, mmap.PROT_EXEC, 0)]],
        "pkey_mprotect": [[Comparison(2, MASKED_EQUAL, mmap.PROT_EXEC, 0)]],
    }
    for call in sorted(allowed - {"unshare", "setns", "clone3"}):
        for comparisons in conditions.get(call, [[]]):
            made.rule(ALLOW, call, *comparisons)
    made.rule(REFUSE | errno.ENOSYS, "clone3")
    made.load()


def main(path, writable, *command):
    unit = settings(path)
    assert APPLIED - {"ProtectHome", "ProtectControlGroups", "PrivateTmp"} <= set(unit), APPLIED - set(unit)
    protect_mounts(unit, os.path.realpath(writable), os.path.realpath(command[0]))
    os.umask(int(unit["UMask"][0], 8))
    os.chdir(writable)
    drop_capabilities(unit)
    check(libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
    # The program is loaded by the filter's rules, too.
    refuse_calls(unit)
    os.execvp(command[0], command)


if __name__ == "__main__":
    main(*sys.argv[1:])
