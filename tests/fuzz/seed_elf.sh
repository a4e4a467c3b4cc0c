#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# seed_elf.sh DIR: writes small ELF files: a program with stubs of each kind, a library, an object, a program
# without symbols, one without unwind tables, one with a USDT probe, and one with an SFrame section where the assembler
# can make it.
set -eu
cd "$1"

compiler=$(command -v clang-14 || command -v clang)
cat >source.c <<'C'
int puts(const char *);
static int hidden(int a) { return a + puts("x"); }
__attribute__((weak)) int weak(int a) { return hidden(a); }
int visible(int a) { return weak(a) + hidden(a + 1); }
int _start(void) { return visible(1); }
C
flags='-Os -nostartfiles -Wl,--build-id -Wl,-z,max-page-size=4096 -Wl,-z,noseparate-code'
"$compiler" $flags source.c -o program
"$compiler" $flags -Wl,-z,ibtplt source.c -o program_ibt
"$compiler" $flags -Wl,-z,now -fno-plt source.c -o program_now
"$compiler" $flags -s source.c -o stripped
"$compiler" $flags -shared -fPIC source.c -o library
"$compiler" $flags -Os -c source.c -o object
"$compiler" $flags -fno-integrated-as -Wa,--gsframe source.c -o sframe 2>/dev/null || rm -f sframe
"$compiler" $flags source.c -o bare && objcopy -R .eh_frame -R .eh_frame_hdr bare
cat >probes.c <<'C'
__asm__(".pushsection .note.stapsdt, \"\", @note\n.balign 4\n.4byte 8, 2f - 1f, 3\n.asciz \"stapsdt\"\n"
	"1: .8byte _start, 0, counter\n.asciz \"provider\", \"name\", \"8@%rdi -4@-8(%rsp) 4@$7\"\n2: .balign 4\n.popsection");
short counter = 1;
int _start(void) { return counter; }
C
"$compiler" $flags probes.c -o probes
rm source.c probes.c
