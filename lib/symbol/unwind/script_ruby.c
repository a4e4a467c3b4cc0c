/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Ruby 3.1 to 3.4 (vm_core.h, vm_exec.c, vm_insnhelper.h, iseq.c there), as GCC builds it on
 * x86-64: the loop vm_exec_core() keeps the frame of the script that it runs in r15 and the next
 * instruction in r14. The loop exports no name. It is the only large function that begins with
 *
 *   mov 16(%rdi), %r15     the thread's innermost frame
 *   mov (%r15), %r14       the frame's instruction
 *
 * or has moved rdi to another register before (3.4, which calls a function between).
 *
 * Frames lie side by side on the stack of the virtual machine, the innermost at the lowest address.
 * A call within the loop fills a frame before r15 gets its address. The frame with which the loop
 * was entered has a flag (VM_FRAME_FLAG_FINISH), in a word that the frame leads to. Functions of C
 * have frames of their own on that stack, but a loop further out has the frame that calls in r15,
 * and a loop further in ends at its own first frame: no loop has frames of functions of C.
 *
 * A frame leads to an object with the address of the function's body. The frame stores the address
 * after the instruction it executes before it executes it, so it lies within the body's
 * instructions or at their end.
 *
 * Where the members of a body lie is read from the functions that return them.
 */
#include "script_loop.h"

#include <errno.h>
#include <string.h>

#include "symbol/elf/elf_words.h"

#define WORD 8
#define PROLOGUE_BYTES_MAX 256
#define LOOP_BYTES_MIN 8192
#define CALL_KEEPS (1U << X86_RBX | 1U << X86_RBP | 1U << X86_R12 | 1U << X86_R13)
#define PLACES_MAX 64
#define OTHER_INSTRUCTIONS_MAX 4096

/* Offsets in a frame (rb_control_frame_t), and in a thread's state (rb_execution_context_t). */
#define FRAME_PLACE 0
#define FRAME_CODE 16
#define FRAME_ENVIRONMENT 32
#define THREAD_FRAME 16
#define ENTRY_VALUE 0x20

/* Offsets in the body of a function (rb_iseq_constant_body). */
#define BODY_COUNT 4
#define BODY_INSTRUCTIONS 8

/* Numbers that cannot be read from the file, by version of Ruby. */
struct version {
	u32 number; /* version of Ruby: 0x0302 is 3.2 */
	u8 frame_bytes, text, text_length, line_shift;
};

static const struct version versions[] = {
	{0x0301, 64, 16, 14, 1},
	{0x0302, 64, 24, 0, 0},
	{0x0303, 56, 24, 0, 0},
	{0x0304, 56, 24, 0, 0},
};

/* Parses a version such as "3.2.1"; 0: the text is not a version. */
static u32 parse_ruby_version(const char *text)
{
	u32 number = 0, part = 0, parts = 0, digits = 0;

	for (;; text++) {
		if (*text >= '0' && *text <= '9') {
			part = 10 * part + (*text - '0');
			if (++digits > 3 || part > 255)
				return 0;
			continue;
		}
		if (!digits || (*text && *text != '.'))
			return 0;
		number = number << 8 | part;
		part = digits = 0;
		if (++parts == 3)
			return number;
		if (!*text)
			return 0;
	}
}

/* Decodes an instruction that loads `reg` from memory at the register `base`, and sets *offset. */
static bool decode_load_to_register(const struct x86_instruction *code, u32 base, u32 reg,
				    u32 *offset)
{
	bool is_load = code->map == X86_MAP_ONE_BYTE &&
		       (code->opcode == 0x8b || code->opcode == 0x63) && code->is_wide;

	if (!is_load || !code->is_memory || code->has_segment || code->index != X86_NO_REGISTER ||
	    code->base != base || code->reg != reg || code->displacement < 0)
		return false;
	*offset = code->displacement;
	return true;
}

/*
 * Reads a function that returns a member of a body, by the address of the object in rdi:
 * mov body(%rdi), %rax; mov member(%rax), %rax. False: it has other code.
 */
static bool read_member_offset_of_getter(const struct script_loop *loop, const char *function,
					 u8 *body, u8 *member)
{
	static const u8 begin[] = {0xf3, 0x0f, 0x1e, 0xfa}; /* endbr64 */
	struct x86_instruction code;
	const u8 *bytes;
	u32 first, second;
	u64 address;

	if (!elf_words_exported_address(loop->elf, function, &address))
		return false;
	bytes = elf_words_bytes(loop->elf, address, sizeof(begin));
	if (bytes && !memcmp(bytes, begin, sizeof(begin)))
		address += sizeof(begin);
	if (!script_loop_decode_x86_at(loop, address, &code) ||
	    !decode_load_to_register(&code, X86_RDI, X86_RAX, &first) || first % WORD ||
	    first > UINT8_MAX)
		return false;
	address += code.length;
	if (!script_loop_decode_x86_at(loop, address, &code) ||
	    !decode_load_to_register(&code, X86_RAX, X86_RAX, &second) || second % 4 ||
	    second >= SCRIPT_CODE_WORDS * WORD)
		return false;
	*body = first;
	*member = second;
	return true;
}

static bool read_member_offsets_of_ruby(const struct script_loop *loop,
					struct script_layout *layout)
{
	u8 body[2];

	return read_member_offset_of_getter(loop, "rb_iseq_label", &layout->code_body,
					    &layout->code_name) &&
	       read_member_offset_of_getter(loop, "rb_iseq_path", &body[0], &layout->code_file) &&
	       read_member_offset_of_getter(loop, "rb_iseq_first_lineno", &body[1],
					    &layout->first_line) &&
	       body[0] == layout->code_body && body[1] == layout->code_body &&
	       (layout->code_name | layout->code_file) % WORD == 0;
}

/* True for an instruction that loads the thread's innermost frame into r15. */
static bool is_frame_load(const struct x86_instruction *code)
{
	u32 offset;

	return code->base < X86_REGISTERS &&
	       decode_load_to_register(code, code->base, X86_R15, &offset) &&
	       offset == THREAD_FRAME;
}

/* Reads the begin of a function. Sets *body to the end of the instruction that loads r14. False:
 * the function does not begin as the loop does. */
static bool read_ruby_loop_prologue(const struct script_loop *loop, u64 *body)
{
	u32 states = 1U << X86_RDI; /* registers that hold the address of the thread's state */
	bool has_frame = false;

	for (u64 address = loop->start; address < loop->start + PROLOGUE_BYTES_MAX;) {
		struct x86_instruction code;
		enum x86_flow flow;
		bool is_moved;
		u32 offset;

		if (address >= loop->end || !script_loop_decode_x86_at(loop, address, &code))
			return false;
		flow = x86_flow_of(&code);
		if (flow == X86_CALL && !has_frame)
			states &= CALL_KEEPS;
		else if (flow != X86_NEXT && flow != X86_BRANCH)
			return false;
		address += code.length;
		if (has_frame && decode_load_to_register(&code, X86_R15, X86_R14, &offset)) {
			*body = address;
			return offset == FRAME_PLACE;
		}
		if (is_frame_load(&code) && states >> code.base & 1) {
			has_frame = true;
			continue;
		}
		if (code.writes >> X86_R15 & 1 || code.writes >> X86_R14 & 1)
			return false;
		is_moved = code.map == X86_MAP_ONE_BYTE && code.opcode == 0x89 && code.is_wide &&
			   !code.is_memory && states >> code.reg & 1;
		states &= ~code.writes;
		states |= (u32)is_moved << code.rm;
	}
	return false;
}

/* Finds the loop, and sets *body to an address in it. False: no function, or more than one, begins
 * as the loop does. */
static bool find_ruby_loop(struct script_loop *loop, u64 *body)
{
	u64 start = 0;

	for (u32 i = 0; i < loop->covered->count; i++) {
		const struct file_span *span = &loop->covered->spans[i];

		if (span->end - span->start < LOOP_BYTES_MIN ||
		    !script_loop_enter(loop, span->start) || !read_ruby_loop_prologue(loop, body))
			continue;
		if (start)
			return false;
		start = span->start;
	}
	return start && script_loop_enter(loop, start) && read_ruby_loop_prologue(loop, body);
}

/* Finds how far below the CFA the loop stores the r15 of its caller. */
static bool find_slot_of_saved_r15(struct script_loop *loop, u64 body)
{
	const struct unwind_rule *rule = script_loop_rule(loop, body);

	if (!rule || rule->base != RULE_BASE_CFA || !rule->slot[SLOT_R15] ||
	    rule->slot[SLOT_R15] > SLOT_WORDS_MAX)
		return false;
	loop->stack_bytes = SLOT_WORD * rule->slot[SLOT_R15];
	return true;
}

/* Code in which r15 may have another value than a frame of the loop. */
struct other_code {
	u64 places[PLACES_MAX]; /* addresses at which such code begins, and that have not been read
				   yet */
	u32 place_count;
	u32 instructions_left;
};

/* Adds an address from which on code is to be unmarked. False: the list is full. */
static bool add_address_of_code_to_unmark(struct other_code *other, u64 address)
{
	if (other->place_count == PLACES_MAX)
		return false;
	other->places[other->place_count++] = address;
	return true;
}

static bool is_offset_in_unmarked_code(const struct script_loop *loop, u64 offset)
{
	for (u32 i = 0; i < loop->range_count; i++)
		if (loop->ranges[i].is_unmarked && offset >= loop->ranges[i].start &&
		    offset < loop->ranges[i].end)
			return true;
	return false;
}

/*
 * Keeps code without a mark: from a place on, up to an instruction that loads r15, a call, or the
 * end of the path. The targets of branches are added to the places. After a call r15 may still have
 * another value, but not a frame: once a frame has ended, the loop calls only functions that do not
 * return. False: there is too much of such code.
 */
static bool unmark_code_from_place(struct script_loop *loop, struct other_code *other, u64 start)
{
	enum x86_flow flow = X86_NEXT;
	u64 address = start;

	while (flow == X86_NEXT || flow == X86_BRANCH) {
		struct x86_instruction code;
		u64 offset;

		if (!script_loop_file_offset(loop, address, &offset) ||
		    !script_loop_decode_x86_at(loop, address, &code) || !other->instructions_left--)
			return false;
		if (is_offset_in_unmarked_code(loop, offset))
			break;
		address += code.length;
		if (is_frame_load(&code))
			break;
		flow = x86_flow_of(&code);
		if ((flow == X86_JUMP || flow == X86_BRANCH) &&
		    !add_address_of_code_to_unmark(other, address + code.immediate))
			return false;
	}
	return address == start || script_loop_unmark(loop, start, address);
}

/*
 * Marks code, except code in which r15 may have another value. The loop ends a frame by loading r15
 * with the next one. If the frame was the loop's last one, the loop returns then, and r15 has a
 * frame of a loop further out.
 */
static bool mark_code_where_r15_is_frame(struct script_loop *loop, u64 start, u64 end)
{
	struct other_code other = {.instructions_left = OTHER_INSTRUCTIONS_MAX};

	if (!script_loop_mark(loop, start, end))
		return false;
	for (u64 address = start; address < end;) {
		struct x86_instruction code;
		bool is_pop;

		if (!script_loop_decode_x86_at(loop, address, &code))
			return false;
		address += code.length;
		is_pop = code.map == X86_MAP_ONE_BYTE && (code.opcode & 0xf8) == 0x58 &&
			 code.rm == X86_R15;
		/* r15 may now have another value than a frame of the loop. */
		if ((is_pop || (code.writes >> X86_R15 & 1 && !is_frame_load(&code))) &&
		    !add_address_of_code_to_unmark(&other, address))
			return false;
		while (other.place_count)
			if (!unmark_code_from_place(loop, &other,
						    other.places[--other.place_count]))
				return false;
	}
	return true;
}

static bool mark_code_of_ruby_loop(struct script_loop *loop, u64 body)
{
	bool is_marked = mark_code_where_r15_is_frame(loop, body, loop->end);

	for (u32 i = 0; i < loop->moved_count && is_marked; i++)
		is_marked =
			mark_code_where_r15_is_frame(loop, loop->moved[i][0], loop->moved[i][1]);
	return is_marked;
}

int script_ruby_read(struct script_loop *loop)
{
	const struct version *version = NULL;
	u64 address, body, offset;
	const char *text;

	if (!elf_words_exported_address(loop->elf, "ruby_version", &address) ||
	    !elf_words_exported_address(loop->elf, "rb_iseq_label", &body))
		return -ENOENT;
	text = elf_words_text(loop->elf, address);
	loop->layout.runtime = SCRIPT_RUBY;
	loop->layout.version = text ? parse_ruby_version(text) : 0;
	for (u32 i = 0; i < sizeof(versions) / sizeof(versions[0]); i++)
		if (versions[i].number == loop->layout.version >> 8)
			version = &versions[i];
	if (version)
		loop->layout.link_kind = SCRIPT_LINK_UNREAD;
	if (!version || !read_member_offsets_of_ruby(loop, &loop->layout) ||
	    !find_ruby_loop(loop, &body) || !find_slot_of_saved_r15(loop, body) ||
	    !script_loop_find_moved(loop, body) || !mark_code_of_ruby_loop(loop, body) ||
	    !script_loop_file_offset(loop, body, &offset))
		return -EOPNOTSUPP;
	loop->operand = RULE_LOOP_OPERAND(REGISTER_R15, REGISTER_R14);
	loop->layout.loop = offset;
	loop->layout.link = loop->stack_bytes;
	loop->layout.link_kind = SCRIPT_LINK_REGISTER;
	loop->layout.frame_place = FRAME_PLACE;
	loop->layout.frame_code = FRAME_CODE;
	loop->layout.frame_bytes = version->frame_bytes;
	loop->layout.entry_from = FRAME_ENVIRONMENT;
	loop->layout.frame_previous = SCRIPT_WORD_BEHIND * WORD;
	loop->layout.entry_mark = SCRIPT_WORD_APART * WORD;
	loop->layout.entry_mask = loop->layout.entry_value = ENTRY_VALUE;
	loop->layout.entry_is_frame = 1;
	loop->layout.place_kept = 1;
	loop->layout.code_unit = WORD;
	loop->layout.code_end = 1;
	loop->layout.code_count = BODY_COUNT;
	loop->layout.code_lines = BODY_INSTRUCTIONS;
	loop->layout.line_shift = version->line_shift;
	loop->layout.text_kind = SCRIPT_TEXT_RUBY;
	loop->layout.text_ascii = version->text;
	loop->layout.text_wide = version->text_length;
	return 0;
}
