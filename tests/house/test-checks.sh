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

# tree_with STATUS WHAT CHECK PATH: the same of a new tree with one more file, from standard input
tree_with() {
	new_tree
	file "$4"
	expect "$1" "$2" "$3"
}

clean_tree_passes() {
	new_tree
	expect 0 'a clean tree' check-layers
	expect 0 'a clean tree' check-headers
	expect 0 'a clean tree' check-tree
}

layer_breaches_fail() {
	tree_with 1 'core includes lib by a relative path' check-layers core/hash.c \
		<<<'#include "../lib/trace/read/reader.h"'
	tree_with 1 'abi includes libc' check-layers abi/bytes.h <<<'#include <stdio.h>'
	tree_with 1 'bpf includes libc' check-layers bpf/show.h <<<'#include <errno.h>'
	tree_with 0 'bpf includes what the kernel, libbpf and the compiler have' check-layers bpf/show.h \
		<<<$'#include <linux/errno.h>\n#include <bpf/bpf_helpers.h>\n#include <stdbool.h>'
	tree_with 1 'lib prints' check-layers lib/trace/read/reader.c <<<'void f(void) { printf("x"); }'
	tree_with 0 'lib speaks of printing' check-layers lib/trace/read/reader.c \
		<<<'/* printf("x") exits */ const char *s = "exit(1)";'
	new_tree
	file lib/report/tree.h <<<'int tree;'
	file lib/trace/read/reader.c <<<'#include "report/tree.h"'
	expect 1 'a room includes a later one' check-layers
	new_tree
	file lib/symbol/jit/map.h <<<'int map;'
	file lib/symbol/elf/note.c <<<'#include "symbol/jit/map.h"'
	expect 1 'a room of a room includes a later one' check-layers
	tree_with 1 'the drain loop waits' check-layers lib/capture/drain/drain.c \
		<<<'int f(void) { return poll(0, 0, 1); }'
	tree_with 1 'the drain loop opens a file' check-layers lib/capture/drain/drain.c \
		<<<'int f(void) { return open("/etc/passwd", 0); }'
	tree_with 0 'the drain loop reads /proc for names of tasks' check-layers lib/capture/drain/task_log.c \
		<<<'int f(void) { return is_open(0) + open("/proc/1/comm", 0); } /* does not poll() */'
	new_tree
	for number in {1..36}; do
		file "lib/report/part_$number.c" <<<'int part;'
	done
	expect 1 'a crowded folder' check-layers
	new_tree
	for number in {1..36}; do
		file "tests/e2e/test_$number.py" <<<'pass'
	done
	expect 1 'a crowded folder of tests' check-layers
	tree_with 1 'a test imports a test' check-layers tests/e2e/read/test_views.py \
		<<<'from test_report import frames'
	tree_with 0 'a test imports what tests share' check-layers tests/e2e/read/test_views.py \
		<<<'from harness.cases import test_folder'
	tree_with 1 'a room without a place in the order' check-layers lib/attic/old.c <<<'int old;'
}

lonely_headers_fail() {
	tree_with 1 'a public header without its includes' check-headers include/stackmap/id.h \
		<<<'uint32_t stackmap_id(void);'
	tree_with 1 'a public header that is no C++' check-headers include/stackmap/id.h \
		<<<'int stackmap_delete(int *new);'
	tree_with 1 'an assertion that does not hold' check-headers abi/bytes.h \
		<<<'_Static_assert(sizeof(int) == 8, "");'
	tree_with 1 'a header without a guard' check-headers lib/trace/read/reader.h <<<'struct reader { int a; };'
	tree_with 1 'a header that includes what is not there' check-headers lib/trace/read/reader.h \
		<<<'#include "missing.h"'
	tree_with 0 'a header around a skeleton of the build' check-headers lib/trace/read/reader.h \
		<<<'#include "reader.skel.h"'
}

untidy_trees_fail() {
	new_tree
	printf 'int a;\n' >"$tree/bare.c"
	git -C "$tree" add bare.c
	expect 1 'no licence line' check-tree
	new_tree
	printf 'a\0b' | file golden.txt
	expect 1 'a binary file' check-tree
	tree_with 1 'a build product' check-tree built.o <<<''
	tree_with 1 'a name that says nothing' check-tree lib/misc.c <<<''
	new_tree
	seq -f '/* %g */' 901 | file long.c
	expect 1 'a long file' check-tree
	new_tree
	echo '/* TO''DO */' | file open.c
	expect 1 'work left open' check-tree
	tree_with 1 'a link to a file that does not exist' check-tree docs/page.md <<<'see [the map](../core/gone.h)'
	new_tree
	echo 'see [a page](other.md#part), [a site](https://example.org/x) and [below](#part)' | file docs/page.md
	echo 'text' | file docs/other.md
	expect 0 'links to a file, a site and a section' check-tree
	new_tree
	printf '/* Before, old_name() read. */\nvoid new_name(void)\n{\n}\n' | file lib/trace/read/names.c
	echo '`new_name()` reads, as `capget()` does' | file docs/internals/page.md
	expect 0 'a document names functions of the tree and of others' check-tree
	echo '`old_name()` reads' | file docs/internals/page.md
	expect 1 'a document names a function that is gone' check-tree
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

# results LAST_LINE STATUS [LOG]: the summary of the log on standard input, and of the other one
results() {
	local output status
	cat >"$top/log"
	output=$("$scripts/test-results" "$top/log" "${@:3}")
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

# Whoever keeps only the end of the output still reads what failed, and why.
each_failure_has_a_line_at_the_end() {
	local output
	cat >"$top/log" <<-'END'
	{"name": "a", "result": "FAIL", "stdout": "[ RUN      ] x\nx.py:3: AssertionError: 1 is not 2\n[  FAILED  ] x\n"}
	{"name": "b", "result": "TIMEOUT", "stdout": "still waiting"}
	END
	output=$("$scripts/test-results" "$top/log" | tail -n 3)
	[ "$output" = $'failed: a: x: x.py:3: AssertionError: 1 is not 2\nfailed: b: still waiting\n0 passed, 2 failed, 0 skipped' ] &&
		return
	echo "test-results, failures: $output"
	failures=$((failures + 1))
}

logs_add_up_and_none_is_empty() {
	local log='{"name": "a", "result": "OK", "stdout": "fine"}'
	echo "$log" >"$top/first"
	results '2 passed, 0 failed, 0 skipped' 0 "$top/first" <<<"$log"
	results '1 passed, 0 failed, 0 skipped' 1 "$top/first" </dev/null
}

riddles_fail() {
	local comment
	new_tree
	"$scripts/measure-style" --check "$tree" >/dev/null || { echo 'style, a clean tree'; failures=$((failures + 1)); }
	for comment in 'Who asks is answered.' 'An answer, of who asks.' 'Nobody asks.' 'A name that is long is none.' 'Plain. Or none.'; do
		new_tree
		file core/hash.h <<<"/* $comment */"
		"$scripts/measure-style" --check "$tree" >/dev/null 2>&1 && { echo "style: $comment"; failures=$((failures + 1)); }
		new_tree
		file tests/unit/test_hash.c <<<"/* $comment */"
		"$scripts/measure-style" --check "$tree" >/dev/null 2>&1 && { echo "style of tests: $comment"; failures=$((failures + 1)); }
	done
}

times_of_several_logs_add_up() {
	local output
	echo '{"name": "p:unit / a", "starttime": 100, "duration": 5}' >"$top/first"
	echo '{"name": "p:unit / b", "starttime": 103, "duration": 30, "stdout": "1.5 s, 2.0 + 0.5 s of CPU\n9 s, 4 + 1 s of CPU\n"}' >"$top/second"
	output=$("$scripts/test-times" "$top/first" "$top/second" | tr -s ' ')
	[ "$output" = $' 33 s 2 tests\n 35 s 2 unit\n\n began took CPU\n 3 30 8 p:unit / b' ] && return
	echo "test-times: $output"
	failures=$((failures + 1))
}

# The check reads arm64's sources on a machine that lacks a linker for arm64, too.
sources_are_read_without_a_linker() {
	local commands="$top/commands" source status
	[ -d /usr/aarch64-linux-gnu/include ] && command -v clang-14 >/dev/null || return
	mkdir "$commands"
	ln -s "$(command -v clang-14)" "$commands"
	ln -s "$(python3 -c 'import sys; print(sys.executable)')" "$commands/python3"
	while read -r status source; do
		new_tree
		mkdir -p "$tree/scripts" "$tree/lib/capture/source" "$tree/build"
		cp "$scripts/check-arm64" "$tree/scripts"
		printf '#!/bin/sh\n' >"$tree/lib/capture/source/syscall_names.sh"
		chmod +x "$tree/lib/capture/source/syscall_names.sh"
		file core/hash.c <<<"$source"
		echo '[{"file": "../core/hash.c", "command": "cc -I../abi"}]' >"$tree/build/compile_commands.json"
		PATH=$commands "$tree/scripts/check-arm64" "$tree/build" >"$top/read" 2>&1
		[ $? -eq "$status" ] && grep -q '1 sources read' "$top/read" && continue
		echo "check-arm64 without a linker, $source: not $status and read: $(cat "$top/read")"
		failures=$((failures + 1))
	done <<-'END'
		77 int hash;
		1 int hash = unknown;
	END
}

command -v git >/dev/null || { echo 'git is missing'; exit 77; }
clean_tree_passes
layer_breaches_fail
lonely_headers_fail
untidy_trees_fail
format_breaches_fail
results_are_counted
each_failure_has_a_line_at_the_end
logs_add_up_and_none_is_empty
riddles_fail
times_of_several_logs_add_up
sources_are_read_without_a_linker
[ "$failures" -eq 0 ]
