/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Each function is followed from its start, with the state of its frame, along all of its paths.
 * The paths of all functions are edges of one worklist, so the work needs no recursion:
 *
 *   - When a path meets code of its own function, the two states are merged; if the merged state
 *     says less than before, the path goes on (a fixpoint).
 *   - A path that calls a function waits until the callee is known to return. A function that never
 *     returns leaves the path waiting.
 *   - A contradiction undoes the whole function. If the path has a call that may not return, the
 *     function is tried again with the path ending at this call.
 *   - A caller assumes that its callee keeps registers. If the assumption turns out wrong, the
 *     caller is undone and tried again.
 *   - A path that reaches the start of another function with a bare stack goes on as that function.
 *     Registers that the path has changed are lost there.
 *   - Other code that two functions reach in different states belongs to neither of them.
 *
 * Weak starts (addresses that are only likely to begin a function) come last, one at a time, on
 * trial.
 */
#include "code_analysis.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "arm64_analysis.h"
#include "array.h"
#include "code_functions.h"
#include "order.h"

#define POPPING_ENDS_MIN 4
#define ARGUMENT_BYTES_MAX 4096

/* --- Code that no path reaches. --- */

/* The address at which the search for unreached code of a function ends: the end of the function if
 * its symbol gives it and no other function begins before; else the end of the last code of the
 * function that a path has reached. */
static u32 end_of_unreached_code(const struct code_analysis *analysis,
				 const struct function *function)
{
	const struct file_span *symbol;
	u32 end = function->end, last = function->start;

	for (u32 at = function->start + 1; at < end; at++)
		if (*code_mark_at(analysis, at) & MARK_START)
			end = at;
	symbol = code_span_before(analysis->image->symbols, analysis->image->symbol_count,
				  function->start);
	if (end == function->end && symbol && symbol->start == function->start &&
	    symbol->end == function->end)
		return end;
	for (u32 i = function->runs; i; i = analysis->runs[i - 1].next)
		if (analysis->runs[i - 1].end <= end && analysis->runs[i - 1].end > last)
			last = analysis->runs[i - 1].end;
	return last;
}

/* Follows code of a function that no path has reached: it may be the target of one of the
 * function's jumps with unknown targets. */
static void follow_unreached_code(struct code_analysis *analysis, u32 number)
{
	struct function *function = &analysis->functions[number];
	u32 at = function->start, end = end_of_unreached_code(analysis, function),
	    tries = function->tries;

	while (at < end && !analysis->result) {
		struct x86_instruction instruction;
		struct edge edge = {.function = number,
				    .at = at,
				    .state = function->jump_state,
				    .call = NONE,
				    .tries = tries};

		if (*code_map_at(analysis, at) != MAP_NOTHING ||
		    !code_decode_at(analysis, at, end, &instruction)) {
			at++;
			continue;
		}
		if (!code_is_padding(&instruction)) {
			queue_edge_to_follow(analysis, &edge);
			paths_follow_all(analysis);
			function = &analysis->functions[number];
			if (function->tries != tries || function->status != STATUS_OPEN)
				return;
		}
		at += instruction.length;
	}
}

static void follow_all_unreached_code(struct code_analysis *analysis)
{
	for (u32 i = 0; i < analysis->function_count && !analysis->result; i++) {
		struct function *function = &analysis->functions[i];

		for (u32 tries = 0;
		     tries < 3 && function->status == STATUS_OPEN && function->has_jumps &&
		     !function->jumps_differ && !function->fill_failed && !function->is_filled &&
		     function->kind != FUNCTION_COVERED;
		     tries++) {
			u32 before = function->tries;

			function->is_filling = true;
			follow_unreached_code(analysis, i);
			paths_follow_all(analysis);
			function = &analysis->functions[i];
			function->is_filling = false;
			function->is_filled = function->tries == before;
		}
	}
}

/* --- Weak starts. --- */

static bool is_function_accepted(const struct code_analysis *analysis,
				 const struct function *function)
{
	u8 mark = *code_mark_at(analysis, function->start);

	if (function->status != STATUS_OPEN)
		return false;
	if (function->is_trampoline && !function->has_exit)
		return false;
	if (function->kind != FUNCTION_WEAK)
		return true;
	if (!analysis->image->has_symbols && function->has_unaligned)
		return false;
	return function->has_exit || (mark & MARK_TAKEN && function->has_aligned);
}

static void mark_function_proven(struct code_analysis *analysis, u32 number)
{
	find_or_add_function_at(analysis, analysis->functions[number].start, FUNCTION_STRONG);
}

/* Ends a trial of a weak start: accepts or rejects function `number` and all functions found during
 * the trial, from number `from` on. */
static void accept_or_reject_tried_functions(struct code_analysis *analysis, u32 from, u32 number)
{
	bool has_changed = true;

	if (is_function_accepted(analysis, &analysis->functions[number])) {
		mark_function_proven(analysis, number);
		for (u32 i = from; i < analysis->function_count; i++)
			if (analysis->functions[i].status == STATUS_OPEN)
				mark_function_proven(analysis, i);
	}
	while (has_changed && !analysis->result) {
		has_changed = false;
		for (u32 i = from; i < analysis->function_count; i++) {
			struct function *function = &analysis->functions[i];

			if (function->status != STATUS_OPEN ||
			    is_function_accepted(analysis, function))
				continue;
			discard_analysis_of_function(analysis, i);
			mark_function_analysis_failed(analysis, i);
			has_changed = true;
		}
		if (analysis->functions[number].status == STATUS_OPEN &&
		    !is_function_accepted(analysis, &analysis->functions[number])) {
			discard_analysis_of_function(analysis, number);
			mark_function_analysis_failed(analysis, number);
			has_changed = true;
		}
		paths_follow_all(analysis);
	}
}

static bool try_function_start(struct code_analysis *analysis, u32 start)
{
	u32 from = analysis->function_count, number;

	if (*code_map_at(analysis, start) != MAP_NOTHING ||
	    function_find(analysis, start) != HASH_INDEX_NONE)
		return false;
	number = find_or_add_function_at(analysis, start, FUNCTION_WEAK);
	if (number == NONE)
		return false;
	queue_idle_function(analysis, number);
	paths_follow_all(analysis);
	accept_or_reject_tried_functions(analysis, from, number);
	return analysis->functions[number].status == STATUS_OPEN;
}

static bool may_start_function(const struct code_analysis *analysis, u32 address)
{
	return code_has_address(analysis, address) && code_section_end(analysis, address) &&
	       !code_is_covered(analysis, address);
}

static void try_taken_addresses_as_functions(struct code_analysis *analysis)
{
	const struct code_image *image = analysis->image;

	for (u32 i = 0; i < image->pointer_count && !analysis->result; i++)
		if (may_start_function(analysis, image->pointers[i].target))
			try_function_start(analysis, image->pointers[i].target);
	for (u32 i = 0; i < analysis->named_count && !analysis->result; i++)
		if (may_start_function(analysis, analysis->named[i]))
			try_function_start(analysis, analysis->named[i]);
}

/* Tries addresses in the gap [at, end) as starts of functions: the end of other code, and addresses
 * after padding or at an alignment. */
static void try_starts_in_gap(struct code_analysis *analysis, u32 at, u32 end)
{
	bool may_begin = true, is_padded = true;

	while (at < end && !analysis->result) {
		struct x86_instruction instruction;
		enum x86_flow flow;

		if (analysis->steps > analysis->steps_max) {
			analysis->result = -E2BIG;
			return;
		}
		if (*code_map_at(analysis, at) != MAP_NOTHING) {
			may_begin = true;
			is_padded = false;
			at++;
			continue;
		}
		if (!code_decode_at(analysis, at, end, &instruction)) {
			at++;
			may_begin = false;
			continue;
		}
		if (code_is_padding(&instruction)) {
			is_padded = true;
			at += instruction.length;
			continue;
		}
		if (may_begin && (is_padded || at % 16 == 0) &&
		    !(*code_mark_at(analysis, at) & MARK_BRANCHED) &&
		    try_function_start(analysis, at))
			continue;
		flow = x86_flow_of(&instruction);
		may_begin = flow == X86_RETURN || flow == X86_JUMP || flow == X86_TRAP ||
			    flow == X86_JUMP_INDIRECT;
		is_padded = false;
		at += instruction.length;
	}
}

/* Visits the parts of sections that no table covers. */
static void visit_code_without_tables(struct code_analysis *analysis,
				      void (*visit)(struct code_analysis *analysis, u32 start,
						    u32 end))
{
	const struct code_image *image = analysis->image;

	for (u32 i = 0; i < image->section_count; i++) {
		u32 at = image->sections[i].start, end = image->sections[i].end;

		while (at < end && !analysis->result) {
			const struct file_span *span =
				code_span_before(image->covered, image->covered_count, at);
			u32 next = span ? span - image->covered + 1 : 0, limit = end;

			if (span && at < span->end) {
				at = span->end;
				continue;
			}
			if (next < image->covered_count && image->covered[next].start < limit)
				limit = image->covered[next].start;
			visit(analysis, at, limit);
			at = limit;
		}
	}
}

/* --- The sweep: all code is read once from its begin to its end, for targets and addresses. --- */

static void record_address_in_instruction(struct code_analysis *analysis, u32 address)
{
	if (array_make_room(analysis->named, analysis->named_count, analysis->named_room))
		analysis->result = -ENOMEM;
	else
		analysis->named[analysis->named_count++] = address;
	if (code_has_address(analysis, address))
		*code_mark_at(analysis, address) |= MARK_TAKEN;
}

/* True for `jmp *TABLE(,index,8)` and `mov TABLE(,index,8), register`. */
static bool is_jump_table_read(const struct x86_instruction *instruction)
{
	return instruction->map == X86_MAP_ONE_BYTE && instruction->is_memory &&
	       instruction->base == X86_NO_REGISTER && instruction->scale == 8 &&
	       instruction->index != X86_NO_REGISTER && instruction->displacement > 0 &&
	       (instruction->opcode == 0x8b || x86_flow_of(instruction) == X86_JUMP_INDIRECT);
}

static void note_addresses_in_instruction(struct code_analysis *analysis, u32 at,
					  const struct x86_instruction *instruction,
					  bool is_in_table)
{
	enum x86_flow flow = x86_flow_of(instruction);
	s64 next = (s64)at + instruction->length, target = next + (s32)instruction->immediate;

	if (instruction->map == X86_MAP_ONE_BYTE && instruction->opcode == 0x8d &&
	    instruction->base == X86_RIP) {
		record_address_in_instruction(analysis, next + instruction->displacement);
		return;
	}
	if (analysis->image->is_fixed && is_jump_table_read(instruction))
		record_address_in_instruction(analysis, instruction->displacement);
	if (analysis->image->is_fixed && instruction->map == X86_MAP_ONE_BYTE &&
	    instruction->immediate_bytes == 4 && instruction->immediate > 0 &&
	    instruction->immediate <= INT32_MAX &&
	    code_has_address(analysis, instruction->immediate) &&
	    ((instruction->opcode >= 0xb8 && instruction->opcode <= 0xbf) ||
	     instruction->opcode == 0xc7))
		record_address_in_instruction(analysis, instruction->immediate);
	if (flow != X86_BRANCH && flow != X86_JUMP && (flow != X86_CALL || !is_in_table))
		return;
	if (target < 0 || target > INT32_MAX || !code_has_address(analysis, target))
		return;
	if (flow == X86_BRANCH)
		*code_mark_at(analysis, target) |= MARK_BRANCHED;
	else if (flow == X86_JUMP)
		*code_mark_at(analysis, target) |= MARK_JUMPED;
	else if (may_start_function(analysis, target) && target != next)
		find_or_add_function_at(analysis, target, FUNCTION_STRONG);
}

/* True if `last` is `leave` or `pop %rbp`, and `instruction` is `ret n`, where n is the bytes of
 * some words. Bytes of data seldom look so. */
static bool is_frame_end_with_ret_n(const struct x86_instruction *last,
				    const struct x86_instruction *instruction)
{
	return instruction->map == X86_MAP_ONE_BYTE && instruction->opcode == 0xc2 &&
	       instruction->immediate > 0 && instruction->immediate < ARGUMENT_BYTES_MAX &&
	       instruction->immediate % 8 == 0 && last->map == X86_MAP_ONE_BYTE &&
	       (last->opcode == 0xc9 || (last->opcode == 0x5d && last->rm == X86_RBP));
}

static void note_addresses_in_instructions_of_range(struct code_analysis *analysis, u32 at, u32 end,
						    bool is_in_table)
{
	struct x86_instruction instruction, last = {};

	while (at < end) {
		if (code_decode_at(analysis, at, end, &instruction)) {
			note_addresses_in_instruction(analysis, at, &instruction, is_in_table);
			analysis->popping_ends +=
				!is_in_table && is_frame_end_with_ret_n(&last, &instruction);
			last = instruction;
			at += instruction.length;
		} else {
			at++;
		}
	}
}

static void note_addresses_in_code_gap(struct code_analysis *analysis, u32 start, u32 end)
{
	note_addresses_in_instructions_of_range(analysis, start, end, false);
}

static int compare_addresses(const void *left, const void *right)
{
	const u32 *a = left, *b = right;

	return (*a > *b) - (*a < *b);
}

static void note_addresses_in_all_code(struct code_analysis *analysis)
{
	const struct code_image *image = analysis->image;

	for (u32 i = 0; i < image->covered_count && !analysis->result; i++)
		if (code_has_address(analysis, image->covered[i].start) &&
		    image->covered[i].end <= image->end)
			note_addresses_in_instructions_of_range(analysis, image->covered[i].start,
								image->covered[i].end, true);
	visit_code_without_tables(analysis, note_addresses_in_code_gap);
	analysis->pops_arguments = analysis->popping_ends >= POPPING_ENDS_MIN;
	if (analysis->named_count)
		qsort(analysis->named, analysis->named_count, sizeof(*analysis->named),
		      compare_addresses);
	for (u32 i = 0; i < image->pointer_count; i++)
		if (code_has_address(analysis, image->pointers[i].target))
			*code_mark_at(analysis, image->pointers[i].target) |= MARK_TAKEN;
}

/* Marks the starts of functions that tables, symbols and the entry point tell. */
static void mark_known_starts(struct code_analysis *analysis)
{
	const struct code_image *image = analysis->image;

	for (u32 i = 0; i < image->covered_count; i++)
		if (code_has_address(analysis, image->covered[i].start))
			*code_mark_at(analysis, image->covered[i].start) |= MARK_START;
	for (u32 i = 0; i < image->symbol_count; i++)
		if (may_start_function(analysis, image->symbols[i].start))
			find_or_add_function_at(analysis, image->symbols[i].start, FUNCTION_STRONG);
	if (image->entry && may_start_function(analysis, image->entry))
		find_or_add_function_at(analysis, image->entry, FUNCTION_STRONG);
}

static void analyse_functions(struct code_analysis *analysis)
{
	u32 strong;

	mark_known_starts(analysis);
	note_addresses_in_all_code(analysis);
	strong = analysis->function_count;
	for (u32 i = 0; i < strong && !analysis->result; i++) {
		queue_idle_function(analysis, i);
		paths_follow_all(analysis);
	}
	if (analysis->image->has_symbols)
		follow_all_unreached_code(analysis);
	try_taken_addresses_as_functions(analysis);
	visit_code_without_tables(analysis, try_starts_in_gap);
	follow_all_unreached_code(analysis);
	/* Functions with a known start that turned out to be trampolines of signal handlers get no
	 * rule. */
	for (u32 i = 0; i < analysis->function_count && !analysis->result; i++)
		if (analysis->functions[i].status == STATUS_OPEN &&
		    !is_function_accepted(analysis, &analysis->functions[i])) {
			discard_analysis_of_function(analysis, i);
			mark_function_analysis_failed(analysis, i);
		}
	paths_follow_all(analysis);
}

int code_analysis_create(const struct code_image *image, struct code_analysis **out)
{
	u32 bytes = image->end - image->start;
	struct code_analysis *analysis = calloc(1, sizeof(*analysis));
	int result;

	if (!analysis)
		return -ENOMEM;
	analysis->image = image;
	if (image->machine == EM_AARCH64) {
		analysis->result = arm64_analysis_create(image, &analysis->arm64);
		goto out;
	}
	analysis->map = calloc(bytes + X86_LENGTH_MAX, sizeof(*analysis->map));
	analysis->marks = calloc(bytes + X86_LENGTH_MAX, 1);
	analysis->steps_max = (u64)STEPS_PER_BYTE * bytes + STEPS_LEAST;
	if (!analysis->map || !analysis->marks)
		analysis->result = -ENOMEM;
	else
		analyse_functions(analysis);
out:
	result = analysis->result;
	if (result)
		code_analysis_free(&analysis);
	else
		*out = analysis;
	return result;
}

void code_analysis_free(struct code_analysis **analysis_at)
{
	struct code_analysis *analysis = *analysis_at;

	if (!analysis)
		return;
	arm64_analysis_free(&analysis->arm64);
	free(analysis->map);
	free(analysis->marks);
	free(analysis->states);
	hash_index_free(&analysis->state_index);
	free(analysis->functions);
	hash_index_free(&analysis->function_index);
	free(analysis->edges);
	free(analysis->idle);
	free(analysis->changed);
	free(analysis->runs);
	free(analysis->waiters);
	free(analysis->users);
	free(analysis->named);
	free(analysis);
	*analysis_at = NULL;
}

const struct frame_state *code_analysis_state(const struct code_analysis *analysis, u32 address)
{
	u32 map = !analysis->arm64 && code_has_address(analysis, address)
			  ? *code_map_at(analysis, address)
			  : MAP_NOTHING;

	return map >= MAP_STATE ? &analysis->states[map - MAP_STATE] : NULL;
}

/* Makes the rule of a state. False: the state has no rule. A function that pops its arguments may
 * first add arguments and jump to another function, which pops these too. The distance from rsp to
 * the CFA is then not known during a call either, so the rule uses rbp if rbp points into the
 * frame. */
static bool make_rule_of_frame_state(const struct code_analysis *analysis, u32 number,
				     struct unwind_rule *rule)
{
	struct frame_state state = analysis->states[number];

	if (analysis->pops_arguments && frame_value_is_stack(state.reg[X86_RBP]))
		state.reg[X86_RSP] = (struct frame_value){};
	return frame_state_rule(&state, rule);
}

bool code_analysis_next_rule(const struct code_analysis *analysis, u32 *address, u32 end,
			     struct unwind_rule *rule, u32 *rule_end)
{
	u32 at = *address, map = MAP_NOTHING;

	if (analysis->arm64)
		return arm64_analysis_next_rule(analysis->arm64, address, end, rule, rule_end);
	if (end > analysis->image->end)
		end = analysis->image->end;
	for (; at < end; at++) {
		map = code_has_address(analysis, at) ? *code_map_at(analysis, at) : MAP_NOTHING;
		if (map >= MAP_STATE && make_rule_of_frame_state(analysis, map - MAP_STATE, rule))
			break;
	}
	if (at >= end)
		return false;
	*address = at++;
	while (at < end &&
	       (*code_map_at(analysis, at) == MAP_INSIDE || *code_map_at(analysis, at) == map))
		at++;
	*rule_end = at;
	return true;
}

void code_analysis_count(const struct code_analysis *analysis, struct code_analysis_counts *counts)
{
	*counts = (struct code_analysis_counts){
		.functions = analysis->function_count,
		.steps = analysis->steps,
		.states = analysis->state_count,
		.bytes = (u64)(analysis->image->end - analysis->image->start) * 5 +
			 (u64)analysis->state_room * sizeof(*analysis->states) +
			 (u64)analysis->function_room * sizeof(*analysis->functions) +
			 (u64)analysis->run_room * sizeof(*analysis->runs) +
			 (u64)analysis->waiter_room * sizeof(*analysis->waiters) +
			 (u64)analysis->user_room * sizeof(*analysis->users),
	};
	for (u32 i = 0; i < analysis->function_count; i++) {
		counts->accepted += analysis->functions[i].status == STATUS_OPEN;
		counts->failed += analysis->functions[i].status == STATUS_FAILED;
	}
}
