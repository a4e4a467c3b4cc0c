/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The cookies that tasks wait for at one moment (abi/deferral.h). */
#ifndef LIB_CAPTURE_PENDING_H
#define LIB_CAPTURE_PENDING_H

#include <stdbool.h>

#include "scalar.h"

struct pending {
	u32 tid;
	u32 cookie;
};

struct pending_list {
	struct pending *items; /* sorted */
	u32 count;
	u32 room;
};

/* Adds what the map `deferrals` holds; tasks come and go meanwhile. -ENOMEM. */
int pending_list_read(int map_fd, struct pending_list *list);
bool pending_list_has(const struct pending_list *list, u32 tid, u32 cookie);
void pending_list_clear(struct pending_list *list);

#endif
