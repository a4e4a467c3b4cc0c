/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * CPython 3.11 to 3.15 (Include/internal/pycore_frame.h, Python/ceval.c there).
 *
 * 3.11 and 3.12: each run of
 * _PyEval_EvalFrameDefault() has a struct _PyCFrame among its own data on the native stack, which
 * holds the address of the innermost frame. The compiler chooses the place, so the code tells it:
 *
 *   lea d(%rsp), %reg         the address of the structure
 *   mov %reg, 56(tstate)      is linked into the thread's state,
 *   mov..., d + n(%rsp)       and the address of the frame is stored, before or after
 *
 * From the later of the two stores on, the words are valid. They are valid no more where the
 * function has given the stack back: there the CFA is less than `link` above rsp. Before the stores
 * a branch leads to code that calls a function which ends the process, as there is no thread state:
 * the code up to that call is never marked. All bounds are exact, so a marked row needs no other
 * check of the pc.
 *
 * 3.13 and later: the native stack holds the frame with which the loop was entered. It is filled,
 * and then the thread's state gets the address of the innermost frame:
 *
 *   lea d(%rsp), %reg
 *   mov %reg, 8(frame)        the entered frame's caller
 *   mov frame, 72(thread)
 *
 * Compilers for arm64 store the address of the innermost frame before they fill the frame on the
 * native stack. Until that frame is filled, frames of loops further out cannot be reached, so this
 * code has marks that make a walk give up.
 *
 * The thread's state is found in a word of the native stack, where the prologue stores its address
 * too, or else at the thread pointer, by the code of PyThreadState_GetUnchecked(); a thread that
 * has released the interpreter's lock has none there, and is in the list of threads, whose place is
 * in _PyRuntime. A walk counts only if it ends at the frame on the native stack.
 *
 * The first words of _PyRuntime (struct _Py_DebugOffsets) have the offsets in frames and in a
 * thread's state; the table of versions says which word has which offset.
 *
 * A build may have a function for each instruction in place of a loop with jumps from each
 * instruction to the next one (--with-tail-call-interp). Such functions link frames outside of the
 * loop, so the build is refused: its loop has hardly a jump to an address in a register.
 *
 * Where the loop calls a function of the script, it stores the address of the new frame, and the
 * compiler may store some words of that frame after the address. Until then the frame has words of
 * an earlier one, which may look valid. Such code is never marked (find_gaps_in_part_of_loop()).
 *
 * A part of the loop that the compiler has moved away (.cold) has an entry of its own in the
 * tables. A jump leads there, and where it begins the frame is already as large as in the loop.
 *
 * Where the fields of a code object lie is written in the file: PyCode_Type has a list of members,
 * with names and offsets.
 */
#include "script_loop.h"

#include <errno.h>
#include <string.h>

#include "symbol/elf/elf_words.h"

#define WORD 8
#define PROLOGUE_BYTES_MAX 256
#define SCRIPT_ENTRY_MAX 65536
#define RUNTIME_BYTES_MAX (1U << 24)
/* The most ranges of code in which a call of a script's function has stored only a part of the new
 * frame. */
#define GAPS_MAX 64
#define GAP_INSTRUCTIONS_MAX 48
/* The most instructions of the code that runs without a thread state, up to its call. */
#define UNFILLED_INSTRUCTIONS_MAX 8

/* The fewest jumps to an address in a register or in a table that a loop has. */
#define DISPATCHES_MIN 16

#define VERSION_WITH_HANDLERS 0x030e

#define THREAD_CFRAME 56 /* offset of cframe in a thread's state (PyThreadState) */

/* Offsets in a PyTypeObject and in a PyMemberDef, which are part of the stable interface since
 * 3.0. */
#define TYPE_NAME 24
#define TYPE_MEMBERS 240
#define MEMBER_OFFSET 16
#define MEMBER_BYTES 40
#define MEMBERS_MAX 64

/* Offsets in structures of CPython that cannot be read from the file, by version. */
struct version {
	u32 version;	 /* upper 16 bits of Py_Version */
	u8 innermost;	 /* offset of the innermost frame's address in struct _PyCFrame */
	u8 thread_frame; /* offset of the innermost frame's address in a thread's state; 0: struct
			    _PyCFrame has it */
	u8 frame_code, frame_previous, entry_mark, entry_value, entry_is_frame;
	u8 code_number, code_tag;
	u8 text_ascii, text_wide;
	/* Indexes of the words of struct _Py_DebugOffsets that have the offsets of
	 * thread_state.next and thread_id, of interpreter_frame.previous and of
	 * code_object.filename. 0: the file has no such words */
	u8 word_next, word_id, word_previous, word_filename;
	/* Output of read_python_debug_offsets(): */
	/* Offsets of `next` and `thread_id` in a thread's state. The value of thread_id is the
	 * thread pointer, by glibc and musl. */
	u8 thread_next, thread_id;
};

static const struct version versions[] = {
	{0x030b, 8, 0, 32, 48, 68, 1, 1, 0, 0, 48, 72},
	{0x030c, 0, 0, 0, 8, 70, 3, 0, 88, 0, 40, 56},
	{0x030d, .entry_value = 3, .code_number = 88, .text_ascii = 40, .text_wide = 56,
	 .word_next = 21, .word_id = 24, .word_previous = 29, .word_filename = 35},
	{0x030e, .entry_value = 3, .code_number = 88, .code_tag = 3, .text_ascii = 40,
	 .text_wide = 56, .word_next = 24, .word_id = 27, .word_previous = 32, .word_filename = 40},
	{0x030f, .entry_value = 3, .code_number = 88, .code_tag = 3, .text_ascii = 40,
	 .text_wide = 56, .word_next = 24, .word_id = 30, .word_previous = 40, .word_filename = 48},
};

struct loop {
	struct script_loop *file;
	struct version version; /* version of CPython; its number is 0 if it is not known */
	u64 body;		/* address from which the words that a walk reads are valid */
	s64 link;
	s64 entry;
	enum script_link link_kind;
	u64 unfilled;  /* bytes of code before `body` that run when the frame on the native stack is
			  linked but not filled yet */
	u64 runtime;   /* address of _PyRuntime's pointer to an interpreter's state */
	u64 threads;   /* offset in an interpreter's state of the first thread's address */
	u64 fatal;     /* target of the branch in the prologue; 0: the prologue has none */
	u64 fatal_end; /* end of the code at `fatal`: the address after its call */
	u64 gaps[GAPS_MAX]
		[2]; /* ranges of code in which a new frame is linked but not filled yet */
	u32 gap_count;
};

/* Reads the next instruction of a prologue, and sets loop->fatal to the target of the first branch.
 * False: the code leaves the prologue in another way. */
static bool read_next_prologue_instruction(struct loop *loop, u64 *at, struct loop_code *code)
{
	if (*at >= loop->file->end || *at - loop->file->start >= PROLOGUE_BYTES_MAX ||
	    !script_loop_decode_at(loop->file, *at, code))
		return false;
	*at += code->length;
	loop->body = *at;
	if (code->flow == LOOP_BRANCH && !loop->fatal)
		loop->fatal = code->target;
	return code->flow == LOOP_NEXT || code->flow == LOOP_BRANCH;
}

/* Finds where on the stack struct _PyCFrame lies, and from which address on it is filled. */
static bool read_python_loop_prologue(struct loop *loop)
{
	s64 place[LOOP_REGISTERS] = {}; /* for each register that holds a stack address: how far
					   this address is below the CFA */
	s64 stores[PROLOGUE_BYTES_MAX][2], frame = 0, below;
	u32 store_count = 0, branches = 0;
	bool is_filled = false;
	struct loop_code code;

	for (u64 at = loop->file->start, address = at; !is_filled; address = at) {
		u32 linked;

		if (!read_next_prologue_instruction(loop, &at, &code) || branches > 1)
			return false;
		branches += code.flow == LOOP_BRANCH;
		linked = loop_code_register_stored_at(&code, THREAD_CFRAME);
		if (linked != LOOP_NO_REGISTER && place[linked] && !frame &&
		    !script_loop_bytes_below_cfa(loop->file, address, code.base, 0, &below)) {
			loop->link = place[linked];
			frame = loop->link - loop->version.innermost;
		}
		if (code.is_store && !code.is_indexed &&
		    script_loop_bytes_below_cfa(loop->file, address, code.base, code.displacement,
						&below)) {
			stores[store_count][0] = below;
			stores[store_count++][1] = below - code.touched_bytes;
		}
		for (u32 reg = 0; reg < LOOP_REGISTERS; reg++)
			if (code.writes >> reg & 1)
				place[reg] = 0;
		if (code.computed != LOOP_NO_REGISTER &&
		    script_loop_bytes_below_cfa(loop->file, address, code.computed_from,
						code.distance, &below))
			place[code.computed] = below;
		for (u32 i = 0; i < store_count && frame; i++)
			is_filled |= stores[i][0] >= frame && stores[i][1] <= frame - WORD;
	}
	loop->link = frame;
	loop->link_kind = SCRIPT_LINK_FRAME;
	return loop->link % WORD == 0;
}

/* The state of reading a prologue of 3.13 or later. */
struct prologue {
	bool is_thread[LOOP_REGISTERS],
		is_frame[LOOP_REGISTERS]; /* which registers hold the address of the thread's state,
					     and of the frame */
	s64 place[LOOP_REGISTERS]; /* for each register that holds a stack address: how far this
				      address is below the CFA */
	s64 stores[PROLOGUE_BYTES_MAX][2]; /* ranges of bytes that were stored on the stack, by
					      their distance below the CFA */
	u32 store_count;
	s64 entry, thread; /* where the entered frame lies, and where the thread state's address is
			      stored, as distances below the CFA; 0: not seen yet */
	bool is_linked, is_linked_early;
};

/* True if `bytes` bytes at `offset` of the entered frame have been stored. */
static bool is_entry_stored(const struct prologue *prologue, u32 offset, u32 bytes)
{
	s64 first = prologue->entry - offset;

	for (u32 i = 0; i < prologue->store_count; i++)
		if (prologue->stores[i][0] >= first && prologue->stores[i][1] <= first - (s64)bytes)
			return true;
	return false;
}

/* Follows one instruction of the prologue. False: the order of stores is not the one that a walk
 * relies on. */
static bool follow_prologue_instruction(const struct loop *loop, struct prologue *prologue,
					u64 address, const struct loop_code *code)
{
	const struct version *version = &loop->version;
	bool is_thread = false, is_frame = false;
	s64 below;

	if (code->touched_bytes && !code->is_indexed &&
	    script_loop_bytes_below_cfa(loop->file, address, code->base, code->displacement,
					&below)) {
		prologue->stores[prologue->store_count][0] = below;
		prologue->stores[prologue->store_count++][1] = below - code->touched_bytes;
		for (u32 i = 0; i < 2; i++)
			if (code->stored[i] != LOOP_NO_REGISTER &&
			    prologue->is_thread[code->stored[i]] && !prologue->thread)
				prologue->thread = below - WORD * (s64)i;
	} else if (code->touched_bytes && code->base < LOOP_REGISTERS) {
		u32 previous = loop_code_register_stored_at(code, version->frame_previous);
		u32 linked = loop_code_register_stored_at(code, version->thread_frame);

		if (prologue->is_frame[code->base] && previous != LOOP_NO_REGISTER)
			prologue->entry = prologue->place[previous];
		if (prologue->is_thread[code->base] && linked != LOOP_NO_REGISTER &&
		    prologue->is_frame[linked]) {
			prologue->is_linked = true;
			prologue->is_linked_early =
				!is_entry_stored(prologue, version->frame_previous, WORD);
			if (!prologue->entry)
				return false;
		}
	}
	if (code->computed != LOOP_NO_REGISTER && !code->distance) {
		is_thread = prologue->is_thread[code->computed_from];
		is_frame = prologue->is_frame[code->computed_from];
	}
	for (u32 i = 0; i < LOOP_REGISTERS; i++)
		if (code->writes >> i & 1) {
			prologue->place[i] = 0;
			prologue->is_thread[i] = prologue->is_frame[i] = false;
		}
	if (code->computed != LOOP_NO_REGISTER) {
		prologue->is_thread[code->computed] = is_thread;
		prologue->is_frame[code->computed] = is_frame;
		if (script_loop_bytes_below_cfa(loop->file, address, code->computed_from,
						code->distance, &below))
			prologue->place[code->computed] = below;
	}
	return true;
}

/* Finds the frame with which the loop is entered, and the thread's state. */
static bool read_prologue_of_entry_frame(struct loop *loop)
{
	struct prologue prologue = {};
	bool is_filled = false;
	struct loop_code code;
	u64 linked = 0;

	prologue.is_thread[script_loop_argument_register(loop->file, 0)] = true;
	prologue.is_frame[script_loop_argument_register(loop->file, 1)] = true;
	for (u64 at = loop->file->start, address = at; !is_filled; address = at) {
		if (!read_next_prologue_instruction(loop, &at, &code) ||
		    !follow_prologue_instruction(loop, &prologue, address, &code))
			return false;
		if (prologue.is_linked && !linked)
			linked = at;
		is_filled = prologue.is_linked &&
			    is_entry_stored(&prologue, loop->version.frame_previous, WORD) &&
			    is_entry_stored(&prologue, loop->version.entry_mark, 1);
	}
	loop->entry = prologue.entry;
	loop->link = prologue.thread;
	loop->link_kind = SCRIPT_LINK_THREAD;
	loop->unfilled = prologue.is_linked_early ? loop->body - linked : 0;
	return loop->entry % WORD == 0 && loop->entry <= SCRIPT_ENTRY_MAX;
}

/* Words of struct _Py_DebugOffsets that have the same index in each version, and distances between
 * words that are the same in each version. */
enum debug_word {
	DEBUG_COOKIE,
	DEBUG_VERSION,
	DEBUG_FREE_THREADED,
	DEBUG_INTERPRETERS = 5,
	DEBUG_THREADS = 9,
	DEBUG_WORDS = 64
};

enum debug_distance {
	DEBUG_NEXT_TO_FRAME = 2,
	DEBUG_PREVIOUS_TO_CODE = 1,
	DEBUG_PREVIOUS_TO_OWNER = 4,
	DEBUG_FILENAME_TO_QUALNAME = 2,
	DEBUG_FILENAME_TO_LINETABLE = 3,
	DEBUG_FILENAME_TO_LINE = 4
};

/* Sets *offset to the value of a word of struct _Py_DebugOffsets; false: the offset is not within
 * the `words` words that a walk reads. */
static bool read_checked_word_offset(u64 word, u32 words, u8 *offset)
{
	*offset = word;
	return word < words * WORD;
}

/*
 * Reads the offsets in frames and threads, and finds the list of threads. False: the words are not
 * those of this version, or an offset is not where a walk reads.
 */
static bool read_python_debug_offsets(struct loop *loop, const struct script_layout *layout)
{
	struct version *version = &loop->version;
	u64 word[DEBUG_WORDS], address;
	const u64 *thread = &word[version->word_next], *frame = &word[version->word_previous];
	const u64 *code = &word[version->word_filename];
	const u8 *bytes;

	if (!elf_words_exported_address(loop->file->elf, "_PyRuntime", &address))
		return false;
	bytes = elf_words_bytes(loop->file->elf, address, sizeof(word));
	if (!bytes)
		return false;
	memcpy(word, bytes, sizeof(word));
	loop->runtime = address + word[DEBUG_INTERPRETERS];
	loop->threads = word[DEBUG_THREADS];
	return !memcmp(&word[DEBUG_COOKIE], "xdebugpy", WORD) && !word[DEBUG_FREE_THREADED] &&
	       word[DEBUG_VERSION] == layout->version &&
	       word[DEBUG_INTERPRETERS] < RUNTIME_BYTES_MAX && loop->threads < RUNTIME_BYTES_MAX &&
	       (word[DEBUG_INTERPRETERS] | loop->threads | thread[0] | frame[0]) % WORD == 0 &&
	       read_checked_word_offset(thread[0], SCRIPT_CODE_WORDS, &version->thread_next) &&
	       read_checked_word_offset(thread[DEBUG_NEXT_TO_FRAME], SCRIPT_CODE_WORDS,
					&version->thread_frame) &&
	       read_checked_word_offset(word[version->word_id], SCRIPT_CODE_WORDS,
					&version->thread_id) &&
	       (version->thread_frame | version->thread_id) % WORD == 0 && version->thread_frame &&
	       read_checked_word_offset(frame[0], SCRIPT_FRAME_WORDS, &version->frame_previous) &&
	       read_checked_word_offset(frame[DEBUG_PREVIOUS_TO_CODE], SCRIPT_FRAME_WORDS,
					&version->frame_code) &&
	       version->frame_code % WORD == 0 &&
	       read_checked_word_offset(frame[DEBUG_PREVIOUS_TO_OWNER], SCRIPT_FRAME_WORDS,
					&version->entry_mark) &&
	       code[0] == layout->code_file &&
	       code[DEBUG_FILENAME_TO_QUALNAME] == layout->code_name &&
	       code[DEBUG_FILENAME_TO_LINETABLE] == layout->code_lines &&
	       code[DEBUG_FILENAME_TO_LINE] == layout->first_line;
}

/* Reads, from the function that returns the address of the thread's state, at which distance from
 * the thread pointer this address is stored: mov %fs:d, %rax; ret. False: the function has other
 * code. */
static bool read_tls_offset_of_thread_state(struct loop *loop)
{
	static const u8 begin[] = {0xf3, 0x0f, 0x1e, 0xfa};
	static const u8 load[] = {0x64, 0x48, 0x8b, 0x04, 0x25};
	const u8 *code;
	u64 address;
	s32 place;

	if (!elf_words_exported_address(loop->file->elf, "PyThreadState_GetUnchecked", &address))
		return false;
	code = elf_words_bytes(loop->file->elf, address, sizeof(begin));
	if (code && !memcmp(code, begin, sizeof(begin)))
		address += sizeof(begin);
	code = elf_words_bytes(loop->file->elf, address, sizeof(load) + sizeof(place) + 1);
	if (!code || memcmp(code, load, sizeof(load)) || code[sizeof(load) + sizeof(place)] != 0xc3)
		return false;
	memcpy(&place, code + sizeof(load), sizeof(place));
	loop->link = -(s64)place;
	return place < 0 && place % WORD == 0;
}

/* Finds the end of the code that runs without a thread state. False: the code does not end in a
 * call. */
static bool find_end_of_code_without_thread(struct loop *loop)
{
	u64 address = loop->fatal;

	for (u32 i = 0; loop->fatal && i < UNFILLED_INSTRUCTIONS_MAX; i++) {
		struct loop_code code;

		if (!script_loop_decode_at(loop->file, address, &code))
			return false;
		address += code.length;
		loop->fatal_end = address;
		if (code.flow != LOOP_NEXT)
			return code.flow == LOOP_CALL || code.flow == LOOP_TRAP;
	}
	return !loop->fatal;
}

/* --- gaps --- */

/* Distances of registers from the address of a new frame. */
struct frame_registers {
	bool is_known[LOOP_REGISTERS];
	s64 distance[LOOP_REGISTERS];
};

static void follow_frame_pointer_registers(struct frame_registers *registers,
					   const struct loop_code *code)
{
	bool is_known =
		code->computed != LOOP_NO_REGISTER && registers->is_known[code->computed_from];
	s64 distance = code->distance + (is_known ? registers->distance[code->computed_from] : 0);

	for (u32 i = 0; i < LOOP_REGISTERS; i++)
		if (code->writes >> i & 1)
			registers->is_known[i] = false;
	if (is_known) {
		registers->is_known[code->computed] = true;
		registers->distance[code->computed] = distance;
	}
}

/* True if an instruction stores one of the frame's words that a walk reads. */
static bool is_frame_store(const struct loop *loop, const struct frame_registers *registers,
			   const struct loop_code *code)
{
	const struct version *version = &loop->version;
	s64 at, end;

	if (code->base == LOOP_NO_REGISTER || !registers->is_known[code->base] ||
	    !code->touched_bytes)
		return false;
	at = registers->distance[code->base] + code->displacement;
	end = at + code->touched_bytes;
	return (at < version->frame_code + WORD && end > version->frame_code) ||
	       (at < version->frame_previous + WORD && end > version->frame_previous) ||
	       (at <= version->entry_mark && end > version->entry_mark);
}

/*
 * Records the gap after a store of a new frame's address: the code from `address` on up to the last
 * store to the new frame. The code is followed through jumps, up to a call or return, before which
 * all stores are done.
 */
static bool add_gap_after_frame_store(struct loop *loop, u64 address,
				      struct frame_registers registers)
{
	u64 piece[GAP_INSTRUCTIONS_MAX][2];
	u32 pieces = 0, stored = 0;
	u64 stored_end = 0;

	piece[0][0] = address;
	for (u32 i = 0; i < GAP_INSTRUCTIONS_MAX - 1; i++) {
		struct loop_code code;

		if (!script_loop_decode_at(loop->file, address, &code))
			return false;
		address += code.length;
		if (code.flow != LOOP_NEXT && code.flow != LOOP_BRANCH && code.flow != LOOP_JUMP)
			break;
		if (is_frame_store(loop, &registers, &code)) {
			stored = pieces + 1;
			stored_end = address;
		}
		follow_frame_pointer_registers(&registers, &code);
		piece[pieces][1] = address;
		if (code.flow == LOOP_JUMP)
			piece[++pieces][0] = address = code.target;
	}
	for (u32 i = 0; i < stored; i++) {
		if (loop->gap_count == GAPS_MAX)
			return false;
		loop->gaps[loop->gap_count][0] = piece[i][0];
		loop->gaps[loop->gap_count++][1] = i + 1 == stored ? stored_end : piece[i][1];
	}
	return true;
}

/* The register that an instruction stores as the address of the innermost frame. A store to the
 * thread's state is recognized only by its offset. A store to another object at this offset makes a
 * needless gap, which is harmless. */
static u32 register_stored_as_frame_link(const struct loop *loop, u64 address,
					 const struct loop_code *code)
{
	s64 below;
	bool is_on_stack = script_loop_bytes_below_cfa(loop->file, address, code->base,
						       code->displacement, &below);

	if (loop->link_kind != SCRIPT_LINK_FRAME)
		return is_on_stack || code->base == LOOP_NO_REGISTER
			       ? LOOP_NO_REGISTER
			       : loop_code_register_stored_at(code, loop->version.thread_frame);
	return is_on_stack
		       ? loop_code_register_stored_at(code, code->displacement + below - loop->link)
		       : LOOP_NO_REGISTER;
}

/* Records the gaps in a part of the loop: one after each store of a frame's address. */
static bool find_gaps_in_part_of_loop(struct loop *loop, u64 start, u64 end)
{
	u32 bases[LOOP_REGISTERS];
	s64 distances[LOOP_REGISTERS];

	for (u32 i = 0; i < LOOP_REGISTERS; i++)
		bases[i] = LOOP_NO_REGISTER;
	for (u64 at = start; at < end;) {
		struct loop_code code;
		struct frame_registers registers = {};
		u32 linked;

		if (!script_loop_decode_at(loop->file, at, &code))
			return false;
		linked = register_stored_as_frame_link(loop, at, &code);
		at += code.length;
		if (linked != LOOP_NO_REGISTER) {
			u32 base = bases[linked];

			registers.is_known[linked] = true;
			if (base != LOOP_NO_REGISTER) {
				registers.is_known[base] = true;
				registers.distance[base] = -distances[linked];
			}
			if (!add_gap_after_frame_store(loop, at, registers))
				return false;
		}
		for (u32 i = 0; i < LOOP_REGISTERS; i++)
			if (code.writes >> i & 1 ||
			    (bases[i] != LOOP_NO_REGISTER && code.writes >> bases[i] & 1))
				bases[i] = LOOP_NO_REGISTER;
		if (code.computed != LOOP_NO_REGISTER && code.computed != code.computed_from) {
			bases[code.computed] = code.computed_from;
			distances[code.computed] = code.distance;
		}
	}
	return true;
}

static bool find_gaps_in_whole_loop(struct loop *loop)
{
	bool is_read = find_gaps_in_part_of_loop(loop, loop->body, loop->file->end);

	for (u32 i = 0; i < loop->file->moved_count && is_read; i++)
		is_read = find_gaps_in_part_of_loop(loop, loop->file->moved[i][0],
						    loop->file->moved[i][1]);
	return is_read;
}

/* The offset of a member in code objects; 0: the type has no such member. */
static u32 member_offset(Elf *elf, u64 members, const char *name)
{
	for (u32 i = 0; i < MEMBERS_MAX; i++, members += MEMBER_BYTES) {
		u64 text = elf_words_pointer(elf, members), offset = 0;
		const char *found = text ? elf_words_text(elf, text) : NULL;
		const u8 *bytes = elf_words_bytes(elf, members + MEMBER_OFFSET, WORD);

		if (!found || !bytes)
			return 0;
		memcpy(&offset, bytes, WORD);
		if (!strcmp(found, name))
			return offset < SCRIPT_CODE_WORDS * WORD ? offset : 0;
	}
	return 0;
}

bool script_python_read_code_type(Elf *elf, u64 type, const char *name_member,
				  const char *lines_member, struct script_layout *layout)
{
	u64 name = elf_words_pointer(elf, type + TYPE_NAME);
	u64 members = elf_words_pointer(elf, type + TYPE_MEMBERS);
	const char *text = name ? elf_words_text(elf, name) : NULL;

	if (!text || strcmp(text, "code") || !members)
		return false;
	layout->code_type = WORD; /* each object of CPython has its type in the second word */
	layout->code_name = member_offset(elf, members, name_member);
	layout->code_file = member_offset(elf, members, "co_filename");
	layout->code_lines = member_offset(elf, members, lines_member);
	layout->first_line = member_offset(elf, members, "co_firstlineno");
	return layout->code_name && layout->code_file && layout->code_lines && layout->first_line &&
	       (layout->code_name | layout->code_file | layout->code_lines) % WORD == 0 &&
	       layout->first_line % 4 == 0;
}

/* Reads the version of CPython, which files export from 3.11 on; for other files it stays 0. */
static void read_python_version(Elf *elf, struct loop *loop, struct script_layout *layout)
{
	u64 address;
	const u8 *value = NULL;

	if (elf_words_exported_address(elf, "Py_Version", &address))
		value = elf_words_bytes(elf, address, WORD);
	if (value)
		memcpy(&layout->version, value, sizeof(layout->version));
	for (u32 i = 0; i < sizeof(versions) / sizeof(versions[0]); i++)
		if (versions[i].version == layout->version >> 16)
			loop->version = versions[i];
	if (loop->version.version)
		layout->link_kind = SCRIPT_LINK_UNREAD;
}

/* Marks the code in which the words that a walk reads are valid. */
static bool mark_code_of_python_loop(struct loop *loop)
{
	struct script_loop *file = loop->file;
	bool is_marked = script_loop_mark(file, loop->body - loop->unfilled, file->end);

	for (u32 i = 0; i < file->moved_count && is_marked; i++)
		is_marked = script_loop_mark(file, file->moved[i][0], file->moved[i][1]);
	if (loop->fatal)
		is_marked = is_marked && script_loop_unmark(file, loop->fatal, loop->fatal_end);
	for (u32 i = 0; i < loop->gap_count && is_marked; i++)
		is_marked = script_loop_unmark(file, loop->gaps[i][0], loop->gaps[i][1]);
	return is_marked;
}

/* Finds where the loop's native frame has the words that a walk reads. False: the build's code is
 * not understood. */
static bool read_python_loop(struct loop *loop, const struct script_layout *layout)
{
	if (!loop->version.word_next)
		return read_python_loop_prologue(loop);
	if (!read_python_debug_offsets(loop, layout) || !read_prologue_of_entry_frame(loop))
		return false;
	/* Here a walk finds the thread's state in a word of the native stack. Neither this walk nor
	 * one by the thread pointer can handle code that runs before the frame is filled. */
	if (loop->link) {
		loop->runtime = loop->threads = 0;
		return !loop->unfilled;
	}
	loop->link_kind =
		read_tls_offset_of_thread_state(loop) ? SCRIPT_LINK_TLS : SCRIPT_LINK_LIST;
	if (loop->link_kind == SCRIPT_LINK_LIST)
		loop->link = loop->entry + loop->unfilled;
	return loop->link_kind == SCRIPT_LINK_LIST || !loop->unfilled;
}

/* The number of jumps in a part of the loop to addresses that the code does not tell. */
static u32 count_indirect_jumps(const struct script_loop *file, u64 start, u64 end)
{
	u32 count = 0;

	while (start < end) {
		struct loop_code code;

		if (!script_loop_decode_at(file, start, &code))
			return 0;
		count += code.flow == LOOP_JUMP_INDIRECT;
		start += code.length;
	}
	return count;
}

/* True if this version of CPython can have a function for each instruction in place of the loop,
 * and the file has such functions. */
static bool may_run_tail_call_handlers(const struct loop *loop)
{
	const struct script_loop *file = loop->file;
	u32 count = count_indirect_jumps(file, file->start, file->end);

	for (u32 i = 0; i < file->moved_count; i++)
		count += count_indirect_jumps(file, file->moved[i][0], file->moved[i][1]);
	return loop->version.version >= VERSION_WITH_HANDLERS && count < DISPATCHES_MIN;
}

int script_python_read(struct script_loop *file)
{
	struct script_layout *layout = &file->layout;
	struct loop loop = {.file = file};
	u64 address, type, offset;

	if (!elf_words_exported_address(file->elf, "_PyEval_EvalFrameDefault", &address))
		return -ENOENT;
	layout->runtime = SCRIPT_CPYTHON;
	if (!elf_words_exported_address(file->elf, "Py_Version", &type))
		return script_python_register_read(file, address);
	read_python_version(file->elf, &loop, layout);
	if (!loop.version.version || !script_loop_enter(file, address) ||
	    !elf_words_exported_address(file->elf, "PyCode_Type", &type) ||
	    !script_python_read_code_type(file->elf, type, "co_qualname", "co_linetable", layout))
		return -EOPNOTSUPP;
	if (!read_python_loop(&loop, layout) || !find_end_of_code_without_thread(&loop) ||
	    !script_loop_find_moved(file, loop.body) || may_run_tail_call_handlers(&loop) ||
	    !find_gaps_in_whole_loop(&loop) || !mark_code_of_python_loop(&loop) ||
	    !script_loop_file_offset(file, loop.body, &offset))
		return -EOPNOTSUPP;
	/* The part of the native frame that a walk reads. */
	file->stack_bytes = loop.link_kind > SCRIPT_LINK_THREAD || loop.entry > loop.link
				    ? loop.entry
				    : loop.link;
	layout->loop = offset;
	layout->link = loop.link;
	layout->link_kind = loop.link_kind;
	layout->entry = loop.entry;
	layout->interpreter = loop.runtime ? (s64)(loop.runtime - loop.body) : 0;
	layout->threads = loop.threads;
	layout->type = (s64)(type - loop.body);
	layout->frame_code = loop.version.frame_code;
	layout->frame_previous = loop.version.frame_previous;
	layout->entry_mark = loop.version.entry_mark;
	layout->entry_value = loop.version.entry_value;
	layout->entry_mask = 0xff;
	layout->entry_is_frame = loop.version.entry_is_frame;
	layout->code_number = loop.version.code_number;
	layout->code_tag = loop.version.code_tag;
	layout->thread_frame = loop.version.thread_frame;
	layout->thread_next = loop.version.thread_next;
	layout->thread_id = loop.version.thread_id;
	layout->text_ascii = loop.version.text_ascii;
	layout->text_wide = loop.version.text_wide;
	return 0;
}
