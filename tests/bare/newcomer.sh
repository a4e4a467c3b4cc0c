#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# What somebody does who has just cloned the tree, on a machine that nobody has prepared, in the order of the README.
# Runs in the minimal system that run-bare has made; what it leaves goes with that. Each step is a case.
#
# usage: newcomer.sh root|user BUILT_WITH [tests]     who installs the packages, and builds; what built-with says outside; tests: the other
#                                                     of the two comes, too, and the tests of parts run
set -u
exec 2>&1 # what a case took, too

first=$1 built_with_outside=$2 tests=${3:+tests_of_what_was_compiled}
tree=/home/newcomer/stackmap
build=$tree/build
instance=bare_$$
. "$(dirname "$0")/cases.sh"

# Packages that a machine with sudo has; a user who may do all.
add_user_with_sudo() {
	apt-get -qq update
	DEBIAN_FRONTEND=noninteractive apt-get -qq install --no-install-recommends sudo &&
		useradd --home-dir /home/newcomer --shell /bin/bash newcomer &&
		echo 'newcomer ALL=(ALL) NOPASSWD: ALL' >/etc/sudoers.d/newcomer
}

as_user() {
	runuser -u newcomer -- env -i HOME=/home/newcomer USER=newcomer LANG=C.UTF-8 PATH=/usr/local/bin:/usr/bin:/bin "$@"
}

# Both recordings of the demo: events, all of them accounted for, and the stacks of a compiler, with names.
check_demo() {
	[ "$(grep -cE '^stackmap: ledger: [1-9][0-9]* events = [1-9][0-9]* recorded' "$1")" -eq 2 ] ||
		fault 'not two ledgers with recorded events' || return
	"$build/cli/stackmap" report --sort comm "$build/demo/cpu.data" | grep -qw clang || fault 'no sample of the compiler' || return
	sed '1,/the compiler alone/d' "$1" | grep -q '\[u\] clang::ParseAST(' || fault 'the compiler has no names'
}

# Compilers change from release to release, and with them what they warn of.
no_warnings() {
	! grep -m 1 'warning:' "$1" || fault 'the compiler warns'
}

demo() {
	"$@" ./setup demo 2>&1 | tee /tmp/demo.out
	[ "${PIPESTATUS[0]}" -eq 0 ] || fault "the demo fails" || return
	check_demo /tmp/demo.out && no_warnings /tmp/demo.out
}

demo_as_root() {
	chown -R root: "$tree"
	demo env
}

demo_as_a_user_with_sudo() {
	chown -R newcomer: /home/newcomer
	demo as_user
}

doctor() {
	"$build/cli/stackmap" doctor
}

# stat_of FIELD
stat_of() {
	sed -n "s/^$1: \([0-9]*\).*/\1/p" "/sys/fs/bpf/stackmap/$instance/stack_map_stat"
}

# Opens some files under a name of its own.
work() {
	cp /bin/ls "/tmp/$instance"
	"/tmp/$instance" / >/dev/null
}

# records more | nothing: whether work is recorded
records() {
	local before
	before=$(stat_of recorded)
	work
	case $1 in
	more) [ "$(stat_of recorded)" -gt "$before" ] ;;
	nothing) [ "$(stat_of recorded)" -eq "$before" ] ;;
	esac || fault "recorded: $before before, $(stat_of recorded) after"
}

instance_starts() {
	stackmap start "$instance" -e syscalls:sys_enter_openat --comm "$instance" && records more &&
		grep -q '^stack_id ' "/sys/fs/bpf/stackmap/$instance/stack_map"
}

instance_pauses() {
	stackmap pause "$instance" && records nothing && stackmap status "$instance" | grep -qw paused
}

instance_is_reset() {
	stackmap reset "$instance" && [ "$(stat_of generation)" -eq 2 ] && [ "$(stat_of entries)" -eq 0 ]
}

instance_resumes() {
	stackmap resume "$instance" && records more && [ "$(stat_of entries)" -gt 0 ]
}

instance_stops() {
	stackmap stop "$instance" && [ ! -e /sys/fs/bpf/stackmap ]
}

top_in_batch_mode() {
	stackmap top --batch -n 1 >/tmp/top.txt && cat /tmp/top.txt &&
		grep -qE '^ledger: [1-9][0-9]* events' /tmp/top.txt
}

flamegraph() {
	stackmap flamegraph -o /tmp/flamegraph.html "$build/demo/cpu.data" &&
		grep -q '</html>' /tmp/flamegraph.html && grep -qw clang /tmp/flamegraph.html
}

# The commands under "One recording" of the README, as they stand there.
first_recording() {
	cd /tmp || return
	sed -n '/^## One recording/,/^## /s/^stackmap/&/p' "$tree/README.md" >first.sh
	sh -e first.sh | tee first.out
	# Since Linux 6.18 the program's own code has a name in place of the loop's.
	grep -qE '\[u\] (Perl_runops_standard|<main> \(-e:1\))' first.out || fault 'the first recording has no names' || return
	grep -q '</html>' flamegraph.html
}

# What a compiler can break: all tests of parts, and the unwinder against programs that know their own stack. The same compilers
# on the same release have made what the rest of the test run tests.
tests_of_what_was_compiled() {
	local names status built_with
	built_with=$("$tree/tests/bare/built-with" "$build/cli/stackmap") || fault 'the command does not say what built it' || return
	if [ "$built_with" = "$built_with_outside" ]; then
		echo 'NOTE: the same release, compilers and libbpf as outside: tests of parts are run there'
		return
	fi
	cd "$tree" || return
	mapfile -t names < <(meson test -C build --no-rebuild --list 2>/dev/null |
		sed -n 's,^stackmap:unit / ,,p; s,^.* / \(unwind golden .*\),\1,p')
	[ "${#names[@]}" -gt 50 ] || fault 'the tests of parts are not found' || return
	meson test -C build --num-processes "$(nproc)" "${names[@]}" >/tmp/tests.out 2>&1
	scripts/test-results build/meson-logs/testlog.json >/tmp/results
	status=$?
	cat /tmp/tests.out /tmp/results
	sed -n '/^skipped: /s/^/NOTE: /p; $s/^/NOTE: /p' /tmp/results
	no_warnings /tmp/tests.out && return $status
}

cd "$tree" || exit
export PATH=$build/cli:$PATH
# One of the two installs and builds; with the tests, the other one comes after it, to what is built.
if [ "$first" = root ]; then
	try demo_as_root
	[ -z "$tests" ] || try add_user_with_sudo
	[ -z "$tests" ] || try demo_as_a_user_with_sudo
else
	try add_user_with_sudo
	try demo_as_a_user_with_sudo
	[ -z "$tests" ] || try demo_as_root
fi
sed -n 's/^\(C compiler for the host\|Program clang\|Dependency libbpf found\).*/&/p' build/meson-logs/meson-log.txt | sort -u
for step in doctor instance_starts instance_pauses instance_is_reset instance_resumes instance_stops top_in_batch_mode \
	flamegraph first_recording $tests; do
	try $step
done
[ "$faults" -eq 0 ]
