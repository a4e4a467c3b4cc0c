#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Runs the examples of a page whose commands need this machine, in order and as they stand: each must succeed. What needs a
# feature that `doctor` does not find here is left out. Of Markdown (README, guide) these are the lines of shell blocks that
# begin with `stackmap`; of a man page, its .Dl lines.
# run-recordings.sh STACKMAP PAGE
set -euo pipefail

PATH=$(dirname "$(realpath "$1")"):$PATH
page=$(realpath "$2")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
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
