/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * libFuzzer target of the unwinder: any memory gives frames and a stop reason of the list, within
 * the budget of reads, and every rule that a table makes is one that the executor knows. Memory
 * whose parts become available one by one gives the same result.
 */
#include "fuzz_unwind.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "unwind/unwind.h"

#define BUDGET 3000
#define PART 512 /* bytes that become available together */
#define PARTS 64

int LLVMFuzzerTestOneInput(const u8 *data, size_t bytes);

struct memory {
	const u8 *data;
	size_t bytes;
	u64 reads;
	u64 absent;  /* bit mask of the parts that are not available yet */
	u64 missing; /* bit mask of those that a read has touched */
	u32 budget;  /* budget at the start */
};

#define demand(condition)                                                                          \
	do {                                                                                       \
		if (!(condition))                                                                  \
			abort();                                                                   \
	} while (0)

bool unwind_read(struct unwind *unwind, u64 address, void *buffer, u32 bytes)
{
	struct memory *memory = unwind->memory;
	u64 offset = address - FUZZ_BASE;

	demand(++memory->reads <= BUDGET && bytes > 0);
	if (offset >= memory->bytes || memory->bytes - offset < bytes)
		return false;
	for (u64 part = offset / PART; part <= (offset + bytes - 1) / PART && part < PARTS; part++)
		memory->missing |= memory->absent & 1ULL << part;
	if (memory->missing) {
		memory->budget = unwind->budget;
		unwind->budget = 0;
		return false;
	}
	memcpy(buffer, memory->data + offset, bytes);
	return true;
}

bool unwind_peek(struct unwind *unwind, u64 address, void *buffer, u32 bytes)
{
	const struct memory *memory = unwind->memory;
	u64 offset = address - FUZZ_BASE;

	demand(bytes > 0);
	if (offset >= memory->bytes || memory->bytes - offset < bytes)
		return false;
	memcpy(buffer, memory->data + offset, bytes);
	return true;
}

bool unwind_wait_for_missing_page(struct unwind *unwind)
{
	struct memory *memory = unwind->memory;

	if (!memory->missing)
		return false;
	memory->absent &= ~memory->missing;
	memory->missing = 0;
	unwind->budget = memory->budget;
	return true;
}

bool unwind_find_mapping(struct unwind *unwind, u64 pc)
{
	const struct memory *memory = unwind->memory;

	if (pc - FUZZ_BASE >= memory->bytes)
		return false;
	unwind->mapping = (struct unwind_mapping){
		.start = FUZZ_BASE, .end = FUZZ_BASE + memory->bytes, .image = FUZZ_BASE};
	return true;
}

u64 unwind_frame(struct unwind *unwind, u64 pc)
{
	(void)unwind;
	return pc;
}

bool unwind_find_cached_rule(struct unwind *unwind)
{
	(void)unwind;
	return false;
}

void unwind_cache_rule(struct unwind *unwind)
{
	(void)unwind;
}

static void check_rule(const struct unwind_rule *rule)
{
	demand(rule->cfa_kind < CFA_KIND_COUNT && rule->cfa_register < REGISTER_SLOTS);
	demand(rule->base == RULE_BASE_CFA || rule->base < REGISTER_COUNT);
	if (!(rule->flags & RULE_OUTERMOST) && rule->cfa_kind != CFA_SIGNAL)
		demand(rule->slot[SLOT_RETURN] && rule->slot[SLOT_RETURN] != SLOT_LOST);
}

/* Takes a rule from the table and executes one step with it. */
static void check_table(struct unwind *unwind, u32 stop)
{
	demand(stop < STOP_COUNT);
	if (stop)
		return;
	check_rule(&unwind->rule);
	demand(unwind_step(unwind) < STOP_COUNT);
}

static void run_walk(struct unwind *unwind)
{
	unwind_drop_mapping_and_tables(unwind);
	demand(unwind_stack(unwind, STACK_USER_DEPTH_MAX) <= STACK_USER_DEPTH_MAX);
	demand(unwind->stop > STOP_NONE && unwind->stop < STOP_COUNT);
}

static void run_walks(struct unwind *unwind)
{
	static struct unwind waiting;
	struct memory memory = *(struct memory *)unwind->memory;

	memory.absent = ~0ULL;
	waiting = *unwind;
	waiting.memory = &memory;
	run_walk(unwind);
	run_walk(&waiting);
	if (unwind->stop == STOP_BUDGET || waiting.stop == STOP_BUDGET)
		return;
	demand(waiting.stop == unwind->stop);
	demand(waiting.depth == unwind->depth);
	demand(!memcmp(waiting.frame, unwind->frame, waiting.depth * sizeof(waiting.frame[0])));
}

static void run_part(struct unwind *unwind, u32 part, u64 bytes)
{
	struct image_range all = {FUZZ_BASE, FUZZ_BASE + bytes};

	unwind->is_interrupted = true;
	unwind->lookup_pc = unwind->registers.value[REGISTER_RIP];
	unwind->image.header = FUZZ_BASE;
	switch (part) {
	case FUZZ_EH_FRAME_HDR:
		unwind->image.eh_frame_hdr = all;
		check_table(unwind, eh_frame_make_rule(unwind, &unwind->rule));
		break;
	case FUZZ_EH_FRAME:
		unwind->image.segment_count = 1;
		unwind->image.segment[0] = all;
		check_table(unwind, eh_frame_make_rule(unwind, &unwind->rule));
		break;
	case FUZZ_SFRAME:
		unwind->image.sframe = all;
		check_table(unwind, sframe_make_rule(unwind, &unwind->rule));
		break;
	case FUZZ_EXPRESSION:
		demand(expr_evaluate(unwind, FUZZ_BASE, (u16)bytes) < STOP_COUNT);
		break;
	default:
		run_walks(unwind);
	}
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t bytes)
{
	static struct unwind unwind;
	struct fuzz_input input;
	struct memory memory;

	if (bytes <= sizeof(input))
		return 0;
	memcpy(&input, data, sizeof(input));
	memory = (struct memory){data + sizeof(input), bytes - sizeof(input), 0, 0, 0, 0};
	memset(&unwind, 0, sizeof(unwind));
	unwind.memory = &memory;
	unwind.budget = BUDGET;
	unwind.is_compat = input.is_compat & 1;
	unwind.registers.known = (1U << REGISTER_COUNT) - 1;
	unwind.registers.value[REGISTER_RIP] = FUZZ_BASE + input.pc;
	unwind.registers.value[REGISTER_RSP] = FUZZ_BASE + input.rsp;
	unwind.registers.value[REGISTER_RBP] = FUZZ_BASE + input.rbp;
	run_part(&unwind, input.part % FUZZ_PARTS, memory.bytes);
	return 0;
}
