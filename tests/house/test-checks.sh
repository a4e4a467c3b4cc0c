#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# The checks must catch what they are for: each case is a small tree with one fault, and the same tree without it.
# The summary of a test run must count what the programs really did.
#
# usage: test-checks.sh SCRIPTS_DIR
set -u

scripts=$1
top=$(mktemp -d) || exit 1
trap 'rm -rf "$top"' EXIT
spdx='/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */'
failures=0

# file PATH: from standard input, under the licence line, into the tree and into its git index
file() {
	mkdir -p "$(dirname "$tree/$1")"
	{ echo "$spdx"; cat; } >"$tree/$1"
	git -C "$tree" add -- "$1"
}

new_tree() {
	tree=$(mktemp -d "$top/XXXXXX")
	git -C "$tree" init -q
	file abi/bytes.h <<<$'#pragma once\nstruct bytes { unsigned char b[4]; };'
	file core/hash.c <<<'#include "bytes.h"'
	file lib/trace/read/reader.h <<<'struct reader;'
	file include/stackmap/id.h <<<'int stackmap_id(void);'
}

# expect STATUS WHAT CHECK: runs a check on the tree
expect() {
	local status output
	output=$("$scripts/$3" "$tree" 2>&1)
	status=$?
	[ "$status" -eq "$1" ] && return
	echo "$3, $2: exit status $status, not $1: $output"
	failures=$((failures + 1))
}

clean_tree_passes() {
	new_tree
	expect 0 'a clean tree' check-layers
	expect 0 'a clean tree' check-headers
	expect 0 'a clean tree' check-tree
}

layer_breaches_fail() {
	new_tree
	file core/hash.c <<<'#include "../lib/trace/read/reader.h"'
	expect 1 'core includes lib by a relative path' check-layers
	new_tree
	file abi/bytes.h <<<'#include <stdio.h>'
	expect 1 'abi includes libc' check-layers
	new_tree
	file bpf/show.h <<<'#include <errno.h>'
	expect 1 'bpf includes libc' check-layers
	new_tree
	file bpf/show.h <<<$'#include <linux/errno.h>\n#include <bpf/bpf_helpers.h>\n#include <stdbool.h>'
	expect 0 'bpf includes what the kernel, libbpf and the compiler have' check-layers
	new_tree
	file lib/trace/read/reader.c <<<'void f(void) { printf("x"); }'
	expect 1 'lib prints' check-layers
	new_tree
	file lib/trace/read/reader.c <<<'/* printf("x") exits */ const char *s = "exit(1)";'
	expect 0 'lib speaks of printing' check-layers
	new_tree
	file lib/report/tree.h <<<'int tree;'
	file lib/trace/read/reader.c <<<'#include "report/tree.h"'
	expect 1 'a room includes a later one' check-layers
	new_tree
	file lib/symbol/jit/map.h <<<'int map;'
	file lib/symbol/elf/note.c <<<'#include "symbol/jit/map.h"'
	expect 1 'a room of a room includes a later one' check-layers
	new_tree
	file lib/capture/drain/drain.c <<<'int f(void) { return poll(0, 0, 1); }'
	expect 1 'the drain loop waits' check-layers
	new_tree
	file lib/capture/drain/drain.c <<<'int f(void) { return open("/etc/passwd", 0); }'
	expect 1 'the drain loop opens a file' check-layers
	new_tree
	file lib/capture/drain/task_log.c <<<'int f(void) { return is_open(0) + open("/proc/1/comm", 0); } /* does not poll() */'
	expect 0 'the drain loop reads /proc for names of tasks' check-layers
	new_tree
	for number in {1..36}; do
		file "lib/report/part_$number.c" <<<'int part;'
	done
	expect 1 'a crowded folder' check-layers
	new_tree
	file lib/attic/old.c <<<'int old;'
	expect 1 'a room without a place in the order' check-layers
}

lonely_headers_fail() {
	new_tree
	file include/stackmap/id.h <<<'uint32_t stackmap_id(void);'
	expect 1 'a public header without its includes' check-headers
	new_tree
	file include/stackmap/id.h <<<'int stackmap_delete(int *new);'
	expect 1 'a public header that is no C++' check-headers
	new_tree
	file abi/bytes.h <<<'_Static_assert(sizeof(int) == 8, "");'
	expect 1 'an assertion that does not hold' check-headers
	new_tree
	file lib/trace/read/reader.h <<<'struct reader { int a; };'
	expect 1 'a header without a guard' check-headers
	new_tree
	file lib/trace/read/reader.h <<<'#include "missing.h"'
	expect 1 'a header that includes what is not there' check-headers
	new_tree
	file lib/trace/read/reader.h <<<'#include "reader.skel.h"'
	expect 0 'a header around a skeleton of the build' check-headers
}

untidy_trees_fail() {
	new_tree
	printf 'int a;\n' >"$tree/bare.c"
	git -C "$tree" add bare.c
	expect 1 'no licence line' check-tree
	new_tree
	printf 'a\0b' | file golden.txt
	expect 1 'a binary file' check-tree
	new_tree
	file built.o <<<''
	expect 1 'a build product' check-tree
	new_tree
	file lib/misc.c <<<''
	expect 1 'a name that says nothing' check-tree
	new_tree
	seq -f '/* %g */' 601 | file long.c
	expect 1 'a long file' check-tree
	new_tree
	echo '/* TO''DO */' | file open.c
	expect 1 'work left open' check-tree
	tree=$(mktemp -d "$top/XXXXXX")
	expect 77 'no git checkout' check-tree
}

format_breaches_fail() {
	command -v clang-format-14 >/dev/null || return
	new_tree
	file lib/crooked.c <<<'int  crooked ;'
	cp "$scripts/../.clang-format" "$tree"
	expect 1 'a line out of format' check-format
}

# results LAST_LINE STATUS: the summary of the log on standard input
results() {
	local output status
	cat >"$top/log"
	output=$("$scripts/test-results" "$top/log")
	status=$?
	[ "$status" -eq "$2" ] && [ "$(tail -n 1 <<<"$output")" = "$1" ] && return
	echo "test-results: exit status $status, not $2, or not '$1': $output"
	failures=$((failures + 1))
}

results_are_counted() {
	results '0 passed, 0 failed, 0 skipped' 1 <<<''
	results '1 passed, 0 failed, 1 skipped' 0 <<-'END'
	{"name": "a", "result": "OK", "stdout": "fine"}
	{"name": "b", "result": "SKIP", "stdout": "no BPF here"}
	END
	results '0 passed, 2 failed, 0 skipped' 1 <<-'END'
	{"name": "a", "result": "TIMEOUT"}
	{"name": "b", "result": "FAIL", "returncode": 1}
	END
	results '1 passed, 1 failed, 1 skipped' 1 <<-'END'
	{"name": "c", "result": "FAIL", "stdout": "[ RUN      ] x\n[       OK ] x\n[ RUN      ] y\nno root\n[  SKIPPED ] y\n", "stderr": "[  FAILED  ] z\n[  FAILED  ] z\n"}
	END
	results '1 passed, 1 failed, 0 skipped' 1 <<-'END'
	{"name": "crashes later", "result": "FAIL", "stdout": "[       OK ] x\n"}
	END
}

command -v git >/dev/null || { echo 'git is missing'; exit 77; }
clean_tree_passes
layer_breaches_fail
lonely_headers_fail
untidy_trees_fail
format_breaches_fail
results_are_counted
[ "$failures" -eq 0 ]
