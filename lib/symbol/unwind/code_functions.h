/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The state of an analysis (code_analysis.h): the kind of each byte of code, the functions, and the
 * paths that are left to follow. Functions refer to each other by number only, so any function can
 * be undone at any time.
 */
#ifndef LIB_SYMBOL_CODE_FUNCTIONS_H
#define LIB_SYMBOL_CODE_FUNCTIONS_H

#include "code_file.h"
#include "frame_state.h"
#include "hash_index.h"

#define NONE UINT32_MAX

/* The kinds of a byte of code: unknown, inside of an instruction, or the first byte of an
 * instruction, before which the frame has the state number `value - MAP_STATE`. */
#define MAP_NOTHING 0
#define MAP_INSIDE 1
#define MAP_STATE 2

/* The bits of the mark that each byte of code has. */
#define MARK_START 1	 /* the byte is the start of a function */
#define MARK_BRANCHED 2	 /* the byte is the target of a conditional jump */
#define MARK_JUMPED 4	 /* the byte is the target of any jump */
#define MARK_ENDS 8	 /* the byte begins a call that is assumed not to return */
#define MARK_DISPUTED 16 /* two functions reach the byte in different states */
#define MARK_TAKEN 32	 /* code or data holds the address of the byte */

#define TRIES_MAX 12
#define TABLE_ENTRIES_MAX 2048
#define STEPS_PER_BYTE 48
#define STEPS_LEAST 100000
#define ALL_SAVED ((1U << FRAME_SAVED_REGISTERS) - 1)

enum function_kind { FUNCTION_COVERED, FUNCTION_STRONG, FUNCTION_WEAK };
enum function_status { STATUS_IDLE, STATUS_OPEN, STATUS_FAILED };

struct function {
	u32 start, end; /* the end comes from a symbol, or is the start of the next function */
	u8 kind, status;
	u8 tries;
	bool returns;
	bool has_exit;	    /* a path has ended with an exit that proves the stack depth */
	bool has_switch;    /* the function loads rsp from memory: it switches stacks */
	bool has_aligned;   /* at one call or more, rsp is aligned as the ABI demands */
	bool has_unaligned; /* at one call or more, rsp is not aligned as the ABI demands */
	bool has_jumps;	    /* the function has jumps with unknown targets */
	bool jumps_differ;  /* the states of the frame at jumps with unknown targets contradict each
			       other */
	bool fill_failed;
	bool is_filling, is_filled;
	bool is_trampoline;
	bool has_changed; /* `lost` has changed, so callers of the function have to be tried again
			   */
	u32 lost;	  /* registers that the function does not keep, as slots of a rule */
	u32 entry_lost;	  /* registers that callers change before they enter the function by a tail
			     call, as slots of a rule */
	u32 jump_state;	  /* number of the state of the frame at jumps with unknown targets */
	/* Heads of linked lists: index + 1 of the first entry; 0 = empty. */
	u32 runs, waiters, users;
};

/* A path that is to be followed from an address. */
struct edge {
	u32 function;
	u32 at;
	u32 state;
	u32 call; /* address of the last call on the path that may not return; NONE: no such call */
	u8 tries; /* tries of the function when the edge was added; if the function has another
		     number of tries now, it was undone since */
	bool is_behind_call;
};

struct run {
	u32 start, end, next;
};

/* An edge that waits until a callee is known to return: a path of the callee's caller, or, with
 * state NONE, the caller itself, which ended in a tail call. */
struct waiter {
	struct edge edge;
	u32 next;
};

struct user {
	u32 function, next;
};

struct code_analysis {
	const struct code_image *image;
	struct arm64_analysis
		*arm64; /* the analysis of code for arm64; NULL: the code is for x86-64.
			 Code for arm64 uses only `image` and `result` besides */
	u32 *map;
	u8 *marks;
	struct frame_state *states;
	u32 state_count, state_room;
	struct hash_index state_index;
	struct function *functions;
	u32 function_count, function_room;
	struct hash_index function_index;
	struct edge *edges;
	u32 edge_count, edge_room;
	u32 *idle; /* numbers of functions that have to be followed */
	u32 idle_count, idle_room;
	u32 *changed; /* numbers of functions whose callers have to be tried again */
	u32 changed_count, changed_room;
	struct run *runs;
	u32 run_count, run_room;
	struct waiter *waiters;
	u32 waiter_count, waiter_room;
	struct user *users;
	u32 user_count, user_room;
	u32 *named; /* addresses that instructions name, for example as begins of jump tables;
		       sorted */
	u32 named_count, named_room;
	u32 popping_ends;    /* number of sequences `leave; ret n` and `pop %rbp; ret n` in code
				without a table */
	bool pops_arguments; /* functions return with `ret n`, which takes their arguments off the
				stack */
	u64 steps, steps_max;
	int result;
};

static inline bool code_has_address(const struct code_analysis *analysis, u32 address)
{
	return address >= analysis->image->start && address < analysis->image->end;
}

static inline u32 *code_map_at(const struct code_analysis *analysis, u32 address)
{
	return &analysis->map[address - analysis->image->start];
}

static inline u8 *code_mark_at(const struct code_analysis *analysis, u32 address)
{
	return &analysis->marks[address - analysis->image->start];
}

const struct file_span *code_span_before(const struct file_span *spans, u32 count, u32 address);
bool code_is_in_spans(const struct file_span *spans, u32 count, u32 address);
struct file_span code_section_at(const struct code_analysis *analysis, u32 address);
u32 code_section_end(const struct code_analysis *analysis, u32 address);
bool code_is_covered(const struct code_analysis *analysis, u32 address);
bool code_decode_at(struct code_analysis *analysis, u32 at, u32 end,
		    struct x86_instruction *instruction);
bool code_is_padding(const struct x86_instruction *instruction);
const struct code_pointer *code_pointer_at(const struct code_analysis *analysis, u32 slot);
bool code_is_noreturn(const struct code_analysis *analysis, u32 slot);
u32 find_or_add_frame_state(struct code_analysis *analysis, const struct frame_state *state);
u32 function_find(const struct code_analysis *analysis, u32 start);
u32 find_or_add_function_at(struct code_analysis *analysis, u32 start, u32 kind);
void queue_idle_function(struct code_analysis *analysis, u32 number);
void queue_edge_to_follow(struct code_analysis *analysis, const struct edge *edge);
void discard_analysis_of_function(struct code_analysis *analysis, u32 number);
void function_set_returns(struct code_analysis *analysis, u32 number);
void function_add_lost_registers(struct code_analysis *analysis, u32 number, u32 lost);
void record_registers_lost_at_entry(struct code_analysis *analysis, u32 number, u32 lost);
void mark_function_analysis_failed(struct code_analysis *analysis, u32 number);
void retry_analysis_of_function(struct code_analysis *analysis, u32 number);
void retry_callers_of_function(struct code_analysis *analysis, u32 number);
void retry_or_fail_function_at_edge(struct code_analysis *analysis, const struct edge *edge);
void add_path_waiting_for_callee(struct code_analysis *analysis, u32 callee,
				 const struct edge *edge);
void add_caller_of_function(struct code_analysis *analysis, u32 callee, u32 number);
void record_tail_call_of_function(struct code_analysis *analysis, u32 number, u32 other);

/* Follows paths until each path has ended or waits for a callee (code_path.c). */
void paths_follow_all(struct code_analysis *analysis);

#endif
