#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Runs the examples of a page about instances, in order and as they stand, in a mount namespace with a BPF file system of its
# own: each must succeed. But for the page of `start`, an instance `slab` is there. What they leave is stopped.
# run-instances.sh STACKMAP PAGE
set -euo pipefail

if [ -z "${STACKMAP_TEST_OWN_MOUNTS:-}" ]; then
	export STACKMAP_TEST_OWN_MOUNTS=1
	exec unshare -m "$0" "$@"
fi

PATH=$(dirname "$(realpath "$1")"):$PATH
page=$(realpath "$2")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export DEBUGINFOD_URLS=
cd "$work"

stackmap doctor >doctor && grep -q '^yes  tracefs ' doctor && mount -t bpf bpf /sys/fs/bpf || {
	echo 'instances, or names of tracepoints, do not work here'
	exit 77
}

sed -n 's/^\.Dl //p' "$page" >examples
test -s examples
grep -q '^stackmap start slab ' examples || stackmap start slab -q -e kmem:kmem_cache_alloc --flight 8M
while read -r example; do
	echo "\$ $example"
	# The reader of a pipe may end before its writer.
	bash -c "$example" </dev/null >output
done <examples
for folder in /sys/fs/bpf/stackmap/[!_]*; do
	test ! -e "$folder" || stackmap stop "${folder##*/}"
done
test ! -e /sys/fs/bpf/stackmap
