#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Fails unless the page documents exactly the options that the command has, each name once: check-options.sh STACKMAP COMMAND PAGE
set -eu

stackmap=$1 command=$2 page=$3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# "  -n, --top N    how many" and ".It Fl n , -top Ar N" both become "-n --top N".
"$stackmap" help "$command" |
	sed -n 's/^  \(-., \)\{0,1\} *\(--[a-z-]*\) \{0,1\}\([A-Z,]*\).*/\1\2 \3/p' |
	sed 's/, / /; s/ *$//' | sort >"$work/table"
sed -n '/^\.Sh OPTIONS/,/^\.Sh [^O]/s/^\.It Fl //p' "$page" |
	sed 's/^-/--/; s/^\([A-Za-z]\) , -/-\1 --/; s/ Ar / /' | sort >"$work/page"
test -s "$work/table"
sed 's/.*\(--[a-z-]*\).*/\1/' "$work/table" | sort | uniq -d >"$work/twice"
test ! -s "$work/twice" || { echo "$command has two options of this name: $(cat "$work/twice")" && exit 1; }
diff -u --label "table of $command" --label "$page" "$work/table" "$work/page"
