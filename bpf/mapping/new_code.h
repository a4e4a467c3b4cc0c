/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Tells the recorder, which sleeps, of each mapping whose code this instance meets for the first
 * time: its file can be opened as long as the program lives, which may be some milliseconds. This
 * is the one thing for which programs wake a reader; the kernel wakes it after the interrupt. A
 * mapping that finds no room is met with its first event.
 */
#ifndef BPF_NEW_CODE_H
#define BPF_NEW_CODE_H

#include <bpf/bpf_helpers.h>

#include "env.h"
#include "mapping.h"

#ifdef INSTANCE_HAS_NO_RECORDER

static __always_inline void new_code_tell(u32 number)
{
	(void)number;
}

#else

/* Numbers of mappings as u32, for 256 of them. */
struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 4096);
} new_code SEC(".maps");

unsigned long long code_met[MAPPINGS_MAX / 64]; /* a bit for each number that was told */

/* A function of its own: the number must be on a BPF stack that has room. */
__noinline int new_code_tell(u32 number)
{
	unsigned long long bit = 1ULL << (number & 63), *word;
	u32 index = number / 64;

	core_one_register(index);
	word = &code_met[index & (MAPPINGS_MAX / 64 - 1)];
	if (atomic_load_relaxed(word) & bit)
		return 0;
	__sync_fetch_and_or(word, bit);
	return bpf_ringbuf_output(&new_code, &number, sizeof(number), BPF_RB_FORCE_WAKEUP);
}

#endif

#endif
