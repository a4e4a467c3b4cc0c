/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Compares the rules that the analysis of machine code finds (lib/symbol/unwind/code_analysis.h)
 * with the tables of the same files, which are hidden from the analysis: one line for each file. A
 * file without .eh_frame is compared with its .debug_frame, or with its .gopclntab.
 *
 *   code_truth [--strip] [--list] FILE...
 *
 * --strip hides all symbols, too; --list prints each instruction where both differ.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "symbol/unwind/code_analysis.h"
#include "symbol/unwind/code_file.h"
#include "symbol/unwind/code_rows.h"
#include "symbol/unwind/file_image.h"
#include "symbol/unwind/frame_state.h"

static const u8 hardware_register[REGISTER_RIP] = {
	X86_RAX, X86_RDX, X86_RCX, X86_RBX, X86_RSI, X86_RDI, X86_RBP, X86_RSP,
	X86_R8,	 X86_R9,  X86_R10, X86_R11, X86_R12, X86_R13, X86_R14, X86_R15,
};

struct truth {
	/* numbers of instructions; apart: table and analysis cannot be compared */
	u64 compared, right, unknown, differ, apart;
	u64 saved_right, saved_lost, saved_differ; /* rbp */
	bool is_listing;
};

static const struct unwind_rule *rule_at(const struct code_rows *rows, u32 offset, u32 *hint)
{
	while (*hint + 1 < rows->count && rows->rows[*hint + 1].offset <= offset)
		++*hint;
	if (*hint >= rows->count || rows->rows[*hint].offset > offset || !rows->rows[*hint].rule)
		return NULL;
	return &rows->rules[rows->rows[*hint].rule - 1];
}

/* Compares the CFA of the table with the CFA of the analysis. 1: equal, 0: different, -1: the
 * analysis does not know the CFA. */
static int cfa_agrees(const struct unwind_rule *rule, const struct frame_state *state)
{
	struct frame_value value = state->reg[hardware_register[rule->cfa_register]];

	if (rule->cfa_kind == CFA_REGISTER || rule->cfa_kind == CFA_SCRIPT_LOOP) {
		if (value.kind == VALUE_CFA)
			return value.offset + rule->cfa_offset == 0;
		return -1;
	}
	if (rule->cfa_kind == CFA_DEREF && state->copy.kind && value.kind == state->copy.kind)
		return value.offset + rule->cfa_offset == state->copy.offset &&
		       state->copy_offset + 8 * rule->operand == 0;
	return -1;
}

static void compare_rbp(struct truth *truth, const struct unwind_rule *rule,
			const struct unwind_rule *ours, const struct frame_state *state)
{
	u8 slot = ours->slot[SLOT_RBP], table = rule->slot[SLOT_RBP];
	struct frame_value rbp = state->reg[X86_RBP];
	bool has_entry = rbp.kind == VALUE_ENTRY && rbp.offset == X86_RBP;

	if (rule->base != RULE_BASE_CFA || ours->base != RULE_BASE_CFA)
		return;
	if (slot == SLOT_LOST)
		truth->saved_lost++;
	else if (slot == table || (has_entry && table == 0))
		truth->saved_right++;
	/* the register was popped, and its stack word is still there */
	else if (slot == 0 && table < SLOT_IN_REGISTER)
		truth->saved_right++;
	else
		truth->saved_differ++;
}

static bool has_rule(const struct frame_state *state, struct unwind_rule *ours)
{
	return state && frame_state_rule(state, ours);
}

static void compare_instruction(struct truth *truth, const struct code_analysis *analysis,
				const struct unwind_rule *rule, u32 address)
{
	const struct frame_state *state = code_analysis_state(analysis, address);
	struct unwind_rule ours;
	int agrees;

	truth->compared++;
	if (!has_rule(state, &ours)) {
		truth->unknown++;
		return;
	}
	if ((ours.flags | rule->flags) & RULE_OUTERMOST)
		agrees = (ours.flags & rule->flags & RULE_OUTERMOST) ? 1 : 0;
	else
		agrees = cfa_agrees(rule, state);
	truth->right += agrees == 1;
	truth->differ += !agrees;
	truth->apart += agrees < 0;
	if (agrees == 1)
		compare_rbp(truth, rule, &ours, state);
	if (truth->is_listing && !agrees)
		printf("  %x: table r%u%+d kind %u, analysis r%u%+d kind %u flags %u\n", address,
		       rule->cfa_register, rule->cfa_offset, rule->cfa_kind, ours.cfa_register,
		       ours.cfa_offset, ours.cfa_kind, ours.flags);
}

static void compare(struct truth *truth, const struct code_image *code,
		    const struct code_analysis *analysis, const struct code_rows *rows,
		    const struct file_spans *covered, const struct file_image *image)
{
	u32 hint = 0;

	for (u32 i = 0; i < covered->count; i++) {
		struct x86_instruction instruction;
		u32 at = covered->spans[i].start, end = covered->spans[i].end;

		for (; at < end; at += instruction.length) {
			u64 code_end = FILE_IMAGE_BASE + end, offset;
			const struct unwind_rule *rule;

			if (at < code->start || at >= code->end ||
			    !file_image_code_offset(image, FILE_IMAGE_BASE + at, &code_end,
						    &offset) ||
			    !x86_decode(code->bytes + (at - code->start), end - at, &instruction))
				break;
			rule = rule_at(rows, offset, &hint);
			if (rule && rule->cfa_kind != CFA_BY_CODE && rule->cfa_kind != CFA_PLT)
				compare_instruction(truth, analysis, rule, at);
		}
	}
}

static double seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return now.tv_sec + now.tv_nsec * 1e-9;
}

static double percent(u64 part, u64 whole)
{
	return whole ? 100.0 * part / whole : 0;
}

/* Reads .eh_frame and .sframe; in a file without both, .debug_frame or Go's own table. */
static int read_truth(int file, struct code_rows *rows, struct file_spans *covered)
{
	static const struct file_spans none;
	int result = code_rows_read_tables(file, rows, covered);

	if (result == -ENOEXEC)
		result = code_rows_read_debug_frame(file, &none, rows, covered);
	if (result == -ENOENT)
		result = code_rows_read_go(file, &none, rows, covered);
	return result;
}

static void measure(const char *name, bool is_stripped, bool is_listing)
{
	struct truth truth = {.is_listing = is_listing};
	struct code_analysis *analysis = NULL;
	struct code_analysis_counts counts;
	struct file_image *image = NULL;
	struct code_file *code = NULL;
	struct file_spans covered = {};
	struct code_rows rows = {};
	int file = open(name, O_RDONLY), result = file < 0 ? -1 : 0;
	double start, end;

	result = result ?: read_truth(file, &rows, &covered);
	result = result ?: file_image_create(file, &image);
	result = result ?: code_file_create(file, NULL, 0, &code);
	if (!result && is_stripped)
		code_file_strip(code);
	start = seconds();
	result = result ?: code_analysis_create(code_file_image(code), &analysis);
	end = seconds();
	if (result) {
		printf("%-28s %d\n", name, result);
	} else {
		u32 bytes = code_file_image(code)->end - code_file_image(code)->start;

		compare(&truth, code_file_image(code), analysis, &rows, &covered, image);
		code_analysis_count(analysis, &counts);
		printf("%-24s %9lu  right %6.2f %%  unknown %5.2f %%  apart %.2f %%  differ %4lu  "
		       "rbp right %7.3f %% lost %.2f %% differ %lu  functions %u of %u, failed %u  "
		       "%.0f ms/MB %.1f MB/MB\n",
		       strrchr(name, '/') ? strrchr(name, '/') + 1 : name, truth.compared,
		       percent(truth.right, truth.compared), percent(truth.unknown, truth.compared),
		       percent(truth.apart, truth.compared), truth.differ,
		       percent(truth.saved_right, truth.right),
		       percent(truth.saved_lost, truth.right), truth.saved_differ, counts.accepted,
		       covered.count, counts.failed, (end - start) * 1e9 / bytes,
		       (double)counts.bytes / bytes);
	}
	code_analysis_free(&analysis);
	code_file_free(&code);
	file_image_free(&image);
	code_rows_clear(&rows);
	free(covered.spans);
	if (file >= 0)
		close(file);
}

int main(int argc, char **argv)
{
	bool is_stripped = false, is_listing = false;

	for (int i = 1; i < argc; i++) {
		if (!strcmp(argv[i], "--strip"))
			is_stripped = true;
		else if (!strcmp(argv[i], "--list"))
			is_listing = true;
		else
			measure(argv[i], is_stripped, is_listing);
	}
	return 0;
}
