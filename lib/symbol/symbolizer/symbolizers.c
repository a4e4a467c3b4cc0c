/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A job goes to the symbolizer of the file's owner. The path of the file is that of a process that
 * has mapped the file. If this process belongs to another user, the mounts of that user on the path
 * could block the owner's symbolizer. In this case the owner's symbolizer looks the path up from
 * its own root and only in the kernel's cache, and a file that is not found there is left to the
 * symbolizer of the other user.
 *
 * The kernel's symbols have a symbolizer of their own, so they never wait for files. The unwind
 * tables of root's files also have one, as the table of a large library takes seconds on a busy
 * machine. The analyses of root's files have one, too, so no table waits for them.
 *
 * Where all memory is little, as in an agent at its defaults, these three processes of root's files
 * take turns: one of them reads a file at a time. Names go first, then tables, then analyses.
 * Processes of other owners take no part, since an owner could keep the turn.
 *
 * The number of processes is limited; the last owners share one.
 */
#include "symbolizers.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "error.h"
#include "privilege/memory_limit.h"
#include "symbol/file/mapped_file.h"
#include "symbol/kernel/kernel_image.h"
#include "symbol/kernel/passing_code.h"
#include "symbol/symbolizer/symbolizer.h"
#include "symbol_cache.h"
#include "symbolizer_client.h"

#define CLIENTS_MAX 15
#define CLIENT_ROOT 0
#define CLIENT_KERNEL 1
#define CLIENT_TABLES 2
#define CLIENT_ANALYSES 3
/* On a machine with less memory than this (bytes), one process at a time reads files of user root.
 */
#define TURNS_BELOW (1ULL << 30)
#define END_MS 50
#define CACHE_BYTES (8U << 20)
_Static_assert(2 * CLIENTS_MAX <= SYMBOLIZER_PROCESSES_MAX, "each client has a sandbox");

struct symbolizers {
	struct kernel_files kernel;
	struct kernel_copy kernel_copy; /* copies of kallsyms and modules, kept until the kernel's
					   symbolizer has read them */
	struct passing_code *passing;	/* BPF programs and other kernel code that comes and goes;
					   NULL = the kernel hides addresses */
	struct symbolizer_client clients[CLIENTS_MAX];
	int answers; /* epoll descriptor of the clients' sockets */
	struct symbolizers_trouble troubles[CLIENTS_MAX];
	bool reported[CLIENTS_MAX];
	u32 count;
	u64 failures;
	const struct symbolizers_sink *sink; /* callbacks of the current visit */
	bool identified[MAPPINGS_MAX];	     /* a job to identify the file was submitted */
	bool unread[MAPPINGS_MAX];	     /* the build id of the file could not be read */
	bool in_troubles[MAPPINGS_MAX];	     /* the file is counted in `troubles` */
	bool failed[MAPPINGS_MAX]; /* the file was counted in `failures` since the last reset */
	u8 client_with_file[MAPPINGS_MAX];  /* 1 + index of the client that has found the file */
	u8 client_with_table[MAPPINGS_MAX]; /* 1 + index of the client that has made the file's
					       table */
	bool cached[MAPPINGS_MAX]; /* the file was opened by a path and an inode that the kernel had
				      in its cache, without asking a file system */
	bool tabulated[MAPPINGS_MAX]; /* a job for the unwind table was submitted */
	u32 urgency[MAPPINGS_MAX];    /* how often events have missed the file's table:
					 symbolizers_raise_table_urgency(); 0: no event has met the
					 file */
	bool leave_generated;	      /* a table of libjvm, of V8 or of Perl was added */
	u32 script_loop_tables; /* number of added tables of files that have an interpreter's loop
				 */
	bool has_no_room;	/* the engine's map of tables is full */
	bool takes_turns;	/* only one process reads a file of root at a time */
	bool was_awaited;
	int readiness; /* result of starting the symbolizer for files of user root: 0 or -errno */
	struct build_id ids[MAPPINGS_MAX];
	struct symbol_cache cache;
};

static struct symbolizer_client *client_for_owner(struct symbolizers *symbolizers, u64 owner)
{
	u32 i = 0;

	while (i < symbolizers->count && symbolizers->clients[i].owner != owner)
		i++;
	if (i == CLIENTS_MAX)
		return &symbolizers->clients[CLIENTS_MAX - 1];
	if (i == symbolizers->count) {
		symbolizers->clients[i].owner = owner;
		symbolizers->clients[i].answers = symbolizers->answers;
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
	symbolizers->cache.most = CACHE_BYTES;
	symbolizers->takes_turns = memory_limit() < TURNS_BELOW;
	symbolizers->kernel_copy = (struct kernel_copy){-1, -1};
	kernel_files_open(&symbolizers->kernel);
	symbolizers->answers = epoll_create1(EPOLL_CLOEXEC);
	result = (symbolizers->answers < 0 ? -errno : 0)
			 ?: symbolizer_client_start(client_for_owner(symbolizers, FILE_OWNER_ROOT))
			 ?: symbolizer_client_start(client_for_owner(symbolizers, FILE_OWNER_KERNEL))
			 ?: symbolizer_client_start(client_for_owner(symbolizers, FILE_OWNER_TABLES))
			 ?: symbolizer_client_start(client_for_owner(symbolizers, FILE_OWNER_ANALYSES));
	if (!result && are_kernel_addresses_shown(&symbolizers->kernel))
		result = passing_code_create(symbolizers->kernel.modules, &symbolizers->passing);
	if (result)
		symbolizers_free(&symbolizers);
	else
		*out = symbolizers;
	return result;
}

int symbolizers_await_root_process(struct symbolizers *symbolizers)
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
	if (gone->answers >= 0)
		close(gone->answers);
	passing_code_free(&gone->passing);
	kernel_files_close(&gone->kernel);
	kernel_copy_close(&gone->kernel_copy);
	symbol_cache_free(&gone->cache);
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

bool symbolizers_can_leave_generated_code(const struct symbolizers *symbolizers)
{
	return symbolizers->leave_generated;
}

u32 symbolizers_script_loop_tables(const struct symbolizers *symbolizers)
{
	return symbolizers->script_loop_tables;
}

u64 symbolizers_take_failures(struct symbolizers *symbolizers)
{
	u64 failures = symbolizers->failures;

	symbolizers->failures = 0;
	memset(symbolizers->failed, 0, sizeof(symbolizers->failed));
	if (symbolizers->passing)
		passing_code_forget(symbolizers->passing);
	return failures;
}

bool symbolizers_next_slow_owner(struct symbolizers *symbolizers,
				 struct symbolizers_trouble *trouble)
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

/* Counts a file among the failures once, however often its symbols are requested. */
static void count_failure(struct symbolizers *symbolizers, u32 number, u64 files)
{
	if (!symbolizers->failed[number])
		symbolizers->failures += files;
	symbolizers->failed[number] |= files > 0;
}

/* A file whose build id could not be read is counted when its symbols are requested. */
static void count_job_failures(struct symbolizers *symbolizers,
			       const struct symbolizer_client *client,
			       const struct symbolizer_job *job, u64 files)
{
	u32 owner =
		client->owner == FILE_OWNER_TABLES ? CLIENT_ROOT : client - symbolizers->clients;
	struct symbolizers_trouble *trouble = &symbolizers->troubles[owner];

	if (job->what == SYMBOLIZER_IDENTIFY)
		symbolizers->unread[job->number] = files;
	else
		count_failure(symbolizers, job->number, files);
	if (!files || (job->record && symbolizers->in_troubles[job->number]))
		return;
	symbolizers->in_troubles[job->number] = true;
	trouble->files += files;
	if (!trouble->path[0] && job->record)
		mapped_file_path(job->record, trouble->path, sizeof(trouble->path));
}

/* --- Jobs. --- */

static int submit_to_client(struct symbolizers *symbolizers, struct symbolizer_client *client,
			    struct symbolizer_job *job)
{
	job->wants_code = job->what == SYMBOLIZER_TABLE && client->owner == FILE_OWNER_ROOT;
	if (job->wants_code)
		client = &symbolizers->clients[CLIENT_TABLES];
	return symbolizer_client_submit(client, job);
}

/* Submits a job to the client that has found the file before, else to the client of the file's
 * owner. If a process of another user has mapped the file, the client of that user is tried next.
 */
static int submit_job(struct symbolizers *symbolizers, struct symbolizer_job *job)
{
	u32 found = job->record ? symbolizers->client_with_file[job->number] : 1 + CLIENT_KERNEL;
	u64 owner;

	if (found) {
		job->next = FILE_OWNER_NONE;
		job->cached = symbolizers->cached[job->number];
		return submit_to_client(symbolizers, &symbolizers->clients[found - 1], job);
	}
	owner = file_owner(job->record);
	if (owner == FILE_OWNER_NONE)
		owner = FILE_OWNER_ROOT;
	job->next = owner;
	if (job->record->key.kind == MAPPING_FILE && !(owner & FILE_OWNER_MOUNT))
		job->next = file_owner_of_process(job->record->tgid);
	job->cached = job->next != owner;
	if (!job->cached)
		job->next = FILE_OWNER_NONE;
	return submit_to_client(symbolizers, client_for_owner(symbolizers, owner), job);
}

void symbolizers_request_build_id(struct symbolizers *symbolizers, u32 number,
				  const struct mapping_record *record,
				  struct trace_mapping *mapping, char *path, size_t path_bytes)
{
	struct symbolizer_job job = {
		.what = SYMBOLIZER_IDENTIFY,
		.number = number,
		.record = record,
		.file = -1,
		.code = -1,
	};
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
	if (!symbolizers->identified[number] &&
	    (record->key.kind == MAPPING_FILE || record->key.kind == MAPPING_ANON))
		symbolizers->identified[number] = !submit_job(symbolizers, &job);
}

void symbolizers_request_unwind_table(struct symbolizers *symbolizers, u32 number,
				      const struct mapping_record *record, int map)
{
	struct symbolizer_job job = {
		.what = SYMBOLIZER_TABLE,
		.number = number,
		.record = record,
		.code = -1,
	};

	if (number >= MAPPINGS_MAX || symbolizers->tabulated[number] || symbolizers->has_no_room ||
	    record->key.kind != MAPPING_FILE)
		return;
	job.file = fcntl(map, F_DUPFD_CLOEXEC, 0);
	if (job.file >= 0 && !submit_job(symbolizers, &job))
		symbolizers->tabulated[number] = true;
}

void symbolizers_raise_table_urgency(struct symbolizers *symbolizers, u32 number, u64 stacks)
{
	u32 *urgency;

	if (number >= MAPPINGS_MAX)
		return;
	urgency = &symbolizers->urgency[number];
	if (!*urgency)
		*urgency = 1;
	*urgency = stacks < UINT32_MAX - *urgency ? *urgency + stacks : UINT32_MAX;
}

void symbolizers_allow_table_requests_again(struct symbolizers *symbolizers)
{
	memset(symbolizers->tabulated, 0, sizeof(symbolizers->tabulated));
	symbolizers->has_no_room = false;
}

void symbolizers_request_code_comparison(struct symbolizers *symbolizers, u32 number, u32 tgid,
					 const struct mapping_record *record, int map)
{
	struct symbolizer_job job = {
		.what = SYMBOLIZER_MOVED,
		.number = number,
		.code = -1,
		.count = tgid,
		.record = record,
		.next = FILE_OWNER_NONE,
	};
	u64 owner = file_owner_of_process(tgid);

	if (owner == FILE_OWNER_NONE)
		return;
	job.file = fcntl(map, F_DUPFD_CLOEXEC, 0);
	if (job.file >= 0)
		symbolizer_client_submit(client_for_owner(symbolizers, owner), &job);
}

/* Gives passing code (BPF programs, trampolines, modules) the names that the kernel reported.
 * Ambiguous code gets no name. Code that was loaded before the recording is looked up by its start,
 * since kallsyms has starts without sizes. */
static int pass_names_of_passing_code_to_sink(struct passing_code *passing, u64 *addresses,
					      u32 *count, const struct symbolizers_sink *sink)
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

int symbolizers_find_cached_symbols(const struct symbolizers *symbolizers, u32 number,
				    u64 *addresses, u32 *count, const struct symbolizers_sink *sink)
{
	if (number >= MAPPINGS_MAX)
		return 0;
	if (!number) {
		if (!symbolizers->passing)
			return 0;
		passing_code_read_reports(symbolizers->passing);
		return passing_code_compare_modules(symbolizers->passing,
						    symbolizers->kernel.modules)
			       ?: pass_names_of_passing_code_to_sink(symbolizers->passing,
								     addresses, count, sink);
	}
	return symbol_cache_find(&symbolizers->cache, number, addresses, count, sink->symbol,
				 sink->arg);
}

int symbolizers_request_symbols(struct symbolizers *symbolizers, u32 number,
				const struct mapping_record *record, const u64 *addresses,
				u32 count)
{
	struct symbolizer_job job = {
		.what = SYMBOLIZER_SYMBOLS,
		.code = -1,
		.number = number,
		.record = record,
		.count = count,
		.file = symbol_file_put_addresses(addresses, count),
	};

	if (job.file < 0)
		return job.file;
	if (record && symbolizers->unread[number]) {
		symbolizer_job_clear(&job);
		count_failure(symbolizers, number, 1);
		return 0;
	}
	return submit_job(symbolizers, &job);
}

void symbolizers_take_kernel_copy(struct symbolizers *symbolizers, struct kernel_copy copy)
{
	kernel_copy_close(&symbolizers->kernel_copy);
	symbolizers->kernel_copy = copy;
}

int symbolizers_request_kernel_names_early(struct symbolizers *symbolizers)
{
	return symbolizers_request_symbols(symbolizers, 0, NULL, NULL, 0);
}

/* --- Answers. --- */

/* Where pass_symbol_to_sink_and_cache() hands each symbol of an answer: to the sink of the caller,
 * to the cache, or to both. */
struct taker {
	struct symbolizers *symbolizers;
	bool to_sink, to_cache;
};

/* Symbols of passing code get their size from the program: kallsyms has no sizes. */
static int pass_symbol_to_sink_and_cache(void *arg, const struct trace_symbol *listed,
					 bool is_undivided)
{
	const struct taker *taker = arg;
	struct symbolizers *symbolizers = taker->symbolizers;
	const struct symbolizers_sink *sink = symbolizers->sink;
	struct trace_symbol symbol = *listed;
	struct code_span span;

	if (!symbol.mapping && symbolizers->passing &&
	    passing_code_find(symbolizers->passing, symbol.start, &span) == CODE_KNOWN &&
	    span.start == symbol.start)
		symbol.size = span.end - span.start;
	if (taker->to_cache && symbol_cache_add(&symbolizers->cache, &symbol, is_undivided))
		return -ENOMEM;
	return taker->to_sink ? sink->symbol(sink->arg, &symbol) : 0;
}

static int read_symbol_file(struct symbolizers *symbolizers, const struct symbolizer_job *job,
			    const struct symbolizer_answer *answer, int file)
{
	/* Generated code and the kernel's code change, so their symbols are not cached. */
	struct taker taker = {.symbolizers = symbolizers,
			      .to_sink = !job->is_dropped,
			      .to_cache = job->record && job->record->key.kind != MAPPING_ANON &&
					  job->number < MAPPINGS_MAX && !answer->result &&
					  !answer->failures};
	int result = symbol_file_each(file, answer->bytes, job->number,
				      pass_symbol_to_sink_and_cache, &taker);
	u64 *addresses = NULL;

	if (taker.to_cache && !result)
		result = symbol_file_addresses(job->file, job->count, &addresses)
				 ?: symbol_cache_add_answered_ranges(&symbolizers->cache,
								     job->number, addresses,
								     job->count);
	free(addresses);
	symbol_cache_drop(&symbolizers->cache);
	return result;
}

static int set_build_id(struct symbolizers *symbolizers, const struct symbolizer_client *client,
			const struct symbolizer_job *job, const struct symbolizer_answer *answer)
{
	const struct symbolizers_sink *sink = symbolizers->sink;
	const struct build_id *id = &answer->id;
	u32 number = job->number;

	if (!answer->result) {
		symbolizers->client_with_file[number] = 1 + (client - symbolizers->clients);
		symbolizers->cached[number] = job->cached;
	}
	if (!id->bytes || id->bytes > TRACE_BUILD_ID_MAX || symbolizers->ids[number].bytes)
		return 0;
	symbolizers->ids[number] = *id;
	return sink->identified(sink->arg, number);
}

/* Submits a job again after `client` has not found the file: to the client of the job's next owner,
 * else, for names, to the client that has made the file's table and therefore keeps the file open.
 * A comparison of moved code is not for that client, as it reads the memory of a process of another
 * user. False: no other client may have the file. */
static bool submit_to_next_owner(struct symbolizers *symbolizers,
				 const struct symbolizer_client *client, struct symbolizer_job *job,
				 int *result)
{
	bool is_name = job->what == SYMBOLIZER_IDENTIFY || job->what == SYMBOLIZER_SYMBOLS;
	u32 keeper = job->record && is_name ? symbolizers->client_with_table[job->number] : 0;
	struct symbolizer_client *next = NULL;

	if (job->next != FILE_OWNER_NONE)
		next = client_for_owner(symbolizers, job->next);
	else if (keeper && &symbolizers->clients[keeper - 1] != client)
		next = &symbolizers->clients[keeper - 1];
	if (!next)
		return false;
	job->cached = job->next == FILE_OWNER_NONE;
	job->next = FILE_OWNER_NONE;
	*result = submit_to_client(symbolizers, next, job);
	return true;
}

static int handle_symbolizer_answer(void *arg, struct symbolizer_client *client,
				    struct symbolizer_job *job,
				    const struct symbolizer_answer *answer, int file)
{
	struct symbolizers *symbolizers = arg;
	int result = 0;

	if (answer && answer->result == -ENOENT &&
	    submit_to_next_owner(symbolizers, client, job, &result))
		return result;
	if (job->what == SYMBOLIZER_TABLE && answer && !answer->result)
		symbolizers->client_with_table[job->number] = 1 + (client - symbolizers->clients);
	symbolizers->script_loop_tables += answer && answer->has_marks;
	symbolizers->leave_generated |= answer && answer->leaves_generated;
	/* The table without rows of analysed code is in use now, and the rows of code without
	 * tables follow. For a file of root another process analyses the code. That process gets
	 * the open file, since the path may lead elsewhere by now. */
	if (job->what == SYMBOLIZER_TABLE && answer && !answer->result && answer->is_partial) {
		job->what = SYMBOLIZER_ANALYSIS;
		job->next = FILE_OWNER_NONE;
		if (job->wants_code) {
			client = &symbolizers->clients[CLIENT_ANALYSES];
			if (file >= 0)
				job->code = fcntl(file, F_DUPFD_CLOEXEC, 0);
		}
		return symbolizer_client_submit(client, job);
	}
	if (job->what == SYMBOLIZER_TABLE || job->what == SYMBOLIZER_ANALYSIS)
		symbolizers->has_no_room |= answer && answer->result == -E2BIG;
	else if (job->what != SYMBOLIZER_MOVED && !job->is_dropped)
		count_job_failures(symbolizers, client, job, answer ? answer->failures : 1);
	if (answer && job->what == SYMBOLIZER_IDENTIFY)
		result = set_build_id(symbolizers, client, job, answer);
	else if (answer && job->what == SYMBOLIZER_SYMBOLS)
		result = read_symbol_file(symbolizers, job, answer, file);
	if (answer && job->what == SYMBOLIZER_SYMBOLS && !job->record)
		kernel_copy_close(&symbolizers->kernel_copy);
	symbolizer_job_clear(job);
	return result;
}

static const struct build_id *build_id_of_mapping(void *arg, u32 number)
{
	const struct symbolizers *symbolizers = arg;
	const struct build_id *id = &symbolizers->ids[number];

	return id->bytes ? id : NULL;
}

static u32 urgency_of_mapping(void *arg, u32 number)
{
	const struct symbolizers *symbolizers = arg;

	return number < MAPPINGS_MAX ? symbolizers->urgency[number] : 0;
}

static bool has_file_reading_job(const struct symbolizer_client *client)
{
	for (u32 i = 0; i < client->count; i++)
		if (client->jobs[i].what != SYMBOLIZER_IDENTIFY &&
		    client->jobs[i].what != SYMBOLIZER_MOVED)
			return true;
	return false;
}

/* True if a client may read a whole file now: no other process reads a file of root, and no client
 * of a smaller index has a job that reads one. */
static bool may_read_whole_file(const struct symbolizers *symbolizers, u32 client)
{
	static const u32 clients[] = {CLIENT_ROOT, CLIENT_TABLES, CLIENT_ANALYSES};

	if (!symbolizers->takes_turns || client == CLIENT_KERNEL || client > CLIENT_ANALYSES)
		return true;
	for (u32 i = 0; i < sizeof(clients) / sizeof(*clients); i++) {
		const struct symbolizer_client *other = &symbolizers->clients[clients[i]];

		if ((clients[i] < client && has_file_reading_job(other)) ||
		    (clients[i] > client && symbolizer_client_reads_whole_file(other)))
			return false;
	}
	return true;
}

static int exchange_with_client(struct symbolizers *symbolizers, u32 number,
				struct symbolizer_callbacks *callbacks)
{
	callbacks->may_read = may_read_whole_file(symbolizers, number);
	return symbolizer_client_exchange(&symbolizers->clients[number], callbacks);
}

int symbolizers_exchange_messages(struct symbolizers *symbolizers,
				  const struct symbolizers_sink *sink)
{
	struct symbolizer_callbacks callbacks = {
		.arg = symbolizers,
		.id = build_id_of_mapping,
		.urgency = urgency_of_mapping,
		.takes_turns = symbolizers->takes_turns,
		.kallsyms = symbolizers->kernel.kallsyms,
		.modules = symbolizers->kernel.modules,
		.kernel_copy = &symbolizers->kernel_copy,
		.answered = handle_symbolizer_answer,
	};
	struct epoll_event answers[CLIENTS_MAX];
	int result = 0;

	/* Empties the list of sockets that are ready: an answer that comes after this call makes
	 * the descriptor readable again. */
	epoll_wait(symbolizers->answers, answers, CLIENTS_MAX, 0);
	if (symbolizers->passing)
		passing_code_read_reports(symbolizers->passing);
	symbolizers->sink = sink;
	for (u32 i = 0; i < symbolizers->count; i++)
		result = first_error(result, exchange_with_client(symbolizers, i, &callbacks));
	/* An answer to a later client may have brought a job for an earlier one, or its turn. */
	for (u32 i = 0; i < symbolizers->count; i++)
		if (symbolizers->clients[i].count && !symbolizers->clients[i].sent)
			result = first_error(result,
					     exchange_with_client(symbolizers, i, &callbacks));
	return result;
}

static bool client_has_job(const struct symbolizer_client *client, enum symbolizer_what what)
{
	for (u32 i = 0; i < client->count; i++)
		if (client->jobs[i].what == what && !client->jobs[i].is_dropped)
			return true;
	return false;
}

bool symbolizers_have_pending_symbols(const struct symbolizers *symbolizers,
				      enum symbolizers_which which)
{
	for (u32 i = 0; i < symbolizers->count; i++) {
		const struct symbolizer_client *client = &symbolizers->clients[i];
		bool is_meant = which == SYMBOLIZERS_TRUSTED  ? file_owner_trusted(client->owner)
				: which == SYMBOLIZERS_KERNEL ? client->owner == FILE_OWNER_KERNEL
							      : true;
		/* The recorder has waited for names of this owner's files in vain, and the process
		 * still hangs. */
		bool is_given_up = client->hangs && !file_owner_trusted(client->owner);

		if (is_meant && !is_given_up && client_has_job(client, SYMBOLIZER_SYMBOLS))
			return true;
	}
	return false;
}

static bool any_client_has_job(const struct symbolizers *symbolizers, enum symbolizer_what what)
{
	for (u32 i = 0; i < symbolizers->count; i++)
		if (client_has_job(&symbolizers->clients[i], what))
			return true;
	return false;
}

bool symbolizers_have_pending_tables(const struct symbolizers *symbolizers)
{
	return any_client_has_job(symbolizers, SYMBOLIZER_TABLE);
}

bool symbolizers_are_analysing(const struct symbolizers *symbolizers)
{
	return any_client_has_job(symbolizers, SYMBOLIZER_ANALYSIS);
}

bool symbolizers_have_pending_table_of_mapping(const struct symbolizers *symbolizers, u32 number)
{
	for (u32 i = 0; i < symbolizers->count; i++) {
		const struct symbolizer_client *client = &symbolizers->clients[i];

		for (u32 j = 0; j < client->count; j++)
			if (client->jobs[j].number == number &&
			    (client->jobs[j].what == SYMBOLIZER_TABLE ||
			     client->jobs[j].what == SYMBOLIZER_ANALYSIS))
				return true;
	}
	return false;
}

int symbolizers_answers_fd(const struct symbolizers *symbolizers)
{
	return symbolizers->answers;
}

void symbolizers_wait(const struct symbolizers *symbolizers, int ms)
{
	struct pollfd answer = {.fd = symbolizers->answers, .events = POLLIN};

	for (u32 i = 0; i < symbolizers->count; i++) {
		const struct symbolizer_client *client = &symbolizers->clients[i];
		int left = symbolizer_client_time_left(client);

		if (!client->sent && !may_read_whole_file(symbolizers, i))
			left = -1;
		if (left >= 0 && left < ms)
			ms = left;
	}
	poll(&answer, 1, ms);
}

void symbolizers_drop_symbol_requests(struct symbolizers *symbolizers)
{
	for (u32 number = 0; number < symbolizers->count; number++) {
		struct symbolizer_client *client = &symbolizers->clients[number];
		u32 kept = 0;

		/* Jobs that were sent stay in the list until the process has answered them. */
		for (u32 i = 0; i < client->count; i++) {
			struct symbolizer_job *job = &client->jobs[i];

			if (job->what == SYMBOLIZER_SYMBOLS && !job->is_dropped) {
				count_job_failures(symbolizers, client, job, 1);
				job->is_dropped = true;
				client->hangs = client->sent;
			}
			if (job->is_dropped && i >= client->sent)
				symbolizer_job_clear(job);
			else
				client->jobs[kept++] = *job;
		}
		client->count = kept;
	}
}
