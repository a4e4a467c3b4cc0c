/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Nothing is kept from one request to the next: the whole table of a file is made, asked for all
 * addresses, and freed. So memory is bounded by the largest file, and one bad file spoils no other.
 *
 * Files are read, not mapped into memory, so one that shrinks meanwhile gives an error and not
 * SIGBUS.
 */
#include "naming_service.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "build_id.h"
#include "elf_symbols.h"
#include "jitdump.h"
#include "kallsyms.h"
#include "mapped_file.h"
#include "perf_map.h"
#include "privilege/service.h"
#include "symbol_table.h"
#include "vdso.h"

static bool has_build_id(Elf *elf, const struct naming_request *request)
{
	u8 build_id[TRACE_BUILD_ID_MAX];
	u32 bytes = build_id_from_elf(elf, build_id);

	return bytes == request->build_id_bytes && !memcmp(build_id, request->build_id, bytes);
}

/* Another file than the one meant has no symbols here. */
static int load_elf(const struct naming_request *request, Elf *elf, struct symbol_table *table)
{
	int result = 0;

	if (elf && elf_kind(elf) == ELF_K_ELF && has_build_id(elf, request))
		result = elf_symbols_add(elf, table);
	elf_end(elf);
	return result == -ENOEXEC ? 0 : result;
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
static int load_generated(const struct naming_request *request, const int *files,
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

static int load(const struct naming_request *request, const int *files, struct symbol_table *table,
		u32 *unread)
{
	switch (request->what) {
	case NAMING_FILE:
		if (elf_version(EV_CURRENT) == EV_NONE)
			return -ENOTSUP;
		return load_elf(request, elf_begin(files[0], ELF_C_READ, NULL), table);
	case NAMING_VDSO:
		return load_elf(request, vdso_open(), table);
	case NAMING_KERNEL:
		return kallsyms_read_open(files[0], files[1], table);
	case NAMING_GENERATED:
		return load_generated(request, files, table, unread);
	default:
		return -EINVAL;
	}
}

static int by_start(const void *left, const void *right)
{
	const struct symbol *a = left, *b = right;

	return (a->start > b->start) - (a->start < b->start);
}

/* The symbols of all addresses, each once, ascending: their number. */
static u32 find(const struct symbol_table *table, const u64 *addresses, u32 count,
		struct symbol *symbols)
{
	u32 found = 0, kept = 0, i;

	for (i = 0; i < count; i++)
		found += symbol_table_find(table, addresses[i], &symbols[found]);
	qsort(symbols, found, sizeof(*symbols), by_start);
	for (i = 0; i < found; i++)
		if (!kept || symbols[kept - 1].start != symbols[i].start)
			symbols[kept++] = symbols[i];
	return kept;
}

static void put(FILE *out, const struct symbol *symbol)
{
	struct naming_symbol head = {
		.start = symbol->start,
		.size = symbol->size,
		.name_bytes = symbol->name_bytes,
	};

	if (head.name_bytes > NAMING_NAME_BYTES_MAX)
		head.name_bytes = NAMING_NAME_BYTES_MAX;
	fwrite(&head, sizeof(head), 1, out);
	fwrite(symbol->name, head.name_bytes, 1, out);
}

/* All symbols as bytes; the caller frees them. */
static int put_all(const struct symbol *symbols, u32 count, char **text, size_t *bytes)
{
	FILE *out = open_memstream(text, bytes);

	if (!out)
		return -ENOMEM;
	for (u32 i = 0; i < count; i++)
		put(out, &symbols[i]);
	if (!fclose(out))
		return 0;
	free(*text);
	*text = NULL;
	return -ENOMEM;
}

static int name(const struct naming_request *request, const int *files, const u64 *addresses,
		struct naming_answer *answer, char **text)
{
	struct symbol *symbols = reallocarray(NULL, request->addresses, sizeof(*symbols));
	struct symbol_table *table = NULL;
	size_t bytes = 0;
	int result = symbols ? symbol_table_create(&table) : -ENOMEM;

	result = result ?: load(request, files, table, &answer->unread);
	if (!result) {
		answer->symbols = find(table, addresses, request->addresses, symbols);
		result = put_all(symbols, answer->symbols, text, &bytes);
	}
	answer->bytes = bytes;
	symbol_table_free(&table);
	free(symbols);
	return result;
}

static int read_build_id(int file, struct naming_answer *answer)
{
	int bytes = mapped_file_build_id(file, answer->build_id);

	answer->build_id_bytes = bytes > 0 ? bytes : 0;
	return 0;
}

static int reply(int socket, const void *arg, const int *files, const u64 *addresses)
{
	const struct naming_request *request = arg;
	struct naming_answer answer = {};
	char *text = NULL;
	int result;

	answer.result = request->what == NAMING_BUILD_ID
				? read_build_id(files[0], &answer)
				: name(request, files, addresses, &answer, &text);
	if (answer.result)
		answer.symbols = answer.bytes = 0;
	result = service_answer(socket, &answer, sizeof(answer), text, answer.bytes);
	free(text);
	return result;
}

static u32 count_addresses(const void *request)
{
	return ((const struct naming_request *)request)->addresses;
}

void naming_serve(int socket)
{
	static const struct service service = {
		.request_bytes = sizeof(struct naming_request),
		.count = count_addresses,
		.reply = reply,
	};

	service_run(socket, &service);
}
