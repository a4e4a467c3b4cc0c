#!/bin/busybox sh
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# What the kernel's command line began before there was a process, in the guest; see boot_options in check. It says
# what holds, as KUnit does.
#
# usage: boot.sh boot|refused|taken-back
cd /sys/kernel/tracing
number=0

is() { # is WHAT HAS SHOULD
	number=$((number + 1))
	[ "$2" = "$3" ] && echo "    ok $number $1" || echo "    not ok $number $1 # $2, not $3"
}

has() { # has PATTERN FILE: lines with it, as "some" or "none"
	grep -q "$1" "$2" && echo some || echo none
}

maps() { # in the kernel's memory
	grep -c 'generation_alloc\|map_renew\|trace_stackmap_' /proc/vmallocinfo
}

case $1 in
refused)
	is a_size_out_of_range_gives_no_map "$(cat options/userstackmap) $(maps)" '0 0'
	exit
	;;
taken-back)
	is an_option_is_taken_back_in_early_boot "$(cat options/userstackmap) $(maps)" '0 0'
	exit
	;;
esac

echo 0 >tracing_on
for option in stacktrace stackmap userstacktrace userstackmap; do
	is "boot_has_set_$option" "$(cat options/$option)" 1
done
is boot_has_set_the_size "$(sed -n 's,^entries: [0-9]* / ,,p' stack_map_stat)" 4096
is events_of_the_boot_have_kernel_stacks "$(has '<stack_id [0-9]*>$' trace)" some
is events_of_the_boot_have_user_stacks "$(has '<user_stack_id [0-9]*>$' trace)" some

cat stack_map_bin >/tmp/before
is addresses_are_shown "$(has ' 0x[1-9a-f]' stack_map_mappings)" some
echo 2 >/proc/sys/kernel/kptr_restrict
is addresses_are_hidden "$(has 'kernel vmlinux 0x0-0x0 ' stack_map_mappings)" some
is addresses_are_hidden_in_binary "$(cmp -s stack_map_bin /tmp/before && echo shown || echo hidden)" hidden
echo 0 >/proc/sys/kernel/kptr_restrict
is addresses_are_shown_again_in_binary "$(cmp -s stack_map_bin /tmp/before && echo shown || echo hidden)" shown

is a_map_takes_memory "$(maps)" 1
echo 0 >options/userstackmap
is the_other_option_keeps_it "$(maps)" 1
echo 0 >options/stackmap
is memory_is_given_back "$(maps)" 0

is there_is_a_ring_that_outlives_the_boot "$([ -d instances/outlives/options ] && echo some || echo none)" some
for option in stackmap userstackmap; do
	is "a_ring_that_outlives_the_boot_refuses_$option" "$( (echo 1 >instances/outlives/options/$option) 2>/dev/null && echo taken || echo refused)" refused
done
