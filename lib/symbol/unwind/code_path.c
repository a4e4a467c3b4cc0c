/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* How a path begins, meets others, and ends. */
#include "code_path.h"

#include <errno.h>
#include <string.h>

#include "array.h"

/* What the path has gone through belongs to its function. */
void path_flush(struct path *path)
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

struct function *path_function(const struct path *path)
{
	return &path->analysis->functions[path->edge.function];
}

void path_end(struct path *path)
{
	path->is_over = true;
}

void path_contradict(struct path *path)
{
	if (path->is_over)
		return;
	path_flush(path);
	function_fail(path->analysis, &path->edge);
	path->is_over = true;
}

/* The path ends with an exit that proves its depth. */
void path_exit(struct path *path, bool returns)
{
	struct function *function = path_function(path);

	if (path->state.flags & FRAME_OUTERMOST) {
		path_end(path);
		return;
	}
	function->has_exit = true;
	function_set_lost(path->analysis, path->edge.function, frame_state_changed(&path->state));
	if (returns && path_function(path)->tries == path->edge.tries)
		function_set_returns(path->analysis, path->edge.function);
	path_end(path);
}

/* To a function that is known, which is entered with nothing on the stack. */
void path_tail_call(struct path *path, u32 target, u32 kind)
{
	struct code_analysis *analysis = path->analysis;
	u32 other = function_at(analysis, target, kind);

	path_flush(path);
	if (code_is_noreturn(analysis, target)) {
		path_end(path);
		return;
	}
	if (other == NONE) {
		path_end(path);
		return;
	}
	if (!(path->state.flags & FRAME_OUTERMOST) && !frame_state_is_bare(&path->state)) {
		path_contradict(path);
		return;
	}
	if (analysis->functions[other].status == STATUS_IDLE)
		function_wake(analysis, other);
	if (path->state.flags & FRAME_OUTERMOST) {
		path_end(path);
		return;
	}
	path_function(path)->has_exit = true;
	user_add(analysis, other, path->edge.function);
	function_leave_to(analysis, path->edge.function, other);
	function_set_lost(analysis, path->edge.function,
			  frame_state_changed(&path->state) | analysis->functions[other].lost);
	function_enter_without(analysis, other, frame_state_changed(&path->state));
	path_end(path);
}

u32 path_state(struct path *path)
{
	if (path->number == NONE)
		path->number = state_intern(path->analysis, &path->state);
	return path->number;
}

/* Another path from here. */
void path_fork(struct path *path, u32 target, const struct frame_state *state)
{
	struct edge edge = path->edge;

	edge.at = target;
	edge.state = state == &path->state ? path_state(path) : state_intern(path->analysis, state);
	edge_add(path->analysis, &edge);
}

/* Code of another function: both are right if they agree. */
static void join(struct path *path, u32 owner, const struct frame_state *there)
{
	struct code_analysis *analysis = path->analysis;
	u32 number = path->edge.function, at = path->edge.at;
	struct function *function = path_function(path), *other = &analysis->functions[owner];

	path_flush(path);
	if (frame_state_agrees(there, &path->state)) {
		function->has_exit = true;
		user_add(analysis, owner, number);
		function_leave_to(analysis, number, owner);
		function_set_lost(analysis, number, other->lost);
		path_end(path);
	} else if (at == other->start && frame_state_is_bare(&path->state)) {
		path_tail_call(path, at, other->kind);
	} else if (function->kind > other->kind) {
		path_contradict(path);
	} else if (other->kind > function->kind) {
		function_undo(analysis, owner);
		function_give_up(analysis, owner);
	} else {
		*code_mark_at(analysis, at) |= MARK_DISPUTED;
		function_retry(analysis, owner);
		path_end(path);
	}
}

/* Brings the path's state to where it is. True: the instruction is to be followed from there. */
static bool arrive(struct path *path)
{
	struct code_analysis *analysis = path->analysis;
	u32 *map = code_map_at(analysis, path->edge.at), before = *map;
	const struct frame_state *there;
	struct frame_state both;

	if (before == MAP_INSIDE) {
		path_contradict(path);
		return false;
	}
	if (before == MAP_NOTHING)
		return true;
	there = &analysis->states[before - MAP_STATE];
	if (there->owner != path->edge.function) {
		join(path, there->owner, there);
		return !path->is_over;
	}
	both = *there;
	if (!frame_state_meet(&both, &path->state)) {
		path_contradict(path);
		return false;
	}
	if (!memcmp(&both, there, sizeof(both))) {
		path_end(path);
		return false;
	}
	path->state = both;
	path->number = NONE;
	path->compared.reg = X86_NO_REGISTER;
	return true;
}

/* False: parts of it belong to other instructions. */
bool path_occupy(struct path *path, u32 length)
{
	u32 *map = code_map_at(path->analysis, path->edge.at);
	u32 state = path_state(path);

	if (state == NONE)
		return true; /* no memory: that ends everything */
	for (u32 i = 1; i < length; i++)
		if (map[i] > MAP_INSIDE || (map[i] == MAP_INSIDE && map[0] < MAP_STATE))
			return false;
	if (path->run_end != path->edge.at) {
		path_flush(path);
		path->run_start = path->edge.at;
	}
	path->run_end = path->edge.at + length;
	map[0] = state + MAP_STATE;
	for (u32 i = 1; i < length; i++)
		map[i] = MAP_INSIDE;
	return true;
}

void path_note_jump(struct path *path)
{
	struct function *function = path_function(path);

	if (function->jump_state != NONE) {
		struct frame_state both = path->analysis->states[function->jump_state];

		if (frame_state_meet(&both, &path->state))
			function->jump_state = state_intern(path->analysis, &both);
		else
			function->jumps_differ = true;
	} else {
		function->jump_state = path_state(path);
	}
	function->has_jumps = true;
}

/* A jump that leaves no doubt where it leads. */
void path_go_to(struct path *path, s64 target)
{
	struct code_analysis *analysis = path->analysis;

	if (target < 0 || target > INT32_MAX || !code_is_within(analysis, target) ||
	    !code_section_end(analysis, target)) {
		path_contradict(path);
		return;
	}
	*code_mark_at(analysis, target) |= MARK_JUMPED;
	if (*code_mark_at(analysis, target) & MARK_START && target != path_function(path)->start) {
		path_tail_call(path, target, FUNCTION_STRONG);
		return;
	}
	path->edge.at = target;
	path->behind_call = 0;
	path->compared.reg = X86_NO_REGISTER;
}

void path_branch_to(struct path *path, s64 target, const struct frame_state *state)
{
	struct code_analysis *analysis = path->analysis;

	if (target < 0 || target > INT32_MAX || !code_is_within(analysis, target) ||
	    !code_section_end(analysis, target)) {
		path_contradict(path);
		return;
	}
	*code_mark_at(analysis, target) |= MARK_JUMPED;
	path_fork(path, target, state);
}

/* What lies before an instruction may end a path. */
static bool goes_on(struct path *path, u32 end)
{
	struct code_analysis *analysis = path->analysis;
	u32 at = path->edge.at;
	u8 mark;

	if (at >= end) {
		if (path->behind_call)
			path_end(path);
		else
			path_contradict(path);
		return false;
	}
	mark = *code_mark_at(analysis, at);
	if (mark & MARK_DISPUTED) {
		path_end(path);
		return false;
	}
	if (path->behind_call && at != path->behind_call && !(mark & MARK_START) &&
	    !analysis->image->has_symbols && at % 16 == 0 &&
	    !(mark & (MARK_BRANCHED | MARK_JUMPED))) {
		struct x86_instruction instruction;

		/* Padding behind a call, and no jump needs the alignment: another function. */
		if (code_decode_at(analysis, at, end, &instruction) &&
		    !code_is_padding(&instruction)) {
			path_end(path);
			return false;
		}
	}
	if (mark & MARK_START && at != path_function(path)->start) {
		if (path->behind_call)
			path_end(path);
		else
			path_tail_call(path, at, FUNCTION_STRONG);
		return false;
	}
	return true;
}

static void follow_edge(struct code_analysis *analysis, const struct edge *edge)
{
	struct path path = {
		.analysis = analysis,
		.edge = *edge,
		.state = analysis->states[edge->state],
		.number = edge->state,
		.compared = {.reg = X86_NO_REGISTER},
		.run_start = edge->at,
		.run_end = edge->at,
	};
	struct file_span section = {};

	while (!path.is_over && !analysis->result) {
		u32 at = path.edge.at;

		if (analysis->steps > analysis->steps_max) {
			analysis->result = -E2BIG;
			return;
		}
		if (at < section.start || at >= section.end)
			section = code_section_at(analysis, at);
		if (!goes_on(&path, section.end) || !arrive(&path))
			break;
		path_follow(&path, section.end);
	}
	if (path_function(&path)->tries == edge->tries)
		path_flush(&path);
}

static void open_function(struct code_analysis *analysis, u32 number)
{
	struct function *function = &analysis->functions[number];
	struct frame_state state;
	struct edge edge = {
		.function = number, .at = function->start, .call = NONE, .tries = function->tries};

	if (function->status != STATUS_IDLE)
		return;
	function->status = STATUS_OPEN;
	frame_state_at_entry(&state, number);
	frame_state_lose(&state, function->entry_lost);
	if (analysis->image->entry && function->start == analysis->image->entry)
		state.flags |= FRAME_OUTERMOST;
	edge.state = state_intern(analysis, &state);
	edge_add(analysis, &edge);
}

/* Follows all paths that can be followed. */
void paths_follow_all(struct code_analysis *analysis)
{
	while (!analysis->result) {
		if (analysis->changed_count) {
			function_retry_users(analysis,
					     analysis->changed[--analysis->changed_count]);
		} else if (analysis->edge_count) {
			struct edge edge = analysis->edges[--analysis->edge_count];
			const struct function *function = &analysis->functions[edge.function];

			if (function->status == STATUS_OPEN && function->tries == edge.tries)
				follow_edge(analysis, &edge);
		} else if (analysis->idle_count) {
			open_function(analysis, analysis->idle[--analysis->idle_count]);
		} else {
			return;
		}
	}
}
