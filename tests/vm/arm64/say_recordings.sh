# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Says in the folder said/ what each command makes of arm64.data and x86-64.data, alone and together: a file for each, and its
# exit status. Their programs are in folders of these names. Sourced by both-architectures, and by the guest that it starts.
export LC_ALL=C TZ=UTC DEBUGINFOD_URLS=

# record_more NAME PROGRAM: what an instance without a process holds, as a recording and as its files, and the windows of an agent
record_more() {
	local home=/sys/fs/bpf/stackmap/both result=0 agent
	stackmap start both -e syscalls:sys_enter_kill --comm 'frame_kinds*' --flight 1M && "$2" 20 1000 && stackmap pause both &&
		cat $home/stack_map_bin >"$1.stacks" && cat $home/mappings >"$1.mappings" &&
		stackmap record -q -o "$1-instance.data" --instance both || result=1
	stackmap stop both || return
	stackmap agent --config /dev/null --host "$1" --to http://127.0.0.1:1 --spool "$1-spool" --exemplars "$1-windows" --window 1 \
		--batch 1 -e "u:$2:mark" 2>"$1-agent.log" &
	agent=$!
	while ! grep -q ': recording as ' "$1-agent.log" && kill -0 $agent; do sleep 0.1; done
	"$2" 20 1000 || result=1
	kill -TERM $agent
	wait $agent || result=1
	return $result
}

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
	for recording in arm64 x86-64; do
		say $recording-instance.report report --no-inline --top 0 $recording-instance.data
		say $recording-instance.script script --no-inline $recording-instance.data
		say $recording.dump dump --mappings $recording.mappings $recording.stacks
		say $recording-windows.report report --no-inline --top 0 $recording-windows
		say $recording-windows.folded export --no-inline --format folded $recording-windows
	done
	say windows.merge merge -o windows.data arm64-windows x86-64-windows
	say windows.json export --format json --no-inline windows.data
	say diff diff --no-inline --top 0 arm64.data x86-64.data
	say diff.stacks diff --no-inline --stacks --json x86-64.data arm64.data
	say diff.csv diff --no-inline --csv --sort dso,symbol arm64.data x86-64.data
	say diff.html flamegraph --no-inline --output - x86-64.data arm64.data
	say merge merge -o merged.data arm64.data x86-64.data
	say merge.report report --no-inline --top 0 merged.data
	say merge.json export --format json --no-inline merged.data
}
