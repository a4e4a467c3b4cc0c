/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * PHP 8.1 to 8.5 (Zend/zend_compile.h, Zend/zend_execute.h, Zend/zend_vm_execute.skl there), as
 * GCC builds it on x86-64: the frame of the script that a loop runs is in r14 and the instruction
 * in r15, in all of the interpreter's code. The loop execute_ex() stores both of its caller on the
 * stack, which its unwind table does not tell, and takes them back at its end:
 *
 *   mov %r14, d(%...)     the caller's frame
 *   mov %rdi, %r14        the frame that the loop is entered with
 *   mov %r15, e(%...)     the caller's instruction
 *
 * The rows of the loop get these places as those of r14 and r15, so a walk has the right words for
 * the loops further out. Code that has taken r14 back and has not returned yet has no mark.
 *
 * A frame in which an exception was thrown has one of three instructions in executor_globals, which
 * a thread-safe build does not export; such a build is not known.
 *
 * The innermost frame of a loop need not have its instruction, which r15 has; the frames after it
 * have it, since they call. Between the stores to r14 and r15 the instruction is not one of the
 * frame's function, so a frame that is entered just then is no frame yet.
 *
 * Each file of PHP has a text with the number of its module interface, which each version changes.
 */
#include "script_loop.h"

#include <errno.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>

#include "symbol/elf/elf_words.h"

#define WORD 8
#define PROLOGUE_BYTES_MAX 256
#define ENTRY_MARK 42 /* offset in a frame of the byte of flags that has ZEND_CALL_TOP */
#define ENTRY_VALUE 2
#define INSTRUCTION_BYTES 32

/* The build's text is "API", the number of the module interface, and the build's kind. */
#define BUILD_PREFIX "API20"
#define BUILD_DIGITS 8

/* Offsets in struct _zend_op_array, by the version of PHP. */
struct version {
	u32 number; /* number of the module interface */
	u8 count, instructions, file, line;
	u16 exception; /* offset in executor_globals of the instructions of a thrown exception */
};

static const struct version versions[] = {
	{20210902, 68, 72, 144, 152, 888},  /* 8.1 */
	{20220829, 80, 88, 152, 160, 888},  /* 8.2 */
	{20230831, 76, 80, 144, 152, 888},  /* 8.3 */
	{20240924, 96, 104, 168, 176, 960}, /* 8.4 */
	{20250925, 96, 104, 168, 176, 984}, /* 8.5 */
};

/* Finds the build's text in the bytes of a section; NULL: the section does not have it. */
static const u8 *find_php_build_text(const u8 *bytes, u64 count)
{
	const u64 prefix = sizeof(BUILD_PREFIX) - 1;
	const u8 *end = bytes + count;

	while (bytes && (u64)(end - bytes) > 1 + 3 + BUILD_DIGITS + 1) {
		const u8 *found = memmem(bytes, end - bytes, BUILD_PREFIX, prefix);

		if (!found || (u64)(end - found) <= 3 + BUILD_DIGITS + 1)
			return NULL;
		if (found[3 + BUILD_DIGITS] == ',' &&
		    strspn((const char *)found + 3, "0123456789") == BUILD_DIGITS)
			return found + 3;
		bytes = found + 1;
	}
	return NULL;
}

/* The number of the module interface in the build's text; 0: the file has no such text. */
static u32 read_php_api_number(Elf *elf)
{
	Elf_Scn *section = NULL;

	while ((section = elf_nextscn(elf, section))) {
		GElf_Shdr header;
		u8 digits[BUILD_DIGITS + 1] = {};
		const u8 *bytes;

		if (!gelf_getshdr(section, &header) || header.sh_type != SHT_PROGBITS ||
		    !(header.sh_flags & SHF_ALLOC) || header.sh_flags & (SHF_EXECINSTR | SHF_WRITE))
			continue;
		bytes = elf_words_bytes(elf, header.sh_addr, header.sh_size);
		bytes = bytes ? find_php_build_text(bytes, header.sh_size) : NULL;
		if (!bytes)
			continue;
		memcpy(digits, bytes, BUILD_DIGITS);
		return strtoul((const char *)digits, NULL, 10);
	}
	return 0;
}

static bool is_wide_move(const struct x86_instruction *code, u32 opcode)
{
	return code->map == X86_MAP_ONE_BYTE && code->opcode == opcode && code->is_wide;
}

/* If an instruction stores register `reg` in a word of the stack, sets *slot to this word, as a
 * slot of a rule. */
static void note_slot_of_stored_register(const struct script_loop *loop, u64 address,
					 const struct x86_instruction *code, u32 reg, u8 *slot)
{
	s64 below;

	if (!*slot && is_wide_move(code, 0x89) && code->reg == reg &&
	    script_loop_operand_bytes_below_cfa(loop, address, code, &below))
		*slot = slot_of_word_below_base(-below) == SLOT_LOST
				? 0
				: slot_of_word_below_base(-below);
}

/* Finds where the loop stores its caller's registers, and sets *body to the end of the last store.
 */
static bool read_php_loop_prologue(struct script_loop *loop, u64 *body)
{
	bool is_entered = false;

	for (u64 address = loop->start; address < loop->start + PROLOGUE_BYTES_MAX;) {
		struct x86_instruction code;

		if (address >= loop->end || !script_loop_decode_x86_at(loop, address, &code) ||
		    x86_flow_of(&code) != X86_NEXT)
			return false;
		note_slot_of_stored_register(loop, address, &code, X86_R14, &loop->slot[SLOT_R14]);
		note_slot_of_stored_register(loop, address, &code, X86_R15, &loop->slot[SLOT_R15]);
		if (code.writes >> X86_R14 & 1) {
			if (is_entered || !loop->slot[SLOT_R14] || code.is_memory ||
			    !is_wide_move(&code, 0x89) || code.reg != X86_RDI)
				return false;
			is_entered = true;
		}
		address += code.length;
		*body = address;
		if (is_entered && loop->slot[SLOT_R15])
			return true;
	}
	return false;
}

/* Leaves the code without a mark in which r14 has the caller's value again. */
static bool unmark_code_with_callers_r14(struct script_loop *loop, u64 start, u64 end)
{
	u64 taken = 0;

	for (u64 address = start; address < end;) {
		struct x86_instruction code;
		enum x86_flow flow;
		s64 below;

		if (!script_loop_decode_x86_at(loop, address, &code))
			return false;
		if (is_wide_move(&code, 0x8b) && code.reg == X86_R14 &&
		    script_loop_operand_bytes_below_cfa(loop, address, &code, &below) &&
		    below == SLOT_WORD * loop->slot[SLOT_R14])
			taken = address + code.length;
		address += code.length;
		flow = x86_flow_of(&code);
		if (taken &&
		    (flow == X86_RETURN || flow == X86_JUMP || flow == X86_JUMP_INDIRECT)) {
			if (!script_loop_unmark(loop, taken, address))
				return false;
			taken = 0;
		}
	}
	return !taken;
}

static bool mark_code_of_php_loop(struct script_loop *loop, u64 body)
{
	bool is_marked = script_loop_mark(loop, body, loop->end) &&
			 unmark_code_with_callers_r14(loop, body, loop->end);

	for (u32 i = 0; i < loop->moved_count && is_marked; i++)
		is_marked =
			script_loop_mark(loop, loop->moved[i][0], loop->moved[i][1]) &&
			unmark_code_with_callers_r14(loop, loop->moved[i][0], loop->moved[i][1]);
	return is_marked;
}

int script_php_read(struct script_loop *loop)
{
	const struct version *version = NULL;
	u64 address, globals, body, offset;

	if (!elf_words_exported_address(loop->elf, "execute_ex", &address) ||
	    !elf_words_exported_address(loop->elf, "zend_execute_ex", &body))
		return -ENOENT;
	loop->layout.runtime = SCRIPT_PHP;
	loop->layout.version = read_php_api_number(loop->elf);
	for (u32 i = 0; i < sizeof(versions) / sizeof(versions[0]); i++)
		if (versions[i].number == loop->layout.version)
			version = &versions[i];
	if (version)
		loop->layout.link_kind = SCRIPT_LINK_UNREAD;
	if (!version || !elf_words_exported_address(loop->elf, "executor_globals", &globals) ||
	    !script_loop_enter(loop, address) || !read_php_loop_prologue(loop, &body) ||
	    !script_loop_find_moved(loop, body) || !mark_code_of_php_loop(loop, body) ||
	    !script_loop_file_offset(loop, body, &offset))
		return -EOPNOTSUPP;
	loop->operand = RULE_LOOP_OPERAND(REGISTER_R14, REGISTER_R15);
	loop->stack_bytes = SLOT_WORD * loop->slot[SLOT_R14];
	if (loop->stack_bytes < SLOT_WORD * loop->slot[SLOT_R15])
		loop->stack_bytes = SLOT_WORD * loop->slot[SLOT_R15];
	loop->layout.loop = offset;
	loop->layout.link = loop->stack_bytes;
	loop->layout.type = (s64)(globals + version->exception - body);
	loop->layout.link_kind = SCRIPT_LINK_REGISTER;
	loop->layout.frame_place = 0;
	loop->layout.frame_code = 24;
	loop->layout.frame_previous = 48;
	loop->layout.entry_mark = ENTRY_MARK;
	loop->layout.entry_mask = loop->layout.entry_value = ENTRY_VALUE;
	loop->layout.entry_is_frame = 1;
	loop->layout.code_unit = INSTRUCTION_BYTES;
	loop->layout.code_name = 8;
	loop->layout.code_owner = 16;
	loop->layout.code_count = version->count;
	loop->layout.code_lines = version->instructions;
	loop->layout.code_file = version->file;
	loop->layout.first_line = version->line;
	loop->layout.code_copied = 1; /* closures have copies of the function's op_array */
	loop->layout.owner_name = 8;
	loop->layout.text_kind = SCRIPT_TEXT_PHP;
	loop->layout.text_ascii = 24;
	return 0;
}
