/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A file is asked for in the name of its owner. Its path is one of the process that has it mapped,
 * which may be another user's: on a way of their making (mounted over, mounted below) the owner's
 * symbolizer would wait for them. So it looks by its own root then, as far as the kernel has the
 * path in its cache, and what it does not find there is for the symbolizer of that user.
 *
 * The kernel's symbols have a symbolizer of their own, so they never wait for a file's. The unwind
 * tables of root's files have one, too: a large library's table takes seconds on a busy machine.
 *
 * There are only so many processes: owners who come late share the last one.
 */
#include "symbolizers.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>

#include "error.h"
#include "symbol/file/file_owner.h"
#include "symbol/file/mapped_file.h"
#include "symbol/kernel/kernel_image.h"
#include "symbol/kernel/passing_code.h"
#include "symbol_file.h"
#include "symbol_memo.h"
#include "symbolizer_client.h"

#define CLIENTS_MAX 14
#define CLIENT_ROOT 0
#define CLIENT_KERNEL 1
#define CLIENT_TABLES 2
#define END_MS 50
#define MEMO_BYTES (8U << 20)
_Static_assert(2 * CLIENTS_MAX <= SYMBOLIZER_PROCESSES_MAX, "each has a sandbox");

struct symbolizers {
	struct kernel_files kernel;
	struct passing_code *passing; /* NULL: the kernel hides addresses */
	struct symbolizer_client clients[CLIENTS_MAX];
	struct symbolizers_trouble troubles[CLIENTS_MAX];
	bool reported[CLIENTS_MAX];
	u32 count;
	u64 failures;
	const struct symbolizers_sink *sink; /* of this visit */
	bool learned[MAPPINGS_MAX];	     /* or asked for */
	bool unread[MAPPINGS_MAX];	     /* it could not be learned of */
	bool is_trouble[MAPPINGS_MAX];	     /* counted as such */
	bool failed[MAPPINGS_MAX];	     /* counted as a failure, since the last call */
	u8 keeper[MAPPINGS_MAX];	     /* 1 + which client has its file open; 0: none */
	bool cached[MAPPINGS_MAX];	     /* that is how it was found */
	bool tabulated[MAPPINGS_MAX];	     /* or asked for */
	bool has_no_room;		     /* for tables */
	bool was_awaited;
	int readiness; /* of root's; 0, or why it is not */
	struct build_id ids[MAPPINGS_MAX];
	struct symbol_memo memo; /* of files */
};

static struct symbolizer_client *client_of(struct symbolizers *symbolizers, u64 owner)
{
	u32 i = 0;

	while (i < symbolizers->count && symbolizers->clients[i].owner != owner)
		i++;
	if (i == CLIENTS_MAX)
		return &symbolizers->clients[CLIENTS_MAX - 1];
	if (i == symbolizers->count) {
		symbolizers->clients[i].owner = owner;
		symbolizers->troubles[i].owner = owner;
		symbolizers->count++;
	}
	return &symbolizers->clients[i];
}

int symbolizers_create(struct symbolizers **out)
{
	struct symbolizers *symbolizers = calloc(1, sizeof(*symbolizers));
	int result;

	if (!symbolizers)
		return -ENOMEM;
	symbolizers->memo.most = MEMO_BYTES;
	kernel_files_open(&symbolizers->kernel);
	result = symbolizer_client_start(client_of(symbolizers, FILE_OWNER_ROOT))
			 ?: symbolizer_client_start(client_of(symbolizers, FILE_OWNER_KERNEL))
			 ?: symbolizer_client_start(client_of(symbolizers, FILE_OWNER_TABLES));
	if (!result && kernel_image_shown(&symbolizers->kernel))
		result = passing_code_create(symbolizers->kernel.modules, &symbolizers->passing);
	if (result)
		symbolizers_free(&symbolizers);
	else
		*out = symbolizers;
	return result;
}

int symbolizers_await(struct symbolizers *symbolizers)
{
	if (!symbolizers->was_awaited)
		symbolizers->readiness =
			symbolizer_client_await(&symbolizers->clients[CLIENT_ROOT]);
	symbolizers->was_awaited = true;
	return symbolizers->readiness;
}

void symbolizers_free(struct symbolizers **symbolizers)
{
	struct symbolizers *gone = *symbolizers;

	if (!gone)
		return;
	for (u32 i = 0; i < gone->count; i++)
		symbolizer_client_end(&gone->clients[i], END_MS);
	passing_code_free(&gone->passing);
	kernel_files_close(&gone->kernel);
	symbol_memo_free(&gone->memo);
	free(gone);
	*symbolizers = NULL;
}

const struct kernel_files *symbolizers_kernel_files(const struct symbolizers *symbolizers)
{
	return &symbolizers->kernel;
}

u32 symbolizers_processes(const struct symbolizers *symbolizers, u32 *pids)
{
	u32 count = 0;

	for (u32 i = 0; i < symbolizers->count; i++) {
		const struct symbolizer_client *client = &symbolizers->clients[i];

		if (client->worker.pid)
			pids[count++] = client->worker.pid;
		if (client->sandbox)
			pids[count++] = client->sandbox;
	}
	return count;
}

u64 symbolizers_failures(struct symbolizers *symbolizers)
{
	u64 failures = symbolizers->failures;

	symbolizers->failures = 0;
	memset(symbolizers->failed, 0, sizeof(symbolizers->failed));
	if (symbolizers->passing)
		passing_code_forget(symbolizers->passing);
	return failures;
}

bool symbolizers_tell(struct symbolizers *symbolizers, struct symbolizers_trouble *trouble)
{
	for (u32 i = 0; i < symbolizers->count; i++) {
		if (symbolizers->reported[i] || !symbolizers->troubles[i].files)
			continue;
		symbolizers->reported[i] = true;
		*trouble = symbolizers->troubles[i];
		return true;
	}
	return false;
}

/* However often its symbols are asked for. */
static void count_failure(struct symbolizers *symbolizers, u32 number, u64 files)
{
	if (!symbolizers->failed[number])
		symbolizers->failures += files;
	symbolizers->failed[number] |= files > 0;
}

/* A file that could not be learned of counts when its symbols are asked for. */
static void note_failures(struct symbolizers *symbolizers, const struct symbolizer_client *client,
			  const struct question *question, u64 files)
{
	struct symbolizers_trouble *trouble = &symbolizers->troubles[client - symbolizers->clients];

	if (question->what == SYMBOLIZER_LEARN)
		symbolizers->unread[question->number] = files;
	else
		count_failure(symbolizers, question->number, files);
	if (!files || (question->record && symbolizers->is_trouble[question->number]))
		return;
	symbolizers->is_trouble[question->number] = true;
	trouble->files += files;
	if (!trouble->path[0] && question->record)
		mapped_file_path(question->record, trouble->path, sizeof(trouble->path));
}

/* Questions */

/* Whose process has it mapped, as far as the way to it is theirs. */
static u64 user_of(const struct mapping_record *record, u64 owner)
{
	if (record->key.kind != MAPPING_FILE || owner & FILE_OWNER_MOUNT)
		return owner;
	return file_owner_process(record->tgid);
}

static int ask_client(struct symbolizers *symbolizers, struct symbolizer_client *client,
		      const struct question *question)
{
	if (question->what == SYMBOLIZER_TABLE && client->owner == FILE_OWNER_ROOT)
		client = &symbolizers->clients[CLIENT_TABLES];
	return symbolizer_client_ask(client, question);
}

static int ask_owner(struct symbolizers *symbolizers, struct question *question)
{
	u64 owner = file_owner(question->record);

	if (owner == FILE_OWNER_NONE)
		owner = FILE_OWNER_ROOT;
	question->next = user_of(question->record, owner);
	question->cached = question->next != owner;
	if (!question->cached)
		question->next = FILE_OWNER_NONE;
	return ask_client(symbolizers, client_of(symbolizers, owner), question);
}

static int ask(struct symbolizers *symbolizers, struct question *question)
{
	u32 keeper = question->record ? symbolizers->keeper[question->number] : 1 + CLIENT_KERNEL;

	if (!keeper)
		return ask_owner(symbolizers, question);
	question->next = FILE_OWNER_NONE;
	question->cached = symbolizers->cached[question->number];
	return ask_client(symbolizers, &symbolizers->clients[keeper - 1], question);
}

static void learn(struct symbolizers *symbolizers, u32 number, const struct mapping_record *record)
{
	struct question question = {
		.what = SYMBOLIZER_LEARN,
		.number = number,
		.record = record,
		.file = -1,
	};

	if (symbolizers->learned[number])
		return;
	if (record->key.kind != MAPPING_FILE && record->key.kind != MAPPING_ANON)
		return;
	if (!ask(symbolizers, &question))
		symbolizers->learned[number] = true;
}

void symbolizers_identify(struct symbolizers *symbolizers, u32 number,
			  const struct mapping_record *record, struct trace_mapping *mapping,
			  char *path, size_t path_bytes)
{
	struct build_id *id;

	mapped_file_identify(number, record, mapping, path, path_bytes);
	if (number >= MAPPINGS_MAX)
		return;
	id = &symbolizers->ids[number];
	if (mapping->build_id_bytes) {
		id->bytes = mapping->build_id_bytes;
		memcpy(id->build_id, mapping->build_id, sizeof(id->build_id));
	}
	mapping->build_id_bytes = id->bytes;
	memcpy(mapping->build_id, id->build_id, sizeof(mapping->build_id));
	learn(symbolizers, number, record);
}

void symbolizers_tabulate(struct symbolizers *symbolizers, u32 number,
			  const struct mapping_record *record, int map)
{
	struct question question = {
		.what = SYMBOLIZER_TABLE,
		.number = number,
		.record = record,
	};

	if (number >= MAPPINGS_MAX || symbolizers->tabulated[number] || symbolizers->has_no_room ||
	    record->key.kind != MAPPING_FILE)
		return;
	question.file = fcntl(map, F_DUPFD_CLOEXEC, 0);
	if (question.file >= 0 && !ask(symbolizers, &question))
		symbolizers->tabulated[number] = true;
}

void symbolizers_tabulate_again(struct symbolizers *symbolizers)
{
	memset(symbolizers->tabulated, 0, sizeof(symbolizers->tabulated));
	symbolizers->has_no_room = false;
}

void symbolizers_compare(struct symbolizers *symbolizers, u32 number, u32 tgid,
			 const struct mapping_record *record, int map)
{
	struct question question = {
		.what = SYMBOLIZER_MOVED,
		.number = number,
		.count = tgid,
		.record = record,
		.next = FILE_OWNER_NONE,
	};
	u64 owner = file_owner_process(tgid);

	if (owner == FILE_OWNER_NONE)
		return;
	question.file = fcntl(map, F_DUPFD_CLOEXEC, 0);
	if (question.file >= 0)
		symbolizer_client_ask(client_of(symbolizers, owner), &question);
}

/* Names passing code as the kernel reported it. Ambiguous code gets no name. Code that was loaded
 * before the recorder is asked for by its start: kallsyms knows the start, and no size. */
static int recall_passing(struct passing_code *passing, u64 *addresses, u32 *count,
			  const struct symbolizers_sink *sink)
{
	u32 kept = 0;
	u64 last = 0;
	int result = 0;

	for (u32 i = 0; i < *count && !result; i++) {
		struct code_span span = {.name = ""};
		enum code_match match = passing_code_find(passing, addresses[i], &span);

		if (match == CODE_AMBIGUOUS || (last && span.start == last))
			continue;
		last = span.start;
		if (!*span.name)
			addresses[kept++] = match == CODE_KNOWN ? span.start : addresses[i];
		else
			result = sink->symbol(sink->arg, &(struct trace_symbol){
								 .start = span.start,
								 .size = span.end - span.start,
								 .address = span.start,
								 .name = span.name,
							 });
	}
	*count = kept;
	return result;
}

int symbolizers_recall(const struct symbolizers *symbolizers, u32 number, u64 *addresses,
		       u32 *count, const struct symbolizers_sink *sink)
{
	if (number >= MAPPINGS_MAX)
		return 0;
	if (!number) {
		if (!symbolizers->passing)
			return 0;
		passing_code_read(symbolizers->passing);
		return passing_code_read_modules(symbolizers->passing, symbolizers->kernel.modules)
			       ?: recall_passing(symbolizers->passing, addresses, count, sink);
	}
	return symbol_memo_recall(&symbolizers->memo, number, addresses, count, sink->symbol,
				  sink->arg);
}

int symbolizers_ask(struct symbolizers *symbolizers, const struct symbolizers_query *query)
{
	struct question question = {
		.what = SYMBOLIZER_SYMBOLS,
		.number = query->number,
		.record = query->record,
		.count = query->count,
		.file = symbol_file_put_addresses(query->addresses, query->count),
	};

	if (question.file < 0)
		return question.file;
	if (query->record && symbolizers->unread[query->number]) {
		question_clear(&question);
		count_failure(symbolizers, query->number, 1);
		return 0;
	}
	return ask(symbolizers, &question);
}

int symbolizers_ask_kernel_ahead(struct symbolizers *symbolizers)
{
	const struct symbolizers_query nothing = {};

	return symbolizers_ask(symbolizers, &nothing);
}

/* Answers */

/* What a symbol that came is for: the sink, unless nobody wants it any more, and the memo. */
struct taker {
	struct symbolizers *symbolizers;
	bool is_wanted, is_kept;
};

/* The kernel's list has no sizes: passing code ends where its program does. */
static struct trace_symbol sized(const struct symbolizers *symbolizers,
				 const struct trace_symbol *symbol)
{
	struct trace_symbol sized = *symbol;
	struct code_span span;

	if (!symbol->mapping && symbolizers->passing &&
	    passing_code_find(symbolizers->passing, symbol->start, &span) == CODE_KNOWN &&
	    span.start == symbol->start)
		sized.size = span.end - span.start;
	return sized;
}

static int take_symbol(void *arg, const struct trace_symbol *listed, bool is_alone)
{
	const struct taker *taker = arg;
	const struct symbolizers_sink *sink = taker->symbolizers->sink;
	const struct trace_symbol whole = sized(taker->symbolizers, listed), *symbol = &whole;

	if (taker->is_kept && symbol_memo_add(&taker->symbolizers->memo, symbol, is_alone))
		return -ENOMEM;
	return taker->is_wanted ? sink->symbol(sink->arg, symbol) : 0;
}

/* Generated code and the kernel's comes and goes. */
static bool is_memorable(const struct question *question, const struct symbolizer_answer *answer)
{
	return question->record && question->record->key.kind != MAPPING_ANON &&
	       question->number < MAPPINGS_MAX && !answer->result && !answer->failures;
}

static int remember(struct symbolizers *symbolizers, const struct question *question)
{
	u64 *addresses;
	int result = symbol_file_addresses(question->file, question->count, &addresses);

	if (result)
		return result;
	result = symbol_memo_answered(&symbolizers->memo, question->number, addresses,
				      question->count);
	free(addresses);
	return result;
}

static int take_symbol_file(struct symbolizers *symbolizers, const struct question *question,
			    const struct symbolizer_answer *answer, int file)
{
	struct taker taker = {.symbolizers = symbolizers,
			      .is_wanted = !question->is_dropped,
			      .is_kept = is_memorable(question, answer)};
	int result = symbol_file_each(file, answer->bytes, question->number, take_symbol, &taker);

	if (taker.is_kept && !result)
		result = remember(symbolizers, question);
	symbol_memo_drop(&symbolizers->memo);
	return result;
}

static int take_id(struct symbolizers *symbolizers, u32 number, const struct build_id *id)
{
	const struct symbolizers_sink *sink = symbolizers->sink;

	if (!id->bytes || id->bytes > TRACE_BUILD_ID_MAX || symbolizers->ids[number].bytes)
		return 0;
	symbolizers->ids[number] = *id;
	return sink->identified(sink->arg, number);
}

static int take_learned(struct symbolizers *symbolizers, const struct symbolizer_client *client,
			const struct question *question, const struct symbolizer_answer *answer)
{
	if (!answer->result) {
		symbolizers->keeper[question->number] = 1 + (client - symbolizers->clients);
		symbolizers->cached[question->number] = question->cached;
	}
	return take_id(symbolizers, question->number, &answer->id);
}

/* The user whose process has it mapped may have another way to it. */
static int ask_next(struct symbolizers *symbolizers, struct question *question)
{
	u64 owner = question->next;

	question->next = FILE_OWNER_NONE;
	question->cached = false;
	return ask_client(symbolizers, client_of(symbolizers, owner), question);
}

/* The table counts from now on, and the rows of code without tables are still to come. */
static int ask_analysis(struct symbolizer_client *client, struct question *question)
{
	question->what = SYMBOLIZER_ANALYSIS;
	question->next = FILE_OWNER_NONE;
	return symbolizer_client_ask(client, question);
}

static int answered(void *arg, struct symbolizer_client *client, struct question *question,
		    const struct symbolizer_answer *answer, int symbols)
{
	struct symbolizers *symbolizers = arg;
	int result = 0;

	if (answer && answer->result == -ENOENT && question->next != FILE_OWNER_NONE)
		return ask_next(symbolizers, question);
	if (question->what == SYMBOLIZER_TABLE && answer && !answer->result && answer->is_partial)
		return ask_analysis(client, question);
	if (question->what == SYMBOLIZER_TABLE || question->what == SYMBOLIZER_ANALYSIS)
		symbolizers->has_no_room |= answer && answer->result == -E2BIG;
	else if (question->what != SYMBOLIZER_MOVED && !question->is_dropped)
		note_failures(symbolizers, client, question, answer ? answer->failures : 1);
	if (answer && question->what == SYMBOLIZER_LEARN)
		result = take_learned(symbolizers, client, question, answer);
	else if (answer && question->what == SYMBOLIZER_SYMBOLS)
		result = take_symbol_file(symbolizers, question, answer, symbols);
	question_clear(question);
	return result;
}

static const struct build_id *known_id(void *arg, u32 number)
{
	const struct symbolizers *symbolizers = arg;
	const struct build_id *id = &symbolizers->ids[number];

	return id->bytes ? id : NULL;
}

int symbolizers_visit(struct symbolizers *symbolizers, const struct symbolizers_sink *sink)
{
	const struct symbolizer_talk talk = {
		.arg = symbolizers,
		.id = known_id,
		.kallsyms = symbolizers->kernel.kallsyms,
		.modules = symbolizers->kernel.modules,
		.answered = answered,
	};
	int result = 0;

	if (symbolizers->passing)
		passing_code_read(symbolizers->passing);
	symbolizers->sink = sink;
	for (u32 i = 0; i < symbolizers->count; i++)
		result = first_error(result,
				     symbolizer_client_visit(&symbolizers->clients[i], &talk));
	return result;
}

static bool is_of(const struct symbolizer_client *client, enum symbolizers_which which)
{
	return which == SYMBOLIZERS_ANY ||
	       (which == SYMBOLIZERS_TRUSTED ? file_owner_trusted(client->owner)
					     : client->owner == FILE_OWNER_KERNEL);
}

static bool has_to_come(const struct symbolizer_client *client, enum symbolizer_what what)
{
	for (u32 i = 0; i < client->count; i++)
		if (client->questions[i].what == what && !client->questions[i].is_dropped)
			return true;
	return false;
}

bool symbolizers_are_busy(const struct symbolizers *symbolizers, enum symbolizers_which which)
{
	for (u32 i = 0; i < symbolizers->count; i++) {
		const struct symbolizer_client *client = &symbolizers->clients[i];

		if (is_of(client, which) && has_to_come(client, SYMBOLIZER_SYMBOLS))
			return true;
	}
	return false;
}

static bool any_has_to_come(const struct symbolizers *symbolizers, enum symbolizer_what what)
{
	for (u32 i = 0; i < symbolizers->count; i++)
		if (has_to_come(&symbolizers->clients[i], what))
			return true;
	return false;
}

bool symbolizers_are_tabulating(const struct symbolizers *symbolizers)
{
	return any_has_to_come(symbolizers, SYMBOLIZER_TABLE);
}

bool symbolizers_are_analysing(const struct symbolizers *symbolizers)
{
	return any_has_to_come(symbolizers, SYMBOLIZER_ANALYSIS);
}

void symbolizers_wait(const struct symbolizers *symbolizers, int ms)
{
	struct pollfd ready[CLIENTS_MAX];

	for (u32 i = 0; i < symbolizers->count; i++) {
		const struct symbolizer_client *client = &symbolizers->clients[i];
		int patience = symbolizer_client_patience(client);

		ready[i] = (struct pollfd){.fd = client->worker.pid ? client->worker.socket : -1,
					   .events = POLLIN};
		if (patience >= 0 && patience < ms)
			ms = patience;
	}
	poll(ready, symbolizers->count, ms);
}

/* A question that is with its process will be answered still. */
static void drop(struct symbolizers *symbolizers, struct symbolizer_client *client)
{
	u32 kept = 0;

	for (u32 i = 0; i < client->count; i++) {
		struct question *question = &client->questions[i];

		if (question->what == SYMBOLIZER_SYMBOLS && !question->is_dropped) {
			note_failures(symbolizers, client, question, 1);
			question->is_dropped = true;
		}
		if (question->is_dropped && i >= client->sent)
			question_clear(question);
		else
			client->questions[kept++] = *question;
	}
	client->count = kept;
}

void symbolizers_drop(struct symbolizers *symbolizers)
{
	for (u32 i = 0; i < symbolizers->count; i++)
		drop(symbolizers, &symbolizers->clients[i]);
}
