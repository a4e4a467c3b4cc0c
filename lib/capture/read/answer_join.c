/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A search tree of cookies (tsearch(3)), each also in one of two lists: those without an answer and
 * lasting ones, which a sweep has to look at; and the others in the order in which they were
 * answered, so that an epoch drops from the front.
 */
#include "capture/read/answer_join.h"

#include <errno.h>
#include <search.h>
#include <stdlib.h>
#include <sys/queue.h>

#include "engine.h"

#define OPEN_LIMIT_MIN 4096
#define EPOCHS_KEPT 2 /* the one it came in, and a whole one */

struct wait_entry {
	TAILQ_ENTRY(wait_entry) link;
	u32 tid;
	u32 cookie;
	u64 epoch; /* of the answer; of one to be swept: when it was seen closed, or 0 */
	bool answered;
	struct user_answer answer;
	struct promise waiting[ANSWER_FORMS];
};

TAILQ_HEAD(entry_list, wait_entry);

struct answer_join {
	void *tree;
	struct entry_list open; /* until a sweep finds them closed */
	struct entry_list answered;
	u64 epoch;
	u64 sweep_epoch; /* of the last sweep */
	u64 open_count;
	u64 open_limit; /* beyond it a sweep is worth its while */
};

static int compare_entries(const void *left, const void *right)
{
	const struct wait_entry *a = left, *b = right;

	if (a->tid != b->tid)
		return a->tid < b->tid ? -1 : 1;
	return a->cookie < b->cookie ? -1 : a->cookie > b->cookie;
}

static struct wait_entry *find(const struct answer_join *join, u32 tid, u32 cookie)
{
	struct wait_entry key = {.tid = tid, .cookie = cookie};
	struct wait_entry **node = tfind(&key, &join->tree, compare_entries);

	return node ? *node : NULL;
}

static bool is_swept(const struct wait_entry *entry)
{
	return !entry->answered || entry->cookie & COOKIE_LASTING;
}

static struct entry_list *list_of(struct answer_join *join, const struct wait_entry *entry)
{
	return is_swept(entry) ? &join->open : &join->answered;
}

static void list_add(struct answer_join *join, struct wait_entry *entry)
{
	TAILQ_INSERT_TAIL(list_of(join, entry), entry, link);
	join->open_count += is_swept(entry);
}

static void list_remove(struct answer_join *join, struct wait_entry *entry)
{
	TAILQ_REMOVE(list_of(join, entry), entry, link);
	join->open_count -= is_swept(entry);
}

static void drop(struct answer_join *join, struct wait_entry *entry)
{
	tdelete(entry, &join->tree, compare_entries);
	list_remove(join, entry);
	free(entry->answer.frames);
	free(entry);
}

static void forget_promises(struct wait_entry *entry)
{
	for (int form = 0; form < ANSWER_FORMS; form++)
		entry->waiting[form] = (struct promise){.index = TRACE_NO_STACK};
}

static struct wait_entry *add(struct answer_join *join, u32 tid, u32 cookie)
{
	struct wait_entry *entry = calloc(1, sizeof(*entry));

	if (!entry)
		return NULL;
	entry->tid = tid;
	entry->cookie = cookie;
	forget_promises(entry);
	if (!tsearch(entry, &join->tree, compare_entries)) {
		free(entry);
		return NULL;
	}
	list_add(join, entry);
	return entry;
}

int answer_join_create(struct answer_join **out)
{
	struct answer_join *join = calloc(1, sizeof(*join));

	if (!join)
		return -ENOMEM;
	TAILQ_INIT(&join->open);
	TAILQ_INIT(&join->answered);
	join->epoch = 1;
	join->open_limit = OPEN_LIMIT_MIN;
	*out = join;
	return 0;
}

static void drop_all(struct answer_join *join, struct entry_list *list)
{
	while (!TAILQ_EMPTY(list))
		drop(join, TAILQ_FIRST(list));
}

void answer_join_free(struct answer_join **join)
{
	struct answer_join *gone = *join;

	if (!gone)
		return;
	drop_all(gone, &gone->open);
	drop_all(gone, &gone->answered);
	free(gone);
	*join = NULL;
}

struct user_answer *answer_join_find(struct answer_join *join, u32 tid, u32 cookie)
{
	struct wait_entry *entry = find(join, tid, cookie);

	return entry && entry->answered ? &entry->answer : NULL;
}

struct promise *answer_join_wait(struct answer_join *join, u32 tid, u32 cookie,
				 enum answer_form form)
{
	struct wait_entry *entry = find(join, tid, cookie) ?: add(join, tid, cookie);

	return entry ? &entry->waiting[form] : NULL;
}

bool answer_join_is_waited(const struct answer_join *join, u32 tid, u32 cookie)
{
	const struct wait_entry *entry = find(join, tid, cookie);

	return entry && !entry->answered;
}

static u64 epoch_of_answer(const struct answer_join *join, const struct wait_entry *entry)
{
	return is_swept(entry) ? 0 : join->epoch;
}

/* The task was looked at, and has answered for itself now: events until now may name it. */
static int keep_longer(struct answer_join *join, struct wait_entry *entry)
{
	list_remove(join, entry);
	entry->epoch = epoch_of_answer(join, entry);
	list_add(join, entry);
	return -EEXIST;
}

int answer_join_answer(struct answer_join *join, u32 tid, u32 cookie,
		       const struct user_answer *answer, struct promise waiting[ANSWER_FORMS])
{
	struct wait_entry *entry = find(join, tid, cookie) ?: add(join, tid, cookie);
	int form;

	if (!entry || entry->answered) {
		free(answer->frames);
		return entry ? keep_longer(join, entry) : -ENOMEM;
	}
	list_remove(join, entry);
	entry->answered = true;
	entry->epoch = epoch_of_answer(join, entry);
	entry->answer = *answer;
	list_add(join, entry);
	for (form = 0; form < ANSWER_FORMS; form++)
		waiting[form] = entry->waiting[form];
	forget_promises(entry);
	return 0;
}

static int each_of(const struct entry_list *list,
		   int (*each)(void *arg, struct user_answer *answer), void *arg)
{
	struct wait_entry *entry;
	int result = 0;

	TAILQ_FOREACH(entry, list, link)
	if (entry->answered)
		result = result ?: each(arg, &entry->answer);
	return result;
}

int answer_join_each(struct answer_join *join, int (*each)(void *arg, struct user_answer *answer),
		     void *arg)
{
	return each_of(&join->answered, each, arg) ?: each_of(&join->open, each, arg);
}

void answer_join_epoch(struct answer_join *join)
{
	struct wait_entry *entry;

	join->epoch++;
	while ((entry = TAILQ_FIRST(&join->answered)) && join->epoch - entry->epoch >= EPOCHS_KEPT)
		drop(join, entry);
}

/* Once entries were seen closed, a second sweep drops them. */
bool answer_join_is_crowded(const struct answer_join *join)
{
	return join->open_count > join->open_limit &&
	       join->epoch - join->sweep_epoch >= EPOCHS_KEPT;
}

static void let_go(struct answer_join *join, struct wait_entry *entry,
		   const struct answer_join_sweep *sweep)
{
	if (!entry->answered)
		sweep->lost(sweep->arg, entry->tid, entry->cookie, entry->waiting);
	drop(join, entry);
}

/* A cookie that is closed stays so. Its answer may be in a ring still, an epoch long. True: it has
 * to be looked at again. */
static bool sweep_entry(struct answer_join *join, struct wait_entry *entry,
			const struct answer_join_sweep *sweep)
{
	if (sweep->is_open(sweep->arg, entry->tid, entry->cookie))
		return false;
	if (!entry->epoch)
		entry->epoch = join->epoch;
	if (join->epoch - entry->epoch < EPOCHS_KEPT)
		return true;
	let_go(join, entry, sweep);
	return false;
}

void answer_join_sweep(struct answer_join *join, const struct answer_join_sweep *sweep)
{
	struct wait_entry *entry, *next;
	bool again = false;

	join->sweep_epoch = join->epoch;
	for (entry = TAILQ_FIRST(&join->open); entry; entry = next) {
		next = TAILQ_NEXT(entry, link);
		again = sweep_entry(join, entry, sweep) || again;
	}
	if (!again)
		join->open_limit = 2 * join->open_count > OPEN_LIMIT_MIN ? 2 * join->open_count
									 : OPEN_LIMIT_MIN;
}

void answer_join_end(struct answer_join *join, const struct answer_join_sweep *sweep)
{
	struct wait_entry *entry, *next;

	for (entry = TAILQ_FIRST(&join->open); entry; entry = next) {
		next = TAILQ_NEXT(entry, link);
		if (!entry->answered)
			let_go(join, entry, sweep);
	}
}
