/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The results of lookups for an event (the service of a task, the hash of a stack) are cached by
 * the numbers of the recording. Events with the same key in the store are added up.
 */
#include "store/rows/window_rows.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "error.h"
#include "intern.h"
#include "order.h"
#include "report/event/stack_hash.h"
#include "store/rows/window_stacks.h"
#include "store/wire/row_binary.h"
#include "trace/bytes/byte_buffer.h"
#include "trace/read/names.h"

#define DAY_SECONDS 86400

/* --- events added up by key --- */

/*
 * The event table adds up the events of a batch by their key in the store: window, service,
 * version, cgroup, comm, event and stack hash. If two rows have the same key, the store keeps one
 * of them and loses the events of the other. Therefore no number that is local to a recording is
 * part of a key.
 */

/* The task of an event. Each member is the number of a text in event_table.texts. */
struct event_task {
	u32 service, version, cgroup, comm;
};

struct event_key {
	u32 window, task, event, stack;
};

struct event_sum {
	struct event_key key;
	u32 count;
	u64 value;
};

/* An empty table is all zero, except for `texts`. */
struct event_table {
	struct text_set texts;
	struct hash_index task_index, stack_index, sum_index;
	struct event_task *tasks;
	struct stack_hash *stacks;
	struct event_sum *sums;
	u32 task_count, task_room, stack_count, stack_room, sum_count, sum_room;
};

/* --- the parts of a key --- */

static bool has_task_key(const void *tasks, u32 index, const void *key)
{
	return !memcmp(&((const struct event_task *)tasks)[index], key, sizeof(struct event_task));
}

/*
 * Returns the number of a task (service, version, cgroup and comm); HASH_INDEX_NONE without memory.
 */
static u32 event_table_find_or_add_task(struct event_table *table, const char *service,
					const char *version, const char *cgroup, const char *comm)
{
	const struct event_task task = {
		.service = text_set_find_or_add_number(&table->texts, service),
		.version = text_set_find_or_add_number(&table->texts, version),
		.cgroup = text_set_find_or_add_number(&table->texts, cgroup),
		.comm = text_set_find_or_add_number(&table->texts, comm),
	};
	u32 hash = hash_end(hash_words(0, &task, sizeof(task))), found;

	if (task.service == HASH_INDEX_NONE || task.version == HASH_INDEX_NONE ||
	    task.cgroup == HASH_INDEX_NONE || task.comm == HASH_INDEX_NONE)
		return HASH_INDEX_NONE;
	found = hash_index_find(&table->task_index, hash, has_task_key, table->tasks, &task);
	if (found != HASH_INDEX_NONE)
		return found;
	if (array_make_room(table->tasks, table->task_count, table->task_room) ||
	    hash_index_add(&table->task_index, hash, table->task_count))
		return HASH_INDEX_NONE;
	table->tasks[table->task_count] = task;
	return table->task_count++;
}

static bool has_stack_hash(const void *stacks, u32 index, const void *key)
{
	return !memcmp(&((const struct stack_hash *)stacks)[index], key, sizeof(struct stack_hash));
}

static u32 event_table_find_or_add_stack(struct event_table *table, const struct stack_hash *stack)
{
	u32 hash, found;

	memcpy(&hash, stack->byte, sizeof(hash));
	found = hash_index_find(&table->stack_index, hash, has_stack_hash, table->stacks, stack);
	if (found != HASH_INDEX_NONE)
		return found;
	if (array_make_room(table->stacks, table->stack_count, table->stack_room) ||
	    hash_index_add(&table->stack_index, hash, table->stack_count))
		return HASH_INDEX_NONE;
	table->stacks[table->stack_count] = *stack;
	return table->stack_count++;
}

/* --- sums of the events of each key --- */

static bool has_event_key(const void *sums, u32 index, const void *key)
{
	return !memcmp(&((const struct event_sum *)sums)[index].key, key, sizeof(struct event_key));
}

/* --- rows of the sums --- */

static int compare_sums(const void *a, const void *b)
{
	/* the key is the first member of struct event_sum */
	const struct event_key *left = a, *right = b;

	return order(left->task, right->task)
		       ?: order(left->event, right->event)
				  ?: order(left->stack, right->stack)
					     ?: order(left->window, right->window);
}

/*
 * Appends RowBinary rows, sorted by task, event and stack, which compresses well. `times` holds the
 * start time of each window. Returns the number of rows.
 */
static u32 event_table_append_rows(struct event_table *table, const char *host, const u32 *times,
				   struct byte_buffer *rows)
{
	const char *const *texts = table->texts.texts;

	if (table->sum_count)
		qsort(table->sums, table->sum_count, sizeof(*table->sums), compare_sums);
	for (u32 i = 0; i < table->sum_count; i++) {
		const struct event_sum *sum = &table->sums[i];
		const struct event_task *task = &table->tasks[sum->key.task];

		row_put_u32(rows, times[sum->key.window]);
		row_put_text(rows, host);
		row_put_text(rows, texts[task->service]);
		row_put_text(rows, texts[task->version]);
		row_put_text(rows, texts[task->cgroup]);
		row_put_text(rows, texts[task->comm]);
		row_put_text(rows, texts[sum->key.event]);
		row_put_bytes(rows, table->stacks[sum->key.stack].byte, sizeof(struct stack_hash));
		row_put_u32(rows, sum->count);
		row_put_u64(rows, sum->value);
	}
	return table->sum_count;
}

/* Empties the table and keeps some of its memory. */
static void event_table_clear(struct event_table *table)
{
	text_set_clear(&table->texts);
	hash_index_clear(&table->task_index);
	hash_index_clear(&table->stack_index);
	hash_index_clear(&table->sum_index);
	table->task_count = table->stack_count = table->sum_count = 0;
}

struct window_rows {
	char *host, *boot;
	task_service_of service_of;
	void *arg;
	char **labels;
	u32 label_count;
	u16 day; /* day (since the epoch) of the keys in the cache of sent keys */
	bool host_is_sent;
	struct sent_cache sent;
	struct stack_memo memo;
	struct event_table events; /* the events of `batch`, added up by key */
	struct batch batch;	   /* the batch that is being filled */
	u32 *times;		   /* start times of the batch's windows */
	u32 time_room;
};

int window_rows_create(const struct window_rows_options *options, struct window_rows **out)
{
	struct window_rows *rows = calloc(1, sizeof(*rows));

	if (!rows)
		return -ENOMEM;
	rows->host = strdup(options->host);
	rows->boot = strdup(options->boot);
	rows->service_of = options->service_of;
	rows->arg = options->arg;
	rows->events.texts = TEXT_SET;
	rows->sent.most = options->memory / 2 / SENT_KEY_BYTES ?: 1;
	rows->memo.most = options->memory / 2;
	if (!rows->host || !rows->boot)
		window_rows_free(&rows);
	else
		*out = rows;
	return rows ? 0 : -ENOMEM;
}

static void free_labels(char **labels, u32 count)
{
	for (u32 i = 0; labels && i < count; i++)
		free(labels[i]);
	free(labels);
}

void window_rows_free(struct window_rows **rows)
{
	struct window_rows *old = *rows;

	*rows = NULL;
	if (!old)
		return;
	free_labels(old->labels, old->label_count);
	sent_cache_free(&old->sent);
	stack_memo_free(&old->memo);
	text_set_clear(&old->events.texts);
	hash_index_free(&old->events.task_index);
	hash_index_free(&old->events.stack_index);
	hash_index_free(&old->events.sum_index);
	free(old->events.tasks);
	free(old->events.stacks);
	free(old->events.sums);
	batch_clear(&old->batch);
	free(old->times);
	free(old->host);
	free(old->boot);
	free(old);
}

int window_rows_set_labels(struct window_rows *rows, const char *const *labels, u32 count)
{
	char **copies = calloc(count ?: 1, sizeof(*copies));

	for (u32 i = 0; copies && i < count; i++) {
		copies[i] = strdup(labels[i]);
		if (!copies[i]) {
			free_labels(copies, count);
			return -ENOMEM;
		}
	}
	if (!copies)
		return -ENOMEM;
	free_labels(rows->labels, rows->label_count);
	rows->labels = copies;
	rows->label_count = count;
	rows->host_is_sent = false;
	return 0;
}

/* --- events of a window --- */

struct window {
	struct window_rows *rows;
	struct trace_reader *reader;
	const struct trace_source *sources;
	const struct trace_task *tasks;
	struct window_stacks *stacks;
	/* entries: struct intern_number; tasks and stacks of this window that were looked up before
	 */
	struct intern known_tasks, known_stacks;
	u32 *events; /* by kind: number of the event's name in event_table.texts, plus 1; 0: not
			looked up yet */
	u32 number;  /* index of the window in the batch */
	u64 seen;
};

static u32 find_or_add_task(struct window *window, const struct trace_event *event)
{
	const struct trace_task *task = trace_reader_task(window->reader, event->tid, event->time);
	/* A kernel thread has no user memory; its events have no user stack: REASON_REFUSED. */
	bool is_kernel = event->user == TRACE_NO_STACK && event->user_reason == REASON_REFUSED;
	const struct intern_key key = {.word = {task ? task - window->tasks + 1 : 0, is_kernel}};
	struct intern_number *known = intern_find_or_add_entry(&window->known_tasks, &key);
	struct window_rows *rows = window->rows;
	char room[TRACE_CGROUP_ROOM];
	struct task_service service;
	const char *cgroup;

	if (!known)
		return HASH_INDEX_NONE;
	if (!known->number) {
		cgroup = task && task->cgroup
				 ? trace_cgroup_name(window->reader, task->cgroup, room)
				 : "";
		service = rows->service_of(rows->arg, cgroup, is_kernel);
		known->number = event_table_find_or_add_task(&rows->events, service.service,
							     service.version, cgroup,
							     task ? task->comm : "") +
				1;
	}
	return known->number - 1;
}

/* The cache key of a stack, or of the reason why a stack is missing. */
static u64 cache_key_of_stack_or_reason(u32 stack, u8 reason)
{
	return stack != TRACE_NO_STACK ? stack : 1ULL << 32 | reason;
}

static u32 find_or_add_stack(struct window *window, const struct trace_event *event)
{
	const struct intern_key key = {
		.word = {event->leaf,
			 cache_key_of_stack_or_reason(event->kernel, event->kernel_reason),
			 cache_key_of_stack_or_reason(event->user, event->user_reason)}};
	struct intern_number *known = intern_find_or_add_entry(&window->known_stacks, &key);
	struct stack_hash hash;

	if (!known)
		return HASH_INDEX_NONE;
	if (!known->number && !window_stacks_add(window->stacks, event, &hash))
		known->number = event_table_find_or_add_stack(&window->rows->events, &hash) + 1;
	return known->number - 1;
}

static int add_event_to_sums(void *arg, const struct trace_event *event)
{
	struct window *window = arg;
	struct event_table *table = &window->rows->events;
	struct event_key key = {
		.window = window->number,
		.task = find_or_add_task(window, event),
		.stack = find_or_add_stack(window, event),
	};
	u32 *number = &window->events[event->kind], hash, found;

	if (!*number)
		*number = text_set_find_or_add_number(&window->rows->events.texts,
						      window->sources[event->kind].name) +
			  1;
	key.event = *number - 1;

	if (key.task == HASH_INDEX_NONE || key.event == HASH_INDEX_NONE ||
	    key.stack == HASH_INDEX_NONE)
		return -ENOMEM;
	window->seen += event_stands_for(event);
	hash = hash_end(hash_words(0, &key, sizeof(key)));
	found = hash_index_find(&table->sum_index, hash, has_event_key, table->sums, &key);
	if (found == HASH_INDEX_NONE) {
		found = table->sum_count;
		if (array_make_room(table->sums, table->sum_count, table->sum_room) ||
		    hash_index_add(&table->sum_index, hash, found))
			return -ENOMEM;
		table->sums[table->sum_count++] = (struct event_sum){.key = key};
	}
	table->sums[found].count += event_stands_for(event);
	table->sums[found].value += event->value;
	return 0;
}

/* --- a window --- */

/*
 * Clears the cache of sent keys when a new day begins, and sends the row that describes the machine
 * once a day.
 */
static void begin_day_and_append_host_row(struct window_rows *rows, u32 time,
					  const struct trace_info *info)
{
	struct byte_buffer *body = &rows->batch.rows[STORE_HOSTS];
	u16 day = time / DAY_SECONDS;

	if (day != rows->day)
		window_rows_clear_sent_cache(rows);
	rows->day = day;
	if (rows->host_is_sent)
		return;
	row_put_u16(body, rows->day);
	row_put_text(body, rows->host);
	row_put_text(body, rows->boot);
	row_put_text(body, info->kernel);
	row_put_text(body, info->machine);
	row_put_u16(body, info->cpus);
	row_put_count(body, rows->label_count);
	for (u32 i = 0; i < rows->label_count; i++)
		row_put_text(body, rows->labels[i]);
	rows->batch.row_count[STORE_HOSTS]++;
	rows->host_is_sent = true;
}

/*
 * Fills the window's ledger. Events that the ledger of the recording counts and that are missing in
 * the recording count as write errors. Events that were only counted have rows like other events. A
 * recording that was not finished has no ledger, so its losses are unknown.
 */
static void fill_window_ledger(struct window_ledger *window, const struct trace_ledger *ledger,
			       u64 seen)
{
	u64 written = ledger ? ledger->recorded + ledger->counted : seen;

	window->produced = window->recorded = seen;
	if (!ledger)
		return;
	memcpy(window->lost, ledger->lost, sizeof(window->lost));
	if (written > seen)
		window->lost[LOST_WRITE_ERROR] += written - seen;
	for (u32 i = 0; i < LOST_COUNT; i++)
		window->produced += window->lost[i];
}

static int append_window_to_batch(struct window_rows *rows, const struct window_time *time)
{
	struct batch *batch = &rows->batch;
	u32 count = batch->window_count;

	if (array_make_room(batch->windows, count, batch->window_room) ||
	    array_make_room(rows->times, count, rows->time_room))
		return -ENOMEM;
	batch->windows[count] = (struct window_ledger){
		.time = time->time, .seconds = time->seconds, .skew = time->skew};
	rows->times[count] = time->time;
	batch->window_count++;
	return 0;
}

/* Adds all events of the recording. After a failure the window's recorded events count as lost. */
static int add_window_events(struct window *window, struct stackmap_error *error)
{
	struct window_rows *rows = window->rows;
	const struct stack_rows stack_rows = {rows->day, &rows->sent, &rows->memo, &rows->batch};
	u32 sources = trace_reader_sources(window->reader, &window->sources);
	int result;

	trace_reader_tasks(window->reader, &window->tasks);
	window->known_tasks = INTERN(struct intern_number);
	window->known_stacks = INTERN(struct intern_number);
	window->events = calloc(sources ?: 1, sizeof(*window->events));
	result = window->events ? window_stacks_create(window->reader, &stack_rows, &window->stacks)
				: -ENOMEM;
	result = result ?: trace_reader_events(window->reader, add_event_to_sums, window, error);
	fill_window_ledger(&window->rows->batch.windows[window->number],
			   trace_reader_ledger(window->reader), result ? 0 : window->seen);
	window_stacks_free(&window->stacks);
	intern_clear(&window->known_tasks);
	intern_clear(&window->known_stacks);
	free(window->events);
	return result;
}

int window_rows_add(struct window_rows *rows, struct trace_reader *reader,
		    const struct window_time *time, struct stackmap_error *error)
{
	struct window window = {.rows = rows, .reader = reader, .number = rows->batch.window_count};
	int result;

	begin_day_and_append_host_row(rows, time->time, trace_reader_info(reader));
	result = append_window_to_batch(rows, time) ?: add_window_events(&window, error);
	if (result)
		window_rows_count_batch_as_lost(rows);
	return result == -ENOMEM
		       ? error_set(error, ENOMEM, "rows of a window: %s", strerror(ENOMEM))
		       : result;
}

u32 window_rows_window_count(const struct window_rows *rows)
{
	return rows->batch.window_count;
}

u64 window_rows_bytes(const struct window_rows *rows)
{
	u64 bytes = (u64)rows->events.sum_count * sizeof(struct event_sum) +
		    (u64)rows->events.stack_count * sizeof(struct stack_hash);

	for (u32 i = 0; i < STORE_TABLE_COUNT; i++)
		bytes += rows->batch.rows[i].used;
	return bytes;
}

/* --- a batch --- */

int window_rows_take(struct window_rows *rows, struct batch *batch)
{
	struct batch *full = &rows->batch;
	bool failed;

	full->host = full->host ?: strdup(rows->host);
	full->boot = full->boot ?: strdup(rows->boot);
	full->row_count[STORE_EVENTS] = event_table_append_rows(
		&rows->events, rows->host, rows->times, &full->rows[STORE_EVENTS]);
	failed = !full->host || !full->boot;
	for (u32 i = 0; i < STORE_TABLE_COUNT; i++)
		failed |= full->rows[i].failed;
	if (failed) {
		window_rows_count_batch_as_lost(rows);
		return -ENOMEM;
	}
	*batch = *full;
	rows->batch = (struct batch){};
	event_table_clear(&rows->events);
	return 0;
}

static void count_recorded_events_as_lost(struct window_ledger *window)
{
	window->lost[LOST_WRITE_ERROR] += window->recorded;
	window->recorded = 0;
}

void window_rows_count_batch_as_lost(struct window_rows *rows)
{
	for (u32 i = 0; i < STORE_TABLE_COUNT; i++) {
		byte_buffer_free(&rows->batch.rows[i]);
		rows->batch.row_count[i] = 0;
	}
	for (u32 i = 0; i < rows->batch.window_count; i++)
		count_recorded_events_as_lost(&rows->batch.windows[i]);
	event_table_clear(&rows->events);
	window_rows_clear_sent_cache(rows);
}

void window_rows_add_lost_windows(struct window_rows *rows, const struct batch *batch)
{
	for (u32 i = 0; i < batch->window_count; i++) {
		const struct window_ledger *lost = &batch->windows[i];
		const struct window_time time = {lost->time, lost->seconds, lost->skew};

		if (append_window_to_batch(rows, &time))
			break;
		rows->batch.windows[rows->batch.window_count - 1] = *lost;
		count_recorded_events_as_lost(&rows->batch.windows[rows->batch.window_count - 1]);
	}
	window_rows_clear_sent_cache(rows);
}

void window_rows_clear_sent_cache(struct window_rows *rows)
{
	sent_cache_clear(&rows->sent);
	rows->host_is_sent = false;
}
