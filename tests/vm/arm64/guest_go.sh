#!/bin/busybox sh
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Stacks of a stripped Go program on arm64: the functions have names, the stacks go on across the scheduler's stack, and the callers of
# the program's own functions are those of its source.
set -u

for program in /bin/go_stacks*; do
	name=${program##*/}
	stackmap record -F 499 -o "$name.data" -- "$program" collect >"$name.log" 2>&1 || { cat "$name.log"; exit 1; }
	grep -q 'recorded + 0 lost' "$name.log" || { cat "$name.log"; exit 1; }
	stackmap export --format folded --no-inline "$name.data" | awk -v program="$name" '
		function caller_is(name, callers) {
			pairs++
			if (caller !~ "^(" callers ")$") {
				wrong++
				print "    " caller " called " name ": " $0
			}
		}
		{
			count = $NF
			sub(/ [0-9]+$/, "")
			frames = 0
			depth = split($0, part, ";")
			for (i = 2; i <= depth; i++)
				if (part[i] !~ /_\[k\]$/)
					user[++frames] = part[i]
			if (!frames)
				next
			stacks += count
			if (user[1] ~ /^\[/) {
				cut += count
				next
			}
			nameless += user[1] ~ /^go_stacks/
			has_suspended_goroutine = /goschedImpl|preemptPark|gopreempt_m/
			caller = ""
			for (i = 1; i <= frames; i++) {
				name = user[i]
				if (name == "main.deep")
					caller_is(name, "main\\.deep|main\\.collect\\.func1|main\\.workInEach\\.func4")
				if (name == "main.build")
					caller_is(name, "main\\.build|main\\.collect|main\\.workInEach\\.func3")
				if (name == "main.(*node).sum")
					caller_is(name, "main\\.\\(\\*node\\)\\.sum|main\\.collect|main\\.workInEach\\.func3")
				if (name == "main.collect")
					caller_is(name, "main\\.main\\.func[12]")
				if (name == "main.describe")
					caller_is(name, "main\\.workInEach\\.func2")
				if (name == "runtime.systemstack")
					caller_is(name, ".+")
				if (name == "runtime.mcall" && i + 1 < frames) # it has a caller until it changes the stack
					caller_is(name, "")
				if (name == "runtime.morestack" && !has_suspended_goroutine) # which has no goroutine to lead to
					caller_is(name, ".+")
				seen[name] = 1
				caller = name
			}
		}
		END {
			print "    " program ": " stacks + 0 " stacks, " cut + 0 " not whole, " pairs + 0 " callers, " wrong + 0 " wrong"
			exit wrong || nameless || 50 * cut > stacks || pairs < 1000 || !seen["main.describe"] || !seen["runtime.systemstack"] || !seen["runtime.morestack"]
		}' || { cat "$name.log"; exit 1; }
done
