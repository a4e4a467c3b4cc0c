#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# seed_text.sh DIR: writes /proc/modules, a NUL and /proc/kallsyms; kernel notes; perf maps; an address and /proc/PID/maps.
set -eu
cd "$1"

modules='ext4 1007616 2 - Live 0xffffffffc0a00000\nmbcache 16384 1 ext4, Live 0xffffffffc09f0000 (OE)\n'
kernel='ffffffff81000000 T _stext\nffffffff81000010 t __pfx_f\nffffffff81000020 W f\nffffffff81000040 T __x64_sys_read\n'
printf "$modules"'\0'"$kernel"'ffffffffc0a00010 t ext4_read\t[ext4]\nffffffffc0b00000 t bpf_prog_1\t[bpf]\n' >kernel
printf '\004\0\0\0\024\0\0\0\003\0\0\0GNU\0aaaaaaaaaaaaaaaaaaaa' >notes
printf '7f0000001000 20 one\n0x7f0000001010 0x20 two words\n7F0000001000 100 LazyCompile:*f a.js:1\n' >perf_map
printf '1000 10 a\n1010 10 b\n1008 10 c\nffffffffffffffff 1 d\n' >perf_map_low
line='7f0000000000-7f0000002000 r-xp 00001000 fe:01 1234    /usr/lib/x.so\n'
printf '\0\020\0\0\0\177\0\0'"$line"'7ffc00000000-7ffc00021000 rw-p 00000000 00:00 0    [stack]\n' >maps
