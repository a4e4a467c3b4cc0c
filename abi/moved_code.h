/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Code of a file that its process has moved to anonymous memory at the same addresses, for large
 * pages: Node.js (--use-largepages), PHP (opcache.huge_code_pages), HHVM. Such a mapping has no
 * file, but may count as a part of one:
 *
 *   MOVED_WANTED  a program has met the mapping beside a mapping of the file
 *   MOVED_ASKED   user space compares all bytes of the mapping with those of the file
 *   MOVED_FILE    the bytes are equal: the mapping counts as that part of the file
 *   MOVED_OTHER   the bytes differ: the mapping is generated code
 *
 * The key names the current state of the mapping: the kernel gives a mapping another stamp with
 * every change (mprotect(), mremap(), munmap(), a fork of the process). A process must change a
 * mapping that is not writable before a write, so equal bytes stay equal under one key. A mapping
 * that is writable (Node.js leaves it so) may change at any time. User space compares such a
 * mapping again after a second, and then after as long as the bytes have been equal, at most 64
 * seconds.
 */
#ifndef STACKMAP_ABI_MOVED_CODE_H
#define STACKMAP_ABI_MOVED_CODE_H

#include "scalar.h"

#define MOVED_CODE_MAX 1024

enum moved_state { MOVED_WANTED = 1, MOVED_ASKED, MOVED_OTHER, MOVED_FILE };

struct moved_key {
	u64 mm; /* as in struct address_space */
	u64 process;
	u64 execs;
	u64 vma;   /* the kernel's vm_area_struct */
	u64 stamp; /* vm_lock_seq; 0 before Linux 6.4, where changes are not noticed */
};
ABI_SIZE(struct moved_key, 40);

struct moved_code {
	u64 vma;    /* `vma` of the key: elements of a deleted key are reused at once */
	u32 state;  /* enum moved_state */
	u32 number; /* mapping number of the file */
	u32 tgid;
	u32 is_writable; /* 1: the process can write to the mapping without changing it */
	u64 start;
	u64 end;
	u64 offset; /* MOVED_FILE: file offset of `start` */
	u64 image;  /* MOVED_FILE: address of the file's first segment */
	u64 time;   /* CLOCK_MONOTONIC ns: last write of `state` */
	u64 since;  /* MOVED_FILE: first time of that state */
};
ABI_SIZE(struct moved_code, 72);

#endif
