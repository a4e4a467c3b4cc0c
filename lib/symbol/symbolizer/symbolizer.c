/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The sandbox is started before capabilities are dropped, as becoming user nobody needs them.
 */
#include "symbolizer.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "moved_check.h"
#include "privilege/capability.h"
#include "privilege/message.h"
#include "symbol/file/mapped_file.h"
#include "symbolizer.h"
#include "table_publish.h"

#define PARTS 8 /* a sandbox may take 1/8 of all memory */
#define PARTS_TRUSTED 4

static kept_code_opener choose_file_open_function(const struct symbolizer_request *request)
{
	return request->cached ? mapped_file_open_cached : mapped_file_open;
}

/* Finds the symbols of a request. *memory: a file in memory that holds them. */
static int answer_symbols(struct symbol_lookup *lookup, const struct symbolizer_request *request,
			  const int *files, int *memory, u64 *bytes)
{
	struct symbol_query query = {
		.number = request->number,
		.record = request->number ? &request->record : NULL,
		.open = choose_file_open_function(request),
		.kernel_files = files + 1,
		.count = request->count,
		.each = symbol_file_put,
	};
	int file = symbol_file_create(), result;
	u64 *addresses;
	FILE *out;

	if (file < 0)
		return file;
	out = fdopen(dup(file), "w");
	if (!out) {
		close(file);
		return -ENOMEM;
	}
	result = symbol_file_addresses(files[0], request->count, &addresses);
	if (!result) {
		query.addresses = addresses;
		query.arg = out;
		result = symbol_lookup_find(lookup, &query);
		free(addresses);
	}
	*bytes = ftello(out);
	if (fclose(out))
		result = result ?: -ENOMEM;
	*memory = file;
	return result;
}

/* Publishes the table of a file, unless another instance has done so. `code`: the open file, or -1.
 * Sets in the answer whether the table marks an interpreter's loop (abi/script.h), and whether the
 * unwinder walks through the code that the file's virtual machine generates. */
static int answer_table(struct symbol_lookup *lookup, const struct symbolizer_request *request,
			int map, int code, struct symbolizer_answer *answer)
{
	struct file_table table = {};
	struct code_rows rows = {};
	bool has_left;
	int result;

	if (map < 0)
		return -EINVAL;
	if (request->what == SYMBOLIZER_ANALYSIS
		    ? is_table_in_map_and_not_partial(map, request->number)
		    : is_table_in_map(map, request->number))
		return 0;
	result = symbol_lookup_read_unwind_rows(lookup, &request->record,
						choose_file_open_function(request), code,
						request->what == SYMBOLIZER_ANALYSIS, &rows);
	result = result ?: file_table_pack(&rows, &table);
	result = result ?: table_publish(map, request->number, &table);
	answer->has_marks = !result && rows.script.link;
	has_left = !result && ((rows.script.runtime == SCRIPT_V8 && rows.script.v8.has_names) ||
			       (rows.script.runtime == SCRIPT_PERL && rows.script.perl.has_names));
	answer->has_marks |= has_left;
	answer->leaves_generated = has_left || (!result && rows.script.runtime == SCRIPT_JAVA);
	code_rows_clear(&rows);
	file_table_clear(&table);
	return result;
}

/* Compares code that a process has copied into memory without a file with the file of a mapping;
 * request->count is the process id. */
static int answer_moved_code(struct symbol_lookup *lookup, const struct symbolizer_request *request,
			     int map)
{
	int file = symbol_lookup_open_file(lookup, &request->record,
					   choose_file_open_function(request));
	int result = file;

	if (file >= 0) {
		result = moved_code_compare_and_store_results(map, request->number, request->count,
							      file, &request->record);
		close(file);
	}
	return result;
}

static int answer_request(struct symbol_lookup *lookup, int socket,
			  const struct symbolizer_request *request, const int *files)
{
	struct symbolizer_answer answer = {.what = request->what, .number = request->number};
	int file = -1, result;

	if (request->what == SYMBOLIZER_IDENTIFY)
		answer.result = symbol_lookup_identify(
			lookup, &request->record, choose_file_open_function(request), &answer.id);
	else if (request->what == SYMBOLIZER_TABLE || request->what == SYMBOLIZER_ANALYSIS)
		answer.result = answer_table(lookup, request, files[0], files[1], &answer);
	else if (request->what == SYMBOLIZER_MOVED)
		answer.result = answer_moved_code(lookup, request, files[0]);
	else
		answer.result = answer_symbols(lookup, request, files, &file, &answer.bytes);
	if (request->what == SYMBOLIZER_TABLE && !answer.result)
		answer.is_partial = !is_table_in_map_and_not_partial(files[0], request->number);
	if (answer.is_partial && request->wants_code)
		file = symbol_lookup_open_file(lookup, &request->record,
					       choose_file_open_function(request));
	answer.failures = symbol_lookup_take_failures(lookup);
	answer.sandbox = symbol_lookup_sandbox_pid(lookup);
	result = message_send_files(socket, &answer, sizeof(answer), &file, file >= 0,
				    MESSAGE_NO_DEADLINE);
	if (file >= 0)
		close(file);
	return result;
}

static void serve_files_of_owner(int socket, u32 parts)
{
	struct symbolizer_answer ready = {.what = SYMBOLIZER_READY};
	struct symbolizer_request request;
	struct symbol_lookup *lookup;
	int files[MESSAGE_FILES_MAX], result;

	ready.result = symbol_lookup_create(parts, &lookup);
	if (ready.result) {
		message_send(socket, &ready, sizeof(ready), MESSAGE_NO_DEADLINE);
		return;
	}
	ready.sandbox = symbol_lookup_sandbox_pid(lookup);
	result = capability_keep_only(CAPABILITIES_READING)
			 ?: message_send(socket, &ready, sizeof(ready), MESSAGE_NO_DEADLINE);
	while (!result && !message_receive_files(socket, &request, sizeof(request), files,
						 MESSAGE_NO_DEADLINE)) {
		result = answer_request(lookup, socket, &request, files);
		message_close_files(files);
	}
	symbol_lookup_free(&lookup);
}

void symbolizer_serve(int socket)
{
	serve_files_of_owner(socket, PARTS);
}

void symbolizer_serve_trusted(int socket)
{
	serve_files_of_owner(socket, PARTS_TRUSTED);
}
