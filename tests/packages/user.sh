#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Who wants no build: installs the package on a minimal Debian, with what it depends on and no compiler, records, reports
# and draws, upgrades, and removes it again. Each step is a case, and goes on where the one before ended.
#
# usage: user.sh DIRECTORY     with the packages
set -u
exec 2>&1 # what a case took, too

. "$(dirname "$0")/cases.sh"
package=$(echo "$1"/stackmap_*.deb)
instances=/sys/fs/bpf/stackmap
instance=by_hand

# Every file of the system, but for what apt and dpkg note.
files_of_the_system() {
	find / -xdev \( -path /proc -o -path /sys -o -path /dev -o -path /tmp -o -path /var/cache -o -path /var/log \
		-o -path /var/lib/apt -o -path /var/lib/dpkg \) -prune -o -printf '%y %p\n' | sort
}

# As if systemd ran here: what it is asked for is noted.
pretend_systemd() {
	mkdir -p /run/systemd/system /etc/systemd/system/sysinit.target.wants
	printf '#!/bin/sh\necho "$*" >>/tmp/systemctl\n' >/usr/bin/systemctl
	chmod +x /usr/bin/systemctl
}

# The same package, as if of an earlier version.
earlier_package() {
	dpkg-deb --raw-extract "$package" /tmp/earlier >/dev/null &&
		sed -i 's/^Version: .*/Version: 0.0.1/' /tmp/earlier/DEBIAN/control &&
		dpkg-deb -z1 --build /tmp/earlier /tmp/stackmap_earlier.deb >/dev/null
}

it_is_installed_without_a_compiler() {
	earlier_package && install /tmp/stackmap_earlier.deb || return
	! command -v cc gcc clang-14 clang clang-19 || fault 'a compiler is here'
}

doctor_says_that_recording_works() {
	stackmap doctor
}

it_records() {
	stackmap record -o /tmp/f.data -- gzip -9c /usr/bin/perl 2>/tmp/ledger >/dev/null || { cat /tmp/ledger; return 1; }
	grep -E '^stackmap: ledger: [1-9][0-9]* events = [1-9][0-9]* recorded' /tmp/ledger || fault "$(cat /tmp/ledger)"
}

it_reports() {
	stackmap report --sort comm /tmp/f.data >/tmp/report && cat /tmp/report || return
	awk '$NF == "gzip" && $1 + 0 > 90 { found = 1 } END { exit !found }' /tmp/report || fault 'gzip is not what was recorded'
}

# gzip has no frame pointers, and no names: the C library's is behind all of it.
user_stacks_are_whole() {
	local samples whole
	stackmap export --format folded -o /tmp/folded /tmp/f.data || return
	samples=$(awk '{ sum += $NF } END { print sum + 0 }' /tmp/folded)
	whole=$(awk '/__libc_start_main|__libc_start_call_main/ { sum += $NF } END { print sum + 0 }' /tmp/folded)
	echo "NOTE: $whole of $samples samples reach the start of the program"
	[ "$samples" -gt 0 ] && [ "$whole" -gt $((samples / 2)) ] || fault "$(tail -n 5 /tmp/folded)"
}

it_draws() {
	stackmap flamegraph -o /tmp/f.html /tmp/f.data && grep -q '</html>' /tmp/f.html && grep -qw gzip /tmp/f.html
}

commands_have_pages_and_completion() {
	local command
	stackmap help | sed -n 's/^  \([a-z]*\) *[a-z].*/\1/p' >/tmp/commands
	[ "$(wc -l </tmp/commands)" -gt 10 ] || fault "$(cat /tmp/commands)" || return
	while read -r command; do
		[ "$command" = help ] || [ -s "/usr/share/man/man1/stackmap-$command.1.gz" ] || fault "no page of $command" || return
	done </tmp/commands
	bash -n /usr/share/bash-completion/completions/stackmap && [ -s /usr/lib/systemd/system/stackmap@.service ]
}

# stat_of FIELD
stat_of() {
	sed -n "s/^$1: \([0-9]*\).*/\1/p" "$instances/$instance/stack_map_stat"
}

instance_records() {
	local before
	before=$(stat_of produced) # what is recorded grows no more once the flight buffer is full
	ls / >/dev/null
	[ "$(stat_of produced)" -gt "$before" ] || fault "produced: $before before and after"
}

an_instance_is_started() {
	stackmap start "$instance" -e syscalls:sys_enter_openat --flight 1M && instance_records
}

an_upgrade_tells_of_it_and_leaves_it_alone() {
	install "$package" >/tmp/upgrade || { cat /tmp/upgrade; return 1; }
	[ "$(dpkg-query -W -f '${Version}' stackmap)" != 0.0.1 ] || fault 'not upgraded' || return
	grep -q "^stackmap: instance $instance goes on .*stackmap stop $instance" /tmp/upgrade || fault "it tells: $(cat /tmp/upgrade)" || return
	instance_records
}

removal_stops_it() {
	apt-get -qq -o Dpkg::Use-Pty=0 remove -y stackmap >/tmp/removal || { cat /tmp/removal; return 1; }
	grep -q "^stackmap: stopping instance $instance" /tmp/removal || fault "it tells: $(cat /tmp/removal)" || return
	[ ! -e "$instances" ] || fault "left: $(ls -A "$instances")" || return
	grep -qx 'stop stackmap-agent[.]service stackmap@\*[.]service' /tmp/systemctl || fault "systemd is told of units: $(cat /tmp/systemctl)"
}

# A unit is enabled. What was installed for the package goes with it.
purging_leaves_nothing() {
	ln -s /usr/lib/systemd/system/stackmap@.service /etc/systemd/system/sysinit.target.wants/stackmap@slab.service
	apt-get -qq -o Dpkg::Use-Pty=0 purge -y --autoremove stackmap || return
	! dpkg-query -W stackmap 2>/dev/null || fault 'dpkg still knows it' || return
	diff /tmp/files_before <(files_of_the_system) || fault 'this is left (>), or was removed (<)'
}

mount -t bpf bpf /sys/fs/bpf && mount -t tracefs tracefs /sys/kernel/tracing || exit
apt-get -qq update
pretend_systemd
files_of_the_system >/tmp/files_before
for step in it_is_installed_without_a_compiler doctor_says_that_recording_works it_records it_reports user_stacks_are_whole it_draws \
	commands_have_pages_and_completion an_instance_is_started an_upgrade_tells_of_it_and_leaves_it_alone removal_stops_it \
	purging_leaves_nothing; do
	try $step
done
[ "$faults" -eq 0 ]
