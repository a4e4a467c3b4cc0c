/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What each kind of instruction does to a path: jumps and their tables, calls, returns. */
#include "code_path.h"

#include <errno.h>
#include <string.h>

/* Code names other things from this address on. */
static u32 next_named(const struct code_analysis *analysis, u32 address)
{
	u32 low = 0, high = analysis->named_count;

	while (low < high) {
		u32 middle = low + (high - low) / 2;

		if (analysis->named[middle] <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low < analysis->named_count ? analysis->named[low] : NONE;
}

static bool table_target(struct code_analysis *analysis, struct frame_value table, u32 i,
			 s64 *target)
{
	const struct code_image *image = analysis->image;

	if (table.kind == VALUE_TARGET) {
		s32 distance;

		if (!image->read(image->context, table.offset + 4 * i, &distance, 4))
			return false;
		*target = (s64)table.offset + distance;
	} else {
		const struct code_pointer *pointer =
			code_pointer_at(analysis, table.offset + 8 * i);

		*target = pointer ? pointer->target : 0;
		if (!pointer && !image->read(image->context, table.offset + 8 * i, target, 8))
			return false;
	}
	return *target > 0 && *target <= INT32_MAX && code_is_within(analysis, *target) &&
	       code_section_end(analysis, *target);
}

/* All targets of a jump table; how many it has says a comparison before, the next thing that code
 * names, or the first target that cannot be one. */
static bool follow_table(struct path *path, struct frame_value table)
{
	struct code_analysis *analysis = path->analysis;
	struct function *function = path_function(path);
	u32 bytes = table.kind == VALUE_TARGET ? 4 : 8, count = TABLE_ENTRIES_MAX;
	u32 limit = (next_named(analysis, table.offset) - table.offset) / bytes, found = 0;
	s64 target;

	if (limit < count)
		count = limit;
	if (table.extra && table.extra < count)
		count = table.extra;
	for (u32 i = 0; i < count && !path->is_over; i++, found++) {
		bool is_sure = table.extra && table.extra < 256;

		analysis->steps++;
		if (!table_target(analysis, table, i, &target))
			break;
		if (*code_mark_at(analysis, target) & MARK_START &&
		    !frame_state_is_bare(&path->state) && target != function->start)
			break;
		if (!is_sure && (target < function->start || target >= function->end))
			break;
		path_branch_to(path, target, &path->state);
	}
	return found;
}

static void jump_through_slot(struct path *path, u32 slot)
{
	struct code_analysis *analysis = path->analysis;
	const struct code_pointer *pointer = code_pointer_at(analysis, slot);

	if (!(path->state.flags & FRAME_OUTERMOST) && !frame_state_is_bare(&path->state))
		path_contradict(path);
	else if (pointer && code_is_within(analysis, pointer->target) &&
		 code_section_end(analysis, pointer->target))
		path_tail_call(path, pointer->target, FUNCTION_WEAK);
	else
		path_exit(path, !code_is_noreturn(analysis, slot));
}

static void jump_indirect(struct path *path, const struct x86_instruction *instruction)
{
	struct frame_value target = frame_state_operand(&path->state, instruction, path->edge.at);
	bool is_table = target.kind == VALUE_TARGET || target.kind == VALUE_POINTER;

	if (target.kind == VALUE_POINTER && instruction->is_memory &&
	    instruction->base == X86_RIP) {
		jump_through_slot(path, target.offset);
	} else if (is_table && !(target.kind == VALUE_POINTER && target.extra == 1) &&
		   follow_table(path, target)) {
		path_end(path);
	} else if (path->state.flags & FRAME_OUTERMOST ||
		   (!is_table && frame_state_is_bare(&path->state) &&
		    !frame_state_changed(&path->state))) {
		/* A tail call, or a computed goto: that proves nothing. */
		if (path->analysis->image->has_symbols)
			function_set_returns(path->analysis, path->edge.function);
		path_end(path);
	} else if (path_function(path)->has_switch) {
		function_set_returns(path->analysis, path->edge.function);
		path_end(path);
	} else {
		path_note_jump(path);
		path_end(path);
	}
}

/* Code may well end behind a call if something else begins there. */
static bool may_end(struct code_analysis *analysis, u32 next, u32 end)
{
	struct x86_instruction instruction;

	if (next >= end ||
	    *code_mark_at(analysis, next) & (MARK_START | MARK_JUMPED | MARK_BRANCHED))
		return true;
	return code_decode_at(analysis, next, end, &instruction) && code_is_padding(&instruction);
}

static bool is_pop(struct code_analysis *analysis, u32 at, u32 end)
{
	struct x86_instruction instruction;

	return at < end && code_decode_at(analysis, at, end, &instruction) &&
	       instruction.map == X86_MAP_ONE_BYTE && instruction.opcode >= 0x58 &&
	       instruction.opcode <= 0x5f;
}

static void note_alignment(struct path *path)
{
	struct frame_value rsp = path->state.reg[X86_RSP];

	if (rsp.kind != VALUE_CFA)
		return;
	if (rsp.offset % 16)
		path_function(path)->has_unaligned = true;
	else
		path_function(path)->has_aligned = true;
}

/* Goes on behind a call that returns. */
static void return_to(struct path *path, u32 next, u32 lost)
{
	frame_state_return(&path->state, lost);
	path->number = NONE;
	path->edge.at = next;
	path->behind_call = next;
	path->compared.reg = X86_NO_REGISTER;
}

static void call_function(struct path *path, u32 target, u32 next)
{
	struct code_analysis *analysis = path->analysis;
	u32 kind = path_function(path)->kind == FUNCTION_WEAK ? FUNCTION_WEAK : FUNCTION_STRONG;
	u32 callee = function_at(analysis, target, kind);
	struct function *function;

	if (callee == NONE) {
		path_end(path);
		return;
	}
	function = &analysis->functions[callee];
	if (function->status == STATUS_IDLE)
		function_wake(analysis, callee);
	user_add(analysis, callee, path->edge.function);
	if (function->returns) {
		return_to(path, next, function->lost);
		return;
	}
	return_to(path, next, function->lost);
	path->edge.state = path_state(path);
	if (path->edge.state != NONE)
		waiter_add(analysis, callee, &path->edge);
	path_end(path);
}

static void call_path(struct path *path, const struct x86_instruction *instruction, u32 end)
{
	struct code_analysis *analysis = path->analysis;
	u32 at = path->edge.at, next = at + instruction->length;
	s64 target = (s64)next + instruction->immediate;
	bool is_direct = instruction->opcode == 0xe8;
	u32 slot = next + instruction->displacement;

	if (is_direct && target > 0 && target <= INT32_MAX && code_is_noreturn(analysis, target)) {
		note_alignment(path);
		path_end(path);
		return;
	}
	if (is_direct && target == next &&
	    is_pop(analysis, next, end)) { /* call next; pop: a push of the own address */
		static const struct x86_instruction push = {.length = 5, .opcode = 0x6a};

		frame_state_step(&path->state, &push, at, &path->compared);
		path->number = NONE;
		path->edge.at = next;
		return;
	}
	note_alignment(path);
	if (may_end(analysis, next, end))
		path->edge.call = at;
	if (*code_mark_at(analysis, at) & MARK_ENDS) {
		path_end(path);
	} else if (is_direct) {
		if (target < 0 || target > INT32_MAX || !code_is_within(analysis, target) ||
		    !code_section_end(analysis, target))
			path_contradict(path);
		else
			call_function(path, target, next);
	} else if (instruction->is_memory && instruction->base == X86_RIP &&
		   code_is_noreturn(analysis, slot)) {
		path_end(path);
	} else {
		return_to(path, next, 0);
	}
}

#define NR_RT_SIGRETURN 15
#define NR_CLONE 56
#define NR_EXIT 60
#define NR_EXIT_GROUP 231
#define NR_CLONE3 435

/* False: the path ends here. */
static bool call_system(struct path *path)
{
	static const struct frame_value child = {.kind = VALUE_CHILD};
	struct frame_value number = path->state.reg[X86_RAX];

	for (u32 i = 0; i < 3; i++) {
		static const u8 scratch[] = {X86_RAX, X86_RCX, X86_R11};

		path->state.reg[scratch[i]] = (struct frame_value){};
	}
	path->number = NONE;
	if (number.kind != VALUE_CONSTANT)
		return true;
	if (number.offset == NR_RT_SIGRETURN)
		path_function(path)->is_trampoline = true;
	if (number.offset == NR_CLONE || number.offset == NR_CLONE3)
		path->state.reg[X86_RAX] = child;
	return number.offset != NR_RT_SIGRETURN && number.offset != NR_EXIT &&
	       number.offset != NR_EXIT_GROUP;
}

static void return_path(struct path *path)
{
	bool is_bare = frame_state_is_bare(&path->state);

	if (path->state.flags & (FRAME_OUTERMOST | FRAME_RETURN_LOST))
		path_end(path);
	else if (is_bare)
		path_exit(path, true);
	else if (!path->state.reg[X86_RSP].kind && path_function(path)->has_switch)
		path_end(path);
	else
		path_contradict(path);
}

static void step_path(struct path *path, const struct x86_instruction *instruction)
{
	struct frame_state before = path->state;
	enum frame_step_result result =
		frame_state_step(&path->state, instruction, path->edge.at, &path->compared);

	if (memcmp(&before, &path->state, sizeof(before)))
		path->number = NONE;
	if (result == FRAME_CONTRADICTED) {
		path_contradict(path);
		return;
	}
	if (result == FRAME_SWITCHED && !(path->state.flags & FRAME_OUTERMOST)) {
		path_function(path)->has_switch = true;
		function_set_returns(path->analysis, path->edge.function);
	}
	path->edge.at += instruction->length;
}

static void branch_path(struct path *path, const struct x86_instruction *instruction)
{
	u32 next = path->edge.at + instruction->length;
	s64 target = (s64)next + instruction->immediate;
	struct frame_state taken = path->state;
	struct frame_compared compared = path->compared;

	frame_state_branch(&taken, instruction, &compared, true);
	path_branch_to(path, target, &taken);
	if (path->is_over)
		return;
	frame_state_branch(&path->state, instruction, &compared, false);
	path->number = NONE;
	path->edge.at = next;
}

/* One instruction. */
void path_follow(struct path *path, u32 end)
{
	struct code_analysis *analysis = path->analysis;
	struct x86_instruction instruction;
	enum x86_flow flow;
	u32 at = path->edge.at;

	if (!code_decode_at(analysis, at, end, &instruction)) {
		path_contradict(path);
		return;
	}
	flow = x86_flow_of(&instruction);
	if (flow == X86_FORBIDDEN || !path_occupy(path, instruction.length)) {
		path_contradict(path);
		return;
	}
	if (analysis->result)
		return;
	if (!code_is_padding(&instruction))
		path->behind_call = 0;
	if (flow != X86_NEXT && flow != X86_BRANCH)
		path_flush(path);
	switch (flow) {
	case X86_JUMP:
		path_go_to(path, (s64)at + instruction.length + instruction.immediate);
		break;
	case X86_BRANCH:
		branch_path(path, &instruction);
		break;
	case X86_CALL:
	case X86_CALL_INDIRECT:
		call_path(path, &instruction, end);
		break;
	case X86_JUMP_INDIRECT:
		jump_indirect(path, &instruction);
		break;
	case X86_RETURN:
		return_path(path);
		break;
	case X86_TRAP:
		path->edge.at += instruction.length;
		path_end(path);
		break;
	case X86_SYSCALL:
		path->edge.at += instruction.length;
		if (!call_system(path))
			path_end(path);
		break;
	default:
		step_path(path, &instruction);
	}
}
