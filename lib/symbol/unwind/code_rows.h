/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The unwind rules of all code of a file, by file offset, as rows; each row holds up to the next
 * one. code_rows_read() parses files of other users, so it runs in a sandbox. The caller of the
 * sandbox checks its rows with code_rows_are_sound().
 */
#ifndef LIB_SYMBOL_CODE_ROWS_H
#define LIB_SYMBOL_CODE_ROWS_H

#include <stdbool.h>

#include "hash_index.h"
#include "rule.h"
#include "scalar.h"
#include "script.h"

#define CODE_ROWS_MAX (8U << 20)

struct code_row {
	u32 offset; /* file offset; the row holds from here up to the next row */
	u32 rule;   /* index + 1 of the rule; 0 = the code has no rule */
};

/* The rows of a file. All zero: empty. */
struct code_rows {
	struct code_row *rows;
	u32 count, room;
	struct unwind_rule *rules; /* each rule once */
	u32 rule_count, rule_room;
	struct hash_index index; /* finds a rule in `rules` */
	bool is_partial; /* an analysis, or a process with more memory, would find more rows */
	/* layout of the interpreter in the file; without `link` its build or version is not
	 * known */
	struct script_layout script;
};

/* Appends [start, end) with a rule, or with NULL for no rule. Rules beyond FILE_TABLE_RULES_MAX are
 * left out. -EBADMSG: the range begins before the last row; -E2BIG, -ENOMEM. */
int code_rows_add(struct code_rows *rows, u64 start, u64 end, const struct unwind_rule *rule);

/* Fills empty `rows` with the rows of `upper`, and, where these have no rule, with the rows of
 * `lower`. -E2BIG, -ENOMEM. */
int code_rows_merge(struct code_rows *rows, const struct code_rows *upper,
		    const struct code_rows *lower);

/* A part of a file's code, by addresses of the file. */
struct file_span {
	u32 start, end;
};

/* A list of parts of code. All zero: empty. The owner frees the spans. */
struct file_spans {
	struct file_span *spans;
	u32 count, room;
};

/* Reads the unwind rows that core/unwind finds in .sframe and .eh_frame of an ELF file, and the
 * functions that these tables cover. -ENOEXEC: no table can be read as a whole; -EBADMSG: the
 * tables contradict themselves; -E2BIG, -ENOMEM. */
int code_rows_read_tables(int file, struct code_rows *rows, struct file_spans *covered);

/* Reads the unwind rows of .debug_frame, for functions that no span of `covered` (ascending)
 * overlaps. -ENOENT: the file has no .debug_frame. */
int code_rows_read_debug_frame(int file, const struct file_spans *covered, struct code_rows *rows,
			       struct file_spans *found);

/* Reads the unwind rows of Go code from .gopclntab, and which functions they cover. `covered` is
 * not used. -ENOENT: the file has no .gopclntab, or its version is not known. */
int code_rows_read_go(int file, const struct file_spans *covered, struct code_rows *rows,
		      struct file_spans *found);

/* Reads all tables, and analyses code that no table covers; rules of the analysis have
 * RULE_ANALYSED. -ENOEXEC: no tables, and no rules by analysis; -ENOMEM:
 * memory_limit_of_this_process() is too little for all rows. */
int code_rows_read(int file, struct code_rows *rows);

/* Reads all tables without the analysis, which takes ten to twenty times as long. If an analysis is
 * worth its time, whatever its memory, is_partial is set, and there may be no rows yet. -ENOEXEC:
 * no tables, and an analysis is not worth its time. */
int code_rows_read_unanalysed(int file, struct code_rows *rows);

/* The rule of the row that holds at a file offset; NULL: the code there has no rule. */
const struct unwind_rule *code_rows_rule(const struct code_rows *rows, u64 offset);

/* True if the offsets ascend, all rules exist and can be executed, and the layout of the
 * interpreter keeps its bounds. */
bool code_rows_are_sound(const struct code_rows *rows);

void code_rows_clear(struct code_rows *rows);

#endif
