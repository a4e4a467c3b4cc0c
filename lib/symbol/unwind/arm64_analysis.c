/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Each function is followed from its start along all paths, with the state of its frame
 * (arm64_frame.h). docs/internals/code_analysis.md describes the method for x86-64; here it is
 * simpler, since all instructions have four bytes:
 *
 * - Functions start at symbols, at the entry point, and at targets of calls in code that is reached
 *   or has a table. The targets of pointers, the addresses that adr and adrp make, and the first
 *   instruction after padding, a jump or a return are tried as starts: such a start counts if a
 *   path from it ends with a return.
 * - A contradiction undoes a whole function, or a whole trial: a return with something on the stack
 *   or without the return address, two depths at one place, a known function entered with a stack.
 *   A continuation after a call always takes a frame off the stack, so code that was taken for a
 *   start or for a continuation by mistake contradicts itself.
 * - Code after a call is followed when the callee is known to return, or is not known. Where
 * another function begins directly after such code, the last call is taken for one that does not
 * return, and the function is followed again.
 * - Targets of an indirect jump are not read. If all indirect jumps of a function have the same
 *   state of the frame, code of the function that no path reaches is tried with this state.
 * - Code that makes the system calls clone() or rt_sigreturn() has no rules.
 */
#include "arm64_analysis.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "hash_index.h"
#include "order.h"

#define NONE UINT32_MAX
#define BYTES 4 /* length of an instruction */
#define STEPS_PER_INSTRUCTION 128
#define STEPS_LEAST 1000000
#define NOP 0xd503201f
#define TRIAL                                                                                      \
	(1U << 31) /* in the owner of an instruction: the instruction was entered in this trial */

/* The bits of the mark that each instruction has. */
#define MARK_CODE 1    /* the instruction is in a section of code */
#define MARK_COVERED 2 /* an unwind table of the file has a rule for the instruction */
#define MARK_START 4   /* a function begins with the instruction */
#define MARK_ENDS 8    /* the instruction is a call that is taken for one that does not return */

#define TRIES_MAX 12
#define PADDING_MAX 16 /* the most instructions of padding between functions */

/* A function that is followed again is a new one, and the old one is retired. */
enum function_status { FUNCTION_IDLE, FUNCTION_OPEN, FUNCTION_FAILED, FUNCTION_RETIRED };

struct arm64_function {
	u32 start, end; /* indexes of instructions; end = start: not known */
	u8 status;	/* enum function_status */
	u8 tries;
	bool returns;	   /* a path leaves the function */
	bool has_jumps;	   /* the function has jumps with unknown targets */
	bool jumps_differ; /* the frame has different states at the function's jumps with unknown
			      targets, so no state is known for the code that they may lead to */
	u32 jump_state;	   /* number of the frame's state at the jumps with unknown targets */
	u32 waiters;	   /* index + 1 of the first path that waits for the function to return */
};

/* A path that is to be followed from an instruction. */
struct arm64_path {
	u32 function, at, state;
	u32 call; /* the last call on the path; NONE: no call */
	u32 next; /* index + 1 of the next waiter of the same function */
};

/* State and owner of an instruction before a trial. */
struct arm64_undo {
	u32 at, state, owner;
};

struct arm64_analysis {
	const struct code_image *image;
	u32 count;  /* number of instructions of the image */
	u32 *state; /* state of each instruction: index in `frames` + 1; 0 = not reached */
	u32 *owner; /* function of each instruction: index in `functions` */
	u8 *marks;
	struct arm64_frame *frames;
	u32 frame_count, frame_room;
	struct hash_index frame_index;
	struct arm64_function *functions;
	u32 function_count, function_room;
	struct hash_index function_index; /* finds a function by its start */
	struct arm64_path *paths;	  /* paths that are still to be followed */
	u32 path_count, path_room;
	struct arm64_path *waiters;
	u32 waiter_count, waiter_room;
	u32 call; /* the last call on the path that is followed */
	bool is_trial, has_contradiction;
	u32 blamed;    /* the call that explains the contradiction of a trial; NONE: no call does */
	bool has_exit; /* a path has ended with a return, which proves that the stack is empty there
			*/
	bool has_joined; /* a path of the trial has reached code that was known before as code of
			    the same function, with the same state of the frame */
	struct arm64_undo *undo;
	u32 undo_count, undo_room;
	u32 *called; /* starts that a trial has found */
	u32 called_count, called_room;
	u64 steps, steps_max;
	int result;
};

/* --- Instructions and states. --- */

static u32 code_at(const struct arm64_analysis *analysis, u32 at)
{
	u32 code;

	memcpy(&code, analysis->image->bytes + (u64)at * BYTES, sizeof(code));
	return code;
}

/* The index of the instruction at an address; NONE: the file has no code there. */
static u32 index_of(const struct arm64_analysis *analysis, s64 address)
{
	u64 at = (u64)(address - analysis->image->start) / BYTES;

	if (address < analysis->image->start || address % BYTES || at >= analysis->count)
		return NONE;
	return analysis->marks[at] & MARK_CODE ? at : NONE;
}

static bool is_same_frame(const void *things, u32 index, const void *key)
{
	const struct arm64_frame *frames = things;

	return !memcmp(&frames[index], key, sizeof(*frames));
}

/* The number of a state, which is added if it is new. */
static u32 number_of_frame(struct arm64_analysis *analysis, const struct arm64_frame *frame)
{
	u32 hash = hash_end(hash_words(0, frame, sizeof(*frame)));
	u32 found = hash_index_find(&analysis->frame_index, hash, is_same_frame, analysis->frames,
				    frame);

	if (found != HASH_INDEX_NONE)
		return found;
	if (array_make_room(analysis->frames, analysis->frame_count, analysis->frame_room) ||
	    hash_index_add(&analysis->frame_index, hash, analysis->frame_count)) {
		analysis->result = -ENOMEM;
		return 0;
	}
	analysis->frames[analysis->frame_count] = *frame;
	return analysis->frame_count++;
}

/* The number of the frame's state at an instruction + 1; 0: no path has reached the instruction, or
 * the function that it belongs to was given up. */
static u32 state_at(const struct arm64_analysis *analysis, u32 at)
{
	u32 state = analysis->state[at];

	return state && analysis->functions[analysis->owner[at]].status == FUNCTION_OPEN ? state
											 : 0;
}

/* True if a function has entered the instruction, unless it was followed again without. */
static bool is_reached(const struct arm64_analysis *analysis, u32 at)
{
	return analysis->state[at] &&
	       analysis->functions[analysis->owner[at]].status != FUNCTION_RETIRED;
}

/* --- Functions. --- */

static u32 hash_of_start(u32 start)
{
	return hash_end(hash_word(0, start));
}

static bool is_function_at(const void *things, u32 index, const void *key)
{
	const struct arm64_function *functions = things;

	return functions[index].start == *(const u32 *)key &&
	       functions[index].status != FUNCTION_RETIRED;
}

static u32 function_at(const struct arm64_analysis *analysis, u32 start)
{
	return hash_index_find(&analysis->function_index, hash_of_start(start), is_function_at,
			       analysis->functions, &start);
}

/* The number of the function that begins at an instruction; NONE: out of memory. */
static u32 find_or_add_function(struct arm64_analysis *analysis, u32 start)
{
	u32 found = function_at(analysis, start);

	if (found != HASH_INDEX_NONE)
		return found;
	if (array_make_room(analysis->functions, analysis->function_count,
			    analysis->function_room) ||
	    hash_index_add(&analysis->function_index, hash_of_start(start),
			   analysis->function_count)) {
		analysis->result = -ENOMEM;
		return NONE;
	}
	analysis->functions[analysis->function_count] =
		(struct arm64_function){.start = start, .end = start};
	analysis->marks[start] |= MARK_START;
	return analysis->function_count++;
}

static void add_path(struct arm64_analysis *analysis, u32 function, u32 at,
		     const struct arm64_frame *frame, u32 call)
{
	u32 state = number_of_frame(analysis, frame);

	if (array_make_room(analysis->paths, analysis->path_count, analysis->path_room))
		analysis->result = -ENOMEM;
	else
		analysis->paths[analysis->path_count++] =
			(struct arm64_path){function, at, state, call, 0};
}

/* Begins to follow a function that no path has entered yet. */
static void begin_function(struct arm64_analysis *analysis, u32 number)
{
	struct arm64_function *function = &analysis->functions[number];

	if (function->status != FUNCTION_IDLE)
		return;
	function->status = FUNCTION_OPEN;
	analysis->marks[function->start] |= MARK_START;
	add_path(analysis, number, function->start, &arm64_frame_at_entry, NONE);
}

/* Marks a function as one that returns. Paths that wait for the function go on; during a trial they
 * wait until the trial has ended. */
static void mark_function_as_returning(struct arm64_analysis *analysis, u32 number)
{
	u32 waiter = analysis->functions[number].waiters;

	analysis->functions[number].returns = true;
	if (analysis->is_trial)
		return;
	analysis->functions[number].waiters = 0;
	while (waiter) {
		struct arm64_path path = analysis->waiters[waiter - 1];

		waiter = path.next;
		if (array_make_room(analysis->paths, analysis->path_count, analysis->path_room))
			analysis->result = -ENOMEM;
		else
			analysis->paths[analysis->path_count++] = path;
	}
}

/* Adds a path of `function` that goes on at instruction `at` once function `number` is known to
 * return. */
static void add_path_waiting_for_return(struct arm64_analysis *analysis, u32 number, u32 function,
					u32 at, u32 state)
{
	u32 *first = &analysis->functions[number].waiters;

	if (array_make_room(analysis->waiters, analysis->waiter_count, analysis->waiter_room)) {
		analysis->result = -ENOMEM;
		return;
	}
	analysis->waiters[analysis->waiter_count++] =
		(struct arm64_path){function, at, state, analysis->call, *first};
	*first = analysis->waiter_count;
}

/* Called when a function has two facts that exclude each other: a trial then fails; without a trial
 * the function is given up, and its callers are followed as if it returned. */
static void record_contradiction_in_function(struct arm64_analysis *analysis, u32 number)
{
	if (analysis->is_trial) {
		analysis->has_contradiction = true;
		return;
	}
	analysis->functions[number].status = FUNCTION_FAILED;
	mark_function_as_returning(analysis, number);
}

/* A path of the function cannot be right. If a call on the path explains this by not returning, the
 * function is followed again without the code after the call. */
static void contradict_unless_call_ends(struct arm64_analysis *analysis, u32 number, u32 call)
{
	struct arm64_function again = analysis->functions[number];

	if (analysis->is_trial && !analysis->has_contradiction)
		analysis->blamed = call;
	if (analysis->is_trial || call == NONE || again.tries == TRIES_MAX) {
		record_contradiction_in_function(analysis, number);
		return;
	}
	analysis->marks[call] |= MARK_ENDS;
	analysis->functions[number].status = FUNCTION_RETIRED;
	number = find_or_add_function(analysis, again.start);
	if (number == NONE)
		return;
	again.has_jumps = again.jumps_differ = false;
	again.status = FUNCTION_IDLE;
	again.tries++;
	analysis->functions[number] = again;
	begin_function(analysis, number);
}

/* --- Calls. --- */

static void record_start_found_in_trial(struct arm64_analysis *analysis, u32 at)
{
	if (array_make_room(analysis->called, analysis->called_count, analysis->called_room))
		analysis->result = -ENOMEM;
	else
		analysis->called[analysis->called_count++] = at;
}

/* Handles a direct call on a path. True: the path goes on after the call; false: the path ends at
 * the call, or waits until the called function is known to return. */
static bool follow_call(struct arm64_analysis *analysis, u32 function, u32 at, s64 target,
			const struct arm64_frame *frame)
{
	u32 called = index_of(analysis, target), number;

	if (arm64_is_call_without_return(analysis->image, target))
		return false;
	if (called == NONE || analysis->marks[called] & MARK_COVERED)
		return true;
	number = function_at(analysis, called);
	if (analysis->is_trial) {
		if (number == HASH_INDEX_NONE)
			record_start_found_in_trial(analysis, called);
		return number == HASH_INDEX_NONE ||
		       analysis->functions[number].status == FUNCTION_IDLE ||
		       analysis->functions[number].returns;
	}
	number = find_or_add_function(analysis, called);
	if (number == NONE)
		return false;
	begin_function(analysis, number);
	if (analysis->functions[number].returns)
		return true;
	add_path_waiting_for_return(analysis, number, function, at + 1,
				    number_of_frame(analysis, frame));
	return false;
}

/* Ends a path that jumps to the start of another function: the path's function returns if the other
 * function does. */
static void end_path_at_tail_call(struct arm64_analysis *analysis, u32 function, u32 called)
{
	u32 number = function_at(analysis, called);

	if (analysis->is_trial || number == HASH_INDEX_NONE ||
	    analysis->functions[number].returns) {
		mark_function_as_returning(analysis, function);
		return;
	}
	begin_function(analysis, number);
	add_path_waiting_for_return(analysis, number, function, NONE, 0);
}

/* --- Paths. --- */

static void set_state(struct arm64_analysis *analysis, u32 at, u32 state, u32 owner)
{
	if (analysis->is_trial) {
		if (array_make_room(analysis->undo, analysis->undo_count, analysis->undo_room)) {
			analysis->result = -ENOMEM;
			return;
		}
		analysis->undo[analysis->undo_count++] =
			(struct arm64_undo){at, analysis->state[at], analysis->owner[at]};
	}
	analysis->state[at] = state + 1;
	analysis->owner[at] = owner | (analysis->is_trial ? TRIAL : 0);
}

/* The call of a function directly before an instruction, apart from padding; NONE: no such call. */
static u32 call_before(const struct arm64_analysis *analysis, u32 at, u32 function)
{
	s64 distance;

	for (u32 i = 0; i < PADDING_MAX && at--; i++) {
		enum arm64_flow flow = arm64_flow_of(code_at(analysis, at), &distance);

		if (flow == ARM64_CALL || flow == ARM64_CALL_INDIRECT)
			return analysis->state[at] && analysis->owner[at] == function ? at : NONE;
		if (code_at(analysis, at) != NOP)
			break;
	}
	return NONE;
}

/* Enters an instruction with a state, which becomes the common part of all states with which the
 * function enters it. False: the path ends, since the state is known, or by a contradiction. */
static bool enter_instruction(struct arm64_analysis *analysis, u32 function, u32 at,
			      struct arm64_frame *frame)
{
	u32 there = analysis->state[at], owner = analysis->owner[at], number;

	if (there && analysis->functions[owner & ~TRIAL].status >= FUNCTION_FAILED)
		there = 0;
	if (there && (owner & ~TRIAL) != function) {
		/* Two functions share this code: both must reach it with the same state. */
		if (!memcmp(&analysis->frames[there - 1], frame, sizeof(*frame))) {
			mark_function_as_returning(analysis, function);
			return false;
		}
		number = arm64_frame_is_at_entry(frame) ? call_before(analysis, at, owner) : NONE;
		if (analysis->is_trial || number == NONE) {
			record_contradiction_in_function(analysis, function);
			return false;
		}
		/* A function begins here, so the call before has not returned. */
		contradict_unless_call_ends(analysis, owner, number);
		there = 0;
	}
	if (there && !arm64_frame_keep_common(frame, &analysis->frames[there - 1])) {
		record_contradiction_in_function(analysis, function);
		return false;
	}
	number = number_of_frame(analysis, frame);
	analysis->has_joined |= there == number + 1 && !(owner & TRIAL);
	if (there == number + 1)
		return false;
	set_state(analysis, at, number, function);
	return true;
}

/* Handles a direct jump. A jump within the function adds a path; a jump out of the function is a
 * tail call or an exit, and needs the frame of the function's entry. */
static void add_path_or_tail_call_of_jump(struct arm64_analysis *analysis, u32 function, s64 target,
					  const struct arm64_frame *frame)
{
	u32 at = index_of(analysis, target);

	if (arm64_is_call_without_return(analysis->image, target))
		return;
	if (at == NONE || (analysis->marks[at] & (MARK_START | MARK_COVERED) &&
			   at != analysis->functions[function].start)) {
		if (!arm64_frame_is_at_entry(frame))
			contradict_unless_call_ends(analysis, function, analysis->call);
		else if (at == NONE)
			mark_function_as_returning(analysis, function);
		else
			end_path_at_tail_call(analysis, function, at);
		return;
	}
	add_path(analysis, function, at, frame, analysis->call);
}

/* Records the frame's state at a jump through a register, which may be a tail call or a jump within
 * the function. */
static void note_indirect_jump(struct arm64_analysis *analysis, u32 number,
			       const struct arm64_frame *frame)
{
	struct arm64_function *function = &analysis->functions[number];
	u32 state = number_of_frame(analysis, frame);

	if (analysis->is_trial)
		return;
	function->jumps_differ |= function->has_jumps && function->jump_state != state;
	function->has_jumps = true;
	function->jump_state = state;
}

/* Follows one path until it ends. */
static void follow_path(struct arm64_analysis *analysis, const struct arm64_path *path)
{
	struct arm64_frame frame = analysis->frames[path->state];
	struct arm64_constants constants = {};
	u32 number = path->function, at = path->at;
	bool is_after_call = false;

	analysis->call = path->call;
	for (;; at++) {
		struct arm64_function *function = &analysis->functions[number];
		s64 distance, target;
		enum arm64_flow flow;
		u32 code, call;

		if (function->status != FUNCTION_OPEN)
			return;
		if (at >= analysis->count || !(analysis->marks[at] & MARK_CODE) ||
		    (analysis->marks[at] & (MARK_START | MARK_COVERED) && at != function->start)) {
			/* The path runs into another function, into code with a table, or out of
			 * the code. */
			if (arm64_frame_is_at_entry(&frame) && at < analysis->count &&
			    analysis->marks[at] & MARK_START)
				end_path_at_tail_call(analysis, number, at);
			else if (!is_after_call)
				contradict_unless_call_ends(analysis, number, analysis->call);
			return;
		}
		if (++analysis->steps > analysis->steps_max)
			analysis->result = -E2BIG;
		code = code_at(analysis, at);
		if (arm64_begins_another(&frame, code)) {
			contradict_unless_call_ends(analysis, number, analysis->call);
			return;
		}
		if (analysis->result || !enter_instruction(analysis, number, at, &frame))
			return;
		is_after_call &= code == NOP;
		flow = arm64_flow_of(code, &distance);
		target = (s64)analysis->image->start + (s64)at * BYTES + distance;
		switch (flow) {
		case ARM64_NEXT:
			arm64_frame_step(&frame, &constants, code);
			continue;
		case ARM64_BRANCH:
			add_path_or_tail_call_of_jump(analysis, number, target, &frame);
			continue;
		case ARM64_JUMP:
			add_path_or_tail_call_of_jump(analysis, number, target, &frame);
			return;
		case ARM64_JUMP_INDIRECT:
			note_indirect_jump(analysis, number, &frame);
			if (arm64_frame_is_at_entry(&frame))
				mark_function_as_returning(analysis, number);
			return;
		case ARM64_CALL:
		case ARM64_CALL_INDIRECT:
			frame.has_link = 0;
			frame.is_after_call = 1;
			constants.known = 0;
			is_after_call = true;
			if (analysis->marks[at] & MARK_ENDS)
				return;
			analysis->call = at;
			if (flow == ARM64_CALL &&
			    !follow_call(analysis, number, at, target, &frame))
				return;
			continue;
		case ARM64_SYSTEM_CALL:
			call = arm64_system_call_number(&constants);
			if (call == SYSTEM_CALL_EXIT || call == SYSTEM_CALL_EXIT_GROUP)
				return;
			if (call != SYSTEM_CALL_CLONE && call != SYSTEM_CALL_CLONE3 &&
			    call != SYSTEM_CALL_RETURN_OF_SIGNAL)
				continue;
			record_contradiction_in_function(analysis, number);
			return;
		case ARM64_TRAP:
			return;
		case ARM64_RETURN:
			if (arm64_frame_is_at_entry(&frame)) {
				analysis->has_exit = true;
				mark_function_as_returning(analysis, number);
				return;
			}
			/* fall through */
		case ARM64_NO_INSTRUCTION:
			contradict_unless_call_ends(analysis, number, analysis->call);
			return;
		}
	}
}

static void follow_all(struct arm64_analysis *analysis)
{
	while (analysis->path_count && !analysis->result && !analysis->has_contradiction) {
		struct arm64_path path = analysis->paths[--analysis->path_count];

		if (analysis->functions[path.function].status >= FUNCTION_FAILED)
			continue;
		if (path.at == NONE)
			mark_function_as_returning(analysis, path.function);
		else
			follow_path(analysis, &path);
	}
	analysis->path_count = 0;
}

/* --- Trials. --- */

/* Follows a path of function `number` on trial. A contradiction, or a missing proof, undoes all
 * that the trial has found. A return is a proof; for a path within a known function (`is_start`
 * false), code of the function that was known before is one, too. True: the trial has succeeded. */
static bool try_path(struct arm64_analysis *analysis, u32 number, u32 at,
		     const struct arm64_frame *frame, bool is_start)
{
	struct arm64_function before = analysis->functions[number];
	u32 ends[TRIES_MAX], tries = 0;
	bool is_good;

	for (;;) {
		analysis->is_trial = true;
		analysis->has_contradiction = analysis->has_exit = analysis->has_joined = false;
		analysis->undo_count = analysis->called_count = 0;
		analysis->blamed = NONE;
		add_path(analysis, number, at, frame, NONE);
		follow_all(analysis);
		is_good = !analysis->has_contradiction &&
			  (analysis->has_exit || (!is_start && analysis->has_joined));
		analysis->is_trial = analysis->has_contradiction = false;
		while (analysis->undo_count) {
			const struct arm64_undo *undo = &analysis->undo[--analysis->undo_count];

			analysis->owner[undo->at] = is_good ? number : undo->owner;
			if (!is_good)
				analysis->state[undo->at] = undo->state;
		}
		if (is_good)
			break;
		analysis->functions[number] = before;
		if (analysis->blamed == NONE || tries == TRIES_MAX || analysis->result)
			break;
		ends[tries++] = analysis->blamed;
		analysis->marks[analysis->blamed] |= MARK_ENDS;
	}
	while (tries && !is_good)
		analysis->marks[ends[--tries]] &= ~MARK_ENDS;
	if (!is_good)
		return false;
	for (u32 i = 0; i < analysis->called_count && !analysis->result; i++) {
		u32 called = find_or_add_function(analysis, analysis->called[i]);

		if (called != NONE)
			begin_function(analysis, called);
	}
	if (analysis->functions[number].returns)
		mark_function_as_returning(analysis, number);
	follow_all(analysis);
	return true;
}

/* Tries an instruction as the start of a function. */
static void try_instruction_as_function_start(struct arm64_analysis *analysis, u32 at)
{
	u32 number;

	if (at == NONE || is_reached(analysis, at) || analysis->marks[at] & MARK_COVERED ||
	    analysis->result || function_at(analysis, at) != HASH_INDEX_NONE)
		return;
	number = find_or_add_function(analysis, at);
	if (number == NONE)
		return;
	analysis->functions[number].status = FUNCTION_OPEN;
	if (try_path(analysis, number, at, &arm64_frame_at_entry, true))
		return;
	analysis->functions[number].status = FUNCTION_IDLE; /* a call may still prove that a
							      function starts here */
	analysis->marks[at] &= ~MARK_START;
}

/* The end of a function: that of its symbol, or the next start. */
static u32 end_of_function(const struct arm64_analysis *analysis,
			   const struct arm64_function *function)
{
	u32 at = function->start + 1;

	if (function->end > function->start)
		return function->end;
	while (at < analysis->count &&
	       (analysis->marks[at] & (MARK_CODE | MARK_START | MARK_COVERED)) == MARK_CODE)
		at++;
	return at;
}

/* Follows the code that no path reaches in a function with indirect jumps, which may lead to this
 * code. A block of it may begin after padding, after code that paths have reached, or after an
 * instruction that never falls through. */
static void follow_unreached_code_in_function(struct arm64_analysis *analysis, u32 number, u32 at,
					      u32 end)
{
	struct arm64_frame frame = analysis->frames[analysis->functions[number].jump_state];
	bool may_begin = true;

	for (; at < end && !analysis->result; at++) {
		u32 code = code_at(analysis, at);

		if (is_reached(analysis, at) || code == NOP || !(analysis->marks[at] & MARK_CODE)) {
			may_begin = true;
			continue;
		}
		if (may_begin && try_path(analysis, number, at, &frame, false))
			continue;
		may_begin = arm64_never_falls_through(code);
	}
}

static void follow_unreached_code_in_all_functions(struct arm64_analysis *analysis)
{
	for (u32 number = 0; number < analysis->function_count && !analysis->result; number++) {
		const struct arm64_function *function = &analysis->functions[number];

		if (function->status == FUNCTION_OPEN && function->has_jumps &&
		    !function->jumps_differ)
			follow_unreached_code_in_function(analysis, number, function->start,
							  end_of_function(analysis, function));
	}
}

static void try_pointer_targets_as_function_starts(struct arm64_analysis *analysis)
{
	for (u32 i = 0; i < analysis->image->pointer_count; i++)
		try_instruction_as_function_start(
			analysis, index_of(analysis, analysis->image->pointers[i].target));
}

/* Tries the addresses that code makes by adr, or by adrp and an addition. */
static void try_addresses_in_code(struct arm64_analysis *analysis)
{
	for (u32 at = 0; at + 1 < analysis->count && !analysis->result; at++) {
		s64 here = (s64)analysis->image->start + (s64)at * BYTES, address;

		if (analysis->marks[at] & MARK_CODE &&
		    arm64_makes_address(code_at(analysis, at), code_at(analysis, at + 1), here,
					&address))
			try_instruction_as_function_start(analysis, index_of(analysis, address));
	}
}

/* Tries the first instruction after padding, and after an instruction that never falls through. */
static void try_code_after_padding(struct arm64_analysis *analysis)
{
	bool may_begin = true;

	for (u32 at = 0; at < analysis->count && !analysis->result; at++) {
		u32 code = code_at(analysis, at);

		if (!(analysis->marks[at] & MARK_CODE) || analysis->marks[at] & MARK_COVERED) {
			may_begin = true;
			continue;
		}
		if (!is_reached(analysis, at) && (code == NOP || !code))
			continue;
		if (!is_reached(analysis, at) && may_begin)
			try_instruction_as_function_start(analysis, at);
		may_begin = state_at(analysis, at) || arm64_never_falls_through(code);
	}
}

/* --- The analysis. --- */

static void mark_spans(struct arm64_analysis *analysis, const struct file_span *spans, u32 count,
		       u8 mark)
{
	u32 start = analysis->image->start;

	for (u32 i = 0; i < count; i++)
		for (u64 at = spans[i].start;
		     at >= start && at < spans[i].end && (at - start) / BYTES < analysis->count;
		     at += BYTES)
			analysis->marks[(at - start) / BYTES] |= mark;
}

static void add_known_start(struct arm64_analysis *analysis, u32 address, u32 end)
{
	u32 at = index_of(analysis, address), number;

	if (at == NONE || analysis->marks[at] & MARK_COVERED)
		return;
	number = find_or_add_function(analysis, at);
	if (number != NONE && end > address)
		analysis->functions[number].end = at + (end - address) / BYTES;
}

/* Adds the targets of calls in code that has a table. */
static void add_starts_called_by_covered_code(struct arm64_analysis *analysis)
{
	for (u32 at = 0; at < analysis->count && !analysis->result; at++) {
		s64 distance;

		if (analysis->marks[at] & MARK_COVERED &&
		    arm64_flow_of(code_at(analysis, at), &distance) == ARM64_CALL)
			add_known_start(analysis, analysis->image->start + at * BYTES + distance,
					0);
	}
}

static void analyse(struct arm64_analysis *analysis)
{
	const struct code_image *image = analysis->image;
	u32 known;

	mark_spans(analysis, image->sections, image->section_count, MARK_CODE);
	mark_spans(analysis, image->covered, image->covered_count, MARK_COVERED);
	for (u32 i = 0; i < image->symbol_count && !analysis->result; i++)
		add_known_start(analysis, image->symbols[i].start, image->symbols[i].end);
	if (image->entry)
		add_known_start(analysis, image->entry, 0);
	add_starts_called_by_covered_code(analysis);
	known = analysis->function_count;
	for (u32 i = 0; i < known && !analysis->result; i++) {
		begin_function(analysis, i);
		follow_all(analysis);
	}
	if (image->has_symbols)
		follow_unreached_code_in_all_functions(analysis);
	try_pointer_targets_as_function_starts(analysis);
	try_addresses_in_code(analysis);
	try_code_after_padding(analysis);
	follow_unreached_code_in_all_functions(analysis);
}

int arm64_analysis_create(const struct code_image *image, struct arm64_analysis **out)
{
	struct arm64_analysis *analysis;
	int result;

	if (image->start % BYTES)
		return -ENOEXEC;
	analysis = calloc(1, sizeof(*analysis));
	if (!analysis)
		return -ENOMEM;
	analysis->image = image;
	analysis->count = (image->end - image->start) / BYTES;
	analysis->state = calloc(analysis->count + 1, sizeof(*analysis->state));
	analysis->owner = calloc(analysis->count + 1, sizeof(*analysis->owner));
	analysis->marks = calloc(analysis->count + 1, 1);
	analysis->steps_max = (u64)STEPS_PER_INSTRUCTION * analysis->count + STEPS_LEAST;
	if (!analysis->state || !analysis->owner || !analysis->marks)
		analysis->result = -ENOMEM;
	else
		analyse(analysis);
	result = analysis->result;
	if (result)
		arm64_analysis_free(&analysis);
	else
		*out = analysis;
	return result;
}

void arm64_analysis_free(struct arm64_analysis **analysis_at)
{
	struct arm64_analysis *analysis = *analysis_at;

	if (!analysis)
		return;
	free(analysis->state);
	free(analysis->owner);
	free(analysis->marks);
	free(analysis->frames);
	hash_index_free(&analysis->frame_index);
	free(analysis->functions);
	hash_index_free(&analysis->function_index);
	free(analysis->paths);
	free(analysis->waiters);
	free(analysis->undo);
	free(analysis->called);
	free(analysis);
	*analysis_at = NULL;
}

static bool make_rule(const struct arm64_analysis *analysis, u32 at, struct unwind_rule *rule)
{
	u32 state = state_at(analysis, at), entry = index_of(analysis, analysis->image->entry);

	if (state && entry != NONE && analysis->functions[analysis->owner[at]].start == entry) {
		*rule = (struct unwind_rule){.cfa_register = REGISTER_SP,
					     .base = RULE_BASE_CFA,
					     .flags = RULE_OUTERMOST};
		return true;
	}
	return state && arm64_frame_rule(&analysis->frames[state - 1], rule);
}

bool arm64_analysis_next_rule(const struct arm64_analysis *analysis, u32 *address, u32 end,
			      struct unwind_rule *rule, u32 *rule_end)
{
	u32 start = analysis->image->start, at, last, state;

	if (end > analysis->image->end)
		end = analysis->image->end;
	if (*address < start || *address >= end)
		return false;
	at = (*address - start + BYTES - 1) / BYTES;
	last = (end - start) / BYTES;
	while (at < last && !make_rule(analysis, at, rule))
		at++;
	if (at >= last)
		return false;
	*address = start + at * BYTES;
	state = state_at(analysis, at);
	for (u32 owner = analysis->owner[at];
	     at < last && state_at(analysis, at) == state && analysis->owner[at] == owner;)
		at++;
	*rule_end = start + at * BYTES;
	return true;
}

const struct arm64_frame *arm64_analysis_frame(const struct arm64_analysis *analysis, u32 address)
{
	u32 at = index_of(analysis, address), state = at == NONE ? 0 : state_at(analysis, at);

	return state ? &analysis->frames[state - 1] : NULL;
}
