/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Answers of the sandbox are checked: symbols ascend, each covers a requested address, and its name
 * is a text. Any other answer ends the sandbox.
 */
#include "symbol_lookup.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "file_table.h"
#include "order.h"
#include "privilege/message.h"
#include "privilege/sandbox.h"
#include "symbol/file/mapped_file.h"
#include "symbol/jit/runtime_files.h"
#include "symbol_service.h"

#define PATH_BYTES_MAX 4096
#define LIMIT_MS 10000
/* Time limit for reading a build id: the sandbox reads some headers and notes of a file. */
#define BUILD_ID_LIMIT_MS 1000

struct symbol_lookup {
	struct sandbox *sandbox;
	struct kept_code *code;
	struct runtime_files *runtimes;
	u64 failures;
};

int symbol_lookup_create(u32 parts, struct symbol_lookup **out)
{
	struct symbol_lookup *lookup = calloc(1, sizeof(*lookup));
	int result;

	if (!lookup)
		return -ENOMEM;
	result = sandbox_start(symbol_serve, LIMIT_MS, parts, &lookup->sandbox)
			 ?: kept_code_create(&lookup->code)
			 ?: runtime_files_create(&lookup->runtimes);
	if (result)
		symbol_lookup_free(&lookup);
	else
		*out = lookup;
	return result;
}

void symbol_lookup_free(struct symbol_lookup **lookup)
{
	if (!*lookup)
		return;
	sandbox_end(&(*lookup)->sandbox);
	kept_code_free(&(*lookup)->code);
	runtime_files_free(&(*lookup)->runtimes);
	free(*lookup);
	*lookup = NULL;
}

u32 symbol_lookup_sandbox_pid(const struct symbol_lookup *lookup)
{
	return sandbox_pid(lookup->sandbox);
}

u64 symbol_lookup_take_failures(struct symbol_lookup *lookup)
{
	u64 failures = lookup->failures;

	lookup->failures = 0;
	return failures;
}

/* Sends a request to the sandbox and receives the head of its answer. */
static int query_symbol_sandbox(struct symbol_lookup *lookup, const struct symbol_request *request,
				const int *files, u32 count, const u64 *addresses,
				struct symbol_answer *answer)
{
	struct sandbox *sandbox = lookup->sandbox;
	int result = sandbox_send_request(sandbox, request, sizeof(*request), files, count);

	result =
		result ?: sandbox_send(sandbox, addresses, request->addresses * sizeof(*addresses));
	result = result ?: sandbox_receive(sandbox, answer, sizeof(*answer));
	if (!result &&
	    (answer->result > 0 || answer->unread > MESSAGE_FILES_MAX ||
	     answer->symbols > request->addresses || answer->bytes > symbol_answer_bytes_max() ||
	     answer->rows > CODE_ROWS_MAX || answer->rules > FILE_TABLE_RULES_MAX ||
	     answer->build_id_bytes > TRACE_BUILD_ID_MAX)) {
		sandbox_end_child(sandbox);
		result = -EBADMSG;
	}
	return result ?: answer->result;
}

static bool has_build_id(const struct mapping_record *record)
{
	return record->build_id_bytes && record->build_id_bytes <= MAPPING_BUILD_ID_MAX;
}

int symbol_lookup_identify(struct symbol_lookup *lookup, const struct mapping_record *record,
			   kept_code_opener open, struct build_id *id)
{
	const struct symbol_request request = {.what = SYMBOL_ASK_BUILD_ID};
	struct symbol_answer answer;
	char path[PATH_BYTES_MAX];
	u64 base;
	int file;

	*id = (struct build_id){};
	if (record->key.kind == MAPPING_ANON)
		runtime_files_keep(lookup->runtimes,
				   process_and_base_of_generated_code(record, &base),
				   record->key.since);
	if (record->key.kind != MAPPING_FILE)
		return 0;
	mapped_file_path(record, path, sizeof(path));
	if (kept_code_keep(lookup->code, record, path, open))
		return -ENOENT;
	file = has_build_id(record) ? -1 : kept_code_open(lookup->code, record, path, open);
	if (file < 0)
		return 0;
	sandbox_set_time_limit(lookup->sandbox, BUILD_ID_LIMIT_MS);
	if (query_symbol_sandbox(lookup, &request, &file, 1, NULL, &answer)) {
		lookup->failures++;
	} else {
		id->bytes = answer.build_id_bytes;
		memcpy(id->build_id, answer.build_id, sizeof(id->build_id));
	}
	close(file);
	return 0;
}

static int receive_unwind_rows(struct sandbox *sandbox, const struct symbol_answer *answer,
			       struct code_rows *rows)
{
	u64 rule_bytes = answer->rules * sizeof(*rows->rules);
	u64 row_bytes = answer->rows * sizeof(*rows->rows);

	if (answer->bytes != rule_bytes + row_bytes)
		return -EBADMSG;
	rows->rules = malloc(rule_bytes + 1);
	rows->rows = malloc(row_bytes + 1);
	if (!rows->rules || !rows->rows)
		return -ENOMEM;
	rows->rule_count = answer->rules;
	rows->count = answer->rows;
	return sandbox_receive(sandbox, rows->rules, rule_bytes)
		       ?: sandbox_receive(sandbox, rows->rows, row_bytes)
		       ?: code_rows_are_sound(rows) ? 0 : -EBADMSG;
}

static int request_unwind_rows(struct symbol_lookup *lookup, int file, bool is_analysed,
			       struct code_rows *rows)
{
	const struct symbol_request request = {.what = is_analysed ? SYMBOL_ASK_ROWS
								   : SYMBOL_ASK_TABLES};
	struct symbol_answer answer;
	int result;

	sandbox_set_time_limit(lookup->sandbox, LIMIT_MS);
	result = query_symbol_sandbox(lookup, &request, &file, 1, NULL, &answer);
	if (result)
		return result;
	result = receive_unwind_rows(lookup->sandbox, &answer, rows);
	if (result)
		sandbox_end_child(lookup->sandbox);
	rows->is_partial = !is_analysed && answer.is_partial;
	rows->script = answer.script;
	return result;
}

int symbol_lookup_open_file(struct symbol_lookup *lookup, const struct mapping_record *record,
			    kept_code_opener open)
{
	char path[PATH_BYTES_MAX];
	int file;

	mapped_file_path(record, path, sizeof(path));
	file = kept_code_open(lookup->code, record, path, open);
	if (file >= 0 && is_file_of_mapping_record(file, record))
		return file;
	if (file >= 0)
		close(file);
	return -ENOENT;
}

int symbol_lookup_read_unwind_rows(struct symbol_lookup *lookup,
				   const struct mapping_record *record, kept_code_opener open,
				   int code, bool is_analysed, struct code_rows *rows)
{
	char path[PATH_BYTES_MAX];
	int file, result = -ESTALE;

	mapped_file_path(record, path, sizeof(path));
	if (code < 0 && kept_code_keep(lookup->code, record, path, open))
		return -ENOENT;
	file = code < 0 ? kept_code_open(lookup->code, record, path, open)
			: fcntl(code, F_DUPFD_CLOEXEC, 0);
	if (file < 0)
		return -ENOENT;
	if (is_file_of_mapping_record(file, record))
		result = request_unwind_rows(lookup, file, is_analysed, rows);
	if (!result && !is_file_of_mapping_record(file, record))
		result = -ESTALE;
	close(file);
	return result;
}

int symbol_lookup_thread_variable(struct symbol_lookup *lookup, int file,
				  struct thread_variable *variable)
{
	const struct symbol_request request = {.what = SYMBOL_ASK_CONTEXT};
	struct symbol_answer answer;
	int result;

	sandbox_set_time_limit(lookup->sandbox, BUILD_ID_LIMIT_MS);
	result = query_symbol_sandbox(lookup, &request, &file, 1, NULL, &answer);
	if (!result)
		*variable = answer.variable;
	return result;
}

/* Reads and checks the symbol at `at` of an answer. Returns the symbol's name, which has
 * head->name_bytes bytes and no NUL; NULL: the bytes make no sense. */
static const u8 *read_answered_symbol(const u8 *at, const u8 *end, const struct symbol_query *query,
				      struct symbol_item *head)
{
	const u8 *name = at + sizeof(*head);
	u32 address;

	if ((size_t)(end - at) < sizeof(*head))
		return NULL;
	memcpy(head, at, sizeof(*head));
	if (head->name_bytes > SYMBOL_NAME_BYTES_MAX || head->name_bytes > (size_t)(end - name) ||
	    memchr(name, 0, head->name_bytes))
		return NULL;
	address = bisect(query->count, i, query->addresses[i] < head->start);
	if (address == query->count || query->addresses[address] - head->start >= head->size)
		return NULL;
	return name;
}

/* Passes each symbol of the answer to query->each(). A symbol that makes no sense, or that does not
 * begin after the symbol before it, ends the sandbox, and the rest of the answer is left out. */
static int pass_symbols_of_answer_to_caller(struct symbol_lookup *lookup,
					    const struct symbol_query *query, const u8 *data,
					    const struct symbol_answer *answer)
{
	const u8 *at = data, *end = data + answer->bytes;
	char *name = malloc(SYMBOL_NAME_BYTES_MAX + 1);
	int result = name ? 0 : -ENOMEM;
	u64 last = 0;

	for (u32 i = 0; i < answer->symbols && !result; i++) {
		struct symbol_item head;
		const u8 *text = read_answered_symbol(at, end, query, &head);

		if (!text || (i && head.start <= last)) {
			sandbox_end_child(lookup->sandbox);
			lookup->failures++;
			break;
		}
		memcpy(name, text, head.name_bytes);
		name[head.name_bytes] = 0;
		at = text + head.name_bytes;
		last = head.start;
		result = query->each(query->arg,
				     &(struct trace_symbol){.mapping = query->number,
							    .start = head.start,
							    .size = head.size,
							    .address = head.address,
							    .name = name},
				     head.is_undivided);
	}
	free(name);
	return result;
}

static int request_symbols(struct symbol_lookup *lookup, const struct symbol_query *query,
			   const struct symbol_request *request, const int *files, u32 count)
{
	struct symbol_answer answer;
	u8 *data = NULL;
	int failed, result = 0;

	sandbox_set_time_limit(lookup->sandbox, LIMIT_MS);
	failed = query_symbol_sandbox(lookup, request, files, count, query->addresses, &answer);
	if (!failed) {
		data = malloc(answer.bytes + 1);
		if (!data)
			return -ENOMEM;
		failed = sandbox_receive(lookup->sandbox, data, answer.bytes);
	}
	lookup->failures += failed ? 1 : answer.unread;
	if (!failed)
		result = pass_symbols_of_answer_to_caller(lookup, query, data, &answer);
	free(data);
	return result;
}

static int find_names_of_generated_code(struct symbol_lookup *lookup,
					const struct symbol_query *query,
					struct symbol_request *request)
{
	u32 tgid = process_and_base_of_generated_code(query->record, &request->base), count = 0;
	u64 since = query->record->key.since;
	struct runtime_names names = runtime_files_open(lookup->runtimes, tgid, since);
	int files[2], result = 0;

	request->what = SYMBOL_ASK_GENERATED;
	request->has_perf_map = names.perf_map >= 0;
	if (names.perf_map >= 0)
		files[count++] = names.perf_map;
	if (names.jitdump >= 0)
		files[count++] = names.jitdump;
	if (count)
		result = request_symbols(lookup, query, request, files, count);
	while (count)
		close(files[--count]);
	return result;
}

int symbol_lookup_find(struct symbol_lookup *lookup, const struct symbol_query *query)
{
	struct symbol_request request = {.addresses = query->count};
	const struct mapping_record *record = query->record;
	u32 files = 0;

	if (!record) {
		while (files < KERNEL_SYMBOL_FILES && query->kernel_files[files] >= 0)
			files++;
		request.what = SYMBOL_ASK_KERNEL;
		return files ? request_symbols(lookup, query, &request, query->kernel_files, files)
			     : 0;
	}
	if (has_build_id(record)) {
		request.build_id_bytes = record->build_id_bytes;
		memcpy(request.build_id, record->build_id, record->build_id_bytes);
	}
	if (record->key.kind == MAPPING_FILE) {
		char path[PATH_BYTES_MAX];
		int file, result;

		mapped_file_path(query->record, path, sizeof(path));
		file = kept_code_open(lookup->code, query->record, path, query->open);
		if (file < 0)
			return -ENOENT;
		request.what = SYMBOL_ASK_FILE;
		result = request_symbols(lookup, query, &request, &file, 1);
		close(file);
		return result;
	}
	if (record->key.kind == MAPPING_ANON)
		return find_names_of_generated_code(lookup, query, &request);
	/* The vdso of 32-bit tasks has no build id, and gives no symbols. */
	if (record->key.kind != MAPPING_VDSO || !request.build_id_bytes)
		return 0;
	request.what = SYMBOL_ASK_VDSO;
	return request_symbols(lookup, query, &request, NULL, 0);
}
