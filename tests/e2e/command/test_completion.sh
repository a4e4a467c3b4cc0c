#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Completes lines in bash as its users do: the function that is installed, the words of bash-completion, this stackmap.
# test_completion.sh STACKMAP COMPLETION
set -euo pipefail

# Instances get a BPF file system of their own.
if [ -z "${STACKMAP_TEST_OWN_MOUNTS:-}" ] && unshare -m true 2>/dev/null; then
	STACKMAP_TEST_OWN_MOUNTS=1 exec unshare -m "$0" "$@"
fi

PATH=$(dirname "$(realpath "$1")"):$PATH
completion=$(realpath "$2")
library=/usr/share/bash-completion/bash_completion
[ -e $library ] || {
	echo 'the package bash-completion is not installed'
	exit 77
}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
mkdir folder && touch folder/inside 'one file' other.data

set +eu
# shellcheck source=/dev/null
. $library
# shellcheck source=/dev/null
. "$completion"
set -u

# Readline offers it while it completes only.
compopt() { :; }

# What readline would make of the line, the cursor at its end: words, and ':' and '=' words of their own.
split() {
	local line=$1 rest
	COMP_WORDS=()
	while [[ $line =~ ^\ *([^ :=]+|[:=]+)(.*)$ ]]; do
		COMP_WORDS+=("${BASH_REMATCH[1]}")
		rest=${BASH_REMATCH[2]}
		line=$rest
	done
	[[ $1 != *[\ =:] ]] || COMP_WORDS+=("")
	COMP_LINE=$1 COMP_POINT=${#1} COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
}

# What the shell was told to use is what is run.
complete_line() {
	local how
	split "$1"
	how=$(complete -p stackmap)
	[ "$how" = 'complete -F _stackmap stackmap' ] || echo "registered: $how" >&2
	COMPREPLY=()
	_stackmap stackmap '' ''
	[ ${#COMPREPLY[@]} -eq 0 ] || printf '%s\n' "${COMPREPLY[@]}"
}

failed=0

# expect LINE WORD...: exactly these candidates, in any order
expect() {
	local line=$1
	shift
	diff -u --label "candidates of '$line'" --label expected \
		<(complete_line "$line" | LC_ALL=C sort -u) <([ $# -eq 0 ] || printf '%s\n' "$@" | LC_ALL=C sort -u) || failed=1
}

# expect_among LINE WORD: this one and others
expect_among() {
	complete_line "$1" | grep -xF -- "$2" >/dev/null || { # with -q it would end before its writer
		echo "'$1' does not offer $2"
		failed=1
	}
}

commands=$(stackmap help | sed -n 's/^  \([a-z]*\) .*/\1/p')
long_options() {
	stackmap help "$1" | sed -n 's/^  \(-., \)\{0,1\} *\(--[a-z-]*\).*/\2/p'
}

# shellcheck disable=SC2086 # words, not one
expect 'stackmap ' $commands help
# shellcheck disable=SC2086
expect 'stackmap help ' $commands
expect 'stackmap --v' --version
expect 'stackmap --version --v' --verbose
expect 'stackmap --version --verbose '
expect 'stackmap nonsense '
for command in $commands; do
	# shellcheck disable=SC2046
	expect "stackmap $command --" $(long_options "$command")
	expect "stackmap $command --hel" --help
	expect_among "stackmap ${command%?}" "$command"
done

expect 'stackmap record --user-unwind ' auto fp none
expect 'stackmap record --user-unwind=f' fp
expect 'stackmap export -f fol' folded
expect_among 'stackmap export --format=' json
expect 'stackmap record -e sched:sched_swi' sched_switch
expect 'stackmap record -e page-faults,sched:sched_swi' sched_switch
expect 'stackmap record --event=cpu-cl' cpu-clock
expect_among "stackmap record -p $$" $$
expect 'stackmap record -o other' other.data
expect 'stackmap record --output=other' other.data
expect 'stackmap report ' folder 'one file' other.data
expect 'stackmap report other.data '
expect 'stackmap report --sort com' comm
expect 'stackmap report --sort comm,sy' comm,symbol
expect 'stackmap report --sort cg' cgroup
expect 'stackmap report --fields children_c' children_count
expect 'stackmap diff other.data oth' other.data
expect 'stackmap diff --per secon' second
expect 'stackmap merge other.data other.data oth' other.data
expect 'stackmap top --sort ' self total trace
expect 'stackmap record --cgroup fol' folder
expect 'stackmap store in' init
expect 'stackmap store check '
expect 'stackmap script --cgroup fol' folder
expect 'stackmap record -F 99 -- bas' $(compgen -c bas | sort -u)
expect 'stackmap record -F 99 bash oth' other.data
expect 'stackmap record -F 99 bash --'
expect 'stackmap list sched:sched_swi' sched_switch
expect_among 'stackmap start --group ro' root

if [ -n "${STACKMAP_TEST_OWN_MOUNTS:-}" ] && mount -t bpf bpf /sys/fs/bpf && stackmap start slab -q -e cpu-clock; then
	for command in status pause resume reset stop 'report --instance' 'record --instance'; do
		expect "stackmap $command sl" slab
	done
	stackmap stop slab
else
	echo 'instances do not work here: their names were not completed'
fi
exit $failed
