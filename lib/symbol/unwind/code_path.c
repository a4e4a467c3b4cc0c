/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Follows the paths of an analysis (code_analysis.c): the begin, the end and the meeting of paths,
 * and the effect of each kind of instruction on a path.
 */
#include "code_functions.h"

#include <errno.h>
#include <string.h>

#include "array.h"
#include "order.h"

/* One path through the code of a function, until the path ends. */
struct path {
	struct code_analysis *analysis;
	struct edge edge; /* edge.at is the address of the current instruction */
	struct frame_state state;
	u32 number; /* number of the state; NONE = the state has changed since it was numbered */
	struct frame_compared compared;
	u32 run_start, run_end; /* instructions that are not yet recorded as the function's */
	u32 behind_call; /* end of the last call, if only padding has followed it so far; else 0 */
	bool is_over;
};

/* Records that the instructions of the path belong to the path's function. */
static void path_record_instructions(struct path *path)
{
	struct code_analysis *analysis = path->analysis;
	struct function *function = &analysis->functions[path->edge.function];

	if (path->run_start == path->run_end)
		return;
	if (array_make_room(analysis->runs, analysis->run_count, analysis->run_room)) {
		analysis->result = -ENOMEM;
		return;
	}
	analysis->runs[analysis->run_count++] =
		(struct run){path->run_start, path->run_end, function->runs};
	function->runs = analysis->run_count;
	path->run_start = path->run_end;
}

static struct function *path_function(const struct path *path)
{
	return &path->analysis->functions[path->edge.function];
}

static void end_path_at_instruction(struct path *path)
{
	path->is_over = true;
}

static void path_end_by_contradiction(struct path *path)
{
	if (path->is_over)
		return;
	path_record_instructions(path);
	retry_or_fail_function_at_edge(path->analysis, &path->edge);
	path->is_over = true;
}

/* Ends the path with an exit that proves the stack depth. */
static void path_end_by_exit(struct path *path, bool returns)
{
	struct function *function = path_function(path);

	if (path->state.flags & FRAME_OUTERMOST) {
		end_path_at_instruction(path);
		return;
	}
	function->has_exit = true;
	function_add_lost_registers(path->analysis, path->edge.function,
				    frame_state_changed_registers(&path->state));
	if (returns && path_function(path)->tries == path->edge.tries)
		function_set_returns(path->analysis, path->edge.function);
	end_path_at_instruction(path);
}

/* Ends the path with a jump to a known function, where rsp must point to the return address. */
static void path_end_by_tail_call(struct path *path, u32 target, u32 kind)
{
	struct code_analysis *analysis = path->analysis;
	u32 other = find_or_add_function_at(analysis, target, kind);

	path_record_instructions(path);
	if (code_is_noreturn(analysis, target) || other == NONE) {
		end_path_at_instruction(path);
		return;
	}
	if (!(path->state.flags & FRAME_OUTERMOST) && !is_rsp_at_return_address(&path->state)) {
		path_end_by_contradiction(path);
		return;
	}
	if (analysis->functions[other].status == STATUS_IDLE)
		queue_idle_function(analysis, other);
	if (path->state.flags & FRAME_OUTERMOST) {
		end_path_at_instruction(path);
		return;
	}
	path_function(path)->has_exit = true;
	add_caller_of_function(analysis, other, path->edge.function);
	record_tail_call_of_function(analysis, path->edge.function, other);
	function_add_lost_registers(analysis, path->edge.function,
				    frame_state_changed_registers(&path->state) |
					    analysis->functions[other].lost);
	record_registers_lost_at_entry(analysis, other,
				       frame_state_changed_registers(&path->state));
	end_path_at_instruction(path);
}

static u32 find_or_add_state_of_path(struct path *path)
{
	if (path->number == NONE)
		path->number = find_or_add_frame_state(path->analysis, &path->state);
	return path->number;
}

/* The path reaches code of another function: the state there must agree with the state of the
 * path. */
static void check_state_at_other_function(struct path *path, u32 owner,
					  const struct frame_state *there)
{
	struct code_analysis *analysis = path->analysis;
	u32 number = path->edge.function, at = path->edge.at;
	struct function *function = path_function(path), *other = &analysis->functions[owner];

	path_record_instructions(path);
	if (frame_states_are_compatible(there, &path->state)) {
		function->has_exit = true;
		add_caller_of_function(analysis, owner, number);
		record_tail_call_of_function(analysis, number, owner);
		function_add_lost_registers(analysis, number, other->lost);
		end_path_at_instruction(path);
	} else if (at == other->start && is_rsp_at_return_address(&path->state)) {
		path_end_by_tail_call(path, at, other->kind);
	} else if (function->kind > other->kind) {
		path_end_by_contradiction(path);
	} else if (other->kind > function->kind) {
		discard_analysis_of_function(analysis, owner);
		mark_function_analysis_failed(analysis, owner);
	} else {
		*code_mark_at(analysis, at) |= MARK_DISPUTED;
		retry_analysis_of_function(analysis, owner);
		end_path_at_instruction(path);
	}
}

/* Merges the state of the path with the known state at the current instruction. True: the path goes
 * on. */
static bool path_merge_state(struct path *path)
{
	struct code_analysis *analysis = path->analysis;
	u32 *map = code_map_at(analysis, path->edge.at), before = *map;
	const struct frame_state *there;
	struct frame_state both;

	if (before == MAP_INSIDE) {
		path_end_by_contradiction(path);
		return false;
	}
	if (before == MAP_NOTHING)
		return true;
	there = &analysis->states[before - MAP_STATE];
	if (there->owner != path->edge.function) {
		check_state_at_other_function(path, there->owner, there);
		return !path->is_over;
	}
	both = *there;
	if (!frame_state_keep_common_values(&both, &path->state)) {
		path_end_by_contradiction(path);
		return false;
	}
	if (!memcmp(&both, there, sizeof(both))) {
		end_path_at_instruction(path);
		return false;
	}
	path->state = both;
	path->number = NONE;
	path->compared.reg = X86_NO_REGISTER;
	return true;
}

/* Records that the bytes at the path's address are one instruction. False: some of these bytes
 * belong to other instructions. */
static bool path_claim_instruction(struct path *path, u32 length)
{
	u32 *map = code_map_at(path->analysis, path->edge.at);
	u32 state = find_or_add_state_of_path(path);

	if (state == NONE)
		return true; /* no memory: analysis->result ends all paths */
	for (u32 i = 1; i < length; i++)
		if (map[i] > MAP_INSIDE || (map[i] == MAP_INSIDE && map[0] < MAP_STATE))
			return false;
	if (path->run_end != path->edge.at) {
		path_record_instructions(path);
		path->run_start = path->edge.at;
	}
	path->run_end = path->edge.at + length;
	map[0] = state + MAP_STATE;
	for (u32 i = 1; i < length; i++)
		map[i] = MAP_INSIDE;
	return true;
}

static void path_record_state_at_indirect_jump(struct path *path)
{
	struct function *function = path_function(path);

	if (function->jump_state != NONE) {
		struct frame_state both = path->analysis->states[function->jump_state];

		if (frame_state_keep_common_values(&both, &path->state))
			function->jump_state = find_or_add_frame_state(path->analysis, &both);
		else
			function->jumps_differ = true;
	} else {
		function->jump_state = find_or_add_state_of_path(path);
	}
	function->has_jumps = true;
}

/* Moves the path to the target of a direct jump. If another function begins there, the path ends
 * with a tail call. */
static void path_continue_at(struct path *path, s64 target)
{
	struct code_analysis *analysis = path->analysis;

	if (target < 0 || target > INT32_MAX || !code_has_address(analysis, target) ||
	    !code_section_end(analysis, target)) {
		path_end_by_contradiction(path);
		return;
	}
	*code_mark_at(analysis, target) |= MARK_JUMPED;
	if (*code_mark_at(analysis, target) & MARK_START && target != path_function(path)->start) {
		path_end_by_tail_call(path, target, FUNCTION_STRONG);
		return;
	}
	path->edge.at = target;
	path->behind_call = 0;
	path->compared.reg = X86_NO_REGISTER;
}

static void path_add_branch(struct path *path, s64 target, const struct frame_state *state)
{
	struct code_analysis *analysis = path->analysis;
	struct edge edge;

	if (target < 0 || target > INT32_MAX || !code_has_address(analysis, target) ||
	    !code_section_end(analysis, target)) {
		path_end_by_contradiction(path);
		return;
	}
	*code_mark_at(analysis, target) |= MARK_JUMPED;
	edge = path->edge;
	edge.at = target;
	edge.state = state == &path->state ? find_or_add_state_of_path(path)
					   : find_or_add_frame_state(path->analysis, state);
	queue_edge_to_follow(path->analysis, &edge);
}

/* --- Instructions. --- */

static bool jump_table_target(struct code_analysis *analysis, struct frame_value table, u32 i,
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
	return *target > 0 && *target <= INT32_MAX && code_has_address(analysis, *target) &&
	       code_section_end(analysis, *target);
}

/* True if the target of a jump table lies after the code of the function, to where compilers let
 * impossible cases lead: at padding (a byte 0x90 may be code), or at the begin of a function. */
static bool is_jump_target_after_function(struct code_analysis *analysis, s64 target)
{
	struct x86_instruction instruction;

	if (!code_decode_at(analysis, target, code_section_end(analysis, target), &instruction))
		return false;
	if (code_is_padding(&instruction))
		return instruction.length > 1 || instruction.opcode == 0xcc;
	return target % 16 == 0 && instruction.map == X86_MAP_ONE_BYTE &&
	       instruction.opcode >= 0x50 && instruction.opcode <= 0x57;
}

/* Follows all targets of a jump table. The table ends where a comparison before the jump bounds the
 * index, else at the next address that instructions name, or at the first impossible target. */
static bool follow_jump_table(struct path *path, struct frame_value table)
{
	struct code_analysis *analysis = path->analysis;
	struct function *function = path_function(path);
	u32 bytes = table.kind == VALUE_TARGET ? 4 : 8, count = TABLE_ENTRIES_MAX;
	u32 named = bisect(analysis->named_count, i, analysis->named[i] <= (u32)table.offset);
	u32 end = named < analysis->named_count ? analysis->named[named] : NONE;
	u32 limit = (end - table.offset) / bytes, found = 0;
	s64 target;

	if (limit < count)
		count = limit;
	if (table.extra && table.extra < count)
		count = table.extra;
	for (u32 i = 0; i < count && !path->is_over; i++, found++) {
		bool is_sure = table.extra && table.extra < 256;

		analysis->steps++;
		if (!jump_table_target(analysis, table, i, &target))
			break;
		if (*code_mark_at(analysis, target) & MARK_START &&
		    !is_rsp_at_return_address(&path->state) && target != function->start)
			break;
		if (is_jump_target_after_function(analysis, target))
			continue;
		if (!is_sure && (target < function->start || target >= function->end))
			break;
		path_add_branch(path, target, &path->state);
	}
	return found;
}

static void end_path_at_jump_through_pointer_slot(struct path *path, u32 slot)
{
	struct code_analysis *analysis = path->analysis;
	const struct code_pointer *pointer = code_pointer_at(analysis, slot);

	if (!(path->state.flags & FRAME_OUTERMOST) && !is_rsp_at_return_address(&path->state))
		path_end_by_contradiction(path);
	else if (pointer && code_has_address(analysis, pointer->target) &&
		 code_section_end(analysis, pointer->target))
		path_end_by_tail_call(path, pointer->target, FUNCTION_WEAK);
	else
		path_end_by_exit(path, !code_is_noreturn(analysis, slot));
}

static void end_path_at_indirect_jump(struct path *path, const struct x86_instruction *instruction)
{
	struct frame_value target = frame_state_operand(&path->state, instruction, path->edge.at);
	bool is_table = target.kind == VALUE_TARGET || target.kind == VALUE_POINTER;

	if (target.kind == VALUE_POINTER && instruction->is_memory &&
	    instruction->base == X86_RIP) {
		end_path_at_jump_through_pointer_slot(path, target.offset);
	} else if (is_table && !(target.kind == VALUE_POINTER && target.extra == 1) &&
		   follow_jump_table(path, target)) {
		end_path_at_instruction(path);
	} else if (path->state.flags & FRAME_OUTERMOST ||
		   (!is_table && is_rsp_at_return_address(&path->state) &&
		    !frame_state_changed_registers(&path->state))) {
		/* A tail call or a computed goto: the stack depth is not proven. */
		if (path->analysis->image->has_symbols)
			function_set_returns(path->analysis, path->edge.function);
		end_path_at_instruction(path);
	} else if (path_function(path)->has_switch) {
		function_set_returns(path->analysis, path->edge.function);
		end_path_at_instruction(path);
	} else {
		path_record_state_at_indirect_jump(path);
		end_path_at_instruction(path);
	}
}

/* True if other code may begin after a call, so that the call may not return. */
static bool may_call_be_noreturn(struct code_analysis *analysis, u32 next, u32 end)
{
	struct x86_instruction instruction;

	if (next >= end || next % 16 == 0 ||
	    *code_mark_at(analysis, next) & (MARK_START | MARK_JUMPED | MARK_BRANCHED))
		return true;
	return code_decode_at(analysis, next, end, &instruction) && code_is_padding(&instruction);
}

static bool is_pop_at(struct code_analysis *analysis, u32 at, u32 end)
{
	struct x86_instruction instruction;

	return at < end && code_decode_at(analysis, at, end, &instruction) &&
	       instruction.map == X86_MAP_ONE_BYTE && instruction.opcode >= 0x58 &&
	       instruction.opcode <= 0x5f;
}

static void record_stack_alignment(struct path *path)
{
	struct frame_value rsp = path->state.reg[X86_RSP];

	if (rsp.kind != VALUE_CFA)
		return;
	if (rsp.offset % 16)
		path_function(path)->has_unaligned = true;
	else
		path_function(path)->has_aligned = true;
}

/* The path goes on after a call that returns. In V8's built-in functions, and in the compiled code
 * that these call, a function takes its arguments off the stack when it returns, so the stack depth
 * after a call is not known; a frame pointer still gives the CFA. */
static void continue_after_call(struct path *path, u32 next, u32 lost)
{
	bool is_framed = frame_value_is_stack(path->state.reg[X86_RBP]);

	frame_state_apply_call(&path->state, lost);
	if (path->analysis->pops_arguments && is_framed)
		path->state.reg[X86_RSP] = (struct frame_value){};
	path->number = NONE;
	path->edge.at = next;
	path->behind_call = next;
	path->compared.reg = X86_NO_REGISTER;
}

static void follow_direct_call(struct path *path, u32 target, u32 next)
{
	struct code_analysis *analysis = path->analysis;
	u32 kind = path_function(path)->kind == FUNCTION_WEAK ? FUNCTION_WEAK : FUNCTION_STRONG;
	u32 callee = find_or_add_function_at(analysis, target, kind);
	struct function *function;

	if (callee == NONE) {
		end_path_at_instruction(path);
		return;
	}
	function = &analysis->functions[callee];
	if (function->status == STATUS_IDLE)
		queue_idle_function(analysis, callee);
	add_caller_of_function(analysis, callee, path->edge.function);
	if (function->status == STATUS_FAILED && path->edge.call == path->edge.at) {
		end_path_at_instruction(path);
		return;
	}
	if (function->returns) {
		continue_after_call(path, next, function->lost);
		return;
	}
	continue_after_call(path, next, function->lost);
	path->edge.state = find_or_add_state_of_path(path);
	path->edge.is_behind_call = true;
	if (path->edge.state != NONE)
		add_path_waiting_for_callee(analysis, callee, &path->edge);
	end_path_at_instruction(path);
}

static void follow_call(struct path *path, const struct x86_instruction *instruction, u32 end)
{
	struct code_analysis *analysis = path->analysis;
	u32 at = path->edge.at, next = at + instruction->length;
	s64 target = (s64)next + instruction->immediate;
	bool is_direct = instruction->opcode == 0xe8;
	u32 slot = next + instruction->displacement;

	if (is_direct && target > 0 && target <= INT32_MAX && code_is_noreturn(analysis, target)) {
		record_stack_alignment(path);
		end_path_at_instruction(path);
		return;
	}
	/* `call next; next: pop` pushes the code's own address. */
	if (is_direct && target == next && is_pop_at(analysis, next, end)) {
		static const struct x86_instruction push = {.length = 5, .opcode = 0x6a};

		frame_state_step(&path->state, &push, at, &path->compared);
		path->number = NONE;
		path->edge.at = next;
		return;
	}
	record_stack_alignment(path);
	if (may_call_be_noreturn(analysis, next, end))
		path->edge.call = at;
	if (*code_mark_at(analysis, at) & MARK_ENDS) {
		end_path_at_instruction(path);
	} else if (is_direct) {
		if (target < 0 || target > INT32_MAX || !code_has_address(analysis, target) ||
		    !code_section_end(analysis, target))
			path_end_by_contradiction(path);
		else
			follow_direct_call(path, target, next);
	} else if (instruction->is_memory && instruction->base == X86_RIP &&
		   code_is_noreturn(analysis, slot)) {
		end_path_at_instruction(path);
	} else {
		continue_after_call(path, next, 0);
	}
}

#define NR_RT_SIGRETURN 15
#define NR_CLONE 56
#define NR_EXIT 60
#define NR_EXIT_GROUP 231
#define NR_CLONE3 435

/* Applies a system call to the path. False: the path ends. */
static bool follow_system_call(struct path *path)
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

static void end_path_at_return(struct path *path)
{
	bool is_bare = is_rsp_at_return_address(&path->state);

	if (path->state.flags & (FRAME_OUTERMOST | FRAME_RETURN_LOST))
		end_path_at_instruction(path);
	else if (is_bare)
		path_end_by_exit(path, true);
	else if (!path->state.reg[X86_RSP].kind && path_function(path)->has_switch)
		end_path_at_instruction(path);
	else
		path_end_by_contradiction(path);
}

static void apply_instruction(struct path *path, const struct x86_instruction *instruction)
{
	struct frame_state before = path->state;
	enum frame_step_result result =
		frame_state_step(&path->state, instruction, path->edge.at, &path->compared);

	if (memcmp(&before, &path->state, sizeof(before)))
		path->number = NONE;
	if (result == FRAME_CONTRADICTED) {
		path_end_by_contradiction(path);
		return;
	}
	if (result == FRAME_SWITCHED && !(path->state.flags & FRAME_OUTERMOST)) {
		path_function(path)->has_switch = true;
		function_set_returns(path->analysis, path->edge.function);
	}
	path->edge.at += instruction->length;
}

static void follow_branch(struct path *path, const struct x86_instruction *instruction)
{
	u32 next = path->edge.at + instruction->length;
	s64 target = (s64)next + instruction->immediate;
	struct frame_state taken = path->state;
	struct frame_compared compared = path->compared;

	frame_state_branch(&taken, instruction, &compared, true);
	path_add_branch(path, target, &taken);
	if (path->is_over)
		return;
	frame_state_branch(&path->state, instruction, &compared, false);
	path->number = NONE;
	path->edge.at = next;
}

/* Follows one instruction; `end` is the end of the section. */
static void path_follow_instruction(struct path *path, u32 end)
{
	struct code_analysis *analysis = path->analysis;
	struct x86_instruction instruction;
	enum x86_flow flow;
	u32 at = path->edge.at;

	if (!code_decode_at(analysis, at, end, &instruction)) {
		path_end_by_contradiction(path);
		return;
	}
	flow = x86_flow_of(&instruction);
	if (flow == X86_FORBIDDEN || !path_claim_instruction(path, instruction.length)) {
		path_end_by_contradiction(path);
		return;
	}
	if (analysis->result)
		return;
	if (!code_is_padding(&instruction))
		path->behind_call = 0;
	if (flow != X86_NEXT && flow != X86_BRANCH)
		path_record_instructions(path);
	switch (flow) {
	case X86_JUMP:
		path_continue_at(path, (s64)at + instruction.length + instruction.immediate);
		break;
	case X86_BRANCH:
		follow_branch(path, &instruction);
		break;
	case X86_CALL:
	case X86_CALL_INDIRECT:
		follow_call(path, &instruction, end);
		break;
	case X86_JUMP_INDIRECT:
		end_path_at_indirect_jump(path, &instruction);
		break;
	case X86_RETURN:
		end_path_at_return(path);
		break;
	case X86_TRAP:
		path->edge.at += instruction.length;
		end_path_at_instruction(path);
		break;
	case X86_SYSCALL:
		path->edge.at += instruction.length;
		if (!follow_system_call(path))
			end_path_at_instruction(path);
		break;
	default:
		apply_instruction(path, &instruction);
	}
}

/* False: the path ends before the next instruction: at another function, at the end of the section,
 * or after a call that does not return. */
static bool has_next_instruction(struct path *path, u32 end)
{
	struct code_analysis *analysis = path->analysis;
	u32 at = path->edge.at;
	u8 mark;

	if (at >= end) {
		if (path->behind_call)
			end_path_at_instruction(path);
		else
			path_end_by_contradiction(path);
		return false;
	}
	mark = *code_mark_at(analysis, at);
	if (mark & MARK_DISPUTED) {
		end_path_at_instruction(path);
		return false;
	}
	if (path->behind_call && at != path->behind_call && !(mark & MARK_START) && at % 16 == 0 &&
	    !(mark & (MARK_BRANCHED | MARK_JUMPED))) {
		struct x86_instruction instruction;

		/* Code after padding that follows a call: if the padding does not align the target
		 * of a jump, another function begins. */
		if (code_decode_at(analysis, at, end, &instruction) &&
		    !code_is_padding(&instruction)) {
			end_path_at_instruction(path);
			return false;
		}
	}
	if (mark & MARK_START && at != path_function(path)->start) {
		if (path->behind_call)
			end_path_at_instruction(path);
		else
			path_end_by_tail_call(path, at, FUNCTION_STRONG);
		return false;
	}
	return true;
}

static void follow_path_of_edge(struct code_analysis *analysis, const struct edge *edge)
{
	struct path path = {
		.analysis = analysis,
		.edge = *edge,
		.state = analysis->states[edge->state],
		.number = edge->state,
		.compared = {.reg = X86_NO_REGISTER},
		.run_start = edge->at,
		.run_end = edge->at,
		.behind_call = edge->is_behind_call ? edge->at : 0,
	};
	struct file_span section = {};

	path.edge.is_behind_call = false;
	while (!path.is_over && !analysis->result) {
		u32 at = path.edge.at;

		if (analysis->steps > analysis->steps_max) {
			analysis->result = -E2BIG;
			return;
		}
		if (at < section.start || at >= section.end)
			section = code_section_at(analysis, at);
		if (!has_next_instruction(&path, section.end) || !path_merge_state(&path))
			break;
		path_follow_instruction(&path, section.end);
	}
	if (path_function(&path)->tries == edge->tries)
		path_record_instructions(&path);
}

static void begin_function(struct code_analysis *analysis, u32 number)
{
	struct function *function = &analysis->functions[number];
	struct frame_state state;
	struct edge edge = {
		.function = number, .at = function->start, .call = NONE, .tries = function->tries};

	if (function->status != STATUS_IDLE)
		return;
	function->status = STATUS_OPEN;
	frame_state_at_entry(&state, number);
	frame_state_set_registers_unknown(&state, function->entry_lost);
	if (analysis->image->entry && function->start == analysis->image->entry)
		state.flags |= FRAME_OUTERMOST;
	edge.state = find_or_add_frame_state(analysis, &state);
	queue_edge_to_follow(analysis, &edge);
}

void paths_follow_all(struct code_analysis *analysis)
{
	while (!analysis->result) {
		if (analysis->edge_count) {
			struct edge edge = analysis->edges[--analysis->edge_count];
			const struct function *function = &analysis->functions[edge.function];

			if (function->status == STATUS_OPEN && function->tries == edge.tries)
				follow_path_of_edge(analysis, &edge);
		} else if (analysis->idle_count) {
			begin_function(analysis, analysis->idle[--analysis->idle_count]);
		} else if (analysis->changed_count) {
			/* All functions of the list are handled together, so that a function that
			 * calls several of them is tried again only once. */
			while (analysis->changed_count)
				retry_callers_of_function(
					analysis, analysis->changed[--analysis->changed_count]);
		} else {
			return;
		}
	}
}
