#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# One golden test: golden.sh STACKMAP WRITE_SMALL_RECORDING CASE [--update]
#
# The first line of a case is `$ COMMANDS`, the rest is what they print, both streams in one, and their exit status.
# They run in an empty folder that holds the small recording as small.data, and its summary if they name summary.data, and events with two values if they name values.data. --update takes the present output.
set -eu

bin=$(dirname "$(realpath "$1")")
writer=$(realpath "$2")
golden=$(realpath "$3")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export DEBUGINFOD_URLS=

cd "$work"
"$writer" small.data
commands=$(sed -n '1s/^\$ //p' "$golden")
case $commands in *summary.data*) "$writer" --summary summary.data ;; esac
case $commands in *values.data*) "$writer" --values values.data ;; esac
{
	head -n 1 "$golden"
	status=0
	PATH="$bin:$PATH" LC_ALL=C sh -c "$commands" 2>&1 || status=$?
	echo "exit $status"
} >"$work/actual"

if [ "${4:-}" = --update ]; then
	cat "$work/actual" >"$golden"
fi
diff -u "$golden" "$work/actual"
