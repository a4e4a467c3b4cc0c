#!/bin/busybox sh
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Functions of a kernel module have their names, and the module's: the device "dummy" frees each packet that it sends.
set -u

fail() {
	echo "FAULT: $*"
	exit 1
}

if [ ! -e /dummy.ko ]; then
	echo "the archive has no modules of this kernel"
	exit 77
fi
insmod /dummy.ko numdummies=1 || fail 'the module cannot be loaded'
ip link set dummy0 up && ip address add 10.9.9.1/24 dev dummy0 || fail 'no device'
stackmap record -o module.data -e skb:consume_skb -- ping -c 3 -i 0.1 -W 1 10.9.9.2 >log 2>&1
stackmap script module.data >script || fail "script ended with $?: $(cat log)"
grep -q 'dummy_xmit+0x[0-9a-f]*/*[0-9a-fx]* (\[dummy\])$' script || fail "no frame of the module: $(head -n 40 script)"
stackmap report --top 0 --sort dso,symbol module.data | grep -q '\[dummy\] *dummy_xmit' || fail 'report does not name the module'
stackmap export -f mappings module.data | grep '^kernel dummy 0x[0-9a-f]*-0x[0-9a-f]* [0-9a-f]\{40\}$' ||
	fail "the module is not listed with its build id: $(stackmap export -f mappings module.data)"
