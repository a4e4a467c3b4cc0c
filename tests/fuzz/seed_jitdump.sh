#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# seed_jitdump.sh DIR: writes jitdumps of a little-endian machine, with records of every kind.
set -eu
cd "$1"

word='\0\0\0\0'
pid='\011\0\0\0'
header='DTiJ\001\0\0\0\050\0\0\0\076\0\0\0'$word$pid$word$word$word$word

# load LOW BYTE-OF-INDEX: a function f of 8 bytes at 0x7f000000LOW00
load() {
	at='\0'$1'\0\0\0\177\0\0'
	printf "$word"'\102\0\0\0'$word$word$pid$pid$at$at'\010'$word'\0\0\0'$2$word'\0\0\0f\0codecode'
}

# move LOW BYTE-OF-INDEX
move() {
	at='\0'$1'\0\0\0\177\0\0'
	printf '\001\0\0\0\100\0\0\0'$word$word$pid$pid$at$at$at'\010'$word'\0\0\0'$2$word'\0\0\0'
}

{
	printf "$header"
	load '\001' '\001'
	load '\002' '\002'
	move '\003' '\001'
} >moved
{
	printf "$header"
	printf '\002\0\0\0\043\0\0\0'$word$word$word$word'\001'$word'\0\0\0abc'
	load '\001' '\001'
	printf '\004\0\0\0\050\0\0\0'$word$word$word$word$word$word$word$word
	load '\001' '\002'
	printf '\003\0\0\0\020\0\0\0'$word$word
} >all
