/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The whole table of a file is made, and asked for all addresses. Some tables are kept for the next
 * questions (file_memo.h).
 *
 * The unwind table is read only if the symbols leave an address over. A function that it tells of
 * counts if no symbol is in any part of it: a symbol could end too early, but it knows better.
 *
 * Files are read, not mapped into memory, so one that shrinks meanwhile gives an error and not
 * SIGBUS.
 */
#include "symbol_service.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "file_memo.h"
#include "kernel_symbols.h"
#include "privilege/service.h"
#include "symbol/elf/build_id.h"
#include "symbol/elf/elf_symbols.h"
#include "symbol/elf/fde_ranges.h"
#include "symbol/elf/vdso.h"
#include "symbol/file/mapped_file.h"
#include "symbol/jit/jitdump.h"
#include "symbol/jit/perf_map.h"
#include "symbol/table/symbol_table.h"
#include "symbol/unwind/code_rows.h"

/* What is known of the code of a request. */
struct code {
	struct file_tables tables; /* functions: without names; segments: none without an ELF */
	bool has_symbols;	   /* they were read: the tables are those of `key` */
	struct file_key key;
	bool has_key;
	struct symbol_table *kernel;  /* borrowed, instead of symbols; NULL: none */
	struct symbol_table *passing; /* of the kernel, what does not last; NULL: none */
};

/* Who asks, and for what. */
struct question {
	const struct symbol_request *request;
	const u64 *addresses;
};

static bool has_build_id(Elf *elf, const struct symbol_request *request)
{
	u8 build_id[TRACE_BUILD_ID_MAX];
	u32 bytes = build_id_from_elf(elf, build_id);

	return bytes == request->build_id_bytes && !memcmp(build_id, request->build_id, bytes);
}

static bool have_all_names(const struct question *question, const struct symbol_table *symbols)
{
	struct symbol symbol;
	u32 i = 0;

	while (i < question->request->addresses &&
	       symbol_table_find(symbols, question->addresses[i], &symbol))
		i++;
	return i == question->request->addresses;
}

static int load_functions(const struct question *question, Elf *elf, struct code *code)
{
	struct file_tables *tables = &code->tables;
	int result = code->has_symbols ? 0 : elf_symbols_add(elf, tables->symbols);

	if (!code->has_symbols)
		elf_segments_read(elf, &tables->segments);
	if (!result && !tables->has_functions && !have_all_names(question, tables->symbols)) {
		result = fde_ranges_add(elf, &tables->segments, tables->functions);
		tables->has_functions = true;
	}
	code->has_symbols = !result;
	return result;
}

/* libelf gives NULL for what is not there and for what it has no memory for: what it has read then
 * is not all. */
static int fail_without_memory(struct code *code)
{
	if (errno != ENOMEM)
		return 0;
	code->has_symbols = false;
	return -ENOMEM;
}

/* Another file than the one meant has no symbols here. */
static int load_elf(const struct question *question, Elf *elf, struct code *code)
{
	int result = 0;

	if (elf && elf_kind(elf) == ELF_K_ELF && has_build_id(elf, question->request))
		result = load_functions(question, elf, code);
	result = result ?: fail_without_memory(code);
	elf_end(elf);
	return result == -ENOEXEC ? 0 : result;
}

static void recall(const struct question *question, int file, struct code *code)
{
	const struct symbol_request *request = question->request;
	struct file_tables kept;

	code->has_key =
		request->build_id_bytes <= TRACE_BUILD_ID_MAX &&
		!file_key_make(file, request->build_id, request->build_id_bytes, &code->key);
	if (!code->has_key || !file_memo_take(&code->key, &kept))
		return;
	file_tables_clear(&code->tables);
	code->tables = kept;
	code->has_symbols = true;
}

static int load_file(const struct question *question, int file, struct code *code)
{
	recall(question, file, code);
	if (code->has_symbols &&
	    (code->tables.has_functions || have_all_names(question, code->tables.symbols)))
		return 0;
	if (elf_version(EV_CURRENT) == EV_NONE)
		return -ENOTSUP;
	return load_elf(question, elf_begin(file, ELF_C_READ, NULL), code);
}

typedef int (*read_generated)(int file, struct generated_code *code);

/* One that cannot be read to its end is left out as a whole. */
static void add_generated(read_generated read, int file, struct generated_code *code, u32 *unread)
{
	u32 count = code->count;

	if (!read(file, code))
		return;
	code->count = count;
	++*unread;
}

/* Who writes both says the same in both, and more exactly in the dump: it counts as the newer. */
static int load_generated(const struct symbol_request *request, const int *files,
			  struct symbol_table *table, u32 *unread)
{
	const struct code_range range = {request->base, 1ULL << FRAME_OFFSET_BITS};
	struct generated_code code = {};
	int result;

	if (request->has_perf_map)
		add_generated(perf_map_read_open, *files++, &code, unread);
	if (*files >= 0)
		add_generated(jitdump_read_open, *files, &code, unread);
	result = generated_code_seal(&code, &range, table);
	generated_code_clear(&code);
	return result;
}

static int load_kernel(const struct question *question, const int *files, struct code *code)
{
	return kernel_symbols_load(question->addresses, question->request->addresses, files,
				   &code->kernel, &code->passing);
}

static int load(const struct question *question, const int *files, struct code *code, u32 *unread)
{
	errno = 0;
	switch (question->request->what) {
	case SYMBOL_ASK_FILE:
		return load_file(question, files[0], code);
	case SYMBOL_ASK_VDSO:
		return load_elf(question, vdso_open(), code);
	case SYMBOL_ASK_KERNEL:
		return load_kernel(question, files, code);
	case SYMBOL_ASK_GENERATED:
		return load_generated(question->request, files, code->tables.symbols, unread);
	default:
		return -EINVAL;
	}
}

static int by_start(const void *left, const void *right)
{
	const struct symbol *a = left, *b = right;

	return (a->start > b->start) - (a->start < b->start);
}

static const struct symbol_table *symbols_of(const struct code *code)
{
	return code->kernel ?: code->tables.symbols;
}

static bool find_at(const struct code *code, u64 address, struct symbol *found)
{
	const struct symbol_table *symbols = symbols_of(code);

	if (code->kernel && !kernel_symbols_last(address))
		return code->passing && symbol_table_find(code->passing, address, found);
	if (symbol_table_find(symbols, address, found))
		return true;
	return symbol_table_find(code->tables.functions, address, found) &&
	       !symbol_table_touches(symbols, found->start, found->start + found->size);
}

/* The symbols of all addresses, each once, ascending: their number. */
static u32 find(const struct code *code, const u64 *addresses, u32 count, struct symbol *symbols)
{
	u32 found = 0, kept = 0;

	for (u32 i = 0; i < count; i++)
		found += find_at(code, addresses[i], &symbols[found]);
	qsort(symbols, found, sizeof(*symbols), by_start);
	for (u32 i = 0; i < found; i++)
		if (!kept || symbols[kept - 1].start != symbols[i].start)
			symbols[kept++] = symbols[i];
	return kept;
}

static u64 address_of(const struct code *code, u64 start)
{
	const struct elf_segment *segment = elf_segment_at(&code->tables.segments, start);

	return segment ? segment->address + (start - segment->offset) : start;
}

static bool is_alone(const struct code *code, const struct symbol *symbol)
{
	const struct symbol_table *symbols = symbols_of(code);
	u64 end = symbol->start + symbol->size;

	return symbol_table_is_alone(symbols, symbol->start, end) ||
	       (!symbol_table_touches(symbols, symbol->start, end) &&
		symbol_table_is_alone(code->tables.functions, symbol->start, end));
}

static void put(FILE *out, const struct code *code, const struct symbol *symbol)
{
	struct symbol_item head = {
		.start = symbol->start,
		.size = symbol->size,
		.address = address_of(code, symbol->start),
		.name_bytes = symbol->name_bytes,
		.is_alone = is_alone(code, symbol),
	};

	if (head.name_bytes > SYMBOL_NAME_BYTES_MAX)
		head.name_bytes = SYMBOL_NAME_BYTES_MAX;
	fwrite(&head, sizeof(head), 1, out);
	fwrite(symbol->name, head.name_bytes, 1, out);
}

/* All symbols as bytes; the caller frees them. */
static int put_all(const struct code *code, const struct symbol *symbols, u32 count, char **text,
		   size_t *bytes)
{
	FILE *out = open_memstream(text, bytes);

	if (!out)
		return -ENOMEM;
	for (u32 i = 0; i < count; i++)
		put(out, code, &symbols[i]);
	if (!fclose(out) && *bytes <= symbol_answer_bytes_max())
		return 0;
	free(*text);
	*text = NULL;
	return -ENOMEM;
}

static int name_code(const struct question *question, const int *files, struct code *code,
		     struct symbol_answer *answer, char **text)
{
	u32 count = question->request->addresses;
	struct symbol *symbols = reallocarray(NULL, count + 1UL, sizeof(*symbols));
	int result = symbols ? load(question, files, code, &answer->unread) : -ENOMEM;
	size_t bytes = 0;

	if (!result) {
		answer->symbols = find(code, question->addresses, count, symbols);
		result = put_all(code, symbols, answer->symbols, text, &bytes);
	}
	answer->bytes = bytes;
	free(symbols);
	return result;
}

static void put_away(struct code *code)
{
	if (code->has_key && code->has_symbols)
		file_memo_put(&code->key, &code->tables);
	else
		file_tables_clear(&code->tables);
	symbol_table_free(&code->passing);
}

static int name(const struct symbol_request *request, const int *files, const u64 *addresses,
		struct symbol_answer *answer, char **text)
{
	const struct question question = {request, addresses};
	struct code code = {};
	int result = symbol_table_create(&code.tables.symbols);

	result = result ?: symbol_table_create(&code.tables.functions);
	result = result ?: name_code(&question, files, &code, answer, text);
	put_away(&code);
	return result;
}

/* If memory runs out, the cached tables of all files are dropped and the file is read again. */
static int name_with_retry(const struct symbol_request *request, const int *files,
			   const u64 *addresses, struct symbol_answer *answer, char **text)
{
	int result = name(request, files, addresses, answer, text);

	if (result != -ENOMEM)
		return result;
	file_memo_forget();
	*answer = (struct symbol_answer){};
	return name(request, files, addresses, answer, text);
}

static int read_build_id(int file, struct symbol_answer *answer)
{
	int bytes = mapped_file_build_id(file, answer->build_id);

	answer->build_id_bytes = bytes > 0 ? bytes : 0;
	return 0;
}

/* Copies rules, then rows, to one block of their size; a block that grows may take twice as much.
 */
static char *rows_copy(const struct code_rows *rows, u64 *bytes)
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

/* The tables of a file that cannot be read say nothing. */
static int read_rows(int file, bool is_analysed, struct symbol_answer *answer, char **text)
{
	struct code_rows rows = {};
	int result =
		is_analysed ? code_rows_read(file, &rows) : code_rows_read_unanalysed(file, &rows);

	if (!result) {
		answer->rows = rows.count;
		answer->rules = rows.rule_count;
		answer->is_partial = rows.is_partial;
		*text = rows_copy(&rows, &answer->bytes);
		result = *text ? 0 : -ENOMEM;
	}
	code_rows_clear(&rows);
	return result;
}

static int answer_to(const struct symbol_request *request, const int *files, const u64 *addresses,
		     struct symbol_answer *answer, char **text)
{
	switch (request->what) {
	case SYMBOL_ASK_BUILD_ID:
		return read_build_id(files[0], answer);
	case SYMBOL_ASK_ROWS:
	case SYMBOL_ASK_TABLES:
		return read_rows(files[0], request->what == SYMBOL_ASK_ROWS, answer, text);
	default:
		return name_with_retry(request, files, addresses, answer, text);
	}
}

static int reply(int socket, const void *arg, const int *files, const u64 *addresses)
{
	const struct symbol_request *request = arg;
	struct symbol_answer answer = {};
	char *text = NULL;
	int result;

	answer.result = answer_to(request, files, addresses, &answer, &text);
	if (answer.result)
		answer.symbols = answer.rows = answer.rules = answer.bytes = 0;
	result = service_answer(socket, &answer, sizeof(answer), text, answer.bytes);
	free(text);
	return result;
}

void symbol_serve(int socket)
{
	static const struct service service = {
		.request_bytes = sizeof(struct symbol_request),
		.count_at = offsetof(struct symbol_request, addresses),
		.reply = reply,
	};

	service_run(socket, &service);
}
