/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The rows of whole files against elfutils, without running the files: at random instructions of
 * each file the row's rule is executed on made-up registers and memory, and so is the call frame
 * information as libdw reads it. Stack pointer, frame pointer and pc of the caller must be equal.
 * The architecture is the one that this file is built for (UNWIND_ARM64), and each FILE is of that
 * architecture.
 *
 *   test_tables COUNT FILE...            COUNT instructions of each file
 *   test_tables --code COUNT FILE...     the rules that an analysis of arm64's code gives, from
 *                                        which the tables are hidden; more instructions have none
 *
 * A line for each file says how many callers were equal, different, and not compared: code that
 * libdw finds no entry for, rules that only say where a signal or the outermost frame is, and
 * expressions that one of both sides refuses. The test fails on each difference, and where less
 * than 99 % of the instructions that libdw knows could be compared, or 80 % of those of code. Exit:
 * 0, 1, 2 for wrong arguments.
 */
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "symbol/unwind/arm64_analysis.h"
#include "symbol/unwind/code_file.h"
#include "symbol/unwind/code_rows.h"
#include "symbol/unwind/file_image.h"
#define CORE_EMBEDDED
#include "unwind/unwind.h"

#define STACK 0x7ffd00001000ULL
#define STACK_STEPS                                                                                \
	2048 /* made-up addresses are so many steps of 16 bytes above STACK, at most               \
	      */
#define OPERANDS_MAX 32
#define COMPARED_PERMILLE 990
#define COMPARED_CODE_PERMILLE 800

enum outcome {
	EQUAL,
	DIFFERENT,
	FP_UNKNOWN,
	NO_ENTRY,
	NO_ROW,
	MARKED,
	REFUSED,
	NOT_EVALUATED,
	OUTCOMES
};

struct caller {
	u64 sp, fp, pc;
	bool has_fp;
};

static struct unwind unwind;
static u64 seed;

static u64 mix(u64 value)
{
	value ^= value >> 33;
	value *= 0xff51afd7ed558ccdULL;
	value ^= value >> 33;
	value *= 0xc4ceb9fe1a85ec53ULL;
	return value ^ value >> 33;
}

/* An address that may be a caller's stack pointer: aligned, and further out than STACK. */
static u64 made_up_stack_address(u64 key)
{
	return STACK + 16 * (1 + mix(key ^ seed) % STACK_STEPS);
}

static u64 word_at(u64 address)
{
	u64 low = made_up_stack_address(address & ~7ULL),
	    high = made_up_stack_address((address & ~7ULL) + 8), shift = 8 * (address & 7);

	return shift ? low >> shift | high << (64 - shift) : low;
}

bool unwind_read(struct unwind *reader, u64 address, void *buffer, u32 bytes)
{
	(void)reader;
	for (u32 at = 0; at < bytes; at += 8) {
		u64 word = word_at(address + at);

		memcpy((u8 *)buffer + at, &word, bytes - at < 8 ? bytes - at : 8);
	}
	return true;
}

bool unwind_find_mapping(struct unwind *reader, u64 pc)
{
	(void)reader;
	(void)pc;
	return false;
}

#include "unwind/unwind_alone.c"

static void registers_make_up(u64 pc)
{
	memset(&unwind, 0, sizeof(unwind));
	unwind.budget = UNWIND_BUDGET;
	unwind.is_interrupted = true;
	unwind.registers.known = REGISTERS_ALL;
	for (u32 i = 0; i < REGISTER_SLOTS; i++)
		unwind.registers.value[i] = made_up_stack_address(i);
	unwind.registers.value[REGISTER_SP] = STACK;
	unwind.registers.value[REGISTER_PC] = pc;
#ifdef UNWIND_ARM64
	unwind.registers.value[REGISTER_CODE_MASK] = ~0ULL;
#endif
}

/* Evaluates an expression over the made-up registers. False: it has an operation that is not known
 * here. */
static bool operations_value(const Dwarf_Op *ops, size_t count, u64 cfa, u64 *result,
			     bool *is_value)
{
	u64 operand[OPERANDS_MAX] = {};
	u32 depth = 0;

	*is_value = false;
	for (size_t i = 0; i < count; i++) {
		const Dwarf_Op *op = &ops[i];
		bool is_binary = op->atom == DW_OP_plus || op->atom == DW_OP_minus ||
				 op->atom == DW_OP_and || op->atom == DW_OP_shl ||
				 op->atom == DW_OP_ge;
		u64 reg = op->atom == DW_OP_bregx ? op->number : op->atom - (u64)DW_OP_breg0;
		u64 left, right;

		if (depth + 1 >= OPERANDS_MAX || depth < (is_binary ? 2U : 0U))
			return false;
		if (is_binary) {
			right = operand[--depth];
			left = operand[depth - 1];
			if (op->atom == DW_OP_plus)
				left += right;
			else if (op->atom == DW_OP_minus)
				left -= right;
			else if (op->atom == DW_OP_and)
				left &= right;
			else if (op->atom == DW_OP_shl)
				left <<= right & 63;
			else
				left = (s64)left >= (s64)right;
			operand[depth - 1] = left;
		} else if (op->atom >= DW_OP_lit0 && op->atom <= DW_OP_lit31) {
			operand[depth++] = op->atom - DW_OP_lit0;
		} else if ((op->atom >= DW_OP_breg0 && op->atom <= DW_OP_breg31) ||
			   op->atom == DW_OP_bregx) {
			if (reg >= REGISTER_SLOTS || !(REGISTERS_ALL >> reg & 1))
				return false;
			operand[depth++] = unwind.registers.value[reg] +
					   (op->atom == DW_OP_bregx ? op->number2 : op->number);
		} else if (op->atom >= DW_OP_reg0 && op->atom <= DW_OP_reg31) {
			operand[depth++] = unwind.registers.value[op->atom - DW_OP_reg0];
			*is_value = true;
		} else if (op->atom == DW_OP_call_frame_cfa) {
			operand[depth++] = cfa;
		} else if (op->atom == DW_OP_const1u || op->atom == DW_OP_const1s ||
			   op->atom == DW_OP_const2u || op->atom == DW_OP_const2s ||
			   op->atom == DW_OP_constu || op->atom == DW_OP_consts) {
			operand[depth++] = op->number;
		} else if (op->atom == DW_OP_plus_uconst && depth) {
			operand[depth - 1] += op->number;
		} else if (op->atom == DW_OP_deref && depth) {
			operand[depth - 1] = word_at(operand[depth - 1]);
		} else if (op->atom == DW_OP_stack_value) {
			*is_value = true;
		} else {
			return false;
		}
	}
	*result = depth ? operand[depth - 1] : 0;
	return depth > 0;
}

/* The caller's value of a register. EQUAL: it is known; MARKED: it has none. */
static enum outcome register_by_libdw(Dwarf_Frame *frame, u32 reg, u64 cfa, u64 *value)
{
	Dwarf_Op memory[3], *ops;
	bool is_value;
	size_t count;

	if (dwarf_frame_register(frame, reg, memory, &ops, &count))
		return NOT_EVALUATED;
	if (!count && ops == memory)
		return MARKED;
	if (!count)
		*value = unwind.registers.value[reg];
	else if (!operations_value(ops, count, cfa, value, &is_value))
		return NOT_EVALUATED;
	else if (!is_value)
		*value = word_at(*value);
	return EQUAL;
}

/* `any_cfa`: 0 if only tables that give the CFA by the stack or the frame pointer are compared. By
 * other registers longjmp() and setcontext() find the frame that they are about to enter. */
static enum outcome caller_by_libdw(Dwarf_CFI *table, u64 address, bool any_cfa,
				    struct caller *caller)
{
	Dwarf_Frame *frame;
	enum outcome outcome = NO_ENTRY;
	Dwarf_Addr start, end;
	bool is_signal, is_value;
	Dwarf_Op *ops;
	size_t count;
	int column;

	if (dwarf_cfi_addrframe(table, address, &frame))
		return NO_ENTRY;
	column = dwarf_frame_info(frame, &start, &end, &is_signal);
	outcome = is_signal ? MARKED : EQUAL;
	if (outcome == EQUAL && (dwarf_frame_cfa(frame, &ops, &count) ||
				 !operations_value(ops, count, 0, &caller->sp, &is_value)))
		outcome = NOT_EVALUATED;
	if (outcome == EQUAL && !any_cfa && ops->number != REGISTER_SP &&
	    ops->number != REGISTER_FP)
		outcome = MARKED;
	if (outcome == EQUAL)
		outcome = register_by_libdw(frame, column, caller->sp, &caller->pc);
	if (outcome == EQUAL)
		caller->has_fp =
			register_by_libdw(frame, REGISTER_FP, caller->sp, &caller->fp) == EQUAL;
	free(frame);
	return outcome;
}

static enum outcome caller_by_rule(const struct unwind_rule *rule, struct caller *caller)
{
	if (!rule || rule->cfa_kind == CFA_BY_CODE)
		return NO_ROW;
	if (rule->cfa_kind == CFA_SIGNAL || rule->flags & (RULE_OUTERMOST | RULE_SIGNAL))
		return MARKED;
	unwind.rule = *rule;
	if (unwind_step(&unwind))
		return REFUSED;
	caller->sp = unwind.registers.value[REGISTER_SP];
	caller->pc = unwind.registers.value[REGISTER_PC];
	caller->fp = unwind.registers.value[REGISTER_FP];
	caller->has_fp = unwind.registers.known >> REGISTER_FP & 1;
	return EQUAL;
}

#ifdef UNWIND_ARM64
static struct code_file *code;
static struct arm64_analysis *analysis;

static bool analysis_begin(int file)
{
	return !code_file_create(file, NULL, 0, &code) &&
	       !arm64_analysis_create(code_file_image(code), &analysis);
}

static const struct unwind_rule *rule_by_code(u32 address)
{
	static struct unwind_rule rule;
	u32 at = address, end;

	return arm64_analysis_next_rule(analysis, &at, address + 4, &rule, &end) ? &rule : NULL;
}

/* Makes registers and words of the stack agree where the analysis says that they do. */
static void registers_agree_with_analysis(u32 address)
{
	const struct arm64_frame *frame = arm64_analysis_frame(analysis, address);
	u64 *value = unwind.registers.value;
	u64 cfa;

	if (!frame || frame->sp == DISTANCE_UNKNOWN)
		return;
	cfa = value[REGISTER_SP] + frame->sp;
	if (frame->fp != FP_IS_CALLERS && frame->fp != DISTANCE_UNKNOWN)
		value[REGISTER_FP] = cfa - frame->fp;
	else if (frame->fp == FP_IS_CALLERS && frame->fp_place)
		value[REGISTER_FP] = word_at(cfa - frame->fp_place);
	if (frame->has_link && frame->link_place)
		value[REGISTER_LINK] = word_at(cfa - frame->link_place);
}

static void analysis_end(void)
{
	arm64_analysis_free(&analysis);
	code_file_free(&code);
}
#else
static bool analysis_begin(int file)
{
	(void)file;
	return false;
}

static const struct unwind_rule *rule_by_code(u32 address)
{
	(void)address;
	return NULL;
}

static void registers_agree_with_analysis(u32 address)
{
	(void)address;
}

static void analysis_end(void)
{
}
#endif

static enum outcome compare(const struct unwind_rule *rule, Dwarf_CFI *table, u64 address,
			    bool is_code)
{
	struct caller expected = {}, got = {};
	enum outcome outcome;

	registers_make_up(address);
	if (is_code)
		registers_agree_with_analysis(address);
	outcome = caller_by_libdw(table, address, !is_code, &expected);
	if (outcome == EQUAL)
		outcome = caller_by_rule(rule, &got);
	if (outcome == EQUAL && (got.sp != expected.sp || got.pc != expected.pc ||
				 (got.has_fp && expected.has_fp && got.fp != expected.fp))) {
		printf("%#" PRIx64 ": sp %#" PRIx64 ", fp %#" PRIx64 ", pc %#" PRIx64
		       "; libdw %#" PRIx64 ", %#" PRIx64 ", %#" PRIx64 "\n",
		       address, got.sp, got.fp, got.pc, expected.sp, expected.fp, expected.pc);
		outcome = DIFFERENT;
	} else if (outcome == EQUAL && expected.has_fp && !got.has_fp) {
		outcome = FP_UNKNOWN;
	}
	return outcome;
}

/* Compares `count` instructions of the functions that tables cover. 0 or 1. */
static int compare_file(const char *path, u32 count, bool is_code)
{
	struct code_rows rows = {};
	struct file_spans covered = {};
	struct file_image *image = NULL;
	u64 outcomes[OUTCOMES] = {}, bytes = 0, known;
	int file = open(path, O_RDONLY | O_CLOEXEC), result = 1;
	Elf *elf = elf_begin(file, ELF_C_READ_MMAP, NULL);
	Dwarf_CFI *table = elf ? dwarf_getcfi_elf(elf) : NULL;

	if (!table || file_image_create(file, &image) ||
	    code_rows_read_tables(file, &rows, &covered) || (is_code && !analysis_begin(file))) {
		printf("%s: its tables cannot be read\n", path);
		goto out;
	}
	for (u32 i = 0; i < covered.count; i++)
		bytes += covered.spans[i].end - covered.spans[i].start;
	for (u32 i = 0; bytes && i < count; i++) {
		u64 at = mix(++seed) % bytes, address, end, offset;
		u32 span = 0;

		while (at >= covered.spans[span].end - covered.spans[span].start) {
			at -= covered.spans[span].end - covered.spans[span].start;
			span++;
		}
		address = covered.spans[span].start + at;
#ifdef UNWIND_ARM64
		address &= ~3ULL;
#endif
		end = FILE_IMAGE_BASE + covered.spans[span].end;
		if (file_image_code_offset(image, FILE_IMAGE_BASE + address, &end, &offset))
			outcomes[compare(is_code ? rule_by_code(address)
						 : code_rows_rule(&rows, offset),
					 table, address, is_code)]++;
	}
	known = count - outcomes[NO_ENTRY] - outcomes[MARKED];
	printf("%s: %" PRIu64 " equal, %" PRIu64 " different, %" PRIu64
	       " without frame pointer; %" PRIu64 " no entry, %" PRIu64 " no row, %" PRIu64
	       " signal or outermost, %" PRIu64 " refused, %" PRIu64 " not evaluated\n",
	       path, outcomes[EQUAL], outcomes[DIFFERENT], outcomes[FP_UNKNOWN], outcomes[NO_ENTRY],
	       outcomes[NO_ROW], outcomes[MARKED], outcomes[REFUSED], outcomes[NOT_EVALUATED]);
	result = outcomes[DIFFERENT] ||
		 outcomes[EQUAL] * 1000 <
			 known * (is_code ? COMPARED_CODE_PERMILLE : COMPARED_PERMILLE);
out:
	if (is_code)
		analysis_end();
	if (image)
		file_image_free(&image);
	free(covered.spans);
	code_rows_clear(&rows);
	if (table)
		dwarf_cfi_end(table);
	elf_end(elf);
	if (file >= 0)
		close(file);
	return result;
}

int main(int argc, char **argv)
{
	bool is_code = argc > 1 && !strcmp(argv[1], "--code");
	int result = 0, count_at = is_code ? 2 : 1;

	if (argc < count_at + 2 || atoi(argv[count_at]) <= 0) {
		fprintf(stderr, "usage: test_tables [--code] COUNT FILE...\n");
		return 2;
	}
	elf_version(EV_CURRENT);
	for (int i = count_at + 1; i < argc; i++)
		result |= compare_file(argv[i], atoi(argv[count_at]), is_code);
	return result;
}
