/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * An iteration over a BPF hash map that changes meanwhile may see a task twice, and may start
 * again; the size of the map limits its steps. A task that stays in the map is seen.
 */
#include "capture/drain/open_cookies.h"

#include <errno.h>
#include <stdlib.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "array.h"
#include "capture/load/skeleton.h"
#include "deferral.h"
#include "order.h"
#include "ring.h"
#include "thread_time.h"

static int compare_cookies(const void *left, const void *right)
{
	const struct open_cookie *a = left, *b = right;

	return order(a->tid, b->tid) ?: order(a->cookie, b->cookie);
}

static int add_open_cookie(struct open_cookies *list, u32 tid, u32 cookie)
{
	if (array_make_room(list->items, list->count, list->room))
		return -ENOMEM;
	list->items[list->count++] = (struct open_cookie){.tid = tid, .cookie = cookie};
	return 0;
}

/* Calls take() for all keys of a map, which have 4 or 8 bytes, and sorts the list. */
static int read_cookies_of_map(const struct bpf_map *map, struct open_cookies *list,
			       int (*take)(int map_fd, const void *key, struct open_cookies *list))
{
	u32 steps = 2 * bpf_map__max_entries(map);
	int map_fd = bpf_map__fd(map), result = 0;
	u64 key, *before = NULL;

	for (; steps && !result && !bpf_map_get_next_key(map_fd, before, &key); steps--) {
		before = &key;
		result = take(map_fd, &key, list);
	}
	if (list->count)
		qsort(list->items, list->count, sizeof(*list->items), compare_cookies);
	return result;
}

static int add_deferral_cookie(int map_fd, const void *key, struct open_cookies *list)
{
	struct deferral deferral;

	if (bpf_map_lookup_elem(map_fd, key, &deferral) ||
	    DEFERRAL_STATE(deferral.word) == DEFERRAL_IDLE)
		return 0;
	return add_open_cookie(list, *(const u32 *)key, DEFERRAL_COOKIE(deferral.word));
}

static int add_execve_cookie(int map_fd, const void *key, struct open_cookies *list)
{
	struct execve_call call;

	return bpf_map_lookup_elem(map_fd, key, &call) ? 0 : add_open_cookie(list, 0, call.cookie);
}

static int add_blocked_cookie(int map_fd, const void *key, struct open_cookies *list)
{
	struct blocked blocked;

	if (bpf_map_lookup_elem(map_fd, key, &blocked) ||
	    BLOCKED_STATE(blocked.user) != STATE_COOKIE)
		return 0;
	return add_open_cookie(list, 0, BLOCKED_FIELD(blocked.user));
}

static int add_thread_time_cookie(int map_fd, const void *key, struct open_cookies *list)
{
	struct thread_time time;

	if (bpf_map_lookup_elem(map_fd, key, &time) ||
	    BLOCKED_STATE(time.from.user) != STATE_COOKIE)
		return 0;
	return add_open_cookie(list, 0, BLOCKED_FIELD(time.from.user));
}

/* Adds the cookie of an origin's user stack if the stack is not delivered yet. The cookie is that
 * of a thread, or a lasting cookie. */
static int add_open_origin_cookie(struct open_cookies *list, const struct origin *origin)
{
	u32 cookie = BLOCKED_FIELD(origin->user);

	if (!origin->object || BLOCKED_STATE(origin->user) != STATE_COOKIE)
		return 0;
	return add_open_cookie(list, cookie & COOKIE_LASTING ? 0 : origin->tid, cookie);
}

static int add_origin_cookie(int map_fd, const void *key, struct open_cookies *list)
{
	struct origin origin;

	return bpf_map_lookup_elem(map_fd, key, &origin) ? 0
							 : add_open_origin_cookie(list, &origin);
}

static int add_origin_calls_cookies(int map_fd, const void *key, struct open_cookies *list)
{
	struct origin_cpu_calls calls;
	int result = 0;

	if (bpf_map_lookup_elem(map_fd, key, &calls))
		return 0;
	for (u32 i = 0; i < ORIGIN_CALLS && !result; i++)
		result = add_open_origin_cookie(list, &calls.call[i].origin);
	return result;
}

int open_cookies_read(const struct loaded *loaded, struct open_cookies *list)
{
	return read_cookies_of_map(loaded_programs(loaded)->maps.deferrals, list,
				   add_deferral_cookie);
}

int open_cookies_read_lasting(const struct loaded *loaded, struct open_cookies *list)
{
	const struct capture_bpf *programs = loaded_programs(loaded);

	return read_cookies_of_map(programs->maps.execve_calls, list, add_execve_cookie)
		       ?: read_cookies_of_map(programs->maps.blocked, list, add_blocked_cookie)
		       ?: read_cookies_of_map(programs->maps.thread_times, list, add_thread_time_cookie)
		       ?: read_cookies_of_map(programs->maps.origins, list, add_origin_cookie)
		       ?: read_cookies_of_map(programs->maps.origin_works, list, add_origin_cookie)
		       ?: read_cookies_of_map(programs->maps.origin_calls, list, add_origin_calls_cookies);
}

bool open_cookies_has(const struct open_cookies *list, u32 tid, u32 cookie)
{
	struct open_cookie key = {.tid = tid, .cookie = cookie};

	return list->count && bsearch(&key, list->items, list->count, sizeof(key), compare_cookies);
}

void open_cookies_clear(struct open_cookies *list)
{
	free(list->items);
	*list = (struct open_cookies){};
}
