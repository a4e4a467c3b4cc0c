/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The unwind rules of all code of a file, by file offset: rows, each of which holds up to the next
 * one. code_rows_read() parses what others have made, so it runs in a sandbox; what comes back from
 * there is checked (code_rows_are_sound()) before it is used.
 */
#ifndef LIB_SYMBOL_CODE_ROWS_H
#define LIB_SYMBOL_CODE_ROWS_H

#include <stdbool.h>

#include "hash_index.h"
#include "rule.h"
#include "scalar.h"

#define CODE_ROWS_MAX (8U << 20)

struct code_row {
	u32 offset; /* in the file, from which on it holds */
	u32 rule;   /* its index + 1; 0: there is none */
};

/* All zero: empty. */
struct code_rows {
	struct code_row *rows;
	u32 count, room;
	struct unwind_rule *rules; /* each once */
	u32 rule_count, rule_room;
	struct hash_index index; /* of rules */
	bool is_partial; /* code that no table covers is worth an analysis, which is to come */
};

/* Appends: [start, end) has this rule, NULL: none, and nothing behind has any. -EBADMSG: it lies
 * before what is there; -E2BIG, -ENOMEM. Of rules beyond FILE_TABLE_RULES_MAX there are none. */
int code_rows_add(struct code_rows *rows, u64 start, u64 end, const struct unwind_rule *rule);

/* Appends to what is empty: the rows of `upper` and, where it has no rule, those of `lower`.
 * -E2BIG, -ENOMEM. */
int code_rows_merge(struct code_rows *rows, const struct code_rows *upper,
		    const struct code_rows *lower);

/* Parts of a file's code, by address of the file. */
struct file_span {
	u32 start, end;
};

/* All zero: empty. The owner frees the spans. */
struct file_spans {
	struct file_span *spans;
	u32 count, room;
};

/* What core/unwind finds in the tables of an ELF file, and which functions the tables cover.
 * -ENOEXEC: it has none that can be read as a whole, -EBADMSG: they contradict themselves, -E2BIG,
 * -ENOMEM. */
int code_rows_read_tables(int file, struct code_rows *rows, struct file_spans *covered);

/* Reads the rows of .debug_frame, of functions that no span of `covered` overlaps. The spans of
 * `covered` ascend. -ENOENT: the file has no .debug_frame. */
int code_rows_read_debug(int file, const struct file_spans *covered, struct code_rows *rows,
			 struct file_spans *found);

/* Reads the rows of Go code from .gopclntab, and which functions they cover. `covered` is not used.
 * -ENOENT: the file has no such section, or its version is not known. */
int code_rows_read_go(int file, const struct file_spans *covered, struct code_rows *rows,
		      struct file_spans *found);

/* All of these, and for code that no table covers the rules that its instructions lead to (with
 * RULE_ANALYSED). -ENOEXEC: there are neither. */
int code_rows_read(int file, struct code_rows *rows);

/* Reads all tables without the analysis, which takes ten to twenty times as long as they do. An
 * analysis that is worth its time makes the rows partial: then there may be none, and
 * code_rows_read() says more. -ENOEXEC: there are no tables, and no analysis. */
int code_rows_read_unanalysed(int file, struct code_rows *rows);

/* Offsets ascend, and rules are there and say what can be executed. */
bool code_rows_are_sound(const struct code_rows *rows);

void code_rows_clear(struct code_rows *rows);

#endif
