/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The cookies that events may be given from one moment on (abi/deferral.h): those that tasks wait
 * for, and the lasting ones.
 */
#ifndef LIB_CAPTURE_PENDING_H
#define LIB_CAPTURE_PENDING_H

#include <stdbool.h>

#include "capture/load/loaded.h"

struct pending {
	u32 tid;
	u32 cookie;
};

struct pending_list {
	struct pending *items; /* sorted */
	u32 count;
	u32 room;
};

/* Adds those that tasks wait for; tasks come and go meanwhile. -ENOMEM. */
int pending_list_read(const struct loaded *loaded, struct pending_list *list);
/* Adds the lasting ones, of no thread id: of tasks in execve, and of blocked ones. -ENOMEM. */
int pending_list_read_lasting(const struct loaded *loaded, struct pending_list *list);
bool pending_list_has(const struct pending_list *list, u32 tid, u32 cookie);
void pending_list_clear(struct pending_list *list);

#endif
