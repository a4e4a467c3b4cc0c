/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * One symbolizer (symbol/symbolizer/symbolizer.h) as its parent sees it: a queue of questions, some
 * of which were sent. Nothing here waits. A question that is not answered in its time costs the
 * process: it is left behind, and a new one gets the questions behind; an owner has only so many.
 */
#ifndef LIB_SYMBOL_SYMBOLIZER_CLIENT_H
#define LIB_SYMBOL_SYMBOLIZER_CLIENT_H

#include <stdbool.h>

#include "privilege/file_worker.h"
#include "symbolizer.h"

struct question {
	u32 what; /* enum symbolizer_what */
	u32 number;
	u32 count;	 /* of addresses; SYMBOLIZER_MOVED: the process */
	int file;	 /* that comes with it: of the addresses, or the map; or -1 */
	bool cached;	 /* ask no file system that may wait for others */
	bool is_dropped; /* nobody waits for its answer any more */
	u64 next; /* the owner to be asked if this one has no such file, or FILE_OWNER_NONE */
	const struct mapping_record *record; /* NULL: the kernel */
};

struct symbolizer_client {
	u64 owner; /* symbol/file/file_owner.h */
	struct file_worker worker;
	u32 sandbox; /* its process; 0: not known */
	u32 starts;
	struct question *questions; /* the first `sent` are with the process */
	u32 count, room, sent;
	u64 since; /* ms: the first is being answered */
};

/* What a process is sent with each question, and what it brings. */
struct symbolizer_talk {
	void *arg;
	/* The build id that is known of a mapping by now, or NULL. */
	const struct build_id *(*id)(void *arg, u32 number);
	int kallsyms, modules;
	/* Takes over the question. `answer` NULL: it did not answer. `symbols`: a file, or -1. */
	int (*answered)(void *arg, struct symbolizer_client *client, struct question *question,
			const struct symbolizer_answer *answer, int symbols);
};

/* Best early: its sandbox may become user nobody only while we may. By itself it is started when
 * the first question is sent. */
int symbolizer_client_start(struct symbolizer_client *client);

/* Of one that was started so: waits until it says that it is ready, or why not. Before anything
 * else is done with it. */
int symbolizer_client_await(struct symbolizer_client *client);

/* Takes over the question, on failure too. Tables wait for all else, analyses wait for tables, and
 * one of them goes at a time. -ENOMEM. */
int symbolizer_client_ask(struct symbolizer_client *client, const struct question *question);

/* Sends what can be sent, takes what has come. The first error of `answered`. */
int symbolizer_client_visit(struct symbolizer_client *client, const struct symbolizer_talk *talk);

/* ms until the first question is too late; -1: there is none. */
int symbolizer_client_patience(const struct symbolizer_client *client);

/* Frees all. `wait_ms` as in file_worker_end(). */
void symbolizer_client_end(struct symbolizer_client *client, int wait_ms);

void question_clear(struct question *question);

#endif
