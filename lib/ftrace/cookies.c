/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "ftrace/cookies.h"

#include <errno.h>
#include <stdlib.h>

#include "array.h"

static u32 cookie_hash(u64 cookie)
{
	return hash_end(hash_word(0, cookie));
}

static bool is_cookie(const void *items, u32 index, const void *cookie)
{
	return ((const struct cookie *)items)[index].cookie == *(const u64 *)cookie;
}

u32 cookies_find(const struct cookies *cookies, u64 cookie)
{
	return hash_index_find(&cookies->index, cookie_hash(cookie), is_cookie, cookies->items,
			       &cookie);
}

int cookies_make(struct cookies *cookies, u64 cookie, u32 tid, u32 *index)
{
	*index = cookies_find(cookies, cookie);
	if (*index == HASH_INDEX_NONE) {
		if (array_make_room(cookies->items, cookies->count, cookies->room) ||
		    hash_index_add(&cookies->index, cookie_hash(cookie), cookies->count))
			return -ENOMEM;
		*index = cookies->count++;
	}
	cookies->items[*index] = (struct cookie){
		.cookie = cookie,
		.tid = tid,
		.name = TRACE_NO_STACK,
	};
	return 0;
}

void cookies_free(struct cookies *cookies)
{
	hash_index_free(&cookies->index);
	free(cookies->items);
	*cookies = (struct cookies){};
}
