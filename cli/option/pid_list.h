/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Process ids as the user writes them: "1234", "1234,5678", repeated. */
#ifndef CLI_PID_LIST_H
#define CLI_PID_LIST_H

#include <stddef.h>
#include <sys/types.h>

struct pid_list {
	pid_t *pids;
	size_t count;
};

/* Appends the ids in `text`. -EINVAL: it is not a list of process ids; -ENOMEM. The list is then as
 * before, or longer. */
int pid_list_add(struct pid_list *list, const char *text);
void pid_list_clear(struct pid_list *list);

#endif
