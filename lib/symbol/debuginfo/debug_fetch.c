/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * libdebuginfod is loaded for the first request: it brings an HTTP and a TLS client, which other
 * commands should not pay for, and which a recorder with privileges should not have in its memory.
 *
 * libdebuginfod asks all servers at once and does not say which server is late. The time for one
 * file is limited only if an environment variable sets the limit. The progress callback runs at
 * least once a second, and when a signal interrupts the wait. The total size is known once a server
 * has answered.
 */
#include "debug_fetch.h"

#include <dlfcn.h>
#include <elfutils/debuginfod.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"

#define TEXT(words) #words
#define TEXT_OF(number) TEXT(number)

/* Errors of this file, beside those that libdebuginfod returns. */
#define LIBRARY_MISSING (-ELIBACC)
#define ALREADY_STOPPED (-ECANCELED)
#define GIVEN_UP (-EINTR)
#define TOO_LATE (-ETIMEDOUT)
#define NO_ANSWER (-EHOSTDOWN)

static struct {
	__typeof__(&debuginfod_begin) begin;
	__typeof__(&debuginfod_end) end;
	__typeof__(&debuginfod_find_debuginfo) find_debug;
	__typeof__(&debuginfod_find_executable) find_code;
	__typeof__(&debuginfod_set_progressfn) set_progress;
	__typeof__(&debuginfod_set_user_data) set_user;
	__typeof__(&debuginfod_get_user_data) user;
} library;

struct debug_fetch {
	struct debug_watch watch;
	debuginfod_client *client;
	u64 unanswered_ms; /* ms that were spent on requests without an answer */
	bool stopped;	   /* no more requests are made */

	/* The running request. */
	const char *name;
	u64 begun_ms;
	bool answered, abandoned;
};

bool debug_fetch_has_servers(void)
{
	const char *urls = getenv(DEBUGINFOD_URLS_ENV_VAR);

	return urls && urls[strspn(urls, " ")];
}

int debug_fetch_create(const struct debug_watch *watch, struct debug_fetch **out)
{
	struct debug_fetch *fetch = calloc(1, sizeof(*fetch));

	if (!fetch)
		return -ENOMEM;
	*fetch = (struct debug_fetch){.watch = *watch};
	*out = fetch;
	return 0;
}

void debug_fetch_free(struct debug_fetch **fetch)
{
	if (!*fetch)
		return;
	if ((*fetch)->client)
		library.end((*fetch)->client);
	free(*fetch);
	*fetch = NULL;
}

static bool load_libdebuginfod(void)
{
	void *opened = library.begin ? NULL : dlopen(DEBUGINFOD_SONAME, RTLD_NOW | RTLD_LOCAL);

	if (!opened)
		return library.begin;
	library.end = dlsym(opened, "debuginfod_end");
	library.find_debug = dlsym(opened, "debuginfod_find_debuginfo");
	library.find_code = dlsym(opened, "debuginfod_find_executable");
	library.set_progress = dlsym(opened, "debuginfod_set_progressfn");
	library.set_user = dlsym(opened, "debuginfod_set_user_data");
	library.user = dlsym(opened, "debuginfod_get_user_data");
	if (library.end && library.find_debug && library.find_code && library.set_progress &&
	    library.set_user && library.user)
		library.begin = dlsym(opened, "debuginfod_begin");
	return library.begin;
}

/* Tells the caller how much has arrived. False: the user abandons the request. */
static bool report_progress(struct debug_fetch *fetch, u64 bytes, u64 total)
{
	const struct debug_watch *watch = &fetch->watch;

	return !watch->progress || watch->progress(watch->arg, fetch->name, bytes, total);
}

/* Called by libdebuginfod while a file arrives. A return value other than 0 abandons the request.
 * If `total` is not known (<= 0), `bytes` is not a number of bytes of the file. */
static int on_progress(debuginfod_client *client, long bytes, long total)
{
	struct debug_fetch *fetch = library.user(client);

	fetch->answered |= total > 0;
	fetch->abandoned = !report_progress(fetch, total > 0 ? bytes : 0, total > 0 ? total : 0);
	return fetch->abandoned;
}

static int open_debuginfod_client(struct debug_fetch *fetch)
{
	if (fetch->client)
		return 0;
	if (!load_libdebuginfod())
		return LIBRARY_MISSING;
	setenv(DEBUGINFOD_MAXTIME_ENV_VAR, TEXT_OF(DEBUG_FETCH_SECONDS), 0);
	fetch->client = library.begin();
	if (!fetch->client)
		return -ENOMEM;
	library.set_user(fetch->client, fetch);
	library.set_progress(fetch->client, on_progress);
	return 0;
}

/* Returns the reason why a request failed, and sets `stopped` if no more requests are to be made:
 * the user has abandoned the request, or no server has answered. Servers that refuse, or cannot be
 * found, cost some time with each request; this time may be DEBUG_FETCH_SECONDS for all requests
 * together. */
static int classify_failure(struct debug_fetch *fetch, int result)
{
	bool late = result == -ETIME || result == -ETIMEDOUT;

	if (fetch->abandoned) {
		fetch->stopped = true;
		return GIVEN_UP;
	}
	if (result == -ENOENT)
		return result;
	if (!fetch->answered)
		fetch->unanswered_ms += clock_ms() - fetch->begun_ms;
	fetch->stopped =
		!fetch->answered && (late || fetch->unanswered_ms >= DEBUG_FETCH_SECONDS * 1000);
	if (fetch->stopped)
		return NO_ANSWER;
	return late ? TOO_LATE : result;
}

int debug_fetch_open(struct debug_fetch *fetch, enum debug_fetch_what what, const u8 *build_id,
		     u32 bytes, const char *name, char **path)
{
	int result = fetch->stopped ? ALREADY_STOPPED : open_debuginfod_client(fetch);
	__typeof__(library.find_debug) find_file;

	if (result == LIBRARY_MISSING)
		fetch->stopped = true;
	if (result)
		return result;
	fetch->name = name;
	fetch->begun_ms = clock_ms();
	fetch->answered = false;
	fetch->abandoned = !report_progress(fetch, 0, 0);
	find_file = what == DEBUG_FETCH_DEBUG ? library.find_debug : library.find_code;
	result = fetch->abandoned ? GIVEN_UP : find_file(fetch->client, build_id, bytes, path);
	if (fetch->watch.done)
		fetch->watch.done(fetch->watch.arg);
	return result >= 0 ? result : classify_failure(fetch, result);
}

const char *debug_fetch_reason(int result)
{
	switch (result) {
	case ALREADY_STOPPED:
		return NULL;
	case LIBRARY_MISSING:
		return "there is no " DEBUGINFOD_SONAME;
	case GIVEN_UP:
		return "abandoned, no more is asked for";
	case NO_ANSWER:
		return "no answer, no more is asked for";
	case TOO_LATE:
		return "it takes longer than it may (DEBUGINFOD_MAXTIME)";
	case -ENOENT:
		return "no server has it";
	default:
		return strerror(-result);
	}
}
