/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* libFuzzer target of the readers of ELF files: any bytes give valid functions by file offset, also
 * those that only the unwind table names, at most one build id, and unwind rules that a table can
 * hold. */
#include <errno.h>
#include <libelf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "capture/source/usdt_probe.h"
#include "fuzz_symbol_table.h"
#include "symbol/elf/elf_symbols.h"
#include "symbol/elf/fde_ranges.h"
#include "symbol/elf/file_identity.h"
#include "symbol/elf/thread_variable.h"
#include "symbol/unwind/code_rows.h"
#include "symbol/unwind/file_table_pack.h"
#include "trace/event.h"

int LLVMFuzzerTestOneInput(const u8 *data, size_t bytes);

static size_t bytes_fuzzed;

static void read_elf(Elf *elf)
{
	struct symbol_table *table = table_create();
	struct thread_variable variable;
	u8 build_id[TRACE_BUILD_ID_MAX];
	int id_bytes = build_id_from_elf(elf, build_id), err = elf_symbols_add(elf, table);

	demand(id_bytes >= 0 && id_bytes <= TRACE_BUILD_ID_MAX);
	demand(!err || err == -ENOEXEC);
	err = thread_variable_find(elf, "otel_thread_ctx_v1", &variable);
	demand(!err || err == -ENOEXEC);
	table_check(table);
	symbol_table_free(&table);
}

/* Functions of the unwind table, which have no name, lie in code. */
static void read_unwind_table(Elf *elf)
{
	struct symbol_table *table = table_create();
	struct elf_segments segments;
	struct symbol symbol;

	elf_segments_read(elf, &segments);
	demand(!fde_ranges_add(elf, &segments, table));
	table_check(table);
	for (u32 i = 0; symbol_table_at_index(table, i, &symbol); i++)
		demand(!symbol.name[0] && elf_segment_at_offset(&segments, symbol.start));
	symbol_table_free(&table);
}

static void read_rows(int file)
{
	struct code_rows rows = {};
	struct file_table table = {};
	int err = code_rows_read(file, &rows);

	demand(!err || err == -ENOEXEC || err == -EBADMSG || err == -E2BIG);
	demand(code_rows_are_sound(&rows));
	demand(!file_table_pack(&rows, &table));
	code_rows_clear(&rows);
	file_table_clear(&table);
}

/* The programs of probes can read each argument that is found. */
static int visit_probe(void *arg, const struct usdt_probe *probe)
{
	struct event_number number;
	int err = 0;

	(void)arg;
	demand(probe->offset);
	for (u32 i = 1; err != -ENOENT && i < 16; i++) {
		err = usdt_argument_find(probe->arguments, i, &number);
		demand(!err || err == -ENOENT || err == -EOPNOTSUPP);
		demand(err ||
		       (number.bytes && number.bytes <= 8 && number.steps <= NUMBER_STEPS_MAX &&
			number.place <= NUMBER_CONSTANT));
	}
	return strlen(probe->provider) + strlen(probe->name) > bytes_fuzzed ? -EINVAL : 0;
}

/* The input goes through a file, as in a sandbox. */
int LLVMFuzzerTestOneInput(const u8 *data, size_t bytes)
{
	static int file = -1;
	Elf *elf;
	int err;

	if (file < 0)
		file = memfd_create("fuzzed", 0);
	if (ftruncate(file, 0) || pwrite(file, data, bytes, 0) != (ssize_t)bytes)
		abort();
	bytes_fuzzed = bytes;
	read_rows(file);
	err = usdt_probe_each(file, visit_probe, NULL);
	demand(!err || err == -ENOEXEC);
	elf_version(EV_CURRENT);
	elf = elf_begin(file, ELF_C_READ, NULL);
	if (!elf)
		return 0;
	if (elf_kind(elf) == ELF_K_ELF) {
		read_elf(elf);
		read_unwind_table(elf);
	}
	elf_end(elf);
	return 0;
}
