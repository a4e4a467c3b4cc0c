/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The symbol table of a whole file is made and searched for all addresses. Tables of some files are
 * kept for the next requests (file_cache.h).
 *
 * The unwind table is read only if an address has no symbol. A function of the unwind table counts
 * if no symbol touches it: a symbol may end too early, but its name is better than none.
 *
 * Files are read, not mapped into memory, so a file that shrinks meanwhile gives an error instead
 * of SIGBUS.
 */
#include "symbol_service.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "file_cache.h"
#include "kernel_symbols.h"
#include "privilege/sandbox.h"
#include "symbol/elf/elf_symbols.h"
#include "symbol/elf/fde_ranges.h"
#include "symbol/elf/file_identity.h"
#include "symbol/elf/vdso.h"
#include "symbol/file/mapped_file.h"
#include "symbol/jit/jitdump.h"
#include "symbol/jit/perf_map.h"
#include "symbol/table/symbol_table.h"
#include "symbol/unwind/code_rows.h"
#include "thread_context.h"

/* A request for symbols, and the tables of its code. */
struct code {
	const struct symbol_request *request;
	const u64 *addresses;
	struct file_tables tables; /* symbols of the code, and functions by its unwind table, which
				      have no names; without an ELF file the segments are empty */
	bool has_symbols;	   /* tables.symbols is complete */
	struct file_key key;
	bool has_key;
	/* Symbols of kernel code that is not static; NULL: none requested. */
	struct symbol_table *passing;
};

static bool has_symbol_for_each_address(const struct code *code)
{
	struct symbol symbol;
	u32 i = 0;

	while (i < code->request->addresses &&
	       symbol_table_find(code->tables.symbols, code->addresses[i], &symbol))
		i++;
	return i == code->request->addresses;
}

/* Loads the symbols of an ELF file, or, if they are loaded already, the functions of its unwind
 * table. A file whose build id differs from that of the request is left out. Sections that libelf
 * has read are freed with `elf`, so the sections of one part are gone before the next part is
 * sorted or read. */
static int load_elf_symbols(Elf *elf, struct code *code)
{
	struct file_tables *tables = &code->tables;
	bool adds_symbols = !code->has_symbols;
	u8 build_id[TRACE_BUILD_ID_MAX];
	u32 bytes = 0;
	int result = 0;

	errno = 0;
	if (elf && elf_kind(elf) == ELF_K_ELF)
		bytes = build_id_from_elf(elf, build_id);
	if (elf && elf_kind(elf) == ELF_K_ELF && bytes == code->request->build_id_bytes &&
	    !memcmp(build_id, code->request->build_id, bytes)) {
		if (adds_symbols) {
			file_cache_make_room(elf_symbols_bytes(elf));
			elf_segments_read(elf, &tables->segments);
			result = elf_symbols_collect(elf, &tables->segments, tables->symbols);
		} else {
			result = fde_ranges_add(elf, &tables->segments, tables->functions);
			tables->has_functions = true;
		}
		code->has_symbols = !result;
	}
	/* libelf returns NULL both for a missing part and for a lack of memory; without memory the
	 * tables are incomplete. */
	if (!result && errno == ENOMEM) {
		code->has_symbols = false;
		result = -ENOMEM;
	}
	elf_end(elf);
	if (adds_symbols)
		symbol_table_seal(tables->symbols);
	return result == -ENOEXEC ? 0 : result;
}

static int load_symbols_of_elf_and_functions_if_needed(Elf *(*open)(int file), int file,
						       struct code *code)
{
	int result = code->has_symbols ? 0 : load_elf_symbols(open(file), code);

	if (!result && code->has_symbols && !code->tables.has_functions &&
	    !has_symbol_for_each_address(code))
		result = load_elf_symbols(open(file), code);
	return result;
}

static Elf *elf_begin_of_file(int file)
{
	return elf_begin(file, ELF_C_READ, NULL);
}

static Elf *open_vdso(int file)
{
	(void)file;
	return vdso_open();
}

static int load_mapped_file(int file, struct code *code)
{
	const struct symbol_request *request = code->request;
	struct file_tables kept;

	code->has_key =
		request->build_id_bytes <= TRACE_BUILD_ID_MAX &&
		!file_key_make(file, request->build_id, request->build_id_bytes, &code->key);
	if (code->has_key && file_cache_take(&code->key, &kept)) {
		file_tables_clear(&code->tables);
		code->tables = kept;
		code->has_symbols = true;
	}
	if (elf_version(EV_CURRENT) == EV_NONE)
		return -ENOTSUP;
	return load_symbols_of_elf_and_functions_if_needed(elf_begin_of_file, file, code);
}

/* Adds the functions of a perf map or a jitdump. A file that cannot be read to its end is left out
 * as a whole. */
static void add_runtime_file(int (*read)(int file, struct generated_code *code), int file,
			     struct generated_code *code, u32 *unread)
{
	u32 count = code->count;

	if (!read(file, code))
		return;
	code->count = count;
	++*unread;
}

/* A runtime that writes both files names the same code in both, and more exactly in the jitdump; so
 * the jitdump counts as the newer one. */
static int load_generated_code(const struct symbol_request *request, const int *files,
			       struct symbol_table *table, u32 *unread)
{
	struct generated_code code = {};
	int result;

	if (request->has_perf_map)
		add_runtime_file(perf_map_read_open, *files++, &code, unread);
	if (*files >= 0)
		add_runtime_file(jitdump_read_open, *files, &code, unread);
	result = generated_code_seal(&code, request->base, 1ULL << FRAME_OFFSET_BITS, table);
	generated_code_clear(&code);
	return result;
}

static int load_symbols(const int *files, struct code *code, u32 *unread)
{
	switch (code->request->what) {
	case SYMBOL_ASK_FILE:
		return load_mapped_file(files[0], code);
	case SYMBOL_ASK_VDSO:
		return load_symbols_of_elf_and_functions_if_needed(open_vdso, -1, code);
	case SYMBOL_ASK_KERNEL:
		return kernel_symbols_load(code->addresses, code->request->addresses, files,
					   code->tables.symbols, &code->passing);
	case SYMBOL_ASK_GENERATED:
		return load_generated_code(code->request, files, code->tables.symbols, unread);
	default:
		return -EINVAL;
	}
}

static int compare_symbol_starts(const void *left, const void *right)
{
	const struct symbol *a = left, *b = right;

	return (a->start > b->start) - (a->start < b->start);
}

static bool find_symbol_at(const struct code *code, u64 address, struct symbol *found)
{
	const struct symbol_table *symbols = code->tables.symbols;

	if (code->request->what == SYMBOL_ASK_KERNEL && !kernel_symbols_is_static_code(address))
		return code->passing && symbol_table_find(code->passing, address, found);
	if (symbol_table_find(symbols, address, found))
		return true;
	return symbol_table_find(code->tables.functions, address, found) &&
	       !symbol_table_touches(symbols, found->start, found->start + found->size);
}

/* Finds the symbols of all addresses, each symbol once, ascending. Returns the number of symbols.
 */
static u32 find_distinct_symbols(const struct code *code, const u64 *addresses, u32 count,
				 struct symbol *symbols)
{
	u32 found = 0, kept = 0;

	for (u32 i = 0; i < count; i++)
		found += find_symbol_at(code, addresses[i], &symbols[found]);
	qsort(symbols, found, sizeof(*symbols), compare_symbol_starts);
	for (u32 i = 0; i < found; i++)
		if (!kept || symbols[kept - 1].start != symbols[i].start)
			symbols[kept++] = symbols[i];
	return kept;
}

/* True if no other symbol covers an address of this symbol. */
static bool is_only_symbol_in_its_range(const struct code *code, const struct symbol *symbol)
{
	const struct symbol_table *symbols = code->tables.symbols;
	u64 end = symbol->start + symbol->size;

	return symbol_table_is_one_symbol(symbols, symbol->start, end) ||
	       (!symbol_table_touches(symbols, symbol->start, end) &&
		symbol_table_is_one_symbol(code->tables.functions, symbol->start, end));
}

static void write_symbol(FILE *out, const struct code *code, const struct symbol *symbol)
{
	const struct elf_segment *segment =
		elf_segment_at_offset(&code->tables.segments, symbol->start);
	struct symbol_item head = {
		.start = symbol->start,
		.size = symbol->size,
		.address = segment ? segment->address + (symbol->start - segment->offset)
				   : symbol->start,
		.name_bytes = symbol->name_bytes,
		.is_undivided = is_only_symbol_in_its_range(code, symbol),
	};

	if (head.name_bytes > SYMBOL_NAME_BYTES_MAX)
		head.name_bytes = SYMBOL_NAME_BYTES_MAX;
	fwrite(&head, sizeof(head), 1, out);
	fwrite(symbol->name, head.name_bytes, 1, out);
}

/* Writes all symbols as bytes to *text, for the caller to free. */
static int write_symbols(const struct code *code, const struct symbol *symbols, u32 count,
			 char **text, size_t *bytes)
{
	FILE *out = open_memstream(text, bytes);

	if (!out)
		return -ENOMEM;
	for (u32 i = 0; i < count; i++)
		write_symbol(out, code, &symbols[i]);
	if (!fclose(out) && *bytes <= symbol_answer_bytes_max())
		return 0;
	free(*text);
	*text = NULL;
	return -ENOMEM;
}

static int find_symbols(const struct symbol_request *request, const int *files,
			const u64 *addresses, struct symbol_answer *answer, char **text)
{
	struct code code = {.request = request, .addresses = addresses};
	u32 count = request->addresses;
	struct symbol *symbols = reallocarray(NULL, count + 1UL, sizeof(*symbols));
	int result = symbols ? symbol_table_create(&code.tables.symbols) : -ENOMEM;
	size_t bytes = 0;

	result = result ?: symbol_table_create(&code.tables.functions);
	result = result ?: load_symbols(files, &code, &answer->unread);
	if (!result) {
		answer->symbols = find_distinct_symbols(&code, addresses, count, symbols);
		result = write_symbols(&code, symbols, answer->symbols, text, &bytes);
	}
	answer->bytes = bytes;
	if (code.has_key && code.has_symbols)
		file_cache_put(&code.key, &code.tables);
	else
		file_tables_clear(&code.tables);
	symbol_table_free(&code.passing);
	free(symbols);
	return result;
}

/* Copies unwind rules, then rows, to one block of exact size; a block that grows may take twice the
 * memory.
 */
static char *copy_unwind_rows(const struct code_rows *rows, u64 *bytes)
{
	size_t rule_bytes = rows->rule_count * sizeof(*rows->rules);
	size_t row_bytes = rows->count * sizeof(*rows->rows);
	char *copy = malloc(rule_bytes + row_bytes + 1);

	if (!copy)
		return NULL;
	if (rule_bytes)
		memcpy(copy, rows->rules, rule_bytes);
	if (row_bytes)
		memcpy(copy + rule_bytes, rows->rows, row_bytes);
	*bytes = rule_bytes + row_bytes;
	return copy;
}

static int read_unwind_rows(int file, bool is_analysed, struct symbol_answer *answer, char **text)
{
	struct code_rows rows = {};
	int result =
		is_analysed ? code_rows_read(file, &rows) : code_rows_read_unanalysed(file, &rows);

	if (!result) {
		answer->rows = rows.count;
		answer->rules = rows.rule_count;
		answer->is_partial = rows.is_partial;
		answer->script = rows.script;
		*text = copy_unwind_rows(&rows, &answer->bytes);
		result = *text ? 0 : -ENOMEM;
	}
	code_rows_clear(&rows);
	return result;
}

static int answer_request(int socket, const void *arg, const int *files, const u64 *addresses)
{
	const struct symbol_request *request = arg;
	struct symbol_answer answer = {};
	char *text = NULL;
	Elf *elf;
	int result;

	switch (request->what) {
	case SYMBOL_ASK_BUILD_ID:
		result = mapped_file_build_id(files[0], answer.build_id);
		answer.build_id_bytes = result > 0 ? result : 0;
		result = 0;
		break;
	case SYMBOL_ASK_ROWS:
	case SYMBOL_ASK_TABLES:
		result = read_unwind_rows(files[0], request->what == SYMBOL_ASK_ROWS, &answer,
					  &text);
		break;
	case SYMBOL_ASK_CONTEXT:
		result = -ENOTSUP;
		if (elf_version(EV_CURRENT) == EV_NONE)
			break;
		elf = elf_begin_of_file(files[0]);
		result = thread_variable_find(elf, THREAD_CONTEXT_SYMBOL, &answer.variable);
		elf_end(elf);
		break;
	default:
		result = find_symbols(request, files, addresses, &answer, &text);
		if (result != -ENOMEM)
			break;
		/* Without memory for a file, the cached tables of all files are dropped, and the
		 * file is read again. */
		file_cache_forget();
		answer = (struct symbol_answer){};
		result = find_symbols(request, files, addresses, &answer, &text);
	}
	answer.result = result;
	if (result)
		answer.symbols = answer.rows = answer.rules = answer.bytes = 0;
	result = service_send_answer(socket, &answer, sizeof(answer), text, answer.bytes);
	free(text);
	return result;
}

void symbol_serve(int socket)
{
	service_run_request_loop(socket, sizeof(struct symbol_request),
				 offsetof(struct symbol_request, addresses), answer_request);
}
