/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The library is loaded when the first file is asked for: with it come an HTTP and a TLS client,
 * for which no other command should pay, and a recorder with privileges should have none in its
 * memory.
 *
 * It asks all servers at once and does not say which of them is late. It has a limit of time for a
 * file, which is none unless a variable says so. It calls back once a second at least, and
 * whenever a signal interrupts its waiting. A total size is known when a server has answered.
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

/* Results of our own. */
#define LIBRARY_MISSING (-ELIBACC)
#define TOLD_ALREADY (-ECANCELED)
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
	u64 in_vain_ms; /* waited for servers that did not answer */
	bool stopped;

	/* The request that runs. */
	const char *name;
	u64 begun_ms;
	bool answered, unwanted;
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

static bool load(void)
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

static bool tell(struct debug_fetch *fetch, u64 bytes, u64 total)
{
	const struct debug_watch *watch = &fetch->watch;

	return !watch->progress || watch->progress(watch->arg, fetch->name, bytes, total);
}

/* Non-zero abandons the request. Without a total `bytes` counts other things. */
static int on_progress(debuginfod_client *client, long bytes, long total)
{
	struct debug_fetch *fetch = library.user(client);

	fetch->answered |= total > 0;
	fetch->unwanted = !tell(fetch, total > 0 ? bytes : 0, total > 0 ? total : 0);
	return fetch->unwanted;
}

static int open_client(struct debug_fetch *fetch)
{
	if (fetch->client)
		return 0;
	if (!load())
		return LIBRARY_MISSING;
	setenv(DEBUGINFOD_MAXTIME_ENV_VAR, TEXT_OF(DEBUG_FETCH_SECONDS), 0);
	fetch->client = library.begin();
	if (!fetch->client)
		return -ENOMEM;
	library.set_user(fetch->client, fetch);
	library.set_progress(fetch->client, on_progress);
	return 0;
}

static int find(struct debug_fetch *fetch, enum debug_fetch_what what, const u8 *build_id,
		u32 bytes, char **path)
{
	__typeof__(library.find_debug) find_file =
		what == DEBUG_FETCH_DEBUG ? library.find_debug : library.find_code;
	int file;

	fetch->begun_ms = clock_ms();
	fetch->answered = false;
	fetch->unwanted = !tell(fetch, 0, 0);
	file = fetch->unwanted ? GIVEN_UP : find_file(fetch->client, build_id, bytes, path);
	if (fetch->watch.done)
		fetch->watch.done(fetch->watch.arg);
	return file;
}

/* Servers that refuse, or cannot be found, may cost some time each time, but not without end. */
static int judge(struct debug_fetch *fetch, int result)
{
	bool late = result == -ETIME || result == -ETIMEDOUT;

	if (fetch->unwanted) {
		fetch->stopped = true;
		return GIVEN_UP;
	}
	if (result == -ENOENT)
		return result;
	if (!fetch->answered)
		fetch->in_vain_ms += clock_ms() - fetch->begun_ms;
	fetch->stopped =
		!fetch->answered && (late || fetch->in_vain_ms >= DEBUG_FETCH_SECONDS * 1000);
	if (fetch->stopped)
		return NO_ANSWER;
	return late ? TOO_LATE : result;
}

int debug_fetch_open(struct debug_fetch *fetch, enum debug_fetch_what what, const u8 *build_id,
		     u32 bytes, const char *name, char **path)
{
	int result = fetch->stopped ? TOLD_ALREADY : open_client(fetch);

	if (result == LIBRARY_MISSING)
		fetch->stopped = true;
	if (result)
		return result;
	fetch->name = name;
	result = find(fetch, what, build_id, bytes, path);
	return result >= 0 ? result : judge(fetch, result);
}

const char *debug_fetch_reason(int result)
{
	switch (result) {
	case TOLD_ALREADY:
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
