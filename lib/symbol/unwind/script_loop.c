/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "symbol/unwind/script_loop.h"

#include <errno.h>
#include <gelf.h>

#include "order.h"
#include "symbol/elf/elf_words.h"

static const struct file_span *find_covered_span_of_address(const struct file_spans *covered,
							    u64 address)
{
	size_t count = bisect(covered->count, i, covered->spans[i].start <= address);

	return count && address < covered->spans[count - 1].end ? &covered->spans[count - 1] : NULL;
}

bool script_loop_enter(struct script_loop *loop, u64 address)
{
	const struct file_span *span = find_covered_span_of_address(loop->covered, address);

	if (!span || span->start != address || span->end - span->start > SCRIPT_LOOP_BYTES_MAX)
		return false;
	loop->start = span->start;
	loop->end = span->end;
	loop->code = elf_words_bytes(loop->elf, loop->start, loop->end - loop->start);
	loop->code_bytes = elf_words_bytes_to_section_end(loop->elf, loop->start);
	return loop->code;
}

const u8 *script_loop_bytes(const struct script_loop *loop, u64 address, u64 *left)
{
	u64 offset = address - loop->start;

	if (loop->code && offset < loop->end - loop->start) {
		*left = loop->code_bytes - offset;
		return loop->code + offset;
	}
	*left = elf_words_bytes_to_section_end(loop->elf, address);
	return elf_words_bytes(loop->elf, address, 1);
}

bool script_loop_file_offset(const struct script_loop *loop, u64 address, u64 *offset)
{
	u64 end = FILE_IMAGE_BASE + address + 1;

	return file_image_code_offset(loop->image, FILE_IMAGE_BASE + address, &end, offset);
}

const struct unwind_rule *script_loop_rule(const struct script_loop *loop, u64 address)
{
	u64 offset;

	return script_loop_file_offset(loop, address, &offset) ? code_rows_rule(loop->rows, offset)
							       : NULL;
}

bool script_loop_decode_x86_at(const struct script_loop *loop, u64 address,
			       struct x86_instruction *code)
{
	u64 left;
	const u8 *bytes = script_loop_bytes(loop, address, &left);

	return loop->machine == EM_X86_64 && bytes &&
	       x86_decode(bytes, left < X86_LENGTH_MAX ? left : X86_LENGTH_MAX, code);
}

bool script_loop_operand_bytes_below_cfa(const struct script_loop *loop, u64 address,
					 const struct x86_instruction *code, s64 *below)
{
	return code->is_memory && !code->has_segment && code->index == X86_NO_REGISTER &&
	       code->base < X86_REGISTERS &&
	       script_loop_bytes_below_cfa(loop, address, code->base, code->displacement, below);
}

/* Records the part of the loop that a jump leads to, if its frame is as large as that of the
 * loop. */
static bool add_moved_part_of_loop(struct script_loop *loop, const struct unwind_rule *body,
				   u64 target)
{
	const struct file_span *span = find_covered_span_of_address(loop->covered, target);
	const struct unwind_rule *there = span ? script_loop_rule(loop, span->start) : NULL;

	if (!there || there->cfa_register != body->cfa_register ||
	    there->cfa_offset != body->cfa_offset || there->cfa_kind != body->cfa_kind)
		return true;
	for (u32 i = 0; i < loop->moved_count; i++)
		if (loop->moved[i][0] == span->start)
			return true;
	if (loop->moved_count == SCRIPT_LOOP_PARTS_MAX)
		return false;
	loop->moved[loop->moved_count][0] = span->start;
	loop->moved[loop->moved_count++][1] = span->end;
	return true;
}

bool script_loop_find_moved(struct script_loop *loop, u64 body)
{
	const struct unwind_rule *rule = script_loop_rule(loop, body);

	if (!rule)
		return false;
	for (u64 at = loop->start; at < loop->end;) {
		struct loop_code code;

		if (!script_loop_decode_at(loop, at, &code))
			return false;
		at += code.length;
		if ((code.flow == LOOP_JUMP || code.flow == LOOP_BRANCH) &&
		    (code.target < loop->start || code.target >= loop->end) &&
		    !add_moved_part_of_loop(loop, rule, code.target))
			return false;
	}
	return true;
}

static bool add_range_of_loop(struct script_loop *loop, u64 start, u64 end, bool is_unmarked)
{
	struct script_loop_range *range = &loop->ranges[loop->range_count];
	u64 last = FILE_IMAGE_BASE + end;

	if (loop->range_count == SCRIPT_LOOP_RANGES_MAX ||
	    !file_image_code_offset(loop->image, FILE_IMAGE_BASE + start, &last, &range->start))
		return false;
	range->end = range->start + (last - FILE_IMAGE_BASE - start);
	range->is_unmarked = is_unmarked;
	loop->range_count++;
	return true;
}

bool script_loop_mark(struct script_loop *loop, u64 start, u64 end)
{
	return add_range_of_loop(loop, start, end, false);
}

bool script_loop_unmark(struct script_loop *loop, u64 start, u64 end)
{
	return add_range_of_loop(loop, start, end, true);
}

/* The rule with the mark of an interpreter's loop. A rule for code in which the words on the stack
 * are not valid stays without the mark. */
static struct unwind_rule make_rule_with_loop_mark(const struct script_loop *loop,
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

/* Adds a rule for [start, end). Where this is within a marked range of the loop, the rule gets the
 * mark of an interpreter's loop. */
static int add_row(const struct script_loop *loop, struct code_rows *rows, u64 start, u64 end,
		   const struct unwind_rule *rule)
{
	struct unwind_rule marked = make_rule_with_loop_mark(loop, rule);
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

static int mark_rows_of_loop(const struct script_loop *loop, struct code_rows *rows)
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

void mark_rules_of_v8_code(struct code_rows *rows)
{
	bool is_marked = rows->script.runtime == SCRIPT_V8 && rows->script.v8.has_names;

	for (u32 i = 0; is_marked && i < rows->rule_count; i++) {
		struct unwind_rule *rule = &rows->rules[i];

		if (rule->cfa_kind == CFA_BY_CODE ||
		    (rule->cfa_kind == CFA_REGISTER && rule->flags & RULE_ANALYSED &&
		     !(rule->flags & RULE_STACK_MOVED)))
			rule->operand = RULE_OPERAND_V8;
	}
}

int script_rows_mark(int file, const struct file_spans *covered, struct code_rows *rows)
{
	static script_loop_reader *const readers[] = {script_python_read, script_php_read,
						      script_ruby_read,	  script_java_read,
						      script_v8_read,	  script_perl_read};
	struct file_image *image = NULL;
	struct script_loop loop = {};
	GElf_Ehdr header;
	Elf *elf;
	int result;

	elf_version(EV_CURRENT);
	elf = elf_begin(file, ELF_C_READ, NULL);
	if (!elf)
		return -ENOENT;
	result = gelf_getehdr(elf, &header) ? file_image_create(file, &image) : -ENOENT;
	if (!result || result == -ENOEXEC)
		result = -ENOENT;
	for (u32 i = 0; image && i < sizeof(readers) / sizeof(readers[0]) && result == -ENOENT;
	     i++) {
		loop = (struct script_loop){.elf = elf,
					    .image = image,
					    .rows = rows,
					    .covered = covered,
					    .machine = header.e_machine};
		result = readers[i](&loop);
	}
	if (!result)
		result = mark_rows_of_loop(&loop, rows);
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
