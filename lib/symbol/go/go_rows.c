/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The rows of Go code: for each function .gopclntab says how far the stack pointer is below its
 * value at the function's entry, at each pc (go_table.h).
 */
#include "go_rows.h"

#include <elf.h>
#include <errno.h>
#include <libelf.h>
#include <string.h>

#include "array.h"
#include "symbol/unwind/code_rows.h"
#include "symbol/unwind/file_image.h"

const struct unwind_rule go_rule_outermost = {.flags = RULE_OUTERMOST};

const struct unwind_rule go_rule_caller_unknown = {
	.cfa_register = REGISTER_SP,
	.cfa_offset = 8,
	.base = RULE_BASE_CFA,
	.slot = {SLOT_LOST, SLOT_LOST, SLOT_LOST, SLOT_LOST, SLOT_LOST, SLOT_LOST, SLOT_LOST},
};

int go_reader_add_row(const struct go_reader *reader, u64 start, u64 end,
		      const struct unwind_rule *rule)
{
	u64 code_end = FILE_IMAGE_BASE + end, offset;

	if (start >= end ||
	    !file_image_code_offset(reader->image, FILE_IMAGE_BASE + start, &code_end, &offset))
		return 0;
	return code_rows_add(reader->rows, offset, offset + (code_end - FILE_IMAGE_BASE - start),
			     rule);
}

bool go_reader_read_bytes(const struct go_reader *reader, u64 address, void *bytes, u32 count)
{
	return file_image_read(reader->image, FILE_IMAGE_BASE + address, bytes, count);
}

u32 go_reader_read_code(const struct go_reader *reader, const struct go_function *function,
			u8 code[GO_CODE_MAX])
{
	u64 bytes = function->end - function->start;

	if (bytes > GO_CODE_MAX)
		bytes = GO_CODE_MAX;
	return go_reader_read_bytes(reader, function->start, code, bytes) ? bytes : 0;
}

bool go_function_is_entered_by_signal(const struct go_function *function)
{
	return !strcmp(function->name, "runtime.asyncPreempt") ||
	       !strcmp(function->name, "runtime.sigpanic") ||
	       !strcmp(function->name, "runtime.sigpanic0");
}

enum go_frame_pointer go_function_frame_pointer_rule(const struct go_function *function)
{
	static const char *const passing[] = {"runtime.newstack", "runtime.gopreempt_m",
					      "runtime.goschedImpl", "runtime.preemptPark"};

	if (!strcmp(function->name, "runtime.schedule"))
		return GO_FP_LOST;
	for (u32 i = 0; i < sizeof(passing) / sizeof(passing[0]); i++)
		if (!strcmp(function->name, passing[i]))
			return GO_FP_PASSED_ON;
	return GO_FP_SAVED;
}

/* Go's own traces end at a signal handler. Here the walk goes on: the kernel has stored the
 * interrupted registers on the stack. */
static bool is_signal_handler(const struct go_function *function)
{
	return !strcmp(function->name, "runtime.sigtramp") ||
	       !strcmp(function->name, "runtime.cgoSigtramp");
}

static int add_rows_of_function(struct go_reader *reader, const struct go_function *function)
{
	u8 flags;

	if (!go_function_flags(&reader->table, function, &flags))
		return 0;
	if (flags & GO_IS_OUTERMOST && !is_signal_handler(function))
		return go_reader_add_row(reader, function->start, function->end,
					 &go_rule_outermost);
	return REGISTERS_ELF_MACHINE == EM_AARCH64
		       ? go_function_add_rows_arm64(reader, function, flags)
		       : go_function_add_rows_x86_64(reader, function, flags);
}

/* Adds the rows of all functions of the table. -EBADMSG: the addresses of functions do not
 * ascend. */
static int add_rows_of_all_functions(struct go_reader *reader)
{
	struct file_spans *covered = reader->covered;
	int result = reader->table.functions ? 0 : -EBADMSG;

	for (u64 i = 0; i < reader->table.functions && !result; i++) {
		struct go_function function;

		if (!go_function_read(&reader->table, i, &function))
			return -EBADMSG;
		result = add_rows_of_function(reader, &function);
		if (result || function.start >= function.end)
			continue;
		if (array_make_room(covered->spans, covered->count, covered->room))
			return -ENOMEM;
		covered->spans[covered->count++] = (struct file_span){function.start, function.end};
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
	result = result ?: file_image_create(file, &reader.image) ?: add_rows_of_all_functions(&reader);
	file_image_free(&reader.image);
	elf_end(elf);
	return result;
}
