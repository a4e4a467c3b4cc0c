#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# That compare.sh sees what would break a program: each line below changes a copy of the reference, which is then compared.
#
# usage: test-compare.sh LIBRARY REFERENCE.c COMPILER...
set -eu

library=$1 reference=$2 compare=$(dirname "$0")/compare.sh
shift 2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
copy=$work/$(basename "$reference")
failures=0

# sees WHAT SED_COMMAND
sees() {
	local status=0

	sed -E "$2" "$reference" >"$copy"
	! cmp -s "$reference" "$copy" || { echo "$1: nothing was changed"; exit 1; }
	"$compare" "$library" "$copy" "${compiler[@]}" >"$work/output" || status=$?
	[ "$status" -ne 77 ] || { cat "$work/output"; exit 77; }
	[ "$status" -eq 1 ] && grep -q "$3" "$work/output" && return
	echo "$1: it was not seen"
	failures=$((failures + 1))
}
compiler=("$@")

sees 'a member of another size' 's/int kernel_cut;/uint64_t kernel_cut;/' kernel_cut
sees 'a member of another type' '/^struct stackmap_count/,/^\}/s/uint64_t count;/double count;/' stackmap_count
sees 'two members in another order' '/^struct stackmap_task/,/^\}/{s/tid;/zzz;/;s/pid;/tid;/;s/zzz;/pid;/}' stackmap_task
sees 'a member at the end' 's/int no_user_stacks;/&\n\tuint64_t later;/' later
sees 'an array of another length' 's/drops\[4\]/drops[5]/' drops
sees 'a parameter of another type' 's/uint32_t tid, uint64_t time\)/uint64_t tid, uint64_t time)/' stackmap_recording_task_at
sees 'a result of another type' 's/int64_t, stackmap_map_get_id/int, stackmap_map_get_id/' stackmap_map_get_id
sees 'a function that is not there' 's/stackmap_map_reset/stackmap_map_gone/' stackmap_map_gone
sees 'a function of another version' '/stackmap_here/s/0\.1/0.0/' STACKMAP_0.0
echo "$failures changes were not seen"
[ "$failures" -eq 0 ]
