#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Runs the examples of a page whose commands need this machine, in order and as they stand: each must succeed. What needs a
# feature that `doctor` does not find here is left out. Of Markdown (README, guide) these are the lines of shell blocks that
# begin with `stackmap`; of a man page, its .Dl lines. With --blocks each shell block is one script; a block whose programs are
# missing is left out.
# run-recordings.sh STACKMAP PAGE [--blocks]
set -euo pipefail

page=$(realpath "$2")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# In most pages what sleeps in an example stands for a workload, which may be short here.
mkdir "$work/bin"
case $page in
*/slow.md | */questions.md) ;;
*)
	printf '#!/bin/sh\nexec %s 0.3\n' "$(command -v sleep)" >"$work/bin/sleep"
	chmod +x "$work/bin/sleep"
	;;
esac
PATH=$work/bin:$(dirname "$(realpath "$1")"):$PATH
export DEBUGINFOD_URLS=
cd "$work"

stackmap doctor >doctor || {
	echo 'recording does not work here'
	exit 77
}

can_run() {
	case $1 in
	*' -e k:'* | *" -e 'k:"*) grep -qE '^yes +(fentry|kprobes) ' doctor ;;
	*' -e u:'*) grep -qE '^yes +uprobe' doctor ;;
	*"'"*) grep -qE '^yes +tracefs ' doctor ;;
	esac
}

# Of a page, commands that end by themselves: not in the background, not of a process 1234.
examples() {
	case $page in
	*.md) sed -n '/^```sh/,/^```/s/^stackmap/&/p' "$page" ;;
	*) sed -n 's/^\.Dl stackmap/stackmap/p' "$page" | grep -vE '&$|-p 1234|switches[.]1' ;;
	esac
}

has_programs() {
	local program
	for program in git nginx redis-server; do
		! grep -q "^$program " "$1" || command -v "$program" >/dev/null || return 1
	done
	! grep -q pgbench "$1" || pidof -q postgres
}

run_blocks() {
	local block
	awk '/^```sh/ { n++; inside = 1; next } /^```/ { inside = 0 } inside { print > ("block." n) }' "$page"
	for block in block.*; do
		mkdir "in.$block"
		echo "== $block"
		if has_programs "$block" && can_run "$(cat "$block")"; then
			(cd "in.$block" && bash -euxo pipefail "../$block" </dev/null >"../output.$block")
		else
			echo 'left out: a program is missing, or this kernel or user cannot'
		fi
	done
}

if [ "${3:-}" = --blocks ]; then
	run_blocks
	exit
fi
examples >commands
test -s commands
while read -r command; do
	echo "\$ $command"
	if can_run "$command"; then
		bash -o pipefail -c "$command" </dev/null >output
	else
		echo 'left out: this kernel or user cannot'
	fi
done <commands
