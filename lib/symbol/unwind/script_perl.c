/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Perl 5.36, 5.38, 5.40 and 5.42 with threads (run.c, perl.c, gv.c, pp_ctl.c, cop.h, intrpvar.h
 * there), as GCC builds it on x86-64. The loop keeps the address of the interpreter in a register
 * that its caller has saved:
 *
 *   mov %rdi, %rbx
 *   call *16(%rax)     the function of an operation
 *
 * The functions that run the loop do so through a word of the interpreter. Files export these
 * functions except docatch(), to which the function of the operation `entertry` jumps.
 *
 * A build without threads has no interpreter in a register, and is not known. Offsets of other
 * members, which all known versions have in common, are in core/perl_walk.c.
 */
#include "script_loop.h"

#include <errno.h>

#include "symbol/elf/elf_words.h"

#define OPERATION_FUNCTION 16
#define STACKS 0xe0
#define PROLOGUE_BYTES_MAX 64
#define FUNCTION_BYTES_MAX 0xffff

/* Facts that no file says, by version. */
struct version {
	u32 number;  /* 0x0524 is 5.36 */
	u16 loop;    /* offset in an interpreter: address of the loop's function */
	u16 program; /* offset in an interpreter: address of the program's file name */
	u16 statement, sort, catch; /* numbers of the operations nextstate, sort and entertry */
};

static const struct version versions[] = {
	{0x0524, 2288, 1472, 195, 167, 347},
	{0x0526, 2072, 1240, 198, 170, 350}, /* from the headers of 5.38.2, not tested */
	{0x0528, 2072, 1240, 198, 170, 350},
	{0x052a, 2072, 1240, 202, 171, 354},
};

/* The file's functions that run the loop, as PERL_RUN .. PERL_CATCH. */
static const char *const callers[PERL_CALLERS] = {"perl_run", "Perl_call_sv", "Perl_amagic_call",
						  "Perl_eval_sv", NULL};

/* Reads the version of Perl; 0: the file does not export its version. */
static u32 read_perl_version(Elf *elf)
{
	static const char *const names[] = {"PL_revision", "PL_version", "PL_subversion"};
	u32 number = 0;

	for (u32 i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		const u8 *byte;
		u64 address;

		if (!elf_words_exported_address(elf, names[i], &address))
			return 0;
		byte = elf_words_bytes(elf, address, 1);
		if (!byte)
			return 0;
		number = number << 8 | *byte;
	}
	return number;
}

/* Reads the loop that was entered, up to its call: sets *body to the end of the instruction that
 * moves the address of the interpreter to a register, and *reg. */
static bool read_perl_loop_to_its_call(const struct script_loop *loop, u64 *body, u32 *reg)
{
	*reg = X86_NO_REGISTER;
	for (u64 address = loop->start; address < loop->start + PROLOGUE_BYTES_MAX;) {
		struct x86_instruction code;
		enum x86_flow flow;

		if (address >= loop->end || !script_loop_decode_x86_at(loop, address, &code))
			return false;
		flow = x86_flow_of(&code);
		if (flow == X86_CALL_INDIRECT)
			return *reg < X86_REGISTERS && code.is_memory && code.base == X86_RAX &&
			       code.displacement == OPERATION_FUNCTION;
		if (flow != X86_NEXT || (*reg < X86_REGISTERS && code.writes >> *reg & 1))
			return false;
		address += code.length;
		if (*reg >= X86_REGISTERS && code.map == X86_MAP_ONE_BYTE && code.opcode == 0x89 &&
		    code.is_wide && !code.is_memory && code.reg == X86_RDI) {
			*reg = code.rm;
			*body = address;
		}
	}
	return false;
}

/* True if the function that was entered runs the loop. */
static bool does_function_run_perl_loop(const struct script_loop *loop,
					const struct version *version)
{
	for (u64 address = loop->start; address < loop->end;) {
		struct x86_instruction code;

		if (!script_loop_decode_x86_at(loop, address, &code))
			return false;
		if (x86_flow_of(&code) == X86_CALL_INDIRECT && code.is_memory &&
		    code.displacement == version->loop)
			return true;
		address += code.length;
	}
	return false;
}

/* Notes in the layout that the function at an address runs the loop. False: the function does not
 * run the loop. */
static bool note_function_that_runs_loop(const struct script_loop *of,
					 const struct version *version, u64 address, u32 number,
					 struct perl_layout *layout)
{
	struct script_loop loop = *of;
	u64 offset;

	if (!script_loop_enter(&loop, address) || loop.end - loop.start > FUNCTION_BYTES_MAX ||
	    !does_function_run_perl_loop(&loop, version) ||
	    !script_loop_file_offset(&loop, address, &offset))
		return false;
	layout->caller[number] = offset;
	layout->caller_bytes[number] = loop.end - loop.start;
	return true;
}

/* Finds docatch(), by the address of the function of `entertry`. */
static bool find_docatch_function(const struct script_loop *of, const struct version *version,
				  u64 address, struct perl_layout *layout)
{
	struct script_loop loop = *of;

	if (!script_loop_enter(&loop, address))
		return false;
	for (u64 at = loop.start; at < loop.end;) {
		struct x86_instruction code;
		enum x86_flow flow;

		if (!script_loop_decode_x86_at(&loop, at, &code))
			return false;
		at += code.length;
		flow = x86_flow_of(&code);
		if ((flow == X86_JUMP || flow == X86_CALL) &&
		    note_function_that_runs_loop(of, version, at + code.immediate, PERL_CATCH,
						 layout))
			return true;
	}
	return false;
}

static bool find_functions_that_run_loop(const struct script_loop *loop,
					 const struct version *version, struct perl_layout *layout)
{
	u64 address;

	for (u32 i = 0; i < PERL_CATCH; i++)
		if (!elf_words_exported_address(loop->elf, callers[i], &address) ||
		    !note_function_that_runs_loop(loop, version, address, i, layout))
			return false;
	return elf_words_exported_address(loop->elf, "PL_ppaddr", &address) &&
	       find_docatch_function(loop, version,
				     elf_words_pointer(loop->elf, address + 8 * version->catch),
				     layout);
}

int script_perl_read(struct script_loop *loop)
{
	const struct version *version = NULL;
	struct perl_layout layout = {.stacks = STACKS, .has_names = 1};
	u64 address, body, offset;
	u32 reg;

	if (!elf_words_exported_address(loop->elf, "Perl_runops_standard", &address) ||
	    !elf_words_exported_address(loop->elf, "PL_ppaddr", &body))
		return -ENOENT;
	loop->layout.runtime = SCRIPT_PERL;
	loop->layout.version = read_perl_version(loop->elf);
	for (u32 i = 0; i < sizeof(versions) / sizeof(versions[0]); i++)
		if (versions[i].number == loop->layout.version >> 8)
			version = &versions[i];
	if (version)
		loop->layout.link_kind = SCRIPT_LINK_UNREAD;
	if (!version || !script_loop_enter(loop, address) ||
	    !read_perl_loop_to_its_call(loop, &body, &reg) ||
	    !find_functions_that_run_loop(loop, version, &layout) ||
	    !script_loop_mark(loop, body, loop->end) ||
	    !script_loop_file_offset(loop, body, &offset))
		return -EOPNOTSUPP;
	layout.program = version->program;
	layout.statement = version->statement;
	layout.sort = version->sort;
	loop->operand = RULE_LOOP_LEFT(x86_dwarf_register(reg));
	loop->stack_bytes = 2 * SLOT_WORD; /* the return address and the saved register */
	loop->layout.loop = offset;
	loop->layout.perl = layout;
	return 0;
}
