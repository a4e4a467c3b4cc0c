/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * CPython 3.9 and 3.10 (Include/cpython/frameobject.h, Python/ceval.c there). Each run of
 * _PyEval_EvalFrameDefault() runs one function of the script, whose frame object is the second
 * argument. Compilers keep its address in rbx:
 *
 *   mov %rsi, %rbx
 *   mov %rbx, 24(thread)     the frame is the thread's innermost one
 *
 * Large instructions need rbx for other values. They store the frame's address on the stack
 * meanwhile, or in another register, and load it again. So the code is followed from there on, with
 * the set of registers and words of the stack that hold the frame's address on all paths to an
 * instruction. Code is marked where rbx is in the set.
 *
 * Jumps to an address in a register lead from one instruction of the script to the next one. At
 * each of these rbx must be in the set; instructions that no other code leads to are their targets,
 * and have only rbx in their sets. Where other code leads to a target, too, the set is that of the
 * other code: a compiler has one place for the frame there, whichever way leads to it. A build in
 * which rbx is missing at such a jump is refused.
 *
 * The versions do not tell their number, but the code type of 3.9 has a member that 3.10 lacks. A
 * frame object has the same layout in both as far as a walk reads it.
 */
#include "script_loop.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "symbol/elf/elf_words.h"

#define WORD 8
#define PROLOGUE_BYTES_MAX 256
#define CODE_BYTES_MAX (1U << 18)
/* Steps of the analysis for each byte of code; a loop of pyenv takes less than one. */
#define STEPS_A_BYTE 8
#define FATAL_INSTRUCTIONS_MAX 8

#define FRAME_PREVIOUS 24
#define FRAME_CODE 32
#define THREAD_FRAME 24
#define TEXT_ASCII 48
#define TEXT_WIDE 72

#define VERSION_3_9 0x03090000
#define VERSION_3_10 0x030a0000

/*
 * A set of places that hold the frame's address: bits 0 to 15 are registers, and bit 16 + i is the
 * word of the stack at CFA - 8 * (i + 1).
 */
#define HOLDS_REGISTER(reg) (1ULL << (reg))
#define HOLDS_WORDS 48
#define HOLDS_WORD(i) (1ULL << (X86_REGISTERS + (i)))
#define HOLDS_ALL (~0ULL) /* the set of an instruction that no path has led to yet */
#define CALL_LOSES                                                                                 \
	(HOLDS_REGISTER(X86_RAX) | HOLDS_REGISTER(X86_RCX) | HOLDS_REGISTER(X86_RDX) |             \
	 HOLDS_REGISTER(X86_RSI) | HOLDS_REGISTER(X86_RDI) | HOLDS_REGISTER(X86_R8) |              \
	 HOLDS_REGISTER(X86_R9) | HOLDS_REGISTER(X86_R10) | HOLDS_REGISTER(X86_R11))

/* A part of the code that is analysed: the loop itself, or a part that the compiler has moved away.
 * The parts' bytes are numbered one after the other. */
struct part {
	u64 start, end; /* addresses */
	u32 first; /* number of the byte at `start`, if the bytes of all parts are counted one part
		      after the other */
};

struct paths {
	const struct script_loop *loop;
	struct part parts[1 + SCRIPT_LOOP_PARTS_MAX];
	u32 part_count, bytes;
	u64 fatal,
		fatal_end; /* code that runs without a thread's state; no path enters this code */
	u64 *holds;   /* set of places before each instruction, by the number of the instruction's
			 first byte */
	u32 *pending; /* numbers of instructions whose set has changed, and that have to be followed
			 again */
	bool *is_pending;
	u32 pending_count;
	u32 steps_left;
};

static bool find_index_of_instruction(const struct paths *paths, u64 address, u32 *index)
{
	for (u32 i = 0; i < paths->part_count; i++)
		if (address >= paths->parts[i].start && address < paths->parts[i].end) {
			*index = paths->parts[i].first + (address - paths->parts[i].start);
			return true;
		}
	return false;
}

static u64 address_of_instruction_index(const struct paths *paths, u32 index)
{
	u32 i = paths->part_count - 1;

	while (paths->parts[i].first > index)
		i--;
	return paths->parts[i].start + (index - paths->parts[i].first);
}

/* Intersects the set of an instruction with that of a path that leads there. */
static void intersect_places_of_instruction(struct paths *paths, u64 address, u64 holds)
{
	u32 index;

	if (!find_index_of_instruction(paths, address, &index) ||
	    (paths->holds[index] & holds) == paths->holds[index])
		return;
	paths->holds[index] &= holds;
	if (!paths->is_pending[index])
		paths->pending[paths->pending_count++] = index;
	paths->is_pending[index] = true;
}

/* True for instructions that are known not to store to their operand in memory. */
static bool never_stores_to_operand(const struct x86_instruction *code)
{
	u8 group = code->reg & 7;

	if (code->map == X86_MAP_0F)
		return code->opcode == 0x10 || code->opcode == 0x28 || code->opcode == 0x6f ||
		       code->opcode == 0x12 || code->opcode == 0x16 || code->opcode == 0xaf ||
		       (code->opcode & 0xf6) == 0xb6 || (code->opcode & 0xf0) == 0x40;
	if (code->map != X86_MAP_ONE_BYTE)
		return false;
	return code->opcode == 0x8b || code->opcode == 0x63 || code->opcode == 0x8d ||
	       code->opcode == 0x03 || code->opcode == 0x2b || code->opcode == 0x3b ||
	       code->opcode == 0x39 || code->opcode == 0x85 ||
	       ((code->opcode == 0x83 || code->opcode == 0x81) && group == 7) ||
	       (code->opcode == 0xff && group >= 2);
}

/* The bit of the word of the stack at a distance below the CFA; 0: a set has no bit for this
 * word. */
static u64 place_bit_of_stack_word(s64 below)
{
	return below > 0 && below % WORD == 0 && below / WORD <= HOLDS_WORDS
		       ? HOLDS_WORD(below / WORD - 1)
		       : 0;
}

/* The bits of the words that a store at a distance below the CFA may overwrite. */
static u64 place_bits_of_overwritten_words(const struct x86_instruction *code, s64 below)
{
	u32 bytes = code->map == X86_MAP_VECTOR ? 32 : 16;
	u64 holds = 0;

	if (code->map == X86_MAP_ONE_BYTE)
		bytes = code->is_wide ? 8 : 4;
	for (u32 i = 0; i < bytes; i++)
		holds |= place_bit_of_stack_word((below - i + WORD - 1) / WORD * WORD);
	return holds;
}

/* The set of places that hold the frame's address after an instruction. */
static u64 places_of_frame_after_instruction(const struct paths *paths, u64 address,
					     const struct x86_instruction *code, u64 before)
{
	bool is_plain = code->map == X86_MAP_ONE_BYTE;
	bool is_move = is_plain && code->is_wide && (code->opcode == 0x89 || code->opcode == 0x8b);
	u64 after = before & ~(u64)code->writes, source, target;
	enum x86_flow flow = x86_flow_of(code);
	s64 below = 0;
	bool is_stack = code->is_memory &&
			script_loop_operand_bytes_below_cfa(paths->loop, address, code, &below);

	if (is_plain && (code->opcode & 0xf8) == 0x58) /* pop */
		after &= ~HOLDS_REGISTER(code->rm);
	if (flow == X86_CALL || flow == X86_CALL_INDIRECT)
		return after & ~CALL_LOSES;
	if (is_stack && !never_stores_to_operand(code))
		after &= ~place_bits_of_overwritten_words(code, below);
	if (!is_move || (code->is_memory && !is_stack))
		return after;
	source = code->is_memory ? place_bit_of_stack_word(below) : HOLDS_REGISTER(code->rm);
	target = HOLDS_REGISTER(code->reg);
	if (code->opcode == 0x89) {
		u64 swapped = source;

		source = target;
		target = swapped;
	}
	return before & source ? after | target : after & ~target;
}

/* Adds the paths from instruction `index` to its successors. False: the bytes of the instruction
 * are not code. */
static bool follow_paths_from_instruction(struct paths *paths, u32 index)
{
	u64 address = address_of_instruction_index(paths, index), next, holds;
	struct x86_instruction code;
	enum x86_flow flow;

	if (!script_loop_decode_x86_at(paths->loop, address, &code))
		return false;
	flow = x86_flow_of(&code);
	next = address + code.length;
	holds = places_of_frame_after_instruction(paths, address, &code, paths->holds[index]);
	if (flow == X86_FORBIDDEN)
		return false;
	if (flow == X86_JUMP || flow == X86_BRANCH)
		intersect_places_of_instruction(paths, next + code.immediate, holds);
	if (flow == X86_NEXT || flow == X86_BRANCH || flow == X86_CALL ||
	    flow == X86_CALL_INDIRECT || flow == X86_SYSCALL)
		intersect_places_of_instruction(paths, next, holds);
	return true;
}

static bool follow_all_paths_of_loop(struct paths *paths)
{
	while (paths->pending_count) {
		u32 index = paths->pending[--paths->pending_count];

		paths->is_pending[index] = false;
		if (!paths->steps_left-- || !follow_paths_from_instruction(paths, index))
			return false;
	}
	return true;
}

/* Follows the code of a part that no path has led to: the targets of jumps to an address in a
 * register. */
static bool follow_code_without_paths(struct paths *paths, const struct part *part, u64 start)
{
	for (u64 address = start; address < part->end;) {
		struct x86_instruction code;
		u32 index = part->first + (address - part->start);

		if (!script_loop_decode_x86_at(paths->loop, address, &code))
			return false;
		if (paths->holds[index] == HOLDS_ALL &&
		    !((code.map == X86_MAP_ONE_BYTE && code.opcode == 0x90) ||
		      (code.map == X86_MAP_0F && code.opcode == 0x1f)) &&
		    !(address >= paths->fatal && address < paths->fatal_end)) {
			intersect_places_of_instruction(paths, address, HOLDS_REGISTER(X86_RBX));
			if (!follow_all_paths_of_loop(paths))
				return false;
		}
		address += code.length;
	}
	return true;
}

/* Marks a part, but for code in which rbx may have another value. Code that no path leads to is
 * never executed, and is marked as the code before it. */
static bool mark_code_where_rbx_is_frame(struct script_loop *loop, const struct paths *paths,
					 const struct part *part, u64 start)
{
	u64 other = 0;

	if (!script_loop_mark(loop, start, part->end))
		return false;
	for (u64 address = start; address < part->end;) {
		struct x86_instruction code;
		u64 holds = paths->holds[part->first + (address - part->start)];
		bool has_frame = holds & HOLDS_REGISTER(X86_RBX);

		if (!script_loop_decode_x86_at(loop, address, &code))
			return false;
		if (!has_frame && x86_flow_of(&code) == X86_JUMP_INDIRECT)
			return false;
		if (holds != HOLDS_ALL && has_frame && other) {
			if (!script_loop_unmark(loop, other, address))
				return false;
			other = 0;
		}
		if (!has_frame && !other)
			other = address;
		address += code.length;
	}
	return !other || script_loop_unmark(loop, other, part->end);
}

/* Follows the code from `body` on, where rbx has the frame, and marks it. */
static bool follow_and_mark_loop_code(struct script_loop *loop, struct paths *paths, u64 body)
{
	bool is_marked;

	intersect_places_of_instruction(paths, body,
					HOLDS_REGISTER(X86_RBX) | HOLDS_REGISTER(X86_RSI));
	is_marked = follow_all_paths_of_loop(paths);
	for (u32 i = 0; i < paths->part_count && is_marked; i++)
		is_marked = follow_code_without_paths(paths, &paths->parts[i],
						      i ? paths->parts[i].start : body);
	for (u32 i = 0; i < paths->part_count && is_marked; i++)
		is_marked = mark_code_where_rbx_is_frame(loop, paths, &paths->parts[i],
							 i ? paths->parts[i].start : body);
	return is_marked;
}

static void add_part_of_loop(struct paths *paths, u64 start, u64 end)
{
	paths->parts[paths->part_count++] =
		(struct part){.start = start, .end = end, .first = paths->bytes};
	paths->bytes += end - start;
}

static bool mark_register_loop_of_python(struct script_loop *loop, u64 body, u64 fatal,
					 u64 fatal_end)
{
	struct paths paths = {.loop = loop, .fatal = fatal, .fatal_end = fatal_end};
	bool is_marked = false;

	add_part_of_loop(&paths, loop->start, loop->end);
	for (u32 i = 0; i < loop->moved_count; i++)
		add_part_of_loop(&paths, loop->moved[i][0], loop->moved[i][1]);
	if (paths.bytes > CODE_BYTES_MAX)
		return false;
	paths.steps_left = STEPS_A_BYTE * paths.bytes;
	paths.holds = malloc(paths.bytes * sizeof(*paths.holds));
	paths.pending = malloc(paths.bytes * sizeof(*paths.pending));
	paths.is_pending = calloc(paths.bytes, sizeof(*paths.is_pending));
	if (paths.holds && paths.pending && paths.is_pending) {
		memset(paths.holds, 0xff, paths.bytes * sizeof(*paths.holds));
		is_marked = follow_and_mark_loop_code(loop, &paths, body);
	}
	free(paths.holds);
	free(paths.pending);
	free(paths.is_pending);
	return is_marked;
}

static bool is_wide_store(const struct x86_instruction *code)
{
	return code->map == X86_MAP_ONE_BYTE && code->opcode == 0x89 && code->is_wide;
}

/*
 * Reads the begin of the loop: sets *body to the end of the instruction that moves the frame to
 * rbx, and *fatal to the target of the branch before, which is taken without a thread's state.
 * False: the frame does not become the thread's.
 */
static bool read_register_loop_prologue(const struct script_loop *loop, u64 *body, u64 *fatal)
{
	u32 threads = 1U << X86_RDI; /* registers that hold the address of the thread's state */

	*body = *fatal = 0;
	for (u64 address = loop->start; address < loop->start + PROLOGUE_BYTES_MAX;) {
		struct x86_instruction code;
		enum x86_flow flow;

		if (address >= loop->end || !script_loop_decode_x86_at(loop, address, &code))
			return false;
		address += code.length;
		flow = x86_flow_of(&code);
		if (flow != X86_NEXT && flow != X86_BRANCH)
			return false;
		if (flow == X86_BRANCH && !*body) {
			if (*fatal)
				return false;
			*fatal = address + code.immediate;
		}
		if (is_wide_store(&code) && code.is_memory && code.base < X86_REGISTERS &&
		    threads >> code.base & 1 && code.displacement == THREAD_FRAME)
			return *body && code.reg == X86_RBX;
		if (is_wide_store(&code) && !code.is_memory && threads >> code.reg & 1)
			threads |= 1U << code.rm;
		else
			threads &= ~code.writes;
		if (!(code.writes >> X86_RBX & 1))
			continue;
		if (*body || !is_wide_store(&code) || code.reg != X86_RSI)
			return false;
		*body = address;
	}
	return false;
}

/* Finds the end of the code that runs without a thread's state: a call that does not return. */
static bool find_end_of_fatal_code(const struct script_loop *loop, u64 fatal, u64 *end)
{
	enum x86_flow flow = X86_NEXT;

	*end = fatal;
	for (u32 i = 0; fatal && flow == X86_NEXT && i < FATAL_INSTRUCTIONS_MAX; i++) {
		struct x86_instruction code;

		if (!script_loop_decode_x86_at(loop, *end, &code))
			return false;
		flow = x86_flow_of(&code);
		*end += code.length;
	}
	return !fatal || flow == X86_CALL || flow == X86_CALL_INDIRECT || flow == X86_TRAP;
}

int script_python_register_read(struct script_loop *loop, u64 address)
{
	const struct unwind_rule *rule;
	u64 type, body, fatal, fatal_end, offset;

	if (!elf_words_exported_address(loop->elf, "PyCode_Type", &type))
		return -EOPNOTSUPP;
	if (script_python_read_code_type(loop->elf, type, "co_name", "co_linetable", &loop->layout))
		loop->layout.version = VERSION_3_10;
	else if (!script_python_read_code_type(loop->elf, type, "co_name", "co_lnotab",
					       &loop->layout))
		return -EOPNOTSUPP;
	if (loop->layout.version)
		loop->layout.link_kind = SCRIPT_LINK_UNREAD;
	if (!script_loop_enter(loop, address) ||
	    !read_register_loop_prologue(loop, &body, &fatal) ||
	    !find_end_of_fatal_code(loop, fatal, &fatal_end) || !script_loop_find_moved(loop, body))
		return -EOPNOTSUPP;
	rule = script_loop_rule(loop, body);
	if (!rule || rule->base != RULE_BASE_CFA || !rule->slot[SLOT_RBX] ||
	    rule->slot[SLOT_RBX] > SLOT_WORDS_MAX ||
	    !mark_register_loop_of_python(loop, body, fatal, fatal_end) ||
	    !script_loop_file_offset(loop, body, &offset))
		return -EOPNOTSUPP;
	loop->layout.version = loop->layout.version ?: VERSION_3_9;
	loop->operand = RULE_LOOP_OPERAND(REGISTER_RBX, REGISTER_RBX);
	loop->stack_bytes = SLOT_WORD * rule->slot[SLOT_RBX];
	loop->layout.loop = offset;
	loop->layout.link = loop->stack_bytes;
	loop->layout.type = (s64)(type - body);
	loop->layout.link_kind = SCRIPT_LINK_REGISTER;
	loop->layout.frame_code = FRAME_CODE;
	loop->layout.frame_previous = FRAME_PREVIOUS;
	loop->layout.entry_is_frame = 1; /* entry_mask has no bits, so each frame counts as the one
					    that its loop was entered with */
	loop->layout.text_ascii = TEXT_ASCII;
	loop->layout.text_wide = TEXT_WIDE;
	return 0;
}
