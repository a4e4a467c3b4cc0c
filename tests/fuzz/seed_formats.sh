#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# seed_formats.sh DIR: writes a stack_map_bin file of either version and byte order, and a mappings file.
set -eu
cd "$1"

# Magic, version, count, 0; then id 42, depth 1, ref count 3, truncated; one frame.
little='\001\0\0\0\0\0\0\0\052\0\0\0\001\0\0\0\003\0\0\0\001\0\0\0\020\0\0\201\377\377\377\377'
big='\0\0\0\001\0\0\0\0\0\0\0\052\0\0\0\001\0\0\0\003\0\0\0\001\377\377\377\377\201\0\0\020'
printf '\102\123\115\106\002\0\0\0'"$little" >little_2
printf '\102\115\123\106\001\0\0\0'"$little" >little_1
printf '\106\115\123\102\0\0\0\002'"$big" >big_2
printf '\106\123\115\102\0\0\0\001'"$big" >big_1
printf 'kernel vmlinux 0xffffffff81000000-0xffffffff82000000 aabb\n1 12 /bin/sh\n2 - [anon]\n' >mappings
