/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The names come from the compiler's headers at build time (syscall_names.sh). The kernel names an
 * event after the function that implements the call, which for a few old ones is not the call's
 * name.
 */
#include "syscall_table.h"

#include <string.h>

#include "syscall_numbers.h"

#define SYSCALL(call) {.name = #call, .number = __NR_##call},

static struct syscall_entry table[] = {
#include "syscall_names.h"
};

#define TABLE_COUNT (sizeof(table) / sizeof(table[0]))

static const struct {
	const char *call;
	const char *event;
} renamed[] = {
	{"stat", "newstat"},   {"fstat", "newfstat"},	   {"lstat", "newlstat"},
	{"uname", "newuname"}, {"sendfile", "sendfile64"}, {"umount2", "umount"},
};

static void rename_entry(struct syscall_entry *entry)
{
	for (size_t i = 0; i < sizeof(renamed) / sizeof(renamed[0]); i++) {
		if (strcmp(entry->name, renamed[i].call))
			continue;
		entry->alias = renamed[i].call;
		entry->name = renamed[i].event;
	}
}

const struct syscall_entry *syscall_table(size_t *count)
{
	for (size_t i = 0; i < TABLE_COUNT; i++)
		rename_entry(&table[i]);
	*count = TABLE_COUNT;
	return table;
}
