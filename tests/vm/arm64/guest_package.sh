#!/bin/busybox sh
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Uses the command of the package for arm64, in the Debian that it was installed in (packages-arm64): with the shared libraries of its
# dependencies alone.
set -u

fail() {
	echo "FAULT: $*"
	exit 1
}

within() {
	chroot /debian "$@"
}

for kind in proc sys; do
	mkdir -p /debian/$kind && mount --rbind /$kind /debian/$kind
done
mkdir -p /debian/dev /debian/tmp && mount -t devtmpfs devtmpfs /debian/dev
within /usr/bin/stackmap --version || fail 'it does not start'
within /usr/bin/stackmap doctor || fail "doctor ended with $?"
within /usr/bin/stackmap record -o /tmp/f.data -- gzip -9c /usr/bin/perl >/dev/null 2>/debian/tmp/ledger || fail "$(cat /debian/tmp/ledger)"
grep -E '^stackmap: ledger: [1-9][0-9]* events = [1-9][0-9]* recorded' /debian/tmp/ledger || fail "$(cat /debian/tmp/ledger)"
within /usr/bin/stackmap report --sort comm /tmp/f.data | grep -q ' gzip$' || fail 'gzip is not what was recorded'
within /usr/bin/stackmap flamegraph -o /tmp/f.html /tmp/f.data && grep -q '</html>' /debian/tmp/f.html || fail 'no page'
within /usr/bin/stackmap start by_hand -e syscalls:sys_enter_openat --flight 1M && within /bin/ls / >/dev/null &&
	within /usr/bin/stackmap status by_hand && within /usr/bin/stackmap stop by_hand || fail 'an instance'
[ ! -e /sys/fs/bpf/stackmap ] || fail "left: $(ls -A /sys/fs/bpf/stackmap)"
