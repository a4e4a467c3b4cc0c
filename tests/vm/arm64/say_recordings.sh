# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Says in the folder said/ what each command makes of arm64.data and x86-64.data, alone and together: a file for each, and its
# exit status. Their programs are in folders of these names. Sourced by both-architectures, and by the guest that it starts.
export LC_ALL=C TZ=UTC DEBUGINFOD_URLS=

# say NAME COMMAND...
say() {
	local name=$1
	shift
	stackmap "$@" >"said/$name" 2>"said/$name.errors" </dev/null
	echo $? >"said/$name.status"
}

say_recordings() {
	local recording of format
	mkdir said
	for recording in arm64 x86-64; do
		of="--sysroot $recording $recording.data"
		# shellcheck disable=SC2086 # options are meant to be split
		{
			say $recording.report report --top 0 $of
			say $recording.plain report --top 0 --no-inline $of
			say $recording.tree report --tree $of
			say $recording.json report --json $of
			say $recording.csv report --csv --sort comm,dso,symbol $of
			say $recording.threads report --thread-time $of
			say $recording.hist report --hist log2 $of
			say $recording.script script $of
			say $recording.hashes script --hashes $of
			say $recording.lines script --lines $of
			say $recording.html flamegraph --output - $of
			for format in folded json pprof otlp speedscope perf-script chrome perfetto stack_map_bin mappings; do
				say $recording.$format export --format $format $of
			done
		}
	done
	say diff diff --no-inline --top 0 arm64.data x86-64.data
	say diff.stacks diff --no-inline --stacks --json x86-64.data arm64.data
	say diff.csv diff --no-inline --csv --sort dso,symbol arm64.data x86-64.data
	say diff.html flamegraph --no-inline --output - x86-64.data arm64.data
	say merge merge -o merged.data arm64.data x86-64.data
	say merge.report report --no-inline --top 0 merged.data
	say merge.json export --format json --no-inline merged.data
}
