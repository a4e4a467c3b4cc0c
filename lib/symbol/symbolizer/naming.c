/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What the sandbox says is believed as far as it could be true: symbols ascend, each covers an
 * address that was asked for, and its name is a text. Anything else ends the sandbox.
 */
#include "naming.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bisect.h"
#include "naming_service.h"
#include "privilege/message.h"
#include "privilege/sandbox.h"
#include "symbol/file/mapped_file.h"
#include "symbol/jit/runtime_files.h"

#define PATH_BYTES_MAX 4096
#define LIMIT_MS 10000
#define BUILD_ID_LIMIT_MS 1000 /* some headers and notes of a file */
#define ANSWER_BYTES_MAX (256ULL << 20)

struct naming {
	struct sandbox *sandbox;
	struct kept_code *code;
	struct runtime_files *runtimes;
	u64 failures;
};

int naming_create(struct naming **out)
{
	struct naming *naming = calloc(1, sizeof(*naming));
	int result;

	if (!naming)
		return -ENOMEM;
	result = sandbox_start(naming_serve, LIMIT_MS, &naming->sandbox);
	result = result ?: kept_code_create(&naming->code);
	result = result ?: runtime_files_create(&naming->runtimes);
	if (result)
		naming_free(&naming);
	else
		*out = naming;
	return result;
}

void naming_free(struct naming **naming)
{
	if (!*naming)
		return;
	sandbox_end(&(*naming)->sandbox);
	kept_code_free(&(*naming)->code);
	runtime_files_free(&(*naming)->runtimes);
	free(*naming);
	*naming = NULL;
}

u32 naming_pid(const struct naming *naming)
{
	return sandbox_pid(naming->sandbox);
}

u64 naming_failures(struct naming *naming)
{
	u64 failures = naming->failures;

	naming->failures = 0;
	return failures;
}

static bool is_possible(const struct naming_answer *answer, const struct naming_request *request)
{
	return answer->result <= 0 && answer->unread <= MESSAGE_FILES_MAX &&
	       answer->symbols <= request->addresses && answer->bytes <= ANSWER_BYTES_MAX &&
	       answer->build_id_bytes <= TRACE_BUILD_ID_MAX;
}

/* A request and the head of its answer. */
static int ask(struct naming *naming, const struct naming_request *request, const int *files,
	       u32 count, const u64 *addresses, struct naming_answer *answer)
{
	struct sandbox *sandbox = naming->sandbox;
	int result = sandbox_request(sandbox, request, sizeof(*request), files, count);

	result =
		result ?: sandbox_send(sandbox, addresses, request->addresses * sizeof(*addresses));
	result = result ?: sandbox_receive(sandbox, answer, sizeof(*answer));
	if (!result && !is_possible(answer, request)) {
		sandbox_distrust(sandbox);
		result = -EBADMSG;
	}
	return result ?: answer->result;
}

static void ask_build_id(struct naming *naming, int file, struct naming_id *id)
{
	const struct naming_request request = {.what = NAMING_BUILD_ID};
	struct naming_answer answer;

	sandbox_limit(naming->sandbox, BUILD_ID_LIMIT_MS);
	if (ask(naming, &request, &file, 1, NULL, &answer)) {
		naming->failures++;
		return;
	}
	id->bytes = answer.build_id_bytes;
	memcpy(id->build_id, answer.build_id, sizeof(id->build_id));
}

static bool has_build_id(const struct mapping_record *record)
{
	return record->build_id_bytes && record->build_id_bytes <= MAPPING_BUILD_ID_MAX;
}

static int learn_file(struct naming *naming, const struct mapping_record *record,
		      kept_code_opener open, struct naming_id *id)
{
	char path[PATH_BYTES_MAX];
	int file;

	mapped_file_path(record, path, sizeof(path));
	if (kept_code_keep(naming->code, record, path, open))
		return -ENOENT;
	file = has_build_id(record) ? -1 : kept_code_open(naming->code, record, path, open);
	if (file < 0)
		return 0;
	ask_build_id(naming, file, id);
	close(file);
	return 0;
}

int naming_learn(struct naming *naming, const struct mapping_record *record, kept_code_opener open,
		 struct naming_id *id)
{
	u64 base;

	*id = (struct naming_id){};
	if (record->key.kind == MAPPING_FILE)
		return learn_file(naming, record, open, id);
	if (record->key.kind == MAPPING_ANON)
		runtime_files_keep(naming->runtimes, mapped_process(record, &base),
				   record->key.since);
	return 0;
}

/* Whether one of the addresses lies in the symbol. */
static bool is_asked_for(const struct naming_query *query, const struct naming_symbol *symbol)
{
	u32 low = bisect(query->count, i, query->addresses[i] < symbol->start);
	return low < query->count && query->addresses[low] - symbol->start < symbol->size;
}

struct symbol_bytes {
	const u8 *at;
	const u8 *end;
	u64 last; /* start of the one before */
	bool first;
};

/* The next symbol, its name copied to `name`. */
static int take_symbol(struct symbol_bytes *bytes, const struct naming_query *query,
		       struct trace_symbol *symbol, char *name)
{
	struct naming_symbol head;

	if ((size_t)(bytes->end - bytes->at) < sizeof(head))
		return -EBADMSG;
	memcpy(&head, bytes->at, sizeof(head));
	bytes->at += sizeof(head);
	if (head.name_bytes > NAMING_NAME_BYTES_MAX ||
	    head.name_bytes > (size_t)(bytes->end - bytes->at) ||
	    memchr(bytes->at, 0, head.name_bytes))
		return -EBADMSG;
	if (!is_asked_for(query, &head) || (!bytes->first && head.start <= bytes->last))
		return -EBADMSG;
	memcpy(name, bytes->at, head.name_bytes);
	name[head.name_bytes] = 0;
	bytes->at += head.name_bytes;
	bytes->last = head.start;
	bytes->first = false;
	*symbol = (struct trace_symbol){.mapping = query->number,
					.start = head.start,
					.size = head.size,
					.address = head.address,
					.name = name};
	return 0;
}

static int take_symbols(struct naming *naming, const struct naming_query *query, const u8 *data,
			const struct naming_answer *answer)
{
	struct symbol_bytes bytes = {.at = data, .end = data + answer->bytes, .first = true};
	char *name = malloc(NAMING_NAME_BYTES_MAX + 1);
	int result = name ? 0 : -ENOMEM;

	for (u32 i = 0; i < answer->symbols && !result; i++) {
		struct trace_symbol symbol;

		if (take_symbol(&bytes, query, &symbol, name)) {
			sandbox_distrust(naming->sandbox);
			naming->failures++;
			break;
		}
		result = query->each(query->arg, &symbol);
	}
	free(name);
	return result;
}

static int ask_symbols(struct naming *naming, const struct naming_query *query,
		       const struct naming_request *request, const int *files, u32 count)
{
	struct naming_answer answer;
	u8 *data = NULL;
	int failed, result = 0;

	sandbox_limit(naming->sandbox, LIMIT_MS);
	failed = ask(naming, request, files, count, query->addresses, &answer);
	if (!failed) {
		data = malloc(answer.bytes + 1);
		if (!data)
			return -ENOMEM;
		failed = sandbox_receive(naming->sandbox, data, answer.bytes);
	}
	naming->failures += failed ? 1 : answer.unread;
	if (!failed)
		result = take_symbols(naming, query, data, &answer);
	free(data);
	return result;
}

static int name_file(struct naming *naming, const struct naming_query *query,
		     struct naming_request *request)
{
	char path[PATH_BYTES_MAX];
	int file, result;

	mapped_file_path(query->record, path, sizeof(path));
	file = kept_code_open(naming->code, query->record, path, query->open);
	if (file < 0)
		return -ENOENT;
	request->what = NAMING_FILE;
	result = ask_symbols(naming, query, request, &file, 1);
	close(file);
	return result;
}

static int name_kernel(struct naming *naming, const struct naming_query *query,
		       struct naming_request *request)
{
	const int files[] = {query->kallsyms, query->modules};

	if (files[0] < 0)
		return 0;
	request->what = NAMING_KERNEL;
	return ask_symbols(naming, query, request, files, files[1] < 0 ? 1 : 2);
}

static int name_generated(struct naming *naming, const struct naming_query *query,
			  struct naming_request *request)
{
	u32 tgid = mapped_process(query->record, &request->base), count = 0;
	u64 since = query->record->key.since;
	struct runtime_names names = runtime_files_open(naming->runtimes, tgid, since);
	int files[2], result = 0;

	request->what = NAMING_GENERATED;
	request->has_perf_map = names.perf_map >= 0;
	if (names.perf_map >= 0)
		files[count++] = names.perf_map;
	if (names.jitdump >= 0)
		files[count++] = names.jitdump;
	if (count)
		result = ask_symbols(naming, query, request, files, count);
	while (count)
		close(files[--count]);
	return result;
}

/* The vdso of 32-bit tasks is not known here, and has no build id. */
int naming_symbols(struct naming *naming, const struct naming_query *query)
{
	struct naming_request request = {.addresses = query->count};
	const struct mapping_record *record = query->record;

	if (!record)
		return name_kernel(naming, query, &request);
	if (has_build_id(record)) {
		request.build_id_bytes = record->build_id_bytes;
		memcpy(request.build_id, record->build_id, record->build_id_bytes);
	}
	if (record->key.kind == MAPPING_FILE)
		return name_file(naming, query, &request);
	if (record->key.kind == MAPPING_ANON)
		return name_generated(naming, query, &request);
	if (record->key.kind != MAPPING_VDSO || !request.build_id_bytes)
		return 0;
	request.what = NAMING_VDSO;
	return ask_symbols(naming, query, &request, NULL, 0);
}
