/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The cost of a user stack at an event when its rules are cached: rounds of the direct walk, and of
 * bpf_get_stack by frame pointers. Each program run takes the stack of the task that signals itself
 * WARM_ROUND times and stores the time of the round. The direct walk begins with the task's address
 * space and registers, as at an event, and ends with (mapping, offset) of each frame.
 */
#include <linux/bpf.h>
#include <stdbool.h>
#include <stddef.h>

#include "stack/direct_stack.h"
#include "state/scratch_slots.h"
#include "state/user_registers.h"
#include "unwind/unwind.h"
#include "unwind_warm.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

struct warm_control control SEC(".data.control"); /* the bench maps this section */

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct unwind);
} unwinds SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct stack);
} scratch SEC(".maps");

struct round {
	void *ctx;
	struct scratch *scratch;
	struct stack *stack; /* result of bpf_get_stack */
	struct unwind *unwind;
	u32 cpu;
};

CORE_INLINE bool unwind_read(struct unwind *unwind, u64 address, void *buffer, u32 bytes)
{
	return !bpf_probe_read_user(buffer, bytes, (const void *)address);
}

#include "../../tests/unwind/listed_mappings.bpf.h"

/* The scratch slot whose mappings give the frames' files. One round runs at a time, so one slot is
 * enough. */
static __always_inline struct scratch *own_scratch(void)
{
	u32 cpu = bpf_get_smp_processor_id();
	struct cpu_scratch *own = bpf_map_lookup_elem(&scratch_slots, &cpu);

	return own ? &own->scratch[0] : NULL;
}

CORE_INLINE void unwind_cache_rule(struct unwind *unwind)
{
	struct rule_cache *cache = current_rule_cache();
	struct scratch *scratch = own_scratch();
	struct rule_key key;

	if (!cache || !scratch)
		return;
	key = unwind_rule_key(unwind, user_frame(scratch, unwind->registers.value[REGISTER_PC]));
	rule_cache_put(cache, &key, &unwind->rule);
}

#include "arch/code_rule.c"
#include "arch/return_search.c"
#include "deep_stack.c"
#include "stack_switch.c"
#include "unwind/cached_rule.c"
#include "unwind/cfi.c"
#include "unwind/cfi_rule.c"
#include "unwind/direct_walk.c"
#include "unwind/dwarf_expr.c"
#include "unwind/eh_frame.c"
#include "unwind/rule_search.c"
#include "unwind/sframe.c"
#include "unwind/table_search.c"
#include "unwind/unwind.c"
#include "unwind/unwind_bytes.c"
#include "unwind/unwind_step.c"

static long direct_turn(u32 i, void *arg)
{
	struct round *round = arg;
	struct scratch *scratch = round->scratch;

	if (!set_search_to_current_address_space(&scratch->search))
		return 1;
	registers_of_current(&scratch->direct.registers);
	direct_stack_walk(scratch, round->cpu, control.depth, 0);
	if (scratch->user.depth != control.depth || scratch->direct.stop != STOP_DEPTH)
		control.failures++;
	control.stop = scratch->direct.stop;
	return 0;
}

static long same_frame(u32 i, void *arg)
{
	struct round *round = arg;
	u64 frame;

	if (i >= control.depth || i >= UNWIND_FRAMES)
		return 1;
	frame = user_frame(round->scratch, round->unwind->frame[i]);
	if (frame != round->scratch->user.word[i])
		control.failures++;
	return 0;
}

static __always_inline void learn(struct round *round)
{
	struct unwind *unwind = round->unwind;

	if (!set_search_to_current_address_space(&round->scratch->search))
		return;
	registers_of_current(&unwind->registers);
	unwind->budget = UNWIND_BUDGET;
	unwind->is_compat = 0;
	unwind_drop_mapping_and_tables(unwind);
	unwind_stack(unwind, STACK_USER_DEPTH_MAX);
	direct_turn(0, round);
	bpf_loop(STACK_USER_DEPTH_MAX, same_frame, round, 0);
}

static long kernel_turn(u32 i, void *arg)
{
	struct round *round = arg;
	u32 bytes = 8 * control.depth;

	core_one_register(bytes);
	if (bytes > 8 * STACK_KERNEL_DEPTH_MAX)
		return 1;
	if (bpf_get_stack(round->ctx, round->stack->word, bytes, BPF_F_USER_STACK) != bytes)
		control.failures++;
	return 0;
}

SEC("raw_tp/signal_generate")
int on_signal(void *ctx)
{
	struct round round = {
		.ctx = ctx, .scratch = own_scratch(), .cpu = bpf_get_smp_processor_id()};
	u32 zero = 0;
	u64 start;

	if (bpf_get_current_pid_tgid() >> 32 != control.tgid)
		return 0;
	round.stack = bpf_map_lookup_elem(&scratch, &zero);
	round.unwind = bpf_map_lookup_elem(&unwinds, &zero);
	if (!round.stack || !round.unwind || !round.scratch)
		return 0;
	/* scratch slot 0 owns the cache of steps */
	round.scratch->index = control.subject == WARM_RULES;
	start = bpf_ktime_get_ns();
	if (control.subject == WARM_LEARN)
		learn(&round);
	else if (control.subject == WARM_DIRECT || control.subject == WARM_RULES)
		bpf_loop(WARM_ROUND, direct_turn, &round, 0);
	else if (control.subject == WARM_KERNEL)
		bpf_loop(WARM_ROUND, kernel_turn, &round, 0);
	else
		return 0;
	control.elapsed_ns = bpf_ktime_get_ns() - start;
	return 0;
}
