#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Runs the commands of the README's first recording, in order and as they stand: each must succeed. What needs a
# feature that `doctor` does not find here is left out.
# run-readme.sh STACKMAP README
set -euo pipefail

PATH=$(dirname "$(realpath "$1")"):$PATH
readme=$(realpath "$2")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

stackmap doctor >doctor || {
	echo 'recording does not work here'
	exit 77
}

can_run() {
	case $1 in
	*' -e k:'*) grep -qE '^yes +(fentry|kprobes) ' doctor ;;
	*' -e u:'*) grep -qE '^yes +uprobe' doctor ;;
	*"'"*) grep -qE '^yes +tracefs ' doctor ;;
	esac
}

sed -n '/^## A first recording/,/^## W/p' "$readme" | sed -n '/^```sh/,/^```/s/^stackmap/&/p' >commands
test "$(wc -l <commands)" -gt 10
while read -r command; do
	echo "\$ $command"
	if can_run "$command"; then
		bash -o pipefail -c "$command" </dev/null >output
	else
		echo 'left out: this kernel or user cannot'
	fi
done <commands
