#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Runs the examples of a page of a reading command, in order, on the small recording: each must succeed.
# run-examples.sh STACKMAP WRITE_SMALL_RECORDING PAGE
set -euo pipefail

bin=$(dirname "$(realpath "$1")")
writer=$(realpath "$2")
page=$(realpath "$3")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export DEBUGINFOD_URLS=

# What the examples pipe into is not what they prove, and need not be installed.
mkdir "$work/bin"
for other in chromium flamegraph.pl go jq stackcollapse-perf.pl; do
	printf '#!/bin/sh\nexec cat\n' >"$work/bin/$other"
	chmod +x "$work/bin/$other"
done
PATH="$work/bin:$bin:$PATH"

cd "$work"
"$writer" stackmap.data
cp stackmap.data other.data
cp stackmap.data waits.data
printf 'ffffffff81001000 T schedule\nffffffff810010c0 T _etext\n' >kallsyms.copy

sed -n 's/^\.Dl //p' "$page" >examples
test -s examples
while read -r example; do
	echo "\$ $example"
	bash -o pipefail -c "$example" </dev/null
done <examples
