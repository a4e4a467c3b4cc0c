/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The rows of Go code: for each function .gopclntab says how far the stack pointer is below the
 * return address, at each pc (symbol/elf/go_table.h).
 *
 * Go keeps no registers for its callers but rbp. A compiled function with a frame saves rbp at
 * CFA - 16, right behind the instruction that makes the frame, and restores it right before the one
 * that undoes the frame.
 *
 * Functions that write rsp (SPWRITE) change the stack (go_switch.h). Until they leave it, the depth
 * counts. On the other stack their rule is the first of these that is known:
 *
 *   - mcall() never returns there: the stack of the scheduler begins with it, as in Go's own
 * traces.
 *   - morestack() has the goroutine that it called for: CFA_GO_SAVED (core/unwind/go_stack.h), with
 *     the offsets that systemstack() has.
 *   - a depth or a word of the stack that the code comes back by: CFA_GO_DEPTH, CFA_DEREF
 *   - rbp, if the function has set it before: it leads to the frame on the stack that was left
 *   - the goroutine's saved rsp: CFA_GO_SAVED
 *   - none: the rule says that the return address is lost, and the walk ends there. Without a rule
 * the bytes of the function would be analysed, which gives a wrong caller.
 */
#include "code_rows.h"

#include <errno.h>
#include <libelf.h>
#include <stdlib.h>
#include <string.h>

#include "arch/numbers_x86_64.h"
#include "array.h"
#include "file_image.h"
#include "go_switch.h"
#include "symbol/elf/go_table.h"

#define WORD 8
#define DEPTH_MAX (1 << 28)

/* The most bytes of a prologue until rbp is stored and until rbp is set, and of an epilogue from
 * where it restores rbp. */
#define STORE_BYTES_MAX 8
#define SET_BYTES_MAX 16
#define UNDO_BYTES_MAX 7
#define PROLOGUE_MAX 64

#define RUNS_MAX 64 /* of a function that writes rsp */

struct go_reader {
	struct go_table table;
	struct file_image *image;
	struct code_rows *rows;
	struct file_spans *covered;
	struct unwind_rule saved; /* systemstack()'s rule CFA_GO_SAVED, for morestack() */
};

/* Adds what is code of [start, end) of the file. NULL: it has no rule. */
static int add(const struct go_reader *reader, u64 start, u64 end, const struct unwind_rule *rule)
{
	u64 code_end = FILE_IMAGE_BASE + end, offset;

	if (start >= end ||
	    !file_image_code(reader->image, FILE_IMAGE_BASE + start, &code_end, &offset))
		return 0;
	return code_rows_add(reader->rows, offset, offset + (code_end - FILE_IMAGE_BASE - start),
			     rule);
}

static struct unwind_rule rule_by_depth(s32 depth, u8 rbp_slot)
{
	return (struct unwind_rule){
		.cfa_register = REGISTER_RSP,
		.cfa_offset = depth + WORD,
		.base = RULE_BASE_CFA,
		.slot = {SLOT_LOST, rbp_slot, SLOT_LOST, SLOT_LOST, SLOT_LOST, SLOT_LOST, 1},
	};
}

/* A function of the table, and what all its rows have in common. */
struct function {
	u64 start, end;
	const char *name;
	u8 flags;
	u8 bare_slot;	/* of rbp, before it is stored */
	u8 framed_slot; /* of rbp, once it is stored */
	u8 rule_flags;
	bool has_frame_pointer;
	u8 code[GO_CODE_MAX];
	u32 code_bytes; /* that are in `code` */
	u32 run_count;
	struct go_run runs[RUNS_MAX]; /* depths */
	u64 stored_at;		      /* where rbp is stored at the latest, 0: not known yet */
};

/* True if push %rbp has made the frame (Go 1.21 on), so that the prologue has no further store. */
static bool is_pushed(const struct go_reader *reader, u64 start)
{
	u8 before = 0;

	return file_image_read(reader->image, FILE_IMAGE_BASE + start - 1, &before, 1) &&
	       before == 0x55;
}

/* Rows of [start, end) of a run with a frame. */
static int add_framed(const struct go_reader *reader, struct function *function,
		      const struct go_run *run, u64 start, u64 end)
{
	struct unwind_rule rule = rule_by_depth(run->value, function->bare_slot);
	u64 stored;
	int result;

	rule.flags = function->rule_flags;
	if (!function->stored_at)
		function->stored_at =
			run->start + (is_pushed(reader, run->start) ? 0 : STORE_BYTES_MAX);
	stored = function->stored_at < start ? start
		 : function->stored_at < end ? function->stored_at
					     : end;
	result = add(reader, start, stored, &rule);
	rule.slot[SLOT_RBP] = function->framed_slot;
	return result ?: add(reader, stored, end, &rule);
}

/* Rows of [start, end) of a function, by its depths. */
static int add_runs(const struct go_reader *reader, struct function *function, u64 start, u64 end)
{
	int result = 0;

	for (u32 i = 0; i < function->run_count && !result; i++) {
		const struct go_run *run = &function->runs[i];
		u64 from = run->start < start ? start : run->start;
		u64 to = run->end < end ? run->end : end;
		struct unwind_rule rule = rule_by_depth(0, function->bare_slot);

		rule.flags = function->rule_flags;
		if (from >= to)
			continue;
		result = run->value ? add_framed(reader, function, run, from, to)
				    : add(reader, from, to, &rule);
	}
	return result;
}

static const struct unwind_rule outermost = {.flags = RULE_OUTERMOST};

static const struct unwind_rule elsewhere = {
	.cfa_register = REGISTER_RSP,
	.cfa_offset = WORD,
	.base = RULE_BASE_CFA,
	.slot = {SLOT_LOST, SLOT_LOST, SLOT_LOST, SLOT_LOST, SLOT_LOST, SLOT_LOST, SLOT_LOST},
};

/* The function is on another stack. rbp still points into its frame on the first stack, to the word
 * that holds the caller's rbp; the return address is the next word. */
static const struct unwind_rule by_frame_pointer = {
	.cfa_register = REGISTER_RBP,
	.cfa_offset = 2 * WORD,
	.base = RULE_BASE_CFA,
	.flags = RULE_SWITCHED,
	.slot = {SLOT_LOST, 2, SLOT_LOST, SLOT_LOST, SLOT_LOST, SLOT_LOST, 1},
};

/* Rows of a function that goes to another stack, and has set rbp to its frame before. */
static int add_by_frame_pointer(const struct go_reader *reader, const struct function *function)
{
	u64 set = 0;
	int result = 0;

	for (u32 i = 0; i < function->run_count && !result; i++) {
		const struct go_run *run = &function->runs[i];

		if (!run->value)
			continue;
		if (!set)
			set = run->start + (is_pushed(reader, run->start)
						    ? SET_BYTES_MAX - STORE_BYTES_MAX
						    : SET_BYTES_MAX);
		if (run->end - run->start > UNDO_BYTES_MAX)
			result = add(reader, set < run->start ? run->start : set,
				     run->end - UNDO_BYTES_MAX, &by_frame_pointer);
	}
	return result;
}

/* True if the first bytes of a function store rbp in its frame and set rbp to that place: mov
 * %rbp,N(%rsp) and lea N(%rsp),%rbp, or push %rbp and mov %rsp,%rbp. */
static bool sets_frame_pointer(const struct function *function)
{
	const u8 *code = function->code;
	u32 count = function->code_bytes < PROLOGUE_MAX ? function->code_bytes : PROLOGUE_MAX;

	for (u32 i = 0; i + 10 <= count; i++)
		if ((!memcmp(code + i, "\x48\x89\x6c\x24", 4) &&
		     !memcmp(code + i + 5, "\x48\x8d\x6c\x24", 4) && code[i + 4] == code[i + 9]) ||
		    !memcmp(code + i, "\x55\x48\x89\xe5", 4))
			return true;
	return false;
}

/* The return from a signal handler has no caller: it is known by its bytes (core/unwind). */
static bool is_trampoline(const struct function *function)
{
	const u8 *code = function->code;

	return (function->code_bytes >= 9 && !memcmp(code, "\x48\xc7\xc0\x0f\0\0\0\x0f\x05", 9)) ||
	       (function->code_bytes >= 7 && !memcmp(code, "\xb8\x0f\0\0\0\x0f\x05", 7));
}

static bool is_named(const struct function *function, const char *name)
{
	return !strcmp(function->name, name);
}

static s32 depth_at(const struct function *function, u64 address)
{
	for (u32 i = 0; i < function->run_count; i++)
		if (address < function->runs[i].end)
			return function->runs[i].value;
	return 0;
}

/* Rows of code that is on another stack. */
static int add_away(struct go_reader *reader, const struct function *function,
		    const struct go_part *part, u64 start, u64 end)
{
	struct unwind_rule rule = part->rule;
	s32 depth = depth_at(function, function->start + part->back);

	if (is_named(function, "runtime.mcall"))
		return add(reader, start, end, &outermost);
	if (is_named(function, "runtime.morestack") && reader->saved.cfa_kind == CFA_GO_SAVED) {
		rule = reader->saved;
		rule.slot[GO_SLOT_RBP] = go_saved_rbp(function->code, function->code_bytes);
		return add(reader, start, end, rule.slot[GO_SLOT_RBP] ? &rule : &elsewhere);
	}
	if (part->place == GO_AWAY && function->has_frame_pointer)
		return add(reader, start, end, &by_frame_pointer);
	if (part->place != GO_COMES_BACK || depth % WORD)
		return add(reader, start, end, &elsewhere);
	if (is_named(function, "runtime.systemstack") && rule.cfa_kind == CFA_GO_SAVED)
		reader->saved = rule;
	if (rule.cfa_kind == CFA_GO_SAVED && function->has_frame_pointer)
		return add(reader, start, end, &by_frame_pointer);
	if (rule.cfa_kind == CFA_REGISTER)
		rule.cfa_offset = depth + WORD;
	else
		rule.operand = depth / WORD + 1;
	rule.slot[SLOT_RBP] = depth ? function->framed_slot : function->bare_slot;
	return add(reader, start, end, &rule);
}

/* Rows of a function that writes rsp. */
static int add_switching(struct go_reader *reader, struct function *function)
{
	struct go_depth depths[RUNS_MAX];
	struct go_parts parts;
	bool comes_back = false;
	int result = 0;

	for (u32 i = 0; i < function->run_count; i++)
		depths[i] = (struct go_depth){function->runs[i].end - function->start,
					      function->runs[i].value};
	parts.count = 0;
	if (function->code_bytes == function->end - function->start)
		go_switch_read(function->code, function->code_bytes, depths, function->run_count,
			       &parts);
	for (u32 i = 0; i < parts.count; i++)
		comes_back |= parts.part[i].place == GO_COMES_BACK &&
			      parts.part[i].rule.cfa_kind != CFA_REGISTER;
	if (!comes_back && function->has_frame_pointer && !is_named(function, "runtime.mcall"))
		return add_by_frame_pointer(reader, function);
	if (!parts.count)
		return add(reader, function->start, function->end, &elsewhere);
	for (u32 i = 0; i < parts.count && !result; i++) {
		u64 start = function->start + parts.part[i].start;
		u64 end = i + 1 < parts.count ? function->start + parts.part[i + 1].start
					      : function->end;

		result = parts.part[i].place == GO_ON_STACK
				 ? add_runs(reader, function, start, end)
				 : add_away(reader, function, &parts.part[i], start, end);
	}
	return result;
}

/* Names that say more than the flags. */
static void name_rules(struct function *function)
{
	/* Called by the kernel's return from a signal handler, in place of the next instruction. */
	if (is_named(function, "runtime.asyncPreempt") || is_named(function, "runtime.sigpanic") ||
	    is_named(function, "runtime.sigpanic0"))
		function->rule_flags = RULE_SIGNAL;
	/* Go's traces end at a signal handler; the kernel has noted what it interrupted. */
	if (is_named(function, "runtime.sigtramp") || is_named(function, "runtime.cgoSigtramp"))
		function->flags &= ~GO_IS_OUTERMOST;
	/* core/unwind/go_stack.h */
	if (is_named(function, "runtime.schedule"))
		function->bare_slot = function->framed_slot = SLOT_LOST;
}

/* Reads the code of a function, and what flags and name say about its rows. */
static void function_read(const struct go_reader *reader, struct function *function)
{
	u64 bytes = function->end - function->start;

	function->code_bytes = bytes < sizeof(function->code) ? bytes : sizeof(function->code);
	if (!file_image_read(reader->image, FILE_IMAGE_BASE + function->start, function->code,
			     function->code_bytes))
		function->code_bytes = 0;
	function->has_frame_pointer = sets_frame_pointer(function);
	function->framed_slot = 2;
	if (function->flags & GO_IS_ASSEMBLER && !function->has_frame_pointer)
		function->bare_slot = function->framed_slot =
			function->code_bytes == bytes &&
					go_code_keeps_rbp(function->code, function->code_bytes)
				? 0
				: SLOT_LOST;
	name_rules(function);
}

static int add_function(struct go_reader *reader, const struct go_function *entry)
{
	struct function function = {.start = entry->start, .end = entry->end, .name = entry->name};
	struct go_run run;
	bool is_switching;
	int result = 0;
	u64 at;

	if (!go_function_flags(&reader->table, entry, &function.flags))
		return 0;
	function_read(reader, &function);
	if (function.flags & GO_IS_OUTERMOST)
		return add(reader, entry->start, entry->end, &outermost);
	if (is_trampoline(&function))
		return 0;
	is_switching = function.flags & GO_WRITES_RSP;
	at = go_runs_begin(&reader->table, entry, GO_DEPTH, &run);
	while (!result && at && function.run_count < RUNS_MAX &&
	       go_run_next(&reader->table, entry, &at, &run) && run.value >= 0 &&
	       run.value < DEPTH_MAX) {
		if (!is_switching)
			function.run_count = 0;
		function.runs[function.run_count++] = run;
		if (!is_switching)
			result = add_runs(reader, &function, entry->start, entry->end);
	}
	return is_switching ? add_switching(reader, &function) : result;
}

static int add_covered(struct file_spans *covered, u64 start, u64 end)
{
	if (start >= end)
		return 0;
	if (array_make_room(covered->spans, covered->count, covered->room))
		return -ENOMEM;
	covered->spans[covered->count++] = (struct file_span){start, end};
	return 0;
}

/* -EBADMSG: the addresses of functions do not ascend. */
static int add_functions(struct go_reader *reader)
{
	int result = reader->table.functions ? 0 : -EBADMSG;

	for (u64 i = 0; i < reader->table.functions && !result; i++) {
		struct go_function function;

		if (!go_function_read(&reader->table, i, &function))
			return -EBADMSG;
		result = add_function(reader, &function)
				 ?: add_covered(reader->covered, function.start, function.end);
	}
	return result;
}

int code_rows_read_go(int file, const struct file_spans *covered, struct code_rows *rows,
		      struct file_spans *found)
{
	struct go_reader reader = {.rows = rows, .covered = found};
	Elf *elf = NULL;
	int result;

	(void)covered;
	if (elf_version(EV_CURRENT) != EV_NONE)
		elf = elf_begin(file, ELF_C_READ, NULL);
	result = elf ? go_table_read(elf, &reader.table) : -ENOENT;
	result = result ?: file_image_create(file, &reader.image) ?: add_functions(&reader);
	file_image_free(&reader.image);
	elf_end(elf);
	return result;
}
