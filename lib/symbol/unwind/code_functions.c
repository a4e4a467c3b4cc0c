/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Lists are chains of indexes in arrays that only grow. If a function was undone after an entry was
 * added, the number of tries in the entry differs from that of the function. */
#include "code_functions.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "order.h"

/* --- Addresses. --- */

/* Returns the last span that begins at or before the address; NULL: there is none. */
const struct file_span *code_span_before(const struct file_span *spans, u32 count, u32 address)
{
	u32 index = bisect(count, i, spans[i].start <= address);

	return index ? &spans[index - 1] : NULL;
}

bool code_is_in_spans(const struct file_span *spans, u32 count, u32 address)
{
	const struct file_span *span = code_span_before(spans, count, address);

	return span && address < span->end;
}

/* Returns the section that holds an address; empty: the address is not code. */
struct file_span code_section_at(const struct code_analysis *analysis, u32 address)
{
	const struct file_span *section = code_span_before(analysis->image->sections,
							   analysis->image->section_count, address);

	return section && address < section->end ? *section : (struct file_span){};
}

u32 code_section_end(const struct code_analysis *analysis, u32 address)
{
	return code_section_at(analysis, address).end;
}

bool code_is_covered(const struct code_analysis *analysis, u32 address)
{
	return code_is_in_spans(analysis->image->covered, analysis->image->covered_count, address);
}

bool code_decode_at(struct code_analysis *analysis, u32 at, u32 end,
		    struct x86_instruction *instruction)
{
	const u8 *bytes = analysis->image->bytes + (at - analysis->image->start);

	analysis->steps++;
	if (*bytes != 0xf0)
		return x86_decode(bytes, end - at, instruction);
	/* A jump may lead to the byte after a lock prefix, so the prefix counts as an instruction
	 * of its own. */
	*instruction = (struct x86_instruction){.length = 1, .opcode = 0xf0};
	return true;
}

bool code_is_padding(const struct x86_instruction *instruction)
{
	u8 opcode = instruction->opcode;

	if (instruction->map == X86_MAP_0F)
		return opcode == 0x1f;
	return instruction->map == X86_MAP_ONE_BYTE &&
	       ((opcode == 0x90 && instruction->rm == 0) || opcode == 0xcc ||
		(opcode == 0x8d && !instruction->displacement &&
		 instruction->reg == instruction->base && instruction->index == X86_NO_REGISTER));
}

const struct code_pointer *code_pointer_at(const struct code_analysis *analysis, u32 slot)
{
	const struct code_pointer *pointers = analysis->image->pointers;
	u32 count = analysis->image->pointer_count;
	u32 index = bisect(count, i, pointers[i].slot < slot);

	return index < count && pointers[index].slot == slot ? &pointers[index] : NULL;
}

bool code_is_noreturn(const struct code_analysis *analysis, u32 slot)
{
	const u32 *noreturn = analysis->image->noreturn;
	u32 count = analysis->image->noreturn_count;
	u32 index = bisect(count, i, noreturn[i] < slot);

	return index < count && noreturn[index] == slot;
}

/* --- Frame states and functions. --- */

static bool is_same_state(const void *things, u32 index, const void *key)
{
	const struct frame_state *states = things;

	return !memcmp(&states[index], key, sizeof(*states));
}

u32 find_or_add_frame_state(struct code_analysis *analysis, const struct frame_state *state)
{
	u32 hash = hash_end(hash_words(0, state, sizeof(*state)));
	u32 found = hash_index_find(&analysis->state_index, hash, is_same_state, analysis->states,
				    state);

	if (found != HASH_INDEX_NONE)
		return found;
	if (array_make_room(analysis->states, analysis->state_count, analysis->state_room) ||
	    hash_index_add(&analysis->state_index, hash, analysis->state_count)) {
		analysis->result = -ENOMEM;
		return NONE;
	}
	analysis->states[analysis->state_count] = *state;
	return analysis->state_count++;
}

static bool is_function_at(const void *things, u32 index, const void *key)
{
	const struct function *functions = things;

	return functions[index].start == *(const u32 *)key;
}

static u32 function_hash(u32 start)
{
	u64 word = start;

	return hash_end(hash_words(0, &word, sizeof(word)));
}

u32 function_find(const struct code_analysis *analysis, u32 start)
{
	return hash_index_find(&analysis->function_index, function_hash(start), is_function_at,
			       analysis->functions, &start);
}

/* The start of the next function that has a name or a table, or the end of the section. */
static u32 next_function_start(const struct code_analysis *analysis, u32 address)
{
	const struct code_image *image = analysis->image;
	const struct file_span *span =
		code_span_before(image->symbols, image->symbol_count, address);
	u32 next = code_section_end(analysis, address), i;

	i = span ? span - image->symbols + 1 : 0;
	if (i < image->symbol_count && image->symbols[i].start < next)
		next = image->symbols[i].start;
	span = code_span_before(image->covered, image->covered_count, address);
	i = span ? span - image->covered + 1 : 0;
	if (i < image->covered_count && image->covered[i].start < next)
		next = image->covered[i].start;
	return next;
}

/* Returns the number of the function that begins at `start`; a new function is added. NONE: no
 * memory. */
u32 find_or_add_function_at(struct code_analysis *analysis, u32 start, u32 kind)
{
	u32 found = function_find(analysis, start);
	const struct file_span *symbol;
	struct function *function;

	if (found != HASH_INDEX_NONE) {
		function = &analysis->functions[found];
		if (function->kind > kind)
			function->kind = kind;
	} else {
		if (array_make_room(analysis->functions, analysis->function_count,
				    analysis->function_room) ||
		    hash_index_add(&analysis->function_index, function_hash(start),
				   analysis->function_count)) {
			analysis->result = -ENOMEM;
			return NONE;
		}
		found = analysis->function_count++;
		function = &analysis->functions[found];
		*function = (struct function){.start = start, .kind = kind, .jump_state = NONE};
		if (kind == FUNCTION_COVERED || code_is_covered(analysis, start))
			function->kind = FUNCTION_COVERED;
		function->end = next_function_start(analysis, start);
		symbol = code_span_before(analysis->image->symbols, analysis->image->symbol_count,
					  start);
		if (symbol && symbol->start == start && symbol->end > start &&
		    symbol->end < function->end)
			function->end = symbol->end;
	}
	if (function->kind != FUNCTION_WEAK)
		*code_mark_at(analysis, start) |= MARK_START;
	return found;
}

void queue_idle_function(struct code_analysis *analysis, u32 number)
{
	if (array_make_room(analysis->idle, analysis->idle_count, analysis->idle_room))
		analysis->result = -ENOMEM;
	else
		analysis->idle[analysis->idle_count++] = number;
}

void queue_edge_to_follow(struct code_analysis *analysis, const struct edge *edge)
{
	if (edge->state == NONE ||
	    array_make_room(analysis->edges, analysis->edge_count, analysis->edge_room))
		analysis->result = -ENOMEM;
	else
		analysis->edges[analysis->edge_count++] = *edge;
}

/* --- Effects of a function on its callers. --- */

void discard_analysis_of_function(struct code_analysis *analysis, u32 number)
{
	struct function *function = &analysis->functions[number];

	for (u32 i = function->runs; i; i = analysis->runs[i - 1].next) {
		const struct run *run = &analysis->runs[i - 1];

		memset(code_map_at(analysis, run->start), 0,
		       (run->end - run->start) * sizeof(*analysis->map));
	}
	function->runs = 0;
	function->status = STATUS_IDLE;
	function->has_exit = function->has_switch = false;
	function->has_aligned = function->has_unaligned = false;
	function->has_jumps = function->jumps_differ = function->is_filled = false;
	function->is_trampoline = false;
	function->jump_state = NONE;
	function->tries++;
}

/* Marks a function as one that returns, and lets the paths go on that wait for this. If a waiting
 * path belongs to a function that ended in a tail call, this function returns, too, and so on along
 * the chain. */
void function_set_returns(struct code_analysis *analysis, u32 number)
{
	u32 chain = number, next;

	if (analysis->functions[number].returns)
		return;
	analysis->functions[number].returns = true;
	/* While the list is walked, the waiters of further functions of the chain are inserted. */
	for (u32 i = analysis->functions[chain].waiters; i; i = next) {
		struct waiter *waiter = &analysis->waiters[i - 1];
		struct function *function = &analysis->functions[waiter->edge.function];

		next = waiter->next;
		if (waiter->edge.tries != function->tries || function->status != STATUS_OPEN)
			continue;
		if (waiter->edge.state != NONE) {
			queue_edge_to_follow(analysis, &waiter->edge);
		} else if (!function->returns) {
			u32 last = function->waiters;

			function->returns = true;
			/* Insert the waiters of this function before the rest of the list. */
			while (last && analysis->waiters[last - 1].next)
				last = analysis->waiters[last - 1].next;
			if (last) {
				analysis->waiters[last - 1].next = next;
				next = function->waiters;
				function->waiters = 0;
			}
		}
	}
	analysis->functions[chain].waiters = 0;
}

/* Records registers that the function does not keep; the function's callers are then tried
 * again. */
void function_add_lost_registers(struct code_analysis *analysis, u32 number, u32 lost)
{
	struct function *function = &analysis->functions[number];

	if (function->kind == FUNCTION_COVERED || !(lost & ~function->lost))
		return;
	function->lost |= lost;
	if (function->has_changed)
		return;
	function->has_changed = true;
	if (array_make_room(analysis->changed, analysis->changed_count, analysis->changed_room))
		analysis->result = -ENOMEM;
	else
		analysis->changed[analysis->changed_count++] = number;
}

void mark_function_analysis_failed(struct code_analysis *analysis, u32 number)
{
	analysis->functions[number].status = STATUS_FAILED;
	function_add_lost_registers(analysis, number, ALL_SAVED);
	function_set_returns(analysis, number);
}

/* Undoes what is known of a function and tries the function again, unless it had too many tries. */
void retry_analysis_of_function(struct code_analysis *analysis, u32 number)
{
	struct function *function = &analysis->functions[number];

	if (function->status != STATUS_OPEN)
		return;
	discard_analysis_of_function(analysis, number);
	if (function->tries >= TRIES_MAX)
		mark_function_analysis_failed(analysis, number);
	else
		queue_idle_function(analysis, number);
}

/* Records the registers that code has changed before it enters this function by a tail call (a bit
 * for each slot of a rule). */
void record_registers_lost_at_entry(struct code_analysis *analysis, u32 number, u32 lost)
{
	struct function *function = &analysis->functions[number];

	if (function->kind == FUNCTION_COVERED || !(lost & ~function->entry_lost))
		return;
	function->entry_lost |= lost;
	retry_analysis_of_function(analysis, number);
}

/* Analyses the callers of a function again, since the function preserves fewer registers than the
 * analysis of the callers has assumed. */
void retry_callers_of_function(struct code_analysis *analysis, u32 number)
{
	analysis->functions[number].has_changed = false;
	for (u32 i = analysis->functions[number].users; i; i = analysis->users[i - 1].next)
		retry_analysis_of_function(analysis, analysis->users[i - 1].function);
}

/* A path of the function has a contradiction: the function is tried again with the path ending at
 * its last call, or given up. */
void retry_or_fail_function_at_edge(struct code_analysis *analysis, const struct edge *edge)
{
	struct function *function = &analysis->functions[edge->function];

	discard_analysis_of_function(analysis, edge->function);
	if (function->is_filling) {
		function->fill_failed = true;
		queue_idle_function(analysis, edge->function);
		return;
	}
	if (edge->call == NONE || function->tries >= TRIES_MAX ||
	    *code_mark_at(analysis, edge->call) & MARK_ENDS) {
		mark_function_analysis_failed(analysis, edge->function);
		return;
	}
	*code_mark_at(analysis, edge->call) |= MARK_ENDS;
	queue_idle_function(analysis, edge->function);
}

void add_path_waiting_for_callee(struct code_analysis *analysis, u32 callee,
				 const struct edge *edge)
{
	struct function *function = &analysis->functions[callee];

	if (array_make_room(analysis->waiters, analysis->waiter_count, analysis->waiter_room)) {
		analysis->result = -ENOMEM;
		return;
	}
	analysis->waiters[analysis->waiter_count++] = (struct waiter){*edge, function->waiters};
	function->waiters = analysis->waiter_count;
}

void add_caller_of_function(struct code_analysis *analysis, u32 callee, u32 number)
{
	struct function *function = &analysis->functions[callee];

	if (function->kind == FUNCTION_COVERED ||
	    (function->users && analysis->users[function->users - 1].function == number))
		return;
	if (array_make_room(analysis->users, analysis->user_count, analysis->user_room)) {
		analysis->result = -ENOMEM;
		return;
	}
	analysis->users[analysis->user_count++] = (struct user){number, function->users};
	function->users = analysis->user_count;
}

/* Records that the function ends in a tail call of `other`: the function returns if `other`
 * does. */
void record_tail_call_of_function(struct code_analysis *analysis, u32 number, u32 other)
{
	struct edge edge = {
		.function = number, .state = NONE, .tries = analysis->functions[number].tries};

	if (number == other)
		return;
	if (analysis->functions[other].returns)
		function_set_returns(analysis, number);
	else
		add_path_waiting_for_callee(analysis, other, &edge);
}
