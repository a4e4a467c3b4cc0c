/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What is long travels as a file in memory, so that a packet never fills a socket's buffer.
 *
 * The sandbox is started first, while it may still become user nobody.
 */
#include "symbolizer.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "moved_check.h"
#include "privilege/capability.h"
#include "privilege/message.h"
#include "symbol/file/mapped_file.h"
#include "symbol_file.h"
#include "table_publish.h"

#define PARTS 8 /* of all memory: what a sandbox may take */
#define PARTS_TRUSTED 4

#define MEMORY_NO_EXEC 8U /* MFD_NOEXEC_SEAL, which 6.3 has brought */

int symbolizer_memory(void)
{
	int file = memfd_create("stackmap", MFD_CLOEXEC | MEMORY_NO_EXEC);

	if (file < 0 && errno == EINVAL)
		file = memfd_create("stackmap", MFD_CLOEXEC);
	return file < 0 ? -errno : file;
}

static int put_symbol(void *arg, const struct trace_symbol *symbol, bool is_alone)
{
	const struct symbolizer_symbol head = {symbol->start, symbol->size, symbol->address,
					       strlen(symbol->name), is_alone};
	FILE *out = arg;

	fwrite(&head, sizeof(head), 1, out);
	fwrite(symbol->name, head.name_bytes, 1, out);
	return ferror(out) ? -ENOMEM : 0;
}

static kept_code_opener opener_of(const struct symbolizer_request *request)
{
	return request->cached ? mapped_file_open_cached : mapped_file_open;
}

static int find_symbols(struct symbol_lookup *lookup, const struct symbolizer_request *request,
			const int *files, FILE *out)
{
	struct symbol_query query = {
		.number = request->number,
		.record = request->number ? &request->record : NULL,
		.open = opener_of(request),
		.kallsyms = files[1],
		.modules = files[2],
		.count = request->count,
		.each = put_symbol,
		.arg = out,
	};
	u64 *addresses;
	int result = symbol_file_addresses(files[0], request->count, &addresses);

	if (result)
		return result;
	query.addresses = addresses;
	result = symbol_lookup_find(lookup, &query);
	free(addresses);
	return result;
}

/* *memory: the symbols. */
static int answer_symbols(struct symbol_lookup *lookup, const struct symbolizer_request *request,
			  const int *files, int *memory, u64 *bytes)
{
	int file = symbolizer_memory(), result;
	FILE *out;

	if (file < 0)
		return file;
	out = fdopen(dup(file), "w");
	if (!out) {
		close(file);
		return -ENOMEM;
	}
	result = find_symbols(lookup, request, files, out);
	*bytes = ftello(out);
	if (fclose(out))
		result = result ?: -ENOMEM;
	*memory = file;
	return result;
}

static int make_table(struct symbol_lookup *lookup, const struct symbolizer_request *request,
		      int map)
{
	struct file_table table = {};
	struct code_rows rows = {};
	int result = symbol_lookup_rows(lookup, &request->record, opener_of(request),
					request->what == SYMBOLIZER_ANALYSIS, &rows);

	result = result ?: file_table_pack(&rows, &table);
	result = result ?: table_publish(map, request->number, &table);
	code_rows_clear(&rows);
	file_table_clear(&table);
	return result;
}

/* Another instance may have been faster. */
static int answer_table(struct symbol_lookup *lookup, const struct symbolizer_request *request,
			int map)
{
	if (map < 0)
		return -EINVAL;
	if (request->what == SYMBOLIZER_ANALYSIS ? table_is_whole(map, request->number)
						 : table_is_published(map, request->number))
		return 0;
	return make_table(lookup, request, map);
}

/* Moved code of the process that request->count names. */
static int answer_moved(struct symbol_lookup *lookup, const struct symbolizer_request *request,
			int map)
{
	int file = symbol_lookup_open(lookup, &request->record, opener_of(request));
	int result = file;

	if (file >= 0) {
		result = moved_code_settle(map, request->number, request->count, file,
					   &request->record);
		close(file);
	}
	return result;
}

static int reply(struct symbol_lookup *lookup, int socket, const struct symbolizer_request *request,
		 const int *files)
{
	struct symbolizer_answer answer = {.what = request->what, .number = request->number};
	int memory = -1, result;

	if (request->what == SYMBOLIZER_LEARN)
		answer.result = symbol_lookup_learn(lookup, &request->record, opener_of(request),
						    &answer.id);
	else if (request->what == SYMBOLIZER_TABLE || request->what == SYMBOLIZER_ANALYSIS)
		answer.result = answer_table(lookup, request, files[0]);
	else if (request->what == SYMBOLIZER_MOVED)
		answer.result = answer_moved(lookup, request, files[0]);
	else
		answer.result = answer_symbols(lookup, request, files, &memory, &answer.bytes);
	if (request->what == SYMBOLIZER_TABLE && !answer.result)
		answer.is_partial = !table_is_whole(files[0], request->number);
	answer.failures = symbol_lookup_failures(lookup);
	answer.sandbox = symbol_lookup_pid(lookup);
	result = message_send_files(socket, &answer, sizeof(answer), &memory, memory >= 0,
				    MESSAGE_NO_DEADLINE);
	if (memory >= 0)
		close(memory);
	return result;
}

static int tell_ready(struct symbol_lookup *lookup, int socket)
{
	const struct symbolizer_answer ready = {
		.what = SYMBOLIZER_READY,
		.sandbox = symbol_lookup_pid(lookup),
	};

	return message_send(socket, &ready, sizeof(ready), MESSAGE_NO_DEADLINE);
}

static void serve(struct symbol_lookup *lookup, int socket)
{
	struct symbolizer_request request;
	int files[MESSAGE_FILES_MAX], result = 0;

	while (!result && !message_receive_files(socket, &request, sizeof(request), files,
						 MESSAGE_NO_DEADLINE)) {
		result = reply(lookup, socket, &request, files);
		message_close_files(files);
	}
}

static void serve_owner(int socket, u32 parts)
{
	struct symbolizer_answer failed = {.what = SYMBOLIZER_READY};
	struct symbol_lookup *lookup;

	failed.result = symbol_lookup_create(parts, &lookup);
	if (failed.result) {
		message_send(socket, &failed, sizeof(failed), MESSAGE_NO_DEADLINE);
		return;
	}
	if (!capability_keep(CAPABILITIES_READING) && !tell_ready(lookup, socket))
		serve(lookup, socket);
	symbol_lookup_free(&lookup);
}

void symbolizer_serve(int socket)
{
	serve_owner(socket, PARTS);
}

void symbolizer_serve_trusted(int socket)
{
	serve_owner(socket, PARTS_TRUSTED);
}
