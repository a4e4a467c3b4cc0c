/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A pid is a positive number of at most 31 bits. */
#include "pid_list.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>

static int append(struct pid_list *list, pid_t pid)
{
	pid_t *grown = reallocarray(list->pids, list->count + 1, sizeof(*grown));

	if (!grown)
		return -ENOMEM;
	list->pids = grown;
	list->pids[list->count++] = pid;
	return 0;
}

int pid_list_add(struct pid_list *list, const char *text)
{
	int result;

	do {
		unsigned long pid;
		char *end;

		if (!isdigit((unsigned char)*text))
			return -EINVAL;
		errno = 0;
		pid = strtoul(text, &end, 10);
		if (errno || !pid || pid > INT_MAX || (*end && *end != ','))
			return -EINVAL;
		result = append(list, pid);
		text = end;
	} while (!result && *text++ == ',');
	return result;
}

void pid_list_clear(struct pid_list *list)
{
	free(list->pids);
	*list = (struct pid_list){};
}
