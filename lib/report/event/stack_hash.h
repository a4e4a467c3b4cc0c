/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A name for the whole stack of an event, leaf and both sides, that is the same on every machine,
 * at every boot and in every recording: the first 128 bits of a SHA-256 over what its frames are,
 * not where they lay. Others choose file names and what generated code is called, so it has to be
 * hard to find two stacks with one hash.
 *
 * A frame is, whichever holds first:
 *
 *   build id, offset      code of a file, by the file's offset; of the kernel and its modules, by
 *                         the distance from where they were loaded, so that KASLR drops out
 *   name, offset          generated code, BPF programs too: offset in the function of that name
 *   host, object, offset  all other code: what it is another machine cannot know
 *
 * A leaf is the start of its function, where a symbol has it: samples of one loop are one stack.
 * How a side ends, or why it is missing, belongs to the stack.
 */
#ifndef LIB_REPORT_STACK_HASH_H
#define LIB_REPORT_STACK_HASH_H

#include "trace/read/reader.h"

struct stack_hash {
	u8 byte[16];
};

struct stack_hashes;

/* The reader must outlive the hashes. -ENOMEM. */
int stack_hashes_create(struct trace_reader *reader, struct stack_hashes **out);
void stack_hashes_free(struct stack_hashes **hashes);

struct stack_hash stack_hashes_of(struct stack_hashes *hashes, const struct trace_event *event);

#endif
