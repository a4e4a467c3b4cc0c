/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * System calls, as syscalls:sys_enter_NAME and syscalls:sys_exit_NAME. The kernel has one
 * tracepoint for all entries and one for all exits; so these names need no tracefs, only the call's
 * number.
 */
#include <stdio.h>

#include "source_ops.h"
#include "syscall_table.h"

#define NAME_BYTES 96

static void event_name(char *name, bool on_return, const char *call)
{
	snprintf(name, NAME_BYTES, "syscalls:sys_%s_%s", on_return ? "exit" : "enter", call);
}

static int try_syscall(const struct syscall_entry *entry, bool on_return,
		       struct source_query *query, source_visit visit, void *arg)
{
	char name[NAME_BYTES], alias[NAME_BYTES] = "";
	struct source source = {
		.type = SOURCE_SYSCALL,
		.name = name,
		.on_return = on_return,
		.syscall = entry->number,
	};

	event_name(name, on_return, entry->name);
	if (entry->alias)
		event_name(alias, on_return, entry->alias);
	if (!name_match_try(&query->match, name) &&
	    !(alias[0] && name_match_try(&query->match, alias)))
		return 0;
	return visit(arg, &source);
}

static int syscall_find(struct source_query *query, source_visit visit, void *arg,
			struct stackmap_error *error)
{
	size_t count;
	const struct syscall_entry *table = syscall_table(&count);
	int err = 0;

	(void)error;
	for (size_t i = 0; i < 2 * count && !err; i++)
		err = try_syscall(&table[i % count], i >= count, query, visit, arg);
	return err;
}

const struct source_ops source_syscall_ops = {
	.group = "system call",
	.find = syscall_find,
};
