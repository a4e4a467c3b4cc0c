/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "script_rows.h"

#include <errno.h>
#include <gelf.h>

#include "script_loop.h"

/* The rule with the mark, if the words are valid where the rule holds. */
static struct unwind_rule marked_rule(const struct script_loop *loop,
				      const struct unwind_rule *rule)
{
	struct unwind_rule marked = *rule;
	bool is_given_back =
		rule->cfa_register == REGISTER_SP && rule->cfa_offset < (s64)loop->stack_bytes;

	if (rule->cfa_kind != CFA_REGISTER || rule->base != RULE_BASE_CFA || rule->flags ||
	    is_given_back)
		return marked;
	marked.cfa_kind = CFA_SCRIPT_LOOP;
	marked.operand = loop->operand;
	for (u32 i = 0; i < RULE_SLOTS; i++)
		if (loop->slot[i])
			marked.slot[i] = loop->slot[i];
	return marked;
}

/* Adds [start, end) with a rule, whose parts in ranges of the loop get the mark. */
static int add_row(const struct script_loop *loop, struct code_rows *rows, u64 start, u64 end,
		   const struct unwind_rule *rule)
{
	struct unwind_rule marked = marked_rule(loop, rule);
	int result = 0;

	while (start < end && !result) {
		u64 next = end;
		bool is_inside = false, is_unmarked = false;

		for (u32 i = 0; i < loop->range_count; i++) {
			const struct script_loop_range *range = &loop->ranges[i];
			bool has_start = start >= range->start && start < range->end;

			is_inside |= has_start;
			is_unmarked |= has_start && range->is_unmarked;
			if (range->start > start && range->start < next)
				next = range->start;
			if (range->end > start && range->end < next)
				next = range->end;
		}
		result = code_rows_add(rows, start, next,
				       is_inside && !is_unmarked ? &marked : rule);
		start = next;
	}
	return result;
}

static int rows_mark(const struct script_loop *loop, struct code_rows *rows)
{
	struct code_rows marked = {.is_partial = rows->is_partial};
	int result = 0;

	for (u32 i = 0; i + 1 < rows->count && !result; i++)
		if (rows->rows[i].rule)
			result = add_row(loop, &marked, rows->rows[i].offset,
					 rows->rows[i + 1].offset,
					 &rows->rules[rows->rows[i].rule - 1]);
	if (result) {
		code_rows_clear(&marked);
		return result;
	}
	code_rows_clear(rows);
	*rows = marked;
	return 0;
}

int script_rows_mark(int file, const struct file_spans *covered, struct code_rows *rows)
{
	static script_loop_reader *const readers[] = {script_python_read, script_php_read,
						      script_ruby_read, script_java_read};
	struct file_image *image = NULL;
	struct script_loop loop = {};
	Elf *elf;
	int result;

	elf_version(EV_CURRENT);
	elf = elf_begin(file, ELF_C_READ, NULL);
	if (!elf)
		return -ENOENT;
	result = file_image_create(file, &image);
	if (!result || result == -ENOEXEC)
		result = -ENOENT;
	for (u32 i = 0; image && i < sizeof(readers) / sizeof(readers[0]) && result == -ENOENT;
	     i++) {
		loop = (struct script_loop){
			.elf = elf, .image = image, .rows = rows, .covered = covered};
		result = readers[i](&loop);
	}
	if (!result)
		result = rows_mark(&loop, rows);
	if (result)
		loop.layout = (struct script_layout){.runtime = loop.layout.runtime,
						     .version = loop.layout.version,
						     .link_kind = loop.layout.link_kind};
	if (!result || result == -EOPNOTSUPP)
		rows->script = loop.layout;
	file_image_free(&image);
	elf_end(elf);
	return result;
}
