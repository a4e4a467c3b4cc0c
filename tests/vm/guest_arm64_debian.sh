#!/bin/busybox sh
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Samples Debian's own programs of arm64, which with-debian-arm64 has unpacked: Debian 13 signs its return addresses, and the emulated
# CPU does. At least 99 of 100 user stacks are whole, not counting three at the start, and no event is lost. The few that are cut belong to the start of a program, whose
# memory execve() replaces while it is sampled, and to functions by hand without tables (OPENSSL_cleanse).
set -u

faults=0

fault() {
	echo "FAULT: $*"
	faults=$((faults + 1))
}

for root in /bookworm /trixie; do
	[ ! -d "$root" ] || debian=$root
done
mkdir -p "$debian/proc" "$debian/dev" "$debian/tmp"
mount -t proc proc "$debian/proc"
mount -t devtmpfs devtmpfs "$debian/dev"
cat "$debian/etc/debian_version"
grep -m 1 -o 'paca' /proc/cpuinfo

# sampled NAME COMMAND...: what Debian's program NAME runs, without the chroot before it
sampled() {
	local name=$1 events cut
	shift
	stackmap record -F 199 --comm "$name" -o "$name.data" -- chroot "$debian" "$@" >"$name.log" 2>&1 || fault "$name: $(tail -n 3 "$name.log")"
	grep -q 'recorded + 0 lost' "$name.log" || fault "$name: $(cat "$name.log")"
	events=$(sed -n 's/.*= \([0-9]*\) recorded.*/\1/p' "$name.log")
	cut=$(sed -n 's/.*\(without user stack\|user stack ends early\|user stack of unknown end\): \([0-9]*\),.*/\2/p' "$name.log" |
		awk '{ sum += $1 } END { print sum + 0 }')
	echo "$name: $cut of $events stacks are cut"
	grep 'user stack' "$name.log"
	[ "${events:-0}" -ge 150 ] || fault "$name: only ${events:-0} samples"
	[ $((cut * 100)) -le $((${events:-0} + 300)) ] || {
		fault "$name: $cut of $events stacks are cut"
		stackmap report --top 3 "$name.data"
	}
}

sampled python3 /usr/bin/python3 -c '
import re
text = "".join(chr(97 + i * i % 26) for i in range(3000))
for i in range(120):
    sorted(re.findall("[a-m]+", text), key=lambda word: word[::-1])
    {i: str(i) for i in range(4000)}'
sampled sqlite3 /usr/bin/sqlite3 :memory: '
create table t(a, b);
with recursive c(x) as (select 1 union all select x + 1 from c where x < 300000) insert into t select x, (x * 7919) % 10007 from c;
create index i on t(b);
select count(*), sum(a.a) from t a join t b on a.a = b.b group by a.b % 10 order by 2;'
sampled openssl /usr/bin/openssl speed -seconds 2 rsa2048 sha256
sampled perl /usr/bin/perl -e 'my %h; for my $i (1..300000) { my $x = sprintf("%d-%s", $i, $i * 7 % 13); $h{$i % 1000} = $x; $x =~ s/(\d)-/$1+1/e; }'
# A C++ program whose exceptions the C++ runtime unwinds by the same tables.
cp /bin/exceptions "$debian/tmp"
sampled exceptions /tmp/exceptions

# Frames of Python's functions, whose callers are known by the script. A loop that is not joined is the caller that is not known.
cp /bin/script_calls.py "$debian/tmp"
stackmap record -F 199 --comm python3 -o calls.data -- chroot "$debian" /usr/bin/python3 /tmp/script_calls.py 8 >calls.log 2>&1 ||
	fault "script_calls: $(tail -n 3 calls.log)"
stackmap script --no-inline calls.data | awk -v RS= -F '\n' '
	BEGIN {
		callers["burn"] = "inner"
		callers["inner"] = "work"
		callers["work"] = "run generate recurse recurse_through_c catch Item.__init__ Item.__del__ Item.__lt__ compare exec"
		callers["recurse"] = "run recurse"
		callers["recurse_through_c"] = "run recurse_through_c.<locals>.<lambda>"
		callers["recurse_through_c.<locals>.<lambda>"] = "recurse_through_c"
		callers["generate"] = callers["catch"] = callers["Item.__init__"] = callers["Item.__del__"] = "run"
		callers["Item.__lt__"] = callers["compare"] = callers["exec"] = "run"
		callers["run"] = "<module> Thread.run"
		callers["Thread.run"] = "Thread._bootstrap_inner"
		callers["Thread._bootstrap_inner"] = "Thread._bootstrap"
	}
	{
		callee = ""
		is_joined = 1
		has_run = 0
		for (i = 2; i <= NF; i++) {
			if ($i ~ /_PyEval_EvalFrameDefault/) {
				callee = ""
				is_joined = 0
			}
			if ($i !~ /\(\[python\]\)$/)
				continue
			split($i, word, " ")
			caller = word[2]
			if (word[3] !~ /^\((script_calls|threading)\.py:/)
				caller = callee == "work" && caller == "<module>" ? "exec" : ""
			pairs += callee in callers && caller != ""
			if (callee in callers && caller != "" && index(" " callers[callee] " ", " " caller " ") == 0) {
				print "the caller of " callee " is " caller
				wrong++
			}
			callee = caller
			has_run += callee == "run"
		}
		if (!has_run)
			next
		stacks++
		joined[stacks] = is_joined && (callee == "<module>" || callee == "Thread._bootstrap")
	}
	END {
		for (i = int(stacks / 2) + 1; i <= stacks; i++)
			whole += joined[i]
		later = stacks - int(stacks / 2)
		print "script_calls: " pairs + 0 " pairs, " wrong + 0 " wrong; " whole + 0 " of the later " later " stacks have all functions"
		exit wrong || stacks < 200 || whole * 100 < later * 97
	}' || fault "script_calls: $(cat calls.log)"
umount "$debian/proc" "$debian/dev"
[ "$faults" -eq 0 ]
