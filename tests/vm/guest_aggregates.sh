#!/bin/busybox sh
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# An instance that aggregates: the programs load, those that other compilers make, too; the numbers in its file and in a
# recording are those of a program whose calls are known; a full table counts what it loses.
set -u

home=/sys/fs/bpf/stackmap
faults=0

fault() {
	echo "FAULT: $*"
	faults=$((faults + 1))
}

# sums: of all lines of the file, count, sum, least and greatest value
sums() {
	awk '
	{
		for (i = 1; i < NF; i++)
			number[$i] = $(i + 1)
		count += number["count"]
		sum += number["sum"]
		if (NR == 1 || number["min"] < least)
			least = number["min"]
		if (number["max"] > most)
			most = number["max"]
	}
	END { print count, sum, least + 0, most + 0 }' $home/sums/aggregates
}

# check: take() is called with 0, 3, 6... 2997
check() {
	stackmap start sums -q --aggregate --comm 'known_counts*' -e 'u:/bin/known_counts_static:take/value=arg3/' "$@" ||
		fault "start ended with $?"
	known_counts_static arguments=1000
	[ "$(sums)" = '1000 1498500 0 2997' ] || fault "the file has $(sums)"
	stackmap report --instance sums --csv --hist log2 --sort event >report ||
		fault "report ended with $?"
	grep -q '^100.0000,1000,1498500,1498.500,0,2997,' report || fault "the report has $(cat report)"
	stackmap stop sums || fault "stop ended with $?"
}

full() {
	stackmap start sums -q --aggregate --ring 8K -e 'u:/bin/known_counts_static:take/value=arg3/' || fault "start ended with $?"
	for _ in 1 2 3 4 5 6 7 8; do
		known_counts_static arguments=1000
	done
	lost=$(sed -n 's/^table_full: //p' $home/sums/stack_map_stat)
	counted=$(sed -n 's/^counted_only: //p' $home/sums/stack_map_stat)
	[ "$lost" -gt 0 ] && [ $((counted + lost)) -eq 8000 ] || fault "a full table: $counted counted, $lost lost"
	stackmap stop sums || fault "stop ended with $?"
}

check
full
for OBJECTS in /objects/*; do
	[ -d "$OBJECTS" ] || continue
	export OBJECTS
	check
done
[ "$faults" -eq 0 ]
