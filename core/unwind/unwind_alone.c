/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The whole unwinder in one source, for an embedder whose reads never have to wait, and which has
 * neither numbers for mappings nor a cache of rules. The embedder supplies unwind_read() and
 * unwind_find_mapping().
 */
#include "unwind/unwind.h"

bool unwind_peek(struct unwind *unwind, u64 address, void *buffer, u32 bytes)
{
	return unwind_read(unwind, address, buffer, bytes);
}

bool unwind_wait_for_missing_page(struct unwind *unwind)
{
	(void)unwind;
	return false;
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

#include "arch/code_rule.c"
#include "arch/return_search.c"
#include "deep_stack.c"
#include "stack_switch.c"
#include "unwind/cfi.c"
#include "unwind/cfi_rule.c"
#include "unwind/dwarf_expr.c"
#include "unwind/eh_frame.c"
#include "unwind/sframe.c"
#include "unwind/unwind.c"
#include "unwind/unwind_bytes.c"
#include "unwind/unwind_step.c"
