/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The functions of Go code, from the section .gopclntab of Go 1.18 to 1.27: bounds, names, inlined
 * calls and lines of source, and values by pc. Stripping keeps the section, since Go's runtime
 * needs it (runtime/symtab.go, runtime/symtabinl.go, debug/gosym in Go's sources).
 *
 * The section may hold any bytes: no read leaves it, and what makes no sense is left out.
 */
#ifndef LIB_SYMBOL_GO_TABLE_H
#define LIB_SYMBOL_GO_TABLE_H

#include <libelf.h>
#include <stdbool.h>

#include "code_place.h"

/* The table in the section. `names` to `records` are offsets of its parts from the begin of the
 * section. All zero: no table. */
struct go_table {
	const u8 *bytes; /* bytes of the section; they live as long as the Elf */
	u64 count;
	u64 functions; /* number of functions */
	u64 text;      /* address from which the table counts the addresses of functions */
	u64 names, units, file_names, pc_tables, records;
	const u8 *trees; /* trees of inlined calls; NULL: the file does not tell where they are */
	u64 trees_bytes;
	u8 quantum;  /* bytes of code per unit of the table: 1 (x86-64) or 4 (arm64) */
	bool is_old; /* the table has the format of Go 1.18 and 1.19 */
};

enum go_function_flag {
	GO_IS_OUTERMOST = 1 << 0, /* the runtime's TOPFRAME: the function has no caller */
	GO_WRITES_SP = 1 << 1,	  /* the runtime's SPWRITE: the function writes the stack pointer */
	GO_IS_ASSEMBLER = 1 << 2, /* the runtime's ASM: the function is written in assembler */
};

struct go_function {
	u64 start, end;	  /* start and end of the function, as addresses in the file */
	u64 record;	  /* offset of the function's record in the section */
	const char *name; /* name of the function; "" if the table has none */
};

/* A run: for the code [start, end) of a function, a quantity has this value. */
struct go_run {
	u64 start, end;
	s32 value;
};

/* The quantities that the table gives for each pc: how far sp
 * is below its value at the function's entry,
 * the number of the source file, the line, the innermost inlined call. */
enum go_quantity { GO_DEPTH, GO_FILE, GO_LINE, GO_INLINED };

/* Reads the table of a file for x86-64 or arm64. -ENOENT: the file has no .gopclntab, or its
 * version is not known. */
int go_table_read(Elf *elf, struct go_table *table);

/* Reads function `index`, which is less than table->functions. False: the table is damaged. */
bool go_function_read(const struct go_table *table, u64 index, struct go_function *function);

/* Reads the flags of a function (enum go_function_flag); false: the table is damaged. */
bool go_function_flags(const struct go_table *table, const struct go_function *function, u8 *flags);

/* Begins to read the runs of a quantity: prepares *run for the first call of go_read_next_run(),
 * and returns the offset for that call; 0: the table has no values of this quantity for the
 * function. */
u64 go_find_runs_of_quantity(const struct go_table *table, const struct go_function *function,
			     enum go_quantity quantity, struct go_run *run);

/* Moves to the next run of the function. False: *run is the last run of the function, or the table
 * is damaged. */
bool go_read_next_run(const struct go_table *table, const struct go_function *function, u64 *at,
		      struct go_run *run);

/* Writes the functions of an address to places[CODE_PLACES_MAX], innermost first; the last one is
 * the function that was called. Texts live as long as the Elf. Returns their number; 0: no Go
 * function is at the address. */
u32 go_table_find_places(const struct go_table *table, u64 address, struct code_place *places);

#endif
